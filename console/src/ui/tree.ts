// The tree of a set or graph as figures: how far each level is, and who is stuck.
import type { Tree } from "../api/types";
import type { Phase } from "../words";

export interface Level {
  kind: string;
  total: number;
  /** At the newest revision that anything of the tree is at. */
  updated: number;
  ready: number;
}

const WORDS: Record<string, string> = {
  set: "sets",
  replica: "replicas",
  group: "groups",
  groupReplica: "group replicas",
  clique: "cliques",
  pod: "pods",
  definition: "definitions",
  instance: "instances",
  node: "nodes",
  object: "objects",
};

export function plurals(kind: string): string {
  return WORDS[kind] ?? kind;
}

/** In words that the server uses for phases, of every kind of part. */
export function toneOf(state: string): Phase["tone"] {
  const word = state.toLowerCase();
  if (/^(ready|done|available|propagated|allresourcesready|active|updated)/.test(word)) return "good";
  if (/(fail|error|stuck|overdue|breach|unschedulable)/.test(word)) return "bad";
  if (/^(updating|starting|running|rolling|progressing|scheduled|terminating|deleting)/.test(word)) return "busy";
  if (/^(waiting|not |pending|paused|aborted|unseen|blocked)/.test(word)) return "wait";
  return "quiet";
}

const SIGNS: Record<Phase["tone"], string> = { good: "✓", busy: "▶", wait: "○", bad: "✕", quiet: "–" };

export function signOf(state: string): string {
  return SIGNS[toneOf(state)];
}

export function* parts(tree: Tree): Generator<Tree> {
  yield tree;
  for (const child of tree.children) yield* parts(child);
}

export function levels(tree: Tree): Level[] {
  const all = [...parts(tree)].filter((one) => one.part !== null && one !== tree);
  const newest = Math.max(tree.part?.revision ?? 0, ...all.map((one) => one.part?.revision ?? 0));
  const found = new Map<string, Level>();
  for (const one of all) {
    const kind = one.part?.kind ?? "";
    const level = found.get(kind) ?? { kind, total: 0, updated: 0, ready: 0 };
    level.total += 1;
    if (revisionsOf(one).every((revision) => revision === newest)) level.updated += 1;
    if (toneOf(one.state) === "good") level.ready += 1;
    found.set(kind, level);
  }
  return [...found.values()];
}

/** Its own, or those of what it is made of. */
function revisionsOf(tree: Tree): number[] {
  if (tree.part?.revision != null) return [tree.part.revision];
  const below = tree.children.flatMap(revisionsOf);
  return below.length > 0 ? below : [0];
}

export interface Stuck {
  subject: string;
  message: string;
  verdict: string;
  type: string;
  at: string | null;
}

/** What is not allowed to go on, with what is said about it; a sentence is told once. */
export function stuck(tree: Tree): Stuck[] {
  const found: Stuck[] = [];
  const seen = new Set<string>();
  for (const one of parts(tree)) {
    for (const line of one.lines) {
      const key = `${line.type} ${line.message}`;
      if (line.verdict === "allowed" || seen.has(key) || line.message === "") continue;
      seen.add(key);
      found.push({ subject: one.subject, message: line.message, verdict: line.verdict, type: line.type, at: line.nextEvaluationTime });
    }
  }
  return found;
}
