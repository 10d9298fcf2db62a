// The part of a time that is looked at: nearer, further, earlier, later. Milliseconds; no page and no clock in here.

export interface Window {
  from: number;
  till: number;
}

const NARROWEST_MS = 2_000;

/** Within the whole, and never so narrow that nothing is seen. */
export function bounded(whole: Window, wanted: Window): Window {
  const all = Math.max(whole.till - whole.from, NARROWEST_MS);
  const width = Math.min(Math.max(wanted.till - wanted.from, NARROWEST_MS), all);
  const from = Math.min(Math.max((wanted.from + wanted.till - width) / 2, whole.from), whole.from + all - width);
  return { from, till: from + width };
}

/** A factor below 1 goes nearer; the moment `around` stays where it is. */
export function zoomed(whole: Window, now: Window, factor: number, around = (now.from + now.till) / 2): Window {
  return bounded(whole, { from: around - (around - now.from) * factor, till: around + (now.till - around) * factor });
}

export function shifted(whole: Window, now: Window, share: number): Window {
  const by = (now.till - now.from) * share;
  return bounded(whole, { from: now.from + by, till: now.till + by });
}

export function isWhole(whole: Window, now: Window): boolean {
  return now.from <= whole.from && now.till >= whole.till;
}

const SECOND = 1_000;
const STEPS = [1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 2_419_200].map((seconds) => seconds * SECOND);

/** Round moments, at most so many; round by a clock that is so far ahead of UTC. */
export function ticks(now: Window, most: number, ahead = 0): number[] {
  const step = STEPS.find((size) => (now.till - now.from) / size <= most) ?? (STEPS.at(-1) as number) * 2;
  const found: number[] = [];
  for (let at = Math.ceil((now.from + ahead) / step) * step - ahead; at <= now.till; at += step) found.push(at);
  return found;
}

/** How many run at once, in so many equal parts of the time. */
export function density(spans: Iterable<Window>, whole: Window, count: number): number[] {
  const change = new Array<number>(count + 1).fill(0);
  const place = (at: number): number => Math.min(count, Math.max(0, ((at - whole.from) / Math.max(1, whole.till - whole.from)) * count));
  for (const span of spans) {
    const first = Math.min(count - 1, Math.floor(place(span.from)));
    const last = Math.max(first + 1, Math.floor(place(span.till)));
    change[first] = (change[first] ?? 0) + 1;
    change[last] = (change[last] ?? 0) - 1;
  }
  let running = 0;
  return change.slice(0, count).map((by) => (running += by));
}

/** What lies at the same time lies in lanes below each other: the lane of each, and how many there are. */
export function lanesOf(spans: Window[]): { lanes: number[]; count: number } {
  const order = spans.map((_, index) => index).sort((a, b) => (spans[a] as Window).from - (spans[b] as Window).from);
  const free: number[] = [];
  const lanes = new Array<number>(spans.length).fill(0);
  for (const index of order) {
    const span = spans[index] as Window;
    let lane = free.findIndex((end) => end <= span.from);
    if (lane < 0) lane = free.length;
    free[lane] = Math.max(span.till, span.from + 1);
    lanes[index] = lane;
  }
  return { lanes, count: Math.max(1, free.length) };
}
