// How a chart of bars over time is drawn. Only what is in sight is drawn: a thousand rows scroll as ten do.
import type { Colours } from "../ui/colours";
import { type Window, density, lanesOf, ticks } from "./window";

export type Look = "solid" | "outline" | "stripes" | "thin" | "planned";

export interface ChartBar {
  id: string;
  from: number;
  till: number;
  /** A token of the style, or a hue. */
  paint: string;
  look?: Look;
  /** Written on it where it fits. */
  text?: string;
  /** What is said of it when it is chosen. */
  title: string;
  isBad?: boolean;
  isFaint?: boolean;
}

/** What something is in, behind its bars. */
export interface Phase {
  from: number;
  till: number;
  paint: string;
  isLow?: boolean;
}

export interface ChartRow {
  label: string;
  bars: ChartBar[];
  phases?: Phase[];
  level?: number;
  isHeading?: boolean;
  isShaded?: boolean;
}

export type Size = "normal" | "small" | "fit";

export interface Layout {
  rows: ChartRow[];
  /** Of each bar of each row. */
  lanes: number[][];
  /** Where each row begins, and at the end where the last one ends. */
  tops: number[];
  lane: number;
  pad: number;
  gutter: number;
}

const LETTER = 7;
const NARROW = 640;
export const AXIS = 24;
export const OVERVIEW = 40;
const BETWEEN_LABELS = 10;
/** Below this a bar is too low for words. */
const READABLE = 9;

/** `room` is how high all of it may be where it shall fit. */
export function laidOut(rows: ChartRow[], size: Size, width: number, room: number): Layout {
  const found = rows.map((row) => lanesOf(row.bars));
  const all = found.reduce((sum, one) => sum + one.count + 0.3, 0) || 1;
  const fitting = Math.max(0.2, Math.min(13, room / all));
  const [lane, pad] = size === "normal" ? [14, 4] : size === "small" ? [5, 3] : [fitting, Math.min(4, fitting * 0.3)];
  const tops = [0];
  for (const one of found) tops.push((tops.at(-1) as number) + one.count * lane + pad);
  const letters = rows.reduce((most, row) => Math.max(most, row.label.length + 2 * (row.level ?? 0)), 6);
  const gutter = Math.min(width < NARROW ? 110 : 210, Math.max(64, letters * LETTER + 14));
  return { rows, lanes: found.map((one) => one.lanes), tops, lane, pad, gutter };
}

/** The row at a height. */
export function rowAt(layout: Layout, y: number): number {
  let low = 0;
  let high = layout.rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((layout.tops[middle + 1] as number) <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Scale {
  window: Window;
  gutter: number;
  width: number;
  /** How far the clock that is shown is ahead of UTC. */
  ahead?: number;
}

/** The moment as it is written on an axis that shows so much. */
export type AxisClock = (at: number, span: number) => string;

export function xOf({ window, gutter, width }: Scale, at: number): number {
  return gutter + ((at - window.from) / (window.till - window.from)) * (width - gutter);
}

export function momentOf({ window, gutter, width }: Scale, x: number): number {
  return window.from + ((x - gutter) / Math.max(1, width - gutter)) * (window.till - window.from);
}

/** The nearest bar to a point of the chart, if there is one under the hand. */
export function barAt(layout: Layout, scale: Scale, x: number, y: number): { row: number; bar: number } | null {
  const row = rowAt(layout, y);
  const found = layout.rows[row];
  if (found === undefined || x < layout.gutter) return null;
  const lane = Math.floor((y - (layout.tops[row] as number) - layout.pad / 2) / layout.lane);
  let best: number | null = null;
  let distance = 4;
  found.bars.forEach((bar, index) => {
    if (layout.lanes[row]?.[index] !== lane) return;
    const left = xOf(scale, bar.from);
    const right = Math.max(left + 2, xOf(scale, bar.till));
    const off = x < left ? left - x : x > right ? x - right : 0;
    if (off < distance) {
      best = index;
      distance = off || 0.01;
    }
  });
  return best === null ? null : { row, bar: best };
}

type Pen = CanvasRenderingContext2D;

/** As much of a text as there is room for, by its letters as they are drawn. */
export function cut(pen: Pick<Pen, "measureText">, text: string, width: number): string {
  if (pen.measureText(text).width <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && pen.measureText(`${letters.join("")}…`).width > width) letters.length -= Math.max(1, letters.length >> 3);
  return `${letters.join("")}…`;
}

export function paintAxis(pen: Pen, colours: Colours, scale: Scale, clock: AxisClock, marks: number[]): void {
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  let end = -Infinity;
  for (const at of ticks(scale.window, (scale.width - scale.gutter) / 100, scale.ahead)) {
    const x = xOf(scale, at);
    pen.fillStyle = colours.of("soft");
    pen.fillRect(x, AXIS - 6, 1, 6);
    const text = clock(at, scale.window.till - scale.window.from);
    const half = pen.measureText(text).width / 2;
    const middle = Math.min(Math.max(x, scale.gutter + half), scale.width - half);
    // One that would run into the one before is left out; its tick stays.
    if (middle - half < end + BETWEEN_LABELS) continue;
    pen.fillText(text, middle, 9);
    end = middle + half;
  }
  pen.fillStyle = colours.of("accent");
  for (const at of marks) {
    const x = xOf(scale, at);
    if (x < scale.gutter || x > scale.width) continue;
    pen.beginPath();
    pen.moveTo(x - 4, AXIS - 7);
    pen.lineTo(x + 4, AXIS - 7);
    pen.lineTo(x, AXIS);
    pen.fill();
  }
}

/** How many run at once over the whole, where something failed, and which part is looked at. */
export function paintOverview(pen: Pen, colours: Colours, rows: ChartRow[], whole: Window, scale: Scale): void {
  const over: Scale = { ...scale, window: whole };
  const bars = rows.flatMap((row) => row.bars);
  const counts = density(bars, whole, Math.max(1, Math.ceil(scale.width - scale.gutter)));
  const most = Math.max(1, ...counts);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = colours.of("soft");
  pen.fillText(`at once: ${most}`, 2, OVERVIEW / 2);
  pen.fillStyle = colours.of("busy");
  counts.forEach((count, index) => {
    if (count > 0) pen.fillRect(scale.gutter + index, OVERVIEW - 3 - Math.max(2, (count / most) * (OVERVIEW - 8)), 1, Math.max(2, (count / most) * (OVERVIEW - 8)));
  });
  pen.fillStyle = colours.of("bad");
  for (const bar of bars) if (bar.isBad) pen.fillRect(xOf(over, bar.till) - 1, 0, 3, 5);
  const left = Math.max(scale.gutter, xOf(over, scale.window.from));
  const right = Math.min(scale.width - 1, xOf(over, scale.window.till));
  pen.fillStyle = pen.strokeStyle = colours.of("accent");
  pen.globalAlpha = 0.12;
  pen.fillRect(left, 1, Math.max(3, right - left), OVERVIEW - 2);
  pen.globalAlpha = 1;
  pen.lineWidth = 1.5;
  pen.strokeRect(left, 1, Math.max(3, right - left), OVERVIEW - 2);
}

export interface Lines {
  now?: number | undefined;
  here?: number | undefined;
}

export function paintRows(pen: Pen, colours: Colours, layout: Layout, scale: Scale, scroll: number, height: number, chosen: string | null, lines: Lines): void {
  pen.fillStyle = colours.of("line");
  for (const at of ticks(scale.window, (scale.width - scale.gutter) / 100, scale.ahead)) {
    const x = xOf(scale, at);
    if (x >= layout.gutter) pen.fillRect(x, 0, 1, height);
  }
  for (let row = rowAt(layout, scroll); row < layout.rows.length && (layout.tops[row] as number) < scroll + height; row++) {
    paintRow(pen, colours, layout, scale, row, (layout.tops[row] as number) - scroll, chosen);
  }
  for (const [at, paint, width] of [[lines.now, "busy", 1.5], [lines.here, "ink", 2]] as const) {
    if (at === undefined || at < scale.window.from || at > scale.window.till) continue;
    pen.fillStyle = colours.of(paint);
    pen.fillRect(xOf(scale, at) - width / 2, 0, width, height);
  }
}

function paintRow(pen: Pen, colours: Colours, layout: Layout, scale: Scale, number: number, top: number, chosen: string | null): void {
  const row = layout.rows[number] as ChartRow;
  const height = (layout.tops[number + 1] as number) - (layout.tops[number] as number);
  if (row.isHeading) {
    pen.fillStyle = colours.of("quiet-ground");
    pen.fillRect(0, top, scale.width, height);
  } else if (row.isShaded) {
    pen.fillStyle = colours.of("wait-ground");
    pen.fillRect(layout.gutter, top, scale.width - layout.gutter, height);
  }
  pen.save();
  pen.beginPath();
  pen.rect(layout.gutter, top, scale.width - layout.gutter, height);
  pen.clip();
  for (const phase of row.phases ?? []) {
    const x = Math.max(layout.gutter, xOf(scale, phase.from));
    const end = Math.min(scale.width, xOf(scale, phase.till));
    if (end <= x) continue;
    pen.fillStyle = colours.of(phase.paint);
    pen.globalAlpha = phase.isLow ? 0.5 : 0.22;
    if (!phase.isLow) pen.fillRect(x, top, end - x, height);
    else if (layout.lane > 1) pen.fillRect(x, top + height - 4, end - x, 3);
    pen.globalAlpha = 1;
  }
  row.bars.forEach((bar, index) => {
    const y = top + layout.pad / 2 + (layout.lanes[number]?.[index] ?? 0) * layout.lane;
    paintBar(pen, colours, bar, scale, y, layout.lane, bar.id === chosen);
  });
  pen.restore();
  if (height < 8 && number % Math.ceil(14 / height) !== 0) return;
  pen.fillStyle = colours.of(row.isHeading || !row.level ? "ink" : "soft");
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.font = `${row.isHeading ? "600 " : ""}${height < 12 ? 10 : 12}px system-ui, sans-serif`;
  const indent = 4 + 10 * (row.level ?? 0);
  pen.fillText(cut(pen, row.label, (row.isHeading ? scale.width : layout.gutter) - indent - 6), indent, top + height / 2);
}

function paintBar(pen: Pen, colours: Colours, bar: ChartBar, scale: Scale, y: number, lane: number, isChosen: boolean): void {
  const x = xOf(scale, bar.from);
  const right = xOf(scale, bar.till);
  if (right < scale.gutter || x > scale.width) return;
  const long = Math.max(1.5, right - x - 0.5);
  const tall = lane > 4 ? lane - (lane > READABLE ? 2 : 1) : Math.max(0.8, lane);
  const paint = colours.of(bar.isBad ? "bad" : bar.paint);
  pen.globalAlpha = bar.isFaint ? 0.15 : 1;
  pen.fillStyle = pen.strokeStyle = paint;
  pen.lineWidth = 1;
  const look = bar.look ?? "solid";
  if (look === "thin") pen.fillRect(x, y + tall / 3, long, Math.max(1, tall / 3));
  else if (look === "outline" || look === "planned") {
    if (look === "planned") pen.setLineDash([3, 2]);
    pen.globalAlpha *= 0.25;
    pen.fillRect(x, y, long, tall);
    pen.globalAlpha = bar.isFaint ? 0.15 : 1;
    if (tall > 3) pen.strokeRect(x + 0.5, y + 0.5, Math.max(0.5, long - 1), tall - 1);
    pen.setLineDash([]);
  } else {
    pen.beginPath();
    pen.roundRect(x, y, long, tall, lane > READABLE ? Math.min(3, long / 2) : 0);
    pen.fill();
    if (look === "stripes" && tall > 6) stripes(pen, colours.of("card"), x, y, long, tall);
  }
  if (bar.text && look === "solid" && long > 26 && lane > READABLE) {
    const from = Math.max(x, scale.gutter);
    pen.fillStyle = colours.of(bar.paint === "wait-bar" ? "on-wait" : "on-phase");
    pen.font = "10px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    if (x + long - from > 20) pen.fillText(cut(pen, bar.text, x + long - from - 8), from + 4, y + tall / 2 + 0.5);
  }
  if (isChosen) {
    pen.strokeStyle = colours.of("ink");
    pen.lineWidth = 2;
    pen.strokeRect(x - 1, y - 1, long + 2, tall + 2);
  }
  pen.globalAlpha = 1;
}

function stripes(pen: Pen, paint: string, x: number, y: number, long: number, tall: number): void {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, long, tall);
  pen.clip();
  pen.strokeStyle = paint;
  pen.globalAlpha = 0.55;
  pen.beginPath();
  for (let at = x - tall; at < x + long; at += 6) {
    pen.moveTo(at, y + tall);
    pen.lineTo(at + tall, y);
  }
  pen.stroke();
  pen.restore();
}
