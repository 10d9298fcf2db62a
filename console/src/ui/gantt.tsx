// Jobs over time, a row a resource.
import { type ReactNode, useMemo } from "react";
import type { Job } from "../api/types";
import { go, to } from "../router";
import { jobTone, length, spaced } from "../words";
import { useNow } from "./parts";

const ROW = 20;
const NAMES = 150;
const WIDTH = 1000;
const MOST_ROWS = 400;

interface Span {
  job: Job;
  from: number;
  till: number;
}

export function spans(jobs: Job[], now: number): { rows: [string, Span[]][]; from: number; till: number } {
  const rows = new Map<string, Span[]>();
  let from = Infinity;
  let till = -Infinity;
  for (const job of jobs) {
    const begun = Date.parse(job.startedAt ?? job.createdAt);
    const ended = job.completedAt === null ? now : Date.parse(job.completedAt);
    const row = `${job.environment}/${job.resource}`;
    rows.set(row, [...(rows.get(row) ?? []), { job, from: begun, till: Math.max(ended, begun) }]);
    from = Math.min(from, begun);
    till = Math.max(till, ended);
  }
  const first = (one: Span[]): number => Math.min(...one.map((span) => span.from));
  const sorted = [...rows].sort(([, a], [, b]) => first(a) - first(b));
  return { rows: sorted, from, till: Math.max(till, from + 1000) };
}

export function Gantt({ jobs }: { jobs: Job[] }): ReactNode {
  const now = useNow();
  const isOver = jobs.every((job) => job.completedAt !== null);
  const { rows, from, till } = useMemo(() => spans(jobs, isOver ? 0 : now), [jobs, isOver, isOver ? 0 : now]);
  if (jobs.length === 0) return <p className="soft">No job has begun.</p>;
  const shown = rows.slice(0, MOST_ROWS);
  const x = (at: number): number => NAMES + ((WIDTH - NAMES - 8) * (at - from)) / (till - from);
  const height = (shown.length + 1) * ROW;
  return (
    <>
      <div className="scroll">
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
                {name.length > 24 ? `${name.slice(0, 23)}…` : name}
              </text>
              {row.map(({ job, from: begun, till: ended }) => (
                <rect
                  key={job.id}
                  className={jobTone(job.status)}
                  x={x(begun)}
                  y={(index + 1) * ROW + 3}
                  width={Math.max(2, x(ended) - x(begun))}
                  height={ROW - 6}
                  rx={3}
                  onClick={() => go(to("targets", job.deployment, job.environment, job.resource))}
                >
                  <title>{`${job.deployment} ${job.version} on ${job.resource}: ${spaced(job.status)}${job.message ? `, ${job.message}` : ""}`}</title>
                </rect>
              ))}
            </g>
          ))}
        </svg>
      </div>
      {rows.length > shown.length && <p className="soft">{rows.length - shown.length} more resources are not drawn.</p>}
    </>
  );
}
