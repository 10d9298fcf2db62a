// Moments on a line: what was recorded, now, and what a plan says will be. No page and no clock in here.
import type { SeenBudget, SeenChange, SeenGroup, SeenTarget } from "../api/types";
import { bounded, type Window } from "../chart/window";
import { type Change, patch, type Row, type Tables } from "../live/store";
import { PHASES, spaced } from "../words";

/** Milliseconds. The line ends with now where nothing is expected to happen. */
export interface Span {
  from: number;
  now: number;
  until: number;
}

/** Where now stands on a line that has a future. */
const NOW_SHARE = 0.6;

/** From 0 at the beginning to 1 at the end; the past and the future have each its own scale. */
export function shareOf(span: Span, at: number): number {
  const now = nowShare(span);
  const clamped = Math.min(Math.max(at, span.from), span.until);
  if (clamped <= span.now && now > 0) return span.now > span.from ? (now * (clamped - span.from)) / (span.now - span.from) : now;
  return now + ((1 - now) * (clamped - span.now)) / (span.until - span.now);
}

export function momentAt(span: Span, share: number): number {
  const now = nowShare(span);
  if (share <= now && now > 0) return span.from + (share / now) * (span.now - span.from);
  return span.now + ((share - now) / (1 - now)) * (span.until - span.now);
}

export function nowShare(span: Span): number {
  if (span.until <= span.now) return 1;
  return span.from >= span.now ? 0 : NOW_SHARE;
}

/** The part of the line that is looked at, which may be all past or all future. */
export function narrowed(span: Span, window: Window | null): Span {
  if (window === null) return span;
  const { from, till } = bounded({ from: span.from, till: span.until }, window);
  return { from, now: Math.min(Math.max(span.now, from), till), until: till };
}

/** All that one decision changed; `at` is as the server wrote it, to the microsecond. */
export interface Decision {
  at: string;
  moment: number;
  changes: SeenChange[];
}

export function decisionsOf(changes: SeenChange[]): Decision[] {
  const found: Decision[] = [];
  append(found, changes);
  return found;
}

/** Lays later changes after what is known, so that a long plan can be taken in piece by piece. */
export function append(decisions: Decision[], changes: SeenChange[]): void {
  for (const change of changes) {
    const last = decisions.at(-1);
    if (last?.at === change.at) last.changes.push(change);
    else decisions.push({ at: change.at, moment: Date.parse(change.at), changes: [change] });
  }
}

/** What came meanwhile, told by a clock of its own that may be behind: it came after what was known. */
export function notBefore(known: SeenChange[], told: SeenChange[]): SeenChange[] {
  const last = known.at(-1)?.at;
  if (last === undefined) return told;
  return [...known, ...told.map((change) => (comparable(change.at) < comparable(last) ? { ...change, at: last } : change))];
}

/** The decision before or after a moment; none at the ends. */
export function neighbour(decisions: Decision[], at: string, direction: -1 | 1): Decision | undefined {
  const key = comparable(at);
  if (direction > 0) return decisions[countUntil(decisions, (one) => one <= key)];
  return decisions[countUntil(decisions, (one) => one < key) - 1];
}

/** Those after a moment. */
export function later(decisions: Decision[], at: string): Decision[] {
  const key = comparable(at);
  return decisions.slice(countUntil(decisions, (one) => one <= key));
}

/** How many are at the beginning for which it holds. They are in order, and looked for by halves: a plan of ten thousand
 * targets has more of them than can be compared each time that a page is drawn. */
function countUntil(decisions: Decision[], holds: (at: string) => boolean): number {
  let [low, high] = [0, decisions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(comparable((decisions[middle] as Decision).at))) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** RFC 3339 in UTC with any number of digits of a second sorts as text once it has all of them. */
export function comparable(at: string): string {
  const [whole, digits = ""] = at.replace(/Z$/, "").split(".");
  return `${whole}.${digits.padEnd(6, "0")}`;
}

/** What it will be like: what is now, and what the plan changes until then. */
export function foreseen(now: Tables, changes: SeenChange[], at: string): Tables {
  const tables: Tables = { targets: new Map(now.targets), groups: new Map(now.groups), budgets: new Map(now.budgets) };
  const key = comparable(at);
  for (const change of changes) {
    if (comparable(change.at) > key) break;
    patch(tables, change as unknown as Change);
  }
  return tables;
}

const MOST_NAMED = 4;

/** A decision in one line: who changed, and to what. */
export function sentence(decision: Decision, words: string[] = []): string {
  const all = decision.changes.map(sentenceOf).filter((text) => text !== "");
  const sought = words.length === 0 ? [] : all.filter((text) => hasAll(text, words));
  const said = [...sought, ...all.filter((text) => !sought.includes(text))];
  const more = said.length - MOST_NAMED;
  return said.slice(0, MOST_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

export function hasAll(text: string, words: string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function sentenceOf(change: SeenChange): string {
  const row = change.row as unknown as Row | null;
  if (change.table === "targets") {
    const { deployment, resource } = partsOf(change.name);
    if (row === null) return `${deployment} on ${resource} is gone`;
    const target = row as SeenTarget;
    const version = target.job?.version ?? target.current;
    const why = target.reason === null ? "" : ` (${spaced(target.reason).toLowerCase()})`;
    return `${deployment} on ${resource} ${PHASES[target.state].word}${version ? ` ${version}` : ""}${why}`;
  }
  if (change.table === "groups") {
    return row === null ? "" : `cycle on ${(row as SeenGroup).resource} ${spaced((row as SeenGroup).status)}`;
  }
  const budget = row as SeenBudget | null;
  return budget === null ? "" : `${budget.rule}: ${budget.used} of ${budget.limit}`;
}

/** Names of targets are made of three; resources may have slashes. */
export function partsOf(name: string): { deployment: string; environment: string; resource: string } {
  const [deployment = "", environment = "", ...rest] = name.split("/");
  return { deployment, environment, resource: rest.join("/") };
}

export interface Point {
  at: number;
  used: number;
  limit: number;
}

/** How full a budget was and will be, step by step. */
export function usesOf(changes: SeenChange[], name: string): Point[] {
  return changes
    .filter((change) => change.table === "budgets" && change.name === name && change.row !== null)
    .map((change) => {
      const budget = change.row as unknown as SeenBudget;
      return { at: Date.parse(change.at), used: budget.used, limit: budget.limit };
    });
}

/** Where something runs, whatever it is. */
export function placeOf({ environment, resource }: { environment: string; resource: string }): string {
  return `${environment}/${resource}`;
}

/** Targets and cycles at these places alone; limits are everybody's. */
export function scoped(tables: Tables, places: ReadonlySet<string>): Tables {
  return {
    targets: new Map([...tables.targets].filter(([name]) => places.has(placeOf(partsOf(name))))),
    groups: new Map([...tables.groups].filter(([, group]) => places.has(placeOf(group)))),
    budgets: tables.budgets,
  };
}

/** As it stands in an address: a whole millisecond, so that what happens within it has happened. */
export function written(moment: number): string {
  return new Date(moment).toISOString().replace(/Z$/, "999Z");
}

export interface Wave {
  from: number;
  resources: string[];
}

/** Resources that start within the same second after a moment are one wave. */
export function wavesAfter(jobs: PlannedJob[], moment: number): Wave[] {
  const ahead = jobs.filter((job) => job.from >= moment).sort((a, b) => a.from - b.from);
  const found: Wave[] = [];
  for (const { target, from } of ahead) {
    const { resource } = partsOf(target);
    const last = found.at(-1);
    if (last === undefined || Math.floor(last.from / 1000) !== Math.floor(from / 1000)) found.push({ from, resources: [resource] });
    else if (!last.resources.includes(resource)) last.resources.push(resource);
  }
  return found;
}

export interface PlannedJob {
  target: string;
  version: string;
  from: number;
  till: number | null;
}

/** Jobs that a plan sees begin and end. */
export function plannedJobs(changes: SeenChange[]): PlannedJob[] {
  const found: PlannedJob[] = [];
  const open = new Map<string, PlannedJob & { id: string }>();
  for (const change of changes) {
    if (change.table !== "targets") continue;
    const job = (change.row as unknown as SeenTarget | null)?.job ?? null;
    const known = open.get(change.name);
    if (known !== undefined && known.id !== job?.id) {
      known.till = Date.parse(change.at);
      open.delete(change.name);
    }
    if (job !== null && !open.has(change.name)) {
      const begun = { target: change.name, version: job.version, from: Date.parse(change.at), till: null, id: job.id };
      open.set(change.name, begun);
      found.push(begun);
    }
  }
  return found;
}
