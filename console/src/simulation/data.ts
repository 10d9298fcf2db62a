// What a simulation's page is given: names once, meant by their number, and moments in milliseconds.

export type Moment = number | null;

export type JobRow = [
  row: number,
  deployment: number,
  tag: string,
  status: string,
  start: number,
  stop: Moment,
  kind: string,
  attempt: number,
  group: number,
  message: string,
  environment: string,
];

export interface SimulatedGroup {
  row: number;
  policy: string;
  status: string;
  history: [at: number, status: string][];
  members: [deployment: string, role: string, version: string | null, state: string][];
  locked: Moment;
  started: Moment;
  completed: Moment;
}

export interface SimulatedBudget {
  label: string;
  scope: string;
  limit: number;
  peak: number;
  peakAt: Moment;
  series: [at: number, used: number, limit: number][];
}

export type PodRow = [row: number, name: string, revision: number, created: number, scheduled: Moment, ready: [number, Moment][], deleted: Moment, gone: Moment];

export interface SimulatedWorkload {
  name: string;
  revisions: number;
  rows: [replica: number, group: string | null, clique: string, index: number, isSurge: boolean][];
  pods: PodRow[];
}

export type ObjectRow = [node: string, name: string, writes: [at: number, revision: number][], unready: [number, Moment][], deleted: Moment];

export interface SimulatedGraph {
  name: string;
  revisions: number;
  edges: Record<string, string[]>;
  rows: ObjectRow[];
}

export type Said = [at: number, what: string, text: string];

export interface Simulation {
  scenario: string;
  seed: number;
  start: number;
  end: number;
  converged: boolean;
  wasCut: boolean;
  resources: string[];
  deployments: string[];
  jobs: JobRow[];
  groups: SimulatedGroup[];
  budgets: SimulatedBudget[];
  workloads: SimulatedWorkload[];
  graphs: SimulatedGraph[];
  workloadBudgets: [kind: string, scope: string, peak: number, limit: number][];
  steps: Said[];
  waiting: [target: string, state: string, reason: string][];
  rejected: Said[];
  warnings: Said[];
  violations: Said[];
  expectations: [passed: boolean, name: string, message: string][];
}

const DAY = 86_400_000;
const two = (number: number): string => String(number).padStart(2, "0");

/** "Day 2 09:30": a simulation has days of its own, in UTC. */
export function clockOf(start: number): (at: Moment) => string {
  const first = Math.floor(start / DAY);
  return (at) => {
    if (at === null) return "";
    const moment = new Date(at);
    const seconds = moment.getUTCSeconds() ? `:${two(moment.getUTCSeconds())}` : "";
    return `Day ${Math.floor(at / DAY) - first + 1} ${two(moment.getUTCHours())}:${two(moment.getUTCMinutes())}${seconds}`;
  };
}

export function stamp(at: number): string {
  return `${new Date(at).toISOString().replace("T", " ").replace(/:00\.000Z|\.000Z/, "")} UTC`;
}

/** The whole run, with room for what goes on after its end. */
export function wholeOf({ start, end }: Simulation): { from: number; till: number } {
  return { from: start, till: end + Math.max((end - start) * 0.02, 20_000) };
}
