// A plan as figures: how much, until when, what is left, and who is busy when.
import type { PlanResult } from "../api/types";

export interface PlanRow {
  name: string;
  count: number;
  /** Milliseconds since the plan's start. */
  spans: [number, number][];
}

export interface PlanSummary {
  jobs: number;
  targets: number;
  finish: string | null;
  wasCut: boolean;
  waiting: { reason: string; count: number }[];
  bars: PlanRow[];
  /** Milliseconds from the start to the last end. */
  length: number;
}

interface PlannedJob {
  deployment: string;
  environment: string;
  resource: string;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
}

export function summary(plan: PlanResult): PlanSummary {
  const jobs = plan.jobs as unknown as PlannedJob[];
  const start = Date.parse(plan.start);
  const end = Date.parse(plan.end);
  const rows = new Map<string, PlanRow>();
  const targets = new Set<string>();
  for (const job of jobs) {
    const name = `${job.deployment} in ${job.environment}`;
    targets.add(`${name} on ${job.resource}`);
    const row = rows.get(name) ?? { name, count: 0, spans: [] };
    const since = Math.max(0, Date.parse(job.startedAt ?? job.createdAt) - start);
    const until = job.completedAt === null ? end - start : Math.max(since, Date.parse(job.completedAt) - start);
    row.count += 1;
    row.spans.push([since, until]);
    rows.set(name, row);
  }
  const bars = [...rows.values()].map((row) => ({ ...row, spans: merged(row.spans) }));
  bars.sort((a, b) => (a.spans[0]?.[0] ?? 0) - (b.spans[0]?.[0] ?? 0) || a.name.localeCompare(b.name));
  const finish = plan.finish as { at?: string | null; wasCut?: boolean; waiting?: { reason?: string }[] };
  return {
    jobs: jobs.length,
    targets: targets.size,
    finish: finish.at ?? null,
    wasCut: finish.wasCut ?? false,
    waiting: grouped((finish.waiting ?? []).map((one) => one.reason ?? "")),
    bars,
    length: Math.max(0, ...bars.flatMap((row) => row.spans.map(([, until]) => until))),
  };
}

/** Spans that touch become one, so that ten thousand jobs are a few bars. */
export function merged(spans: [number, number][]): [number, number][] {
  const sorted = [...spans].sort((a, b) => a[0] - b[0]);
  const found: [number, number][] = [];
  for (const [since, until] of sorted) {
    const last = found.at(-1);
    if (last !== undefined && since <= last[1]) last[1] = Math.max(last[1], until);
    else found.push([since, until]);
  }
  return found;
}

function grouped(reasons: string[]): { reason: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count);
}
