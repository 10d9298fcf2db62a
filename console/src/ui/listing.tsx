// A table of objects with a search and filters, which are in the address: the same for every kind.
import { type ReactNode, useMemo } from "react";
import { go, usePlace, withQuery } from "../router";
import { Written } from "./text";
import { plural, several } from "../words";

export interface Column<T> {
  name: string;
  cell: (item: T) => ReactNode;
  /** What the search looks at; nothing if absent. */
  text?: (item: T) => string;
  wide?: boolean;
}

/** A choice among the values that the items have. */
export interface Choice<T> {
  key: string;
  label: string;
  of: (item: T) => string;
}

const MOST_ROWS = 500;

/** A bare text is one that somebody wrote. */
function Cell({ content }: { content: ReactNode }): ReactNode {
  return typeof content === "string" ? <Written text={content} /> : content;
}

export interface ListingProperties<T> {
  items: T[];
  columns: Column<T>[];
  id: (item: T) => string;
  noun: string;
  choices?: Choice<T>[];
}

export function Listing<T>({ items, columns, id, noun, choices = [] }: ListingProperties<T>): ReactNode {
  const { query } = usePlace();
  const wanted = (query.get("q") ?? "").toLowerCase();
  const chosen = choices.map((choice) => query.get(choice.key) ?? "");
  const key = chosen.join("\n");
  const found = useMemo(
    () =>
      items.filter(
        (item) =>
          choices.every((choice, index) => !chosen[index] || choice.of(item) === chosen[index]) &&
          (!wanted || columns.some((column) => column.text?.(item).toLowerCase().includes(wanted))),
      ),
    // eslint-disable-next-line -- what is chosen is in its key
    [items, columns, wanted, key],
  );
  return (
    <section className="card">
      <div className="filters">
        <input
          type="search"
          aria-label={`Search ${several(noun)}`}
          placeholder="search"
          value={query.get("q") ?? ""}
          onChange={(event) => go(withQuery({ q: event.target.value }), true)}
        />
        {choices.map((choice, index) => (
          <label key={choice.key} className="choice">
            {choice.label}
            <select value={chosen[index]} onChange={(event) => go(withQuery({ [choice.key]: event.target.value }), true)}>
              <option value="">all</option>
              {[...new Set([...items.map(choice.of), ...(chosen[index] ? [chosen[index]] : [])])].sort().map((value) => (
                <option key={value} value={value}>
                  {value}
                </option>
              ))}
            </select>
          </label>
        ))}
        <span className="soft">{plural(found.length, noun)}</span>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label={`Table of ${several(noun)}`}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.name}>{column.name || <span className="hidden">Acts</span>}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, MOST_ROWS).map((item) => (
              <tr key={id(item)}>
                {columns.map((column) => (
                  <td key={column.name} className={column.wide ? "wide" : undefined}>
                    <Cell content={column.cell(item)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length > MOST_ROWS && <p className="soft">{found.length - MOST_ROWS} more: search for them.</p>}
    </section>
  );
}
