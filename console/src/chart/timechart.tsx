// Bars over time, a row a thing: nearer and further, earlier and later, with the mouse and with keys. Jobs of a rollout,
// of a simulation, its pods and objects are all drawn by this.
import { type KeyboardEvent, type PointerEvent, type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { coloursIn, penOf, whenLooksChange } from "../ui/colours";
import { AXIS, type AxisClock, barAt, type ChartBar, type ChartRow, laidOut, type Lines, momentOf, OVERVIEW, paintAxis, paintOverview, paintRows, type Scale, type Size } from "./paint";
import { bounded, isWhole, shifted, type Window, zoomed } from "./window";

interface Properties {
  label: string;
  rows: ChartRow[];
  whole: Window;
  /** What is looked at; null for the whole. */
  window: Window | null;
  onWindow: (window: Window | null) => void;
  clock: AxisClock;
  /** How far that clock is ahead of UTC, in milliseconds. */
  ahead?: number;
  size?: Size;
  lines?: Lines;
  /** Moments at which something was done to all of it. */
  marks?: number[];
  onOpen?: (bar: ChartBar) => void;
  hint?: string;
}

const HIGHEST = 0.62;
const NO_MARKS: number[] = [];
const NO_LINES: Lines = {};

interface Chosen {
  row: number;
  bar: number;
}

export function TimeChart(properties: Properties): ReactNode {
  const { label, rows, whole, onWindow, clock, ahead = 0, size = "normal", lines = NO_LINES, marks = NO_MARKS, onOpen, hint } = properties;
  const window_ = useMemo(() => (properties.window === null ? whole : bounded(whole, properties.window)), [properties.window, whole.from, whole.till]);
  const frame = useRef<HTMLDivElement>(null);
  const bars = useRef<HTMLCanvasElement>(null);
  const axis = useRef<HTMLCanvasElement>(null);
  const overview = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const drag = useRef<{ x: number; window: Window; hasMoved: boolean } | null>(null);
  const layout = useMemo(() => laidOut(rows, size, width, Math.floor(globalThis.innerHeight * HIGHEST)), [rows, size, width]);
  const total = layout.tops.at(-1) ?? 0;
  const height = Math.min(Math.max(total, 24), Math.round(globalThis.innerHeight * HIGHEST));
  const scale: Scale = { window: window_, gutter: layout.gutter, width, ahead };
  const bar = chosen === null ? undefined : rows[chosen.row]?.bars[chosen.bar];

  useEffect(() => {
    const draw = (): void => {
      const box = frame.current;
      if (box === null || bars.current === null || axis.current === null || overview.current === null) return;
      if (box.clientWidth !== width) return setWidth(box.clientWidth);
      const colours = coloursIn(box);
      for (const [canvas, tall, paint] of [
        [bars.current, height, (pen: CanvasRenderingContext2D) => paintRows(pen, colours, layout, scale, box.scrollTop, height, bar?.id ?? null, lines)],
        [axis.current, AXIS, (pen: CanvasRenderingContext2D) => paintAxis(pen, colours, scale, clock, marks)],
        [overview.current, OVERVIEW, (pen: CanvasRenderingContext2D) => paintOverview(pen, colours, rows, whole, scale)],
      ] as const) {
        const pen = penOf(canvas, width, tall);
        pen?.clearRect(0, 0, width, tall);
        if (pen) paint(pen);
      }
    };
    let request = requestAnimationFrame(draw);
    const soon = (): void => {
      cancelAnimationFrame(request);
      request = requestAnimationFrame(draw);
    };
    const box = frame.current;
    if (box === null) return;
    box.addEventListener("scroll", soon, { passive: true });
    const leave = whenLooksChange(box, soon);
    return () => {
      cancelAnimationFrame(request);
      box.removeEventListener("scroll", soon);
      leave();
    };
  });

  const look = (wanted: Window): void => onWindow(isWhole(whole, wanted) ? null : wanted);
  useWheel(bars, (event, x) => {
    if (event.ctrlKey || event.metaKey) look(zoomed(whole, window_, wheelFactor(event), momentOf(scale, x)));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) look(shifted(whole, window_, (event.deltaX || event.deltaY) / 800));
    else return false;
    return true;
  });
  useWheel(axis, (event, x) => {
    look(zoomed(whole, window_, wheelFactor(event), momentOf(scale, x)));
    return true;
  });
  useWheel(overview, (event) => {
    look(zoomed(whole, window_, wheelFactor(event)));
    return true;
  });
  const under = (event: PointerEvent): Chosen | null => {
    const bounds = bars.current?.getBoundingClientRect();
    if (bounds === undefined) return null;
    return barAt(layout, scale, event.clientX - bounds.left, event.clientY - bounds.top + (frame.current?.scrollTop ?? 0));
  };
  const move = (event: PointerEvent): void => {
    const held = drag.current;
    if (held !== null) {
      if (Math.abs(event.clientX - held.x) > 3) held.hasMoved = true;
      const by = (held.x - event.clientX) / Math.max(1, width - layout.gutter);
      if (held.hasMoved) return look(shifted(whole, held.window, by));
    }
    const found = under(event);
    if (found?.row !== chosen?.row || found?.bar !== chosen?.bar) setChosen(found);
  };
  const release = (event: PointerEvent): void => {
    const found = drag.current !== null && !drag.current.hasMoved ? under(event) : null;
    drag.current = null;
    const clicked = found === null ? undefined : rows[found.row]?.bars[found.bar];
    if (clicked !== undefined) onOpen?.(clicked);
  };
  const overviewTo = (event: PointerEvent): void => {
    const bounds = overview.current?.getBoundingClientRect();
    if (bounds === undefined || event.buttons === 0) return;
    const middle = momentOf({ ...scale, window: whole }, event.clientX - bounds.left);
    const half = (window_.till - window_.from) / 2;
    look(bounded(whole, { from: middle - half, till: middle + half }));
  };
  const choose = (next: Chosen): void => {
    setChosen(next);
    const box = frame.current;
    const found = rows[next.row]?.bars[next.bar];
    if (box === null || found === undefined) return;
    const [top, end] = [layout.tops[next.row] ?? 0, layout.tops[next.row + 1] ?? 0];
    if (top < box.scrollTop) box.scrollTop = top;
    if (end > box.scrollTop + box.clientHeight) box.scrollTop = end - box.clientHeight;
    if (found.till < window_.from || found.from > window_.till) look(shifted(whole, window_, (found.from - (window_.from + window_.till) / 2) / (window_.till - window_.from)));
  };
  const steer = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const along = (by: number): void => {
      if (chosen === null) return below(1);
      if (rows[chosen.row]?.bars[chosen.bar + by]) choose({ row: chosen.row, bar: chosen.bar + by });
    };
    const below = (by: number): void => {
      for (let row = (chosen?.row ?? -1) + by; row >= 0 && row < rows.length; row += by) {
        const inside = rows[row]?.bars ?? [];
        if (inside.length === 0) continue;
        const near = bar === undefined ? 0 : inside.findIndex((one) => one.till > bar.from);
        return choose({ row, bar: Math.max(0, near) });
      }
    };
    const acts: Record<string, () => void> = {
      "+": () => look(zoomed(whole, window_, 0.7)),
      "=": () => look(zoomed(whole, window_, 0.7)),
      "-": () => look(zoomed(whole, window_, 1.4)),
      "0": () => onWindow(null),
      ",": () => look(shifted(whole, window_, -0.2)),
      ".": () => look(shifted(whole, window_, 0.2)),
      ArrowDown: () => below(1),
      ArrowUp: () => below(-1),
      ArrowRight: () => along(1),
      ArrowLeft: () => along(-1),
      Enter: () => bar && onOpen?.(bar),
      Escape: () => setChosen(null),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return (
    <div className="timechart">
      <div className="row zoom">
        <span className="soft grow chosen" aria-live="polite">
          {bar ? bar.title : (hint ?? "Point at a bar to see what it is. Ctrl with the wheel goes nearer, dragging moves.")}
        </span>
        <span className="buttons" role="group" aria-label="Part of the time">
          <button type="button" aria-label="Nearer" title="Nearer (+)" onClick={() => look(zoomed(whole, window_, 0.6))}>
            +
          </button>
          <button type="button" aria-label="Further" title="Further (-)" disabled={properties.window === null} onClick={() => look(zoomed(whole, window_, 1.6))}>
            −
          </button>
          <button type="button" aria-label="Earlier" title="Earlier (,)" disabled={properties.window === null} onClick={() => look(shifted(whole, window_, -0.3))}>
            ‹
          </button>
          <button type="button" aria-label="Later" title="Later (.)" disabled={properties.window === null} onClick={() => look(shifted(whole, window_, 0.3))}>
            ›
          </button>
          <button type="button" title="All of it (0)" disabled={properties.window === null} onClick={() => onWindow(null)}>
            All
          </button>
        </span>
      </div>
      <canvas ref={overview} className="overview" aria-hidden="true" onPointerDown={(event) => (hold(event), overviewTo(event))} onPointerMove={overviewTo} />
      <canvas ref={axis} className="axis" aria-hidden="true" />
      <div ref={frame} className="bars" style={{ height }} tabIndex={0} role="application" aria-label={`${label}; arrow keys choose a bar, plus and minus go nearer and further, comma and full stop earlier and later, 0 shows all`} onKeyDown={steer}>
        <canvas
          ref={bars}
          onPointerDown={(event) => {
            drag.current = { x: event.clientX, window: window_, hasMoved: false };
            hold(event);
          }}
          onPointerMove={move}
          onPointerUp={release}
          onPointerCancel={() => (drag.current = null)}
        />
        <div style={{ height: Math.max(0, total - height) }} />
      </div>
    </div>
  );
}

function hold(event: PointerEvent): void {
  event.currentTarget.setPointerCapture(event.pointerId);
}

function wheelFactor(event: WheelEvent): number {
  return Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200)));
}

/** A wheel that is used is not the page's; React's own listeners cannot say so. `x` is where, in the canvas. */
function useWheel(canvas: RefObject<HTMLCanvasElement | null>, hear: (event: WheelEvent, x: number) => boolean): void {
  const hearing = useRef(hear);
  hearing.current = hear;
  useEffect(() => {
    const element = canvas.current;
    const listen = (event: WheelEvent): void => {
      if (hearing.current(event, event.clientX - (element?.getBoundingClientRect().left ?? 0))) event.preventDefault();
    };
    element?.addEventListener("wheel", listen, { passive: false });
    return () => element?.removeEventListener("wheel", listen);
  }, [canvas]);
}
