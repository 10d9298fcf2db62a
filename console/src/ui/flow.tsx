// Boxes by what each comes after, from left to right, with the lines between them.
import dagre from "@dagrejs/dagre";
import { type ReactNode, useMemo } from "react";

export interface FlowLayout {
  at: Map<string, { x: number; y: number }>;
  lines: string[];
  width: number;
  height: number;
}

/** Where each box is, and the lines from who comes before; names that are no box are left out. */
export function flow(names: string[], edges: [string, string][], box: { width: number; height: number }): FlowLayout {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 40, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(names);
  for (const name of names) graph.setNode(name, { ...box });
  for (const [from, next] of edges) if (known.has(from) && known.has(next)) graph.setEdge(from, next);
  dagre.layout(graph);
  const at = new Map(
    names.map((name) => {
      const node = graph.node(name);
      return [name, { x: node.x - box.width / 2, y: node.y - box.height / 2 }];
    }),
  );
  const lines = graph.edges().map((edge) => {
    const [from, next] = [graph.node(edge.v), graph.node(edge.w)];
    const between = graph.edge(edge).points.slice(1, -1);
    const points = [{ x: from.x + box.width / 2, y: from.y }, ...(between.length > 1 ? between : []), { x: next.x - box.width / 2, y: next.y }];
    return curve(points);
  });
  const size = graph.graph();
  return { at, lines, width: size.width ?? 0, height: size.height ?? 0 };
}

/** From the side of a box to the side of the next, around those between. */
function curve(points: { x: number; y: number }[]): string {
  let line = "";
  points.forEach(({ x, y }, index) => {
    const before = points[index - 1];
    const middle = before === undefined ? 0 : (before.x + x) / 2;
    line += before === undefined ? `M${x.toFixed(1)} ${y.toFixed(1)}` : ` C${middle.toFixed(1)} ${before.y.toFixed(1)} ${middle.toFixed(1)} ${y.toFixed(1)} ${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  return line;
}

interface Box {
  name: string;
  tone: string;
  title?: string | undefined;
  content: ReactNode;
}

export function Flow({ boxes, edges, width, height }: { boxes: Box[]; edges: [string, string][]; width: number; height: number }): ReactNode {
  const key = JSON.stringify([boxes.map((box) => box.name), edges]);
  const laid = useMemo(() => flow(boxes.map((box) => box.name), edges, { width, height }), [key, width, height]);
  return (
    <div className="scroll">
      <div className="cycle" style={{ width: laid.width, height: laid.height }}>
        <svg width={laid.width} height={laid.height} aria-hidden="true">
          {laid.lines.map((line) => (
            <path key={line} d={line} />
          ))}
        </svg>
        {boxes.map((box) => {
          const { x, y } = laid.at.get(box.name) ?? { x: 0, y: 0 };
          return (
            <div key={box.name} className={`member ${box.tone}`} style={{ left: x, top: y, width, height }} title={box.title}>
              {box.content}
            </div>
          );
        })}
      </div>
    </div>
  );
}

type Role = "preHook" | "member" | "postHook";

/** Hooks stand before and after all members. */
export function RoleWord({ role }: { role: Role }): ReactNode {
  return role === "member" ? null : <em> {role === "preHook" ? "before all" : "after all"}</em>;
}
