// Who is busy when, in a simulated future: one row a deployment and environment.
import type { ReactNode } from "react";
import { length, plural } from "../words";
import type { PlanRow } from "./planning";

const MOST = 12;

/** `scale` makes two plans comparable: both are drawn over the longer of their times. */
export function PlanBars({ rows, scale }: { rows: PlanRow[]; scale?: number }): ReactNode {
  const own = Math.max(1, ...rows.flatMap((row) => row.spans.map(([, until]) => until)));
  const whole = Math.max(1, scale ?? own);
  return (
    <div className="planbars" role="list" aria-label="Who is busy when">
      {rows.slice(0, MOST).map((row) => {
        const first = row.spans[0]?.[0] ?? 0;
        const last = row.spans.at(-1)?.[1] ?? 0;
        const says = `${plural(row.count, "job")} from ${length(Math.round(first / 1000))} to ${length(Math.round(last / 1000))} from now`;
        return (
          <div key={row.name} role="listitem" className="planrow" title={says}>
            <span className="planname">{row.name}</span>
            <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
              {row.spans.slice(0, 200).map(([since, until]) => (
                <rect key={since} x={(1000 * since) / whole} y="0" width={Math.max(3, (1000 * (until - since)) / whole)} height="10" />
              ))}
            </svg>
            <span className="figures soft">{row.count}</span>
            <span className="hidden">{says}</span>
          </div>
        );
      })}
      <div className="planrow soft" aria-hidden="true">
        <span />
        <span className="planscale">
          <span>now</span>
          {whole >= 1000 && <span>in {length(Math.round(whole / 1000))}</span>}
        </span>
        <span className="figures">jobs</span>
      </div>
      {rows.length > MOST && <p className="soft">and {rows.length - MOST} more</p>}
    </div>
  );
}
