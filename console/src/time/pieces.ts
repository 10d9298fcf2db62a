// A plan in pieces that a page can take in between two frames.
import type { Future, SeenChange } from "../api/types";
import { append, type Decision } from "./moments";

export interface Foretold {
  finishAt: string | null;
  changes: SeenChange[];
  /** The same, by the moment they are decided at. */
  decisions: Decision[];
}

/** So many are taken in within a small part of a frame. */
export const PIECE = 400;

/** The end comes when everything else has been told. */
export type Piece = { type: "changes"; changes: SeenChange[] } | { type: "end"; finishAt: string | null };

/** What a page hears from whoever reads for it. */
export type Told = Piece | { type: "sessionEnded" } | { type: "failed"; message: string };

export function* piecesOf({ changes, finishAt }: Pick<Future, "changes" | "finishAt">): Generator<Piece> {
  for (let from = 0; from < changes.length; from += PIECE) yield { type: "changes", changes: changes.slice(from, from + PIECE) };
  yield { type: "end", finishAt };
}

/** Takes pieces in; with the last it gives all of it. */
export function taker(): (piece: Piece) => Foretold | undefined {
  const changes: SeenChange[] = [];
  const decisions: Decision[] = [];
  return (piece) => {
    if (piece.type === "end") return { finishAt: piece.finishAt, changes, decisions };
    changes.push(...piece.changes);
    append(decisions, piece.changes);
    return undefined;
  };
}
