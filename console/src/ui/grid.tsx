// Ten thousand targets as cells of one canvas: a row a resource, a column a deployment. Only what is in sight is drawn.
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { ListedTarget } from "../api/types";
import { PHASES } from "../words";

const ROW = 22;
const HEAD = 26;
const NAMES = 190;
const COLUMN = 110;

interface Table {
  rows: string[];
  columns: string[];
  cells: Map<string, ListedTarget>;
}

export function arrange(targets: ListedTarget[]): Table {
  const rows = new Map<string, true>();
  const columns = new Map<string, true>();
  const cells = new Map<string, ListedTarget>();
  for (const target of targets) {
    const row = `${target.environment}/${target.resource}`;
    rows.set(row, true);
    columns.set(target.deployment, true);
    cells.set(`${row}\n${target.deployment}`, target);
  }
  const natural = new Intl.Collator(undefined, { numeric: true });
  return {
    rows: [...rows.keys()].sort(natural.compare),
    columns: [...columns.keys()].sort(natural.compare),
    cells,
  };
}

export function Grid({ targets, onOpen }: { targets: ListedTarget[]; onOpen: (target: ListedTarget) => void }): ReactNode {
  const table = useMemo(() => arrange(targets), [targets]);
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [chosen, setChosen] = useState<{ row: number; column: number } | null>(null);
  const at = (row: number, column: number): ListedTarget | undefined =>
    table.cells.get(`${table.rows[row]}\n${table.columns[column]}`);

  useEffect(() => {
    const draw = (): void => {
      if (canvas.current && frame.current) paint(canvas.current, frame.current, table, chosen);
    };
    let request = 0;
    const soon = (): void => {
      cancelAnimationFrame(request);
      request = requestAnimationFrame(draw);
    };
    soon();
    const element = frame.current;
    element?.addEventListener("scroll", soon, { passive: true });
    const observer = new ResizeObserver(soon);
    if (element) observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", soon);
    const theme = new MutationObserver(soon);
    theme.observe(document.documentElement, { attributes: true });
    return () => {
      cancelAnimationFrame(request);
      element?.removeEventListener("scroll", soon);
      observer.disconnect();
      theme.disconnect();
      scheme.removeEventListener("change", soon);
    };
  }, [table, chosen]);

  const find = (event: { clientX: number; clientY: number }): { row: number; column: number } | null => {
    const box = frame.current;
    if (box === null) return null;
    const bounds = box.getBoundingClientRect();
    const x = event.clientX - bounds.left + box.scrollLeft - NAMES;
    const y = event.clientY - bounds.top + box.scrollTop - HEAD;
    const found = { row: Math.floor(y / ROW), column: Math.floor(x / COLUMN) };
    return x >= 0 && event.clientY - bounds.top >= HEAD && at(found.row, found.column) ? found : null;
  };
  const steer = (event: KeyboardEvent): void => {
    const steps: Record<string, [number, number]> = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const from = chosen ?? { row: -step[0], column: step[0] ? 0 : -step[1] };
      const row = Math.max(0, Math.min(table.rows.length - 1, from.row + step[0]));
      const column = Math.max(0, Math.min(table.columns.length - 1, from.column + step[1]));
      setChosen({ row, column });
      const box = frame.current;
      if (box !== null) {
        if (row * ROW < box.scrollTop) box.scrollTop = row * ROW;
        const below = (row + 1) * ROW + HEAD - box.clientHeight;
        if (below > box.scrollTop) box.scrollTop = below;
      }
    } else if (event.key === "Enter" && chosen !== null) {
      const target = at(chosen.row, chosen.column);
      if (target) onOpen(target);
    }
  };
  const target = chosen && at(chosen.row, chosen.column);
  return (
    <>
      <div
        ref={frame}
        className="grid"
        tabIndex={0}
        role="application"
        aria-label={`${table.rows.length} resources by ${table.columns.length} deployments; arrow keys choose a target, Enter opens it`}
        aria-describedby="grid-chosen"
        onKeyDown={steer}
        onMouseMove={(event) => setChosen(find(event))}
        onClick={(event) => {
          const found = find(event);
          const one = found && at(found.row, found.column);
          if (one) onOpen(one);
        }}
      >
        <canvas ref={canvas} />
        <div style={{ height: HEAD + table.rows.length * ROW, width: NAMES + table.columns.length * COLUMN }} />
      </div>
      <p id="grid-chosen" className="soft chosen" aria-live="polite">
        {target ? `${target.name}: ${PHASES[target.state].word}, runs ${target.current ?? "nothing"}` : " "}
      </p>
    </>
  );
}

function paint(canvas: HTMLCanvasElement, frame: HTMLElement, table: Table, chosen: { row: number; column: number } | null): void {
  const ratio = window.devicePixelRatio || 1;
  const width = frame.clientWidth;
  const height = frame.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  const colours = resolved(frame, ["good", "busy", "wait", "bad", "quiet", "ink", "soft", "card", "on-phase"]);
  const colour = (name: string): string => colours[name] ?? "";
  const ink = colour("ink");
  const soft = colour("soft");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colour("card");
  pen.fillRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const left = NAMES - frame.scrollLeft;
  const first = Math.floor(frame.scrollTop / ROW);
  const last = Math.min(table.rows.length, first + Math.ceil(height / ROW) + 1);
  for (let row = first; row < last; row++) {
    const y = HEAD + row * ROW - frame.scrollTop;
    for (let column = 0; column < table.columns.length; column++) {
      const x = left + column * COLUMN;
      if (x + COLUMN < NAMES || x > width) continue;
      const target = table.cells.get(`${table.rows[row]}\n${table.columns[column]}`);
      if (target === undefined) continue;
      const phase = PHASES[target.state];
      pen.fillStyle = colour(phase.tone);
      pen.fillRect(x + 1, y + 1, COLUMN - 2, ROW - 2);
      pen.fillStyle = colour("on-phase");
      pen.fillText(clip(`${phase.sign} ${target.current ?? ""}`, 15), x + 7, y + ROW / 2);
      if (chosen?.row === row && chosen.column === column) {
        pen.strokeStyle = ink;
        pen.lineWidth = 2;
        pen.strokeRect(x + 1, y + 1, COLUMN - 2, ROW - 2);
      }
    }
    pen.fillStyle = colour("card");
    pen.fillRect(0, y, NAMES, ROW);
    pen.fillStyle = ink;
    pen.fillText(clip(table.rows[row] ?? "", 28), 4, y + ROW / 2);
  }
  pen.fillStyle = colour("card");
  pen.fillRect(0, 0, width, HEAD);
  pen.fillStyle = soft;
  for (let column = 0; column < table.columns.length; column++) {
    const x = left + column * COLUMN;
    if (x >= NAMES - COLUMN && x < width) pen.fillText(clip(table.columns[column] ?? "", 16), Math.max(x, NAMES) + 4, HEAD / 2);
  }
}

/** A canvas knows no variables: what each is here and now. */
function resolved(frame: HTMLElement, names: string[]): Record<string, string> {
  const probe = frame.appendChild(document.createElement("i"));
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(found);
}

function clip(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}
