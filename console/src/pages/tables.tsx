// The page of a kind of object: its table, its acts, and what to do where there is none yet.
import type { ReactNode } from "react";
import { all } from "../api/client";
import { ofKinds, useLive } from "../live/queries";
import { type Choice, type Column, Listing } from "../ui/listing";
import { Empty, Loading, Trouble } from "../ui/parts";

export interface Shown<T> {
  title: string;
  noun: string;
  path: string;
  kinds: string[];
  columns: Column<T>[];
  choices?: Choice<T>[];
  id: (item: T) => string;
  empty: { says: string; command?: string };
  acts?: ReactNode;
  above?: ReactNode;
  most?: number;
  /** What no event tells of is asked for again when this changes. */
  version?: number;
}

export function Objects<T>({ title, noun, path, kinds, columns, choices, id, empty, acts, above, most, version = 0 }: Shown<T>): ReactNode {
  const found = useLive(`${path} ${version}`, () => all<T>(path, most ? { limit: most } : {}, most), ofKinds(...kinds));
  return (
    <>
      <div className="head">
        <h1>{title}</h1>
        {acts && <span className="buttons">{acts}</span>}
      </div>
      {above}
      <Trouble error={found.error} />
      {found.data === undefined ? (
        !found.error && <Loading what={noun} />
      ) : found.data.length === 0 ? (
        <Empty {...(empty.command ? { command: empty.command } : {})}>{empty.says}</Empty>
      ) : (
        <Listing items={found.data} columns={columns} id={id} noun={noun} {...(choices ? { choices } : {})} />
      )}
    </>
  );
}
