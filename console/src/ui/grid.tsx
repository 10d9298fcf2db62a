// Ten thousand targets as cells of one canvas: a row a resource, a column a deployment. Only what is in sight is drawn.
import { type CSSProperties, type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { SeenTarget } from "../api/types";
import { partsOf } from "../time/moments";
import { cut } from "../chart/paint";
import { PHASES, spaced } from "../words";
import { coloursIn, penOf, whenLooksChange } from "./colours";

const ROW = 22;
const HEAD = 26;
const COLUMN = 110;
const WIDEST_COLUMN = 240;

/** A line of the grid: a resource in an environment, or the heading of a group of them. */
export interface Line {
  label: string;
  /** Environment and resource; null for a heading. */
  place: string | null;
}

export interface Table {
  lines: Line[];
  columns: string[];
}

/** In the order that people count in. `groupOf` puts resources under headings. */
export function arrange(names: Iterable<string>, groupOf?: (resource: string) => string): Table {
  const places = new Map<string, string>();
  const columns = new Set<string>();
  for (const name of names) {
    const { deployment, environment, resource } = partsOf(name);
    columns.add(deployment);
    places.set(`${environment}/${resource}`, groupOf?.(resource) ?? "");
  }
  const natural = new Intl.Collator(undefined, { numeric: true });
  const sorted = [...places].sort(([a, one], [b, two]) => natural.compare(one, two) || natural.compare(a, b));
  const lines: Line[] = [];
  let group: string | undefined;
  for (const [place, own] of sorted) {
    if (groupOf !== undefined && own !== group) lines.push({ label: own, place: null });
    group = own;
    lines.push({ label: place, place });
  }
  return { lines, columns: [...columns].sort(natural.compare) };
}

export interface Cell {
  row: number;
  column: number;
}

export function nameAt(table: Table, { row, column }: Cell): string | undefined {
  const place = table.lines[row]?.place;
  return place === null || place === undefined ? undefined : `${table.columns[column]}/${place}`;
}

/** All targets of the rectangle between two cells. */
export function between(table: Table, one: Cell, two: Cell): string[] {
  const found: string[] = [];
  for (let row = Math.min(one.row, two.row); row <= Math.max(one.row, two.row); row++) {
    for (let column = Math.min(one.column, two.column); column <= Math.max(one.column, two.column); column++) {
      const name = nameAt(table, { row, column });
      if (name !== undefined) found.push(name);
    }
  }
  return found;
}

interface Properties {
  table: Table;
  targets: Map<string, SeenTarget>;
  /** Another number where something is otherwise. */
  version: number;
  selected: ReadonlySet<string>;
  onSelect: (names: Set<string>) => void;
  onOpen: (name: string) => void;
}

export function Grid({ table, targets, version, selected, onSelect, onOpen }: Properties): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [chosen, setChosen] = useState<Cell | null>(null);
  const anchor = useRef<Cell | null>(null);
  const at = (cell: Cell): SeenTarget | undefined => targets.get(nameAt(table, cell) ?? "");
  const names = useMemo(() => widest(table), [table]);

  useEffect(() => {
    const draw = (): void => {
      if (canvas.current && frame.current) paint(canvas.current, frame.current, { table, targets, chosen, selected, names });
    };
    let request = requestAnimationFrame(draw);
    const soon = (): void => {
      cancelAnimationFrame(request);
      request = requestAnimationFrame(draw);
    };
    const element = frame.current;
    if (element === null) return;
    element.addEventListener("scroll", soon, { passive: true });
    const leave = whenLooksChange(element, soon);
    return () => {
      cancelAnimationFrame(request);
      element.removeEventListener("scroll", soon);
      leave();
    };
  }, [table, targets, version, chosen, selected, names]);

  const find = (event: { clientX: number; clientY: number }): Cell | null => {
    const box = frame.current;
    if (box === null) return null;
    const bounds = box.getBoundingClientRect();
    const x = event.clientX - bounds.left + box.scrollLeft - names;
    const y = event.clientY - bounds.top + box.scrollTop - HEAD;
    const found = { row: Math.floor(y / ROW), column: Math.floor(x / columnWidth(box, names, table)) };
    const isInside = event.clientX - bounds.left >= names && event.clientY - bounds.top >= HEAD;
    return isInside && at(found) ? found : null;
  };
  const toggle = (cell: Cell, isRange: boolean): void => {
    const all = isRange && anchor.current !== null ? between(table, anchor.current, cell) : [nameAt(table, cell) ?? ""];
    const next = new Set(selected);
    const isAdding = isRange || !next.has(all[0] ?? "");
    for (const name of all) {
      if (!targets.has(name)) continue;
      if (isAdding) next.add(name);
      else next.delete(name);
    }
    anchor.current = cell;
    onSelect(next);
  };
  const press = (event: MouseEvent): void => {
    const cell = find(event);
    if (cell === null) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey || selected.size > 0) toggle(cell, event.shiftKey);
    else onOpen(nameAt(table, cell) ?? "");
  };
  const steer = (event: KeyboardEvent): void => {
    const steps: Record<string, [number, number]> = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
    const step = steps[event.key];
    if (step !== undefined) {
      const [down, right] = step;
      const from = chosen ?? { row: -down, column: down ? 0 : -right };
      let row = Math.max(0, Math.min(table.lines.length - 1, from.row + down));
      if (table.lines[row]?.place === null) row = Math.max(0, Math.min(table.lines.length - 1, row + (down || 1)));
      const column = Math.max(0, Math.min(table.columns.length - 1, from.column + right));
      setChosen({ row, column });
      const box = frame.current;
      if (box !== null) {
        if (row * ROW < box.scrollTop) box.scrollTop = row * ROW;
        const below = (row + 1) * ROW + HEAD - box.clientHeight;
        if (below > box.scrollTop) box.scrollTop = below;
      }
    } else if (event.key === "Enter" && chosen !== null && at(chosen)) onOpen(nameAt(table, chosen) ?? "");
    else if (event.key === " " && chosen !== null) toggle(chosen, event.shiftKey);
    else if (event.key === "Escape" && selected.size > 0) onSelect(new Set());
    else return;
    event.preventDefault();
  };
  const target = chosen && at(chosen);
  return (
    <>
      <div
        ref={frame}
        className="grid"
        style={{ "--tall": `${HEAD + table.lines.length * ROW + 2}px` } as CSSProperties}
        tabIndex={0}
        role="application"
        aria-label={`${table.lines.length} resources by ${table.columns.length} deployments; arrow keys choose a target, Space selects it, Enter opens it`}
        aria-describedby="grid-chosen"
        onKeyDown={steer}
        onMouseMove={(event) => {
          const cell = find(event);
          if (cell?.row !== chosen?.row || cell?.column !== chosen?.column) setChosen(cell);
        }}
        onClick={press}
      >
        <canvas ref={canvas} />
        <div style={{ height: HEAD + table.lines.length * ROW, width: names + table.columns.length * COLUMN }} />
      </div>
      <p id="grid-chosen" className="soft chosen" aria-live="polite">
        {target ? described(target) : "Click opens a target; Ctrl or Shift with a click, or Space, selects."}
      </p>
    </>
  );
}

export function described(target: SeenTarget): string {
  const why = target.reason === null ? "" : `: ${spaced(target.reason).toLowerCase()}`;
  const gets = target.job === null ? "" : `, gets ${target.job.version}`;
  return `${target.name} ${PHASES[target.state].word}${why}, runs ${target.current ?? "nothing"}${gets}`;
}

const NARROW = 640;
const LETTER = 7;

function widest(table: Table): number {
  const most = window.innerWidth < NARROW ? 120 : 260;
  let letters = 8;
  for (const line of table.lines) letters = Math.max(letters, line.label.length);
  return Math.min(most, letters * LETTER + 16);
}

/** Where there is room the columns use it, so that names can be read whole. */
function columnWidth(frame: HTMLElement, names: number, table: Table): number {
  return Math.max(COLUMN, Math.min(WIDEST_COLUMN, Math.floor((frame.clientWidth - names) / Math.max(1, table.columns.length))));
}

interface Picture {
  table: Table;
  targets: Map<string, SeenTarget>;
  chosen: Cell | null;
  selected: ReadonlySet<string>;
  names: number;
}

function paint(canvas: HTMLCanvasElement, frame: HTMLElement, { table, targets, chosen, selected, names }: Picture): void {
  const width = frame.clientWidth;
  const height = frame.clientHeight;
  const pen = penOf(canvas, width, height);
  if (pen === null) return;
  const colour = coloursIn(frame).of;
  pen.fillStyle = colour("card");
  pen.fillRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const left = names - frame.scrollLeft;
  const wide = columnWidth(frame, names, table);
  const room = Math.floor((wide - 8) / LETTER) + 1;
  const first = Math.floor(frame.scrollTop / ROW);
  const last = Math.min(table.lines.length, first + Math.ceil(height / ROW) + 1);
  for (let row = first; row < last; row++) {
    const line = table.lines[row] as Line;
    const y = HEAD + row * ROW - frame.scrollTop;
    if (line.place === null) {
      pen.fillStyle = colour("quiet-ground");
      pen.fillRect(0, y, width, ROW);
      pen.fillStyle = colour("ink");
      pen.fillText(cut(pen, line.label, width - 8), 4, y + ROW / 2);
      continue;
    }
    for (let column = 0; column < table.columns.length; column++) {
      const x = left + column * wide;
      if (x + wide < names || x > width) continue;
      const name = `${table.columns[column]}/${line.place}`;
      const target = targets.get(name);
      if (target === undefined) continue;
      const phase = PHASES[target.state];
      pen.fillStyle = colour(phase.tone === "wait" ? "wait-bar" : phase.tone);
      pen.fillRect(x + 1, y + 1, wide - 2, ROW - 2);
      pen.fillStyle = colour(phase.tone === "wait" ? "on-wait" : "on-phase");
      pen.fillText(cut(pen, clip(`${phase.sign} ${target.job?.version ?? target.current ?? phase.word}`, room), wide - 14), x + 7, y + ROW / 2);
      if (selected.has(name)) outline(pen, colour("ink"), 3, x, y, wide);
      if (chosen?.row === row && chosen.column === column) outline(pen, colour("ink"), 1.5, x, y, wide);
    }
    pen.fillStyle = colour("card");
    pen.fillRect(0, y, names, ROW);
    pen.fillStyle = colour("ink");
    pen.fillText(cut(pen, clip(line.label, Math.floor((names - 8) / LETTER) + 2), names - 8), 4, y + ROW / 2);
  }
  pen.fillStyle = colour("card");
  pen.fillRect(0, 0, width, HEAD);
  pen.fillStyle = colour("soft");
  for (let column = 0; column < table.columns.length; column++) {
    const x = left + column * wide;
    if (x >= names - wide && x < width) pen.fillText(cut(pen, clip(table.columns[column] ?? "", room), x + wide - Math.max(x, names) - 8), Math.max(x, names) + 4, HEAD / 2);
  }
}

function outline(pen: CanvasRenderingContext2D, colour: string, width: number, x: number, y: number, wide: number): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.strokeRect(x + 1 + width / 2, y + 1 + width / 2, wide - 2 - width, ROW - 2 - width);
}

function clip(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}
