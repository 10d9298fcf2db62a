// A table of objects with a search: the same for every kind.
import { type ReactNode, useMemo } from "react";
import { go, usePlace, withQuery } from "../router";
import { plural } from "../words";

export interface Column<T> {
  name: string;
  cell: (item: T) => ReactNode;
  /** What the search looks at; nothing if absent. */
  text?: (item: T) => string;
  wide?: boolean;
}

const MOST_ROWS = 500;

export function Listing<T>(properties: { items: T[]; columns: Column<T>[]; id: (item: T) => string; noun: string }): ReactNode {
  const { items, columns, id, noun } = properties;
  const { query } = usePlace();
  const wanted = (query.get("q") ?? "").toLowerCase();
  const found = useMemo(
    () => (wanted ? items.filter((item) => columns.some((column) => column.text?.(item).toLowerCase().includes(wanted))) : items),
    [items, columns, wanted],
  );
  return (
    <section className="card">
      <div className="filters">
        <input
          type="search"
          aria-label={`Search ${noun}s`}
          placeholder="search"
          value={query.get("q") ?? ""}
          onChange={(event) => go(withQuery({ q: event.target.value }), true)}
        />
        <span className="soft">{plural(found.length, noun)}</span>
      </div>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.name}>{column.name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, MOST_ROWS).map((item) => (
              <tr key={id(item)}>
                {columns.map((column) => (
                  <td key={column.name} className={column.wide ? "wide" : undefined}>
                    {column.cell(item)}
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
