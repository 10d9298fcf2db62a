// The page of a kind of object: its table, its acts, and what to do where there is none yet.
import type { ReactNode } from "react";
import { all } from "../api/client";
import { useObjects } from "../live/tables";
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

interface Asked<T> {
  path: string;
  /** Of what the stream tells of. */
  kind: string;
  /** Lays one that is told over the others. */
  placed: (items: T[], name: string, object: unknown) => T[];
}

/** Of a list of the API, patched by what the stream tells. */
export function Objects<T>({ path, kind, placed, ...shown }: Shown<T> & Asked<T>): ReactNode {
  const found = useObjects<T>(path, kind, () => all<T>(path), placed);
  return <ObjectPage {...shown} items={found.items} error={found.error} />;
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
