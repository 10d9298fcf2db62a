// The page of a kind of object: its table, its acts, and what to do where there is none yet.
import type { ReactNode } from "react";
import { all } from "../api/client";
import { ofKinds, useLive } from "../live/queries";
import { type Choice, type Column, Listing } from "../ui/listing";
import { Empty, Loading, Trouble } from "../ui/parts";

export interface Shown<T> {
  title: string;
  noun: string;
  columns: Column<T>[];
  choices?: Choice<T>[];
  id: (item: T) => string;
  empty: { says: string; command?: string };
  acts?: ReactNode;
  above?: ReactNode;
}

interface Asked {
  path: string;
  kinds: string[];
  most?: number;
  /** What no event tells of is asked for again when this changes. */
  version?: number;
}

/** Of a list of the API, asked for again when an event tells of one of these kinds. */
export function Objects<T>({ path, kinds, most, version = 0, ...shown }: Shown<T> & Asked): ReactNode {
  const found = useLive(`${path} ${version}`, () => all<T>(path, most ? { limit: most } : {}, most), ofKinds(...kinds));
  return <ObjectPage {...shown} items={found.data} error={found.error} />;
}

export function ObjectPage<T>(properties: Shown<T> & { items: T[] | undefined; error: Error | undefined }): ReactNode {
  const { title, noun, columns, choices, id, empty, acts, above, items, error } = properties;
  return (
    <>
      <div className="head">
        <h1>{title}</h1>
        {acts && <span className="buttons">{acts}</span>}
      </div>
      {above}
      <Trouble error={error} />
      {items === undefined ? (
        !error && <Loading what={noun} />
      ) : items.length === 0 ? (
        <Empty {...(empty.command ? { command: empty.command } : {})}>{empty.says}</Empty>
      ) : (
        <Listing items={items} columns={columns} id={id} noun={noun} {...(choices ? { choices } : {})} />
      )}
    </>
  );
}
