// Jobs over time, a row a resource: those that were, and shaded those that a plan expects.
import { type ReactNode, useMemo } from "react";
import type { Job } from "../api/types";
import { go, to } from "../router";
import { partsOf, type PlannedJob } from "../time/moments";
import { jobTone, length, spaced } from "../words";
import { useNow } from "./parts";

const ROW = 20;
const NAMES = 150;
const WIDTH = 1000;
const MOST_ROWS = 400;
const LETTERS = 24;

interface Span {
  id: string;
  target: string;
  from: number;
  till: number;
  tone: string;
  title: string;
}

export interface Chart {
  rows: [string, Span[]][];
  from: number;
  till: number;
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
    add(`${job.environment}/${job.resource}`, {
      id: job.id,
      target: `${job.deployment}/${job.environment}/${job.resource}`,
      from: begun,
      till: Math.max(ended, begun),
      tone: jobTone(job.status),
      title: `${job.deployment} ${job.version} on ${job.resource}: ${spaced(job.status)}${job.message ? `, ${job.message}` : ""}`,
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
      title: `${deployment} ${one.version} on ${resource}: expected, if nothing else changes`,
    });
  }
  const first = (one: Span[]): number => Math.min(...one.map((span) => span.from));
  const sorted = [...rows].sort(([, a], [, b]) => first(a) - first(b));
  return { rows: sorted, from, till: Math.max(till, from + 1000) };
}

export function Gantt({ jobs, planned = [], at }: { jobs: Job[]; planned?: PlannedJob[]; at?: number | null }): ReactNode {
  const now = useNow();
  const isOver = jobs.every((job) => job.completedAt !== null) && planned.length === 0;
  const { rows, from, till } = useMemo(() => spans(jobs, isOver ? 0 : now, planned), [jobs, planned, isOver, isOver ? 0 : now]);
  if (rows.length === 0) return <p className="soft">No job has begun.</p>;
  const shown = rows.slice(0, MOST_ROWS);
  const x = (moment: number): number => NAMES + ((WIDTH - NAMES - 8) * (Math.min(Math.max(moment, from), till) - from)) / (till - from);
  const height = (shown.length + 1) * ROW;
  return (
    <>
      <div className="scroll tall">
        <svg className="gantt" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`${jobs.length} jobs on ${rows.length} resources`}>
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <g key={share}>
              <line x1={x(from + share * (till - from))} x2={x(from + share * (till - from))} y1={ROW - 4} y2={height} />
              <text x={x(from + share * (till - from))} y={12} textAnchor={share === 1 ? "end" : "start"}>
                {share === 0 ? new Date(from).toLocaleTimeString() : `+${length(Math.round((share * (till - from)) / 1000))}`}
              </text>
            </g>
          ))}
          {shown.map(([name, row], index) => (
            <g key={name}>
              <text x={0} y={(index + 1) * ROW + 14}>
                {name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name}
              </text>
              {row.map((span) => (
                <rect
                  key={span.id}
                  className={span.tone}
                  x={x(span.from)}
                  y={(index + 1) * ROW + 3}
                  width={Math.max(2, x(span.till) - x(span.from))}
                  height={ROW - 6}
                  rx={3}
                  onClick={() => go(to("targets", ...Object.values(partsOf(span.target))))}
                >
                  <title>{span.title}</title>
                </rect>
              ))}
            </g>
          ))}
          {!isOver && <line className="now" x1={x(now)} x2={x(now)} y1={ROW - 8} y2={height} />}
          {at != null && <line className="here" x1={x(at)} x2={x(at)} y1={ROW - 8} y2={height} />}
        </svg>
      </div>
      {rows.length > shown.length && <p className="soft">{rows.length - shown.length} more resources are not drawn.</p>}
    </>
  );
}
