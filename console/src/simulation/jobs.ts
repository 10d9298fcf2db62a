// Jobs of a simulation as rows of a chart: a row a resource, behind them the cycles that they belong to.
import type { ChartBar, ChartRow, Phase } from "../chart/paint";
import { hue } from "../ui/colours";
import { jobTone, length, spaced } from "../words";
import type { JobRow, Simulation, SimulatedGroup } from "./data";

export interface Wanted {
  filter: string;
  colour: string;
  order: string;
}

const GROUP_PAINTS: Record<string, string> = { collecting: "quiet", ready: "wait-bar", queued: "wait-bar", executing: "busy", failed: "bad" };

export function isBad([, , , status]: JobRow): boolean {
  return jobTone(status) === "bad";
}

export function jobRows(data: Simulation, clock: (at: number | null) => string, { filter, colour, order }: Wanted): ChartRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text: string): boolean => words.every((word) => text.includes(word));
  const jobs = data.resources.map((): JobRow[] => []);
  for (const job of data.jobs) jobs[job[0]]?.push(job);
  const groups = data.resources.map((): SimulatedGroup[] => []);
  for (const group of data.groups) groups[group.row]?.push(group);
  const rows = data.resources.flatMap((resource, index) => {
    const all = jobs[index] ?? [];
    const isWanted = fits(resource.toLowerCase());
    const shown = all.filter((job) => fits(wordsOf(data, job)));
    if (shown.length === 0 && !isWanted) return [];
    const bars = all.map((job, number): ChartBar => ({ ...barOf(data, job, clock, colour), id: `${index} ${number}`, isFaint: shown.length > 0 && !shown.includes(job) }));
    return [{ label: resource, bars, phases: (groups[index] ?? []).flatMap((group) => phasesOf(group, data.end)) }];
  });
  const first = (row: ChartRow): number => row.bars.reduce((least, bar) => Math.min(least, bar.from), Infinity);
  return order === "first start" ? rows.sort((a, b) => first(a) - first(b)) : rows;
}

function wordsOf(data: Simulation, [row, deployment, tag, status, , , kind, , , , environment]: JobRow): string {
  return `${data.resources[row]} ${data.deployments[deployment]} ${tag} ${status} ${kind} ${environment}`.toLowerCase();
}

function barOf(data: Simulation, job: JobRow, clock: (at: number | null) => string, colour: string): ChartBar {
  const [row, deployment, tag, status, start, stop, kind, attempt, group, message, environment] = job;
  const till = stop ?? Math.max(data.end, start);
  const tone = jobTone(status);
  const name = `${data.deployments[deployment]} ${tag}`;
  const details = [
    `${data.resources[row]} in ${environment}`,
    `${spaced(status)}${kind === "deploy" ? "" : `, ${kind}`}${attempt > 1 ? `, attempt ${attempt}` : ""}`,
    `${clock(start)} to ${stop === null ? "still running" : clock(stop)} (${length(Math.round((till - start) / 1000))})`,
    message,
    group < 0 ? "" : `cycle of ${data.groups[group]?.policy}: ${spaced(data.groups[group]?.status ?? "")}`,
  ];
  return {
    id: "",
    from: start,
    till,
    paint: colour === "outcome" ? (tone === "wait" ? "wait-bar" : tone) : hue(deployment),
    isBad: tone === "bad",
    text: name,
    title: `${name} · ${details.filter(Boolean).join(" · ")}`,
  };
}

function phasesOf(group: SimulatedGroup, end: number): Phase[] {
  return group.history.flatMap(([from, status], index) => {
    const paint = GROUP_PAINTS[status];
    return paint === undefined ? [] : [{ from, till: group.history[index + 1]?.[0] ?? end, paint, isLow: status === "collecting" }];
  });
}
