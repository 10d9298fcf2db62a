// How full a limit was and will be, step by step, under its limit.
import type { ReactNode } from "react";
import * as clock from "../clock";
import { type Point, shareOf, type Span } from "../time/moments";

const WIDTH = 1000;
const HEIGHT = 70;

/** Corners of a line that stays as it is until it changes. */
export function steps(points: Point[], span: Span, height: (value: number) => number, value: (point: Point) => number): string {
  const x = (at: number): string => (shareOf(span, at) * WIDTH).toFixed(1);
  let line = "";
  let last: number | undefined;
  for (const point of points) {
    const y = height(value(point));
    if (last === undefined) line = `M0 ${y.toFixed(1)}`;
    else if (y !== last) line += `H${x(point.at)}V${y.toFixed(1)}`;
    last = y;
  }
  return line === "" ? "" : `${line}H${WIDTH}`;
}

export function Usage({ points, span, at, label }: { points: Point[]; span: Span; at: number | null; label: string }): ReactNode {
  if (points.length === 0) return null;
  const most = Math.max(1, ...points.map((point) => Math.max(point.used, point.limit)));
  const height = (value: number): number => HEIGHT - 6 - ((HEIGHT - 16) * value) / most;
  const used = steps(points, span, height, (point) => point.used);
  const now = shareOf(span, span.now) * WIDTH;
  const x = (share: number): string => `${(share * 100).toFixed(1)}%`;
  const nowAt = shareOf(span, span.now);
  const limit = points.at(-1)?.limit ?? 0;
  const top = (value: number): string => `${((100 * height(value)) / HEIGHT).toFixed(1)}%`;
  return (
    <div className="usagechart">
      <div className="yaxis" aria-hidden="true">
        <span style={{ top: top(limit) }}>{limit}</span>
        <span style={{ top: top(0) }}>0</span>
      </div>
      <svg className="usage" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {now < WIDTH && <rect className="will" x={now} y={0} width={WIDTH - now} height={HEIGHT} />}
        <path className="used" d={`${used}V${height(0)}H0Z`} />
        <path className="limit" d={steps(points, span, height, (point) => point.limit)} />
        <path className="axis" d={`M0 0V${height(0)}H${WIDTH}`} />
        {at !== null && <line x1={shareOf(span, at) * WIDTH} x2={shareOf(span, at) * WIDTH} y1={0} y2={HEIGHT} />}
      </svg>
      <div className="xaxis" aria-hidden="true">
        <span style={{ left: 0 }}>{clock.tick(span.from, span.until - span.from)}</span>
        <span className={nowAt < 1 ? "middle" : "last"} style={nowAt < 1 ? { left: x(nowAt) } : {}}>
          now
        </span>
        {nowAt < 1 && <span className="last">{clock.tick(span.until, span.until - span.from)}</span>}
      </div>
    </div>
  );
}
