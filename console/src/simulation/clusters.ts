// Pods of sets and objects of graphs as rows of a chart: a bar a revision, and in which state it was.
import type { ChartBar, ChartRow } from "../chart/paint";
import { hue } from "../ui/colours";
import type { ObjectRow, PodRow, SimulatedGraph, SimulatedWorkload } from "./data";

type Clock = (at: number | null) => string;

/** One row a place, under its replica and group; pods that follow each other in a place are bars of its row. */
export function podRows(workload: SimulatedWorkload, replica: string, end: number, clock: Clock): ChartRow[] {
  const pods = workload.rows.map((): PodRow[] => []);
  for (const pod of workload.pods) pods[pod[0]]?.push(pod);
  const rows: ChartRow[] = [];
  let last: [number, string | null] | undefined;
  workload.rows.forEach(([number, group, clique, index, isSurge], place) => {
    if (replica !== "" && String(number) !== replica) return;
    if (last?.[0] !== number) rows.push({ label: `${workload.name} ${number}`, bars: [], isHeading: true });
    if (group && (last?.[0] !== number || last[1] !== group)) rows.push({ label: group, bars: [], isHeading: true, level: 1 });
    last = [number, group];
    const bars = (pods[place] ?? []).flatMap((pod) => podBars(pod, isSurge, end, clock));
    rows.push({ label: `${clique} ${index}${isSurge ? " surge" : ""}`, level: group ? 2 : 1, bars, isShaded: isSurge });
  });
  return rows;
}

function podBars([, name, revision, created, scheduled, ready, deleted, gone]: PodRow, isSurge: boolean, end: number, clock: Clock): ChartBar[] {
  const until = deleted ?? gone ?? end;
  const after = deleted === null ? "" : `, deleted ${clock(deleted)}, gone ${clock(gone)}`;
  const title =
    `${name}${isSurge ? " (surge)" : ""}, revision ${revision}: created ${clock(created)}, bound ${clock(scheduled) || "never"}, ` +
    `ready ${clock(ready[0]?.[0] ?? null) || "never"}${after}`;
  const bars: ChartBar[] = [];
  const add = (from: number, till: number, look: NonNullable<ChartBar["look"]>): void => {
    if (till > from) bars.push({ id: `${name} ${from} ${look}`, from, till, paint: look === "thin" ? "quiet" : hue(revision), look, text: `r${revision}`, title });
  };
  add(created, scheduled ?? until, "outline");
  let since = scheduled;
  for (const [from, till] of scheduled === null ? [] : ready) {
    if (since !== null) add(since, from, "stripes");
    add(from, till ?? until, "solid");
    since = till;
  }
  if (since !== null) add(since, until, "stripes");
  if (deleted !== null) add(deleted, gone ?? end, "thin");
  return bars;
}

/** One row an object, under its node; where it is not ready it is pale. */
export function objectRows(graph: SimulatedGraph, end: number, clock: Clock): ChartRow[] {
  const rows: ChartRow[] = [];
  let node: string | undefined;
  for (const row of graph.rows) {
    if (row[0] !== node) rows.push({ label: row[0], bars: [], isHeading: true });
    node = row[0];
    rows.push({ label: row[1], level: 1, bars: objectBars(row, end, clock) });
  }
  return rows;
}

function objectBars([, name, writes, unready, deleted]: ObjectRow, end: number, clock: Clock): ChartBar[] {
  const till = deleted ?? end;
  return writes.flatMap(([from, revision], index) => {
    const next = writes[index + 1]?.[0] ?? till;
    const cuts = unready.map(([since, until]) => [Math.max(since, from), Math.min(until ?? till, next)] as const).filter(([low, high]) => low < high);
    const bars: ChartBar[] = [];
    const add = (low: number, high: number, isReady: boolean): void => {
      const said = isReady ? `written ${clock(from)}` : `not ready from ${clock(low)} to ${clock(high)}`;
      const title = `${name}, revision ${revision}: ${said}`;
      if (high > low) bars.push({ id: `${name} ${low} ${isReady}`, from: low, till: high, paint: hue(revision, !isReady), ...(isReady ? { text: `r${revision}` } : {}), title });
    };
    let since = from;
    for (const [low, high] of cuts) {
      add(since, low, true);
      add(low, high, false);
      since = high;
    }
    add(since, next, true);
    return bars;
  });
}

/** Of each node, how many of its objects are at which revision. */
export function revisionsOf(graph: SimulatedGraph, node: string): string {
  const counts = new Map<number, number>();
  for (const [own, , writes, , deleted] of graph.rows) {
    const revision = writes.at(-1)?.[1];
    if (own === node && deleted === null && revision !== undefined) counts.set(revision, (counts.get(revision) ?? 0) + 1);
  }
  if (counts.size === 0) return "no object of its own";
  return [...counts].sort(([a], [b]) => a - b).map(([revision, count]) => `${count} at r${revision}`).join(", ");
}
