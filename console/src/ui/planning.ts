// A plan as figures: how much, until when, what is left, and who is busy when.
import type { PlanResult } from "../api/types";
import { partsOf, placeOf } from "../time/moments";
import { firstLine } from "../words";
import type { PlanWish } from "./plan";

interface Where {
  deployment: string;
  environment: string;
  resource: string;
}

export type Concerned = (target: Where) => boolean;

/** A target that the act itself moves, and to which version. */
export interface Move extends Where {
  version: string;
}

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
  moves: Move[];
  /** Milliseconds from the start to the last end. */
  length: number;
}

interface PlannedJob extends Where {
  version: string;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
}

/** Whom an act names; undefined where it may reach anybody. A whole environment that goes back takes others along, and a
 * vote lets a version on to the environments after it. */
export function concernedBy(wish: PlanWish): Concerned | undefined {
  if (wish.manifests || wish.version || wish.deletions || wish.groups || wish.endedSkips) return undefined;
  if (wish.orders?.some((order) => order.resources === undefined)) return undefined;
  const named = [
    ...(wish.orders ?? []),
    ...(wish.approvals ?? []).map(({ deployment }) => ({ deployment })),
    ...(wish.statuses ?? []),
    ...(wish.skips ?? []).map((skip) => ({ ...skip, resources: skip["resource"] ? [skip["resource"]] : [] })),
  ] as { deployment?: string; environment?: string; resources?: string[] }[];
  const isOf = (wanted: string | undefined, name: string): boolean => !wanted || wanted === name;
  return (target) =>
    named.some(
      (one) =>
        isOf(one.deployment, target.deployment) &&
        isOf(one.environment, target.environment) &&
        (!one.resources?.length || one.resources.includes(target.resource)),
    );
}

/** Of the whole plan, or of those whom an act names and of what is run on their resources for it, such as hooks. */
export function summary(plan: PlanResult, concerned?: Concerned): PlanSummary {
  const everything = plan.jobs as unknown as PlannedJob[];
  const own = concerned === undefined ? [] : everything.filter(concerned);
  const places = new Set(own.map(placeOf));
  const jobs = concerned === undefined ? everything : everything.filter((job) => places.has(placeOf(job)));
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
  const finish = plan.finish as { at?: string | null; wasCut?: boolean; waiting?: { target?: string; reason?: string }[] };
  const waiting = (finish.waiting ?? []).filter((one) => concerned === undefined || one.target === undefined || concerned(partsOf(one.target)));
  return {
    jobs: jobs.length,
    targets: targets.size,
    finish: concerned === undefined ? (finish.at ?? null) : lastEnd(jobs),
    wasCut: finish.wasCut ?? false,
    waiting: grouped(waiting.map((one) => firstLine(one.reason ?? ""))),
    bars,
    moves: [...new Map((concerned === undefined ? everything : own).map((job) => [`${placeOf(job)}/${job.deployment}`, job])).values()],
    length: Math.max(0, ...bars.flatMap((row) => row.spans.map(([, until]) => until))),
  };
}

/** How many acts a wish has; each is refused or not. */
function actsOf({ manifests, version, deletions, orders, groups, statuses, approvals, skips, endedSkips }: PlanWish): number {
  return [manifests, deletions, orders, groups, statuses, approvals, skips, endedSkips].reduce((sum, some) => sum + (some?.length ?? 0), version ? 1 : 0);
}

/** Whether nothing of what is wished can be done: the plan is one of what happens without it. */
export function isRefused(wish: PlanWish, plan: Pick<PlanResult, "rejected">): boolean {
  return plan.rejected.length > 0 && plan.rejected.length >= actsOf(wish);
}

/** Targets that a plan brings to a version that they do not run. */
export function broughtTo(plan: Pick<PlanResult, "jobs">, deployment: string, tag: string, currentOf: (name: string) => string | null): string[] {
  const jobs = (plan.jobs as unknown as PlannedJob[]).filter((job) => job.deployment === deployment && job.version === tag);
  const names = new Set(jobs.map((job) => `${job.deployment}/${placeOf(job)}`));
  return [...names].filter((name) => currentOf(name) !== tag);
}

/** Null while one of them has no end. */
function lastEnd(jobs: PlannedJob[]): string | null {
  const ends = jobs.map((job) => job.completedAt);
  return ends.includes(null) ? null : ((ends as string[]).sort().at(-1) ?? null);
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
