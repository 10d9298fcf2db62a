// Jobs over time, a row a resource: those that were, and shaded those that a plan expects.
import { type ReactNode, useMemo } from "react";
import type { Job } from "../api/types";
import { tick } from "../clock";
import { useAddressedWindow } from "../chart/addressed";
import type { ChartRow } from "../chart/paint";
import { TimeChart } from "../chart/timechart";
import type { Window } from "../chart/window";
import { go, to } from "../router";
import { partsOf, type PlannedJob } from "../time/moments";
import { jobTone, length, type Phase, spaced } from "../words";
import { useNow } from "./parts";

const FIT_ROWS = 100;

interface Span extends Window {
  id: string;
  target: string;
  tone: Phase["tone"] | "planned";
  text: string;
  title: string;
}

export interface Chart extends Window {
  rows: [string, Span[]][];
}

export function spans(jobs: Job[], now: number, planned: PlannedJob[] = []): Chart {
  const rows = new Map<string, Span[]>();
  let from = Infinity;
  let till = -Infinity;
  const add = (row: string, span: Span): void => {
    const known = rows.get(row);
    if (known === undefined) rows.set(row, [span]);
    else known.push(span);
    from = Math.min(from, span.from);
    till = Math.max(till, span.till);
  };
  for (const job of jobs) {
    const begun = Date.parse(job.startedAt ?? job.createdAt);
    const ended = job.completedAt === null ? now : Date.parse(job.completedAt);
    const took = job.completedAt === null ? "" : ` after ${length(Math.round((ended - begun) / 1000))}`;
    add(`${job.environment}/${job.resource}`, {
      id: job.id,
      target: `${job.deployment}/${job.environment}/${job.resource}`,
      from: begun,
      till: Math.max(ended, begun),
      tone: jobTone(job.status),
      text: job.version,
      title: `${job.deployment} ${job.version} on ${job.resource}: ${spaced(job.status)}${took}${job.message ? `, ${job.message}` : ""}`,
    });
  }
  for (const one of planned) {
    const { deployment, environment, resource } = partsOf(one.target);
    add(`${environment}/${resource}`, {
      id: `${one.target} ${one.from}`,
      target: one.target,
      from: one.from,
      till: one.till ?? one.from + 1000,
      tone: "planned",
      text: one.version,
      title: `${deployment} ${one.version} on ${resource}: expected, if nothing else changes`,
    });
  }
  const first = (one: Span[]): number => Math.min(...one.map((span) => span.from));
  const sorted = [...rows].sort(([, a], [, b]) => first(a) - first(b));
  return { rows: sorted, from, till: Math.max(till, from + 1000) };
}

const PAINTS: Record<Span["tone"], string> = { good: "good", busy: "busy", wait: "wait-bar", bad: "bad", quiet: "quiet", planned: "wait-bar" };

function chartRows({ rows }: Chart): ChartRow[] {
  return rows.map(([label, row]) => ({
    label,
    bars: row.map((span) => ({ ...span, paint: PAINTS[span.tone], isBad: span.tone === "bad", ...(span.tone === "planned" ? { look: "planned" as const } : {}) })),
  }));
}

export function Gantt({ jobs, planned = [], at }: { jobs: Job[]; planned?: PlannedJob[]; at?: number | null }): ReactNode {
  const now = useNow();
  const isOver = jobs.every((job) => job.completedAt !== null) && planned.length === 0;
  const chart = useMemo(() => spans(jobs, isOver ? 0 : now, planned), [jobs, planned, isOver, isOver ? 0 : now]);
  const rows = useMemo(() => chartRows(chart), [chart]);
  const [window, setWindow] = useAddressedWindow("zoom");
  const targets = useMemo(() => new Map(chart.rows.flatMap(([, row]) => row.map((span) => [span.id, span.target]))), [chart]);
  if (rows.length === 0) return <p className="soft">No job has begun.</p>;
  return (
    <TimeChart
      label={`${jobs.length} jobs on ${rows.length} resources`}
      rows={rows}
      whole={chart}
      window={window}
      onWindow={setWindow}
      clock={tick}
      ahead={-new Date(now).getTimezoneOffset() * 60_000}
      size={rows.length > FIT_ROWS ? "small" : "normal"}
      lines={{ now: isOver ? undefined : now, here: at ?? undefined }}
      onOpen={(bar) => go(to("targets", ...Object.values(partsOf(targets.get(bar.id) ?? ""))))}
      hint="Point at a bar to see its job, click to open its target. Ctrl with the wheel goes nearer, dragging moves."
    />
  );
}
