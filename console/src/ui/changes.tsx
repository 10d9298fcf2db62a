// What was before and what is after, as a diff.
import type { ReactNode } from "react";
import { folded, lineDiff } from "./linediff";

export function Changes({ before, after }: { before: string; after: string }): ReactNode {
  const lines = folded(lineDiff(before, after));
  if (lines.every((line) => line === null)) return <p className="soft">Nothing differs.</p>;
  return (
    <pre className="diff" tabIndex={0} aria-label="What changes">
      {lines.map((line, index) =>
        line === null ? (
          <span key={index} className="soft">
            ⋯
          </span>
        ) : line.sign === "-" ? (
          <del key={index}>- {line.text}</del>
        ) : line.sign === "+" ? (
          <ins key={index}>+ {line.text}</ins>
        ) : (
          <span key={index}>{"  " + line.text}</span>
        ),
      )}
    </pre>
  );
}

/** Documents in the same order of keys, so that only what differs is shown. */
export function pretty(value: unknown): string {
  return value === null || value === undefined ? "" : JSON.stringify(sorted(value), null, 2);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([key, one]) => [key, sorted(one)]),
  );
}
