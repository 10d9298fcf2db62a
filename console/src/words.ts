// The words and signs of the phases: the same everywhere, never a colour alone.
import type { State } from "./api/types";

export interface Phase {
  word: string;
  sign: string;
  tone: "good" | "busy" | "wait" | "bad" | "quiet";
}

export const PHASES: Record<State, Phase> = {
  upToDate: { word: "up to date", sign: "✓", tone: "good" },
  running: { word: "running", sign: "▶", tone: "busy" },
  verifying: { word: "verifying", sign: "◉", tone: "busy" },
  waiting: { word: "waiting", sign: "○", tone: "wait" },
  rollingBack: { word: "rolling back", sign: "↶", tone: "bad" },
  rolledBack: { word: "rolled back", sign: "↩", tone: "bad" },
  failed: { word: "failed", sign: "✕", tone: "bad" },
  frozen: { word: "frozen", sign: "‖", tone: "quiet" },
  noVersion: { word: "no version", sign: "–", tone: "quiet" },
};

/** A job is at it: what it is said to wait for is the job's end. */
export function isUnderWay(state: State): boolean {
  return state === "running" || state === "rollingBack";
}

export const STATES = Object.keys(PHASES) as State[];

export type StateCounts = Record<State, number>;

export function countStates(targets: Iterable<{ state: State }>): StateCounts {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as StateCounts;
  for (const { state } of targets) counts[state] += 1;
  return counts;
}

/** Nothing is under way, held or left behind. */
export function isDone(counts: StateCounts): boolean {
  return counts.waiting + counts.running + counts.verifying + counts.rollingBack + counts.rolledBack + counts.failed + counts.frozen === 0;
}

export interface Part {
  tone: Phase["tone"];
  count: number;
  word: string;
}

/** How far it is, in the parts of a bar. */
export function parts(counts: StateCounts): Part[] {
  return [
    { tone: "good", count: counts.upToDate, word: "up to date" },
    { tone: "busy", count: counts.running + counts.verifying, word: "running" },
    { tone: "wait", count: counts.waiting, word: "waiting" },
    { tone: "bad", count: counts.failed + counts.rollingBack + counts.rolledBack, word: "failed or rolled back" },
    { tone: "quiet", count: counts.frozen, word: "frozen" },
    { tone: "quiet", count: counts.noVersion, word: "without a version" },
  ];
}

const JOB_TONES: Record<string, Phase["tone"]> = {
  successful: "good",
  inProgress: "busy",
  pending: "wait",
  queued: "wait",
  actionRequired: "wait",
  skipped: "quiet",
  cancelled: "quiet",
};

export function jobTone(status: string): Phase["tone"] {
  return JOB_TONES[status] ?? "bad";
}

const JOB_SIGNS: Record<Phase["tone"], string> = { good: "✓", busy: "▶", wait: "○", bad: "✕", quiet: "–" };

/** The signs of the phases. */
export function jobSign(status: string): string {
  return JOB_SIGNS[jobTone(status)];
}

export const DEFAULT_WORKSPACE = "default";

/** A command as it must be typed to mean this workspace; what is no command of the service's stays as it is. */
export function inWorkspace(command: string, workspace: string | undefined): string {
  if (workspace === undefined || workspace === DEFAULT_WORKSPACE) return command;
  if (!/^headgate (?!simulate\b|console\b)/.test(command) || / --workspace\b/.test(command)) return command;
  const name = /^[\w.-]+$/.test(workspace) ? workspace : `'${workspace.replaceAll("'", `'\\''`)}'`;
  return `${command} --workspace ${name}`;
}

/** "inProgress" as people read it. */
export function spaced(word: string): string {
  return word.replace(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`);
}

/** Of what a job printed, as much as a list has room for. */
export function firstLine(text: string, most = 200): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > most || line.length < text.trim().length ? `${line.slice(0, most)} …` : line;
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString()} ${count === 1 ? noun : several(noun)}`;
}

/** "policies", "agents". */
export function several(noun: string): string {
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** "3 min ago", "in 2 h": how far a moment is, in one unit or two. */
export function relative(at: number, now: number): string {
  const seconds = Math.round(Math.abs(now - at) / 1000);
  const text = length(seconds);
  if (seconds < 1) return "now";
  return at <= now ? `${text} ago` : `in ${text}`;
}

export function length(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return minutes < 3 && seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return hours < 10 && minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} days`;
}
