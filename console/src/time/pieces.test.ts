import { expect, test } from "vitest";
import type { SeenChange } from "../api/types";
import { decisionsOf } from "./moments";
import { PIECE, piecesOf, taker } from "./pieces";

const change = (moment: number, name: string): SeenChange => ({ at: new Date(moment).toISOString(), table: "targets", name, row: null }) as unknown as SeenChange;

test("what is taken in piece by piece is the plan, and no decision is cut in two", () => {
  const changes = Array.from({ length: 2 * PIECE + 7 }, (_, index) => change(Math.floor(index / 3), `a/prod/n${index}`));
  const pieces = [...piecesOf({ changes, finishAt: "2026-01-01T00:00:00Z" })];
  expect(pieces).toHaveLength(4);
  for (const piece of pieces) if (piece.type === "changes") expect(piece.changes.length).toBeLessThanOrEqual(PIECE);
  const take = taker();
  expect(pieces.slice(0, -1).map(take)).toEqual([undefined, undefined, undefined]);
  expect(take(pieces.at(-1)!)).toEqual({ finishAt: "2026-01-01T00:00:00Z", changes, decisions: decisionsOf(changes) });
});

test("a plan in which nothing happens is read too", () => {
  const take = taker();
  expect([...piecesOf({ changes: [], finishAt: null })].map(take)).toEqual([{ finishAt: null, changes: [], decisions: [] }]);
});
