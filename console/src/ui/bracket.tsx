// A bracket as a graph: its hooks and members by what each comes after, with how many targets are in which phase.
import dagre from "@dagrejs/dagre";
import { type ReactNode, useMemo } from "react";
import type { Bracket, SeenTarget } from "../api/types";
import type { Tables } from "../live/store";
import { partsOf } from "../time/moments";
import { Bar } from "./parts";
import { countStates, parts } from "../words";

const WIDTH = 250;
const HEIGHT = 66;

type BracketMember = Bracket["members"][number];

interface Placed {
  member: BracketMember;
  x: number;
  y: number;
}

/** Hooks stand before and after all; a line that others lead along already is left out. */
export function edgesOf(members: BracketMember[]): [string, string][] {
  const names = members.filter((one) => one.role === "member").map((one) => one.deployment);
  const before = new Map(members.map((one) => [one.deployment, new Set(one.after)]));
  for (const one of members) {
    const own = before.get(one.deployment) as Set<string>;
    if (one.role !== "preHook") for (const hook of members) if (hook.role === "preHook") own.add(hook.deployment);
    if (one.role === "postHook") for (const name of names) own.add(name);
    own.delete(one.deployment);
  }
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(before.get(from) ?? [])].some((one) => one === to || reaches(one, to, seen));
  };
  return members.flatMap(({ deployment }) => {
    const own = [...(before.get(deployment) ?? [])];
    return own
      .filter((one) => before.has(one) && !own.some((other) => other !== one && reaches(other, one)))
      .map((one) => [one, deployment] as [string, string]);
  });
}

function layout(members: BracketMember[]): { placed: Placed[]; lines: string[]; width: number; height: number } {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 40, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const member of members) graph.setNode(member.deployment, { width: WIDTH, height: HEIGHT });
  for (const [from, next] of edgesOf(members)) graph.setEdge(from, next);
  dagre.layout(graph);
  const placed = members.map((member) => {
    const node = graph.node(member.deployment);
    return { member, x: node.x - WIDTH / 2, y: node.y - HEIGHT / 2 };
  });
  const lines = graph.edges().map((edge) => {
    const points = graph.edge(edge).points;
    return points.map((point, index) => `${index ? "L" : "M"}${point.x.toFixed(1)} ${point.y.toFixed(1)}`).join(" ");
  });
  const size = graph.graph();
  return { placed, lines, width: size.width ?? 0, height: size.height ?? 0 };
}

export function BracketGraph({ bracket, tables, current }: { bracket: Bracket; tables: Tables; current: string }): ReactNode {
  const { placed, lines, width, height } = useMemo(() => layout(bracket.members), [bracket]);
  const of = new Map<string, SeenTarget[]>(bracket.members.map((one) => [one.deployment, []]));
  for (const target of tables.targets.values()) of.get(partsOf(target.name).deployment)?.push(target);
  return (
    <div className="scroll">
      <div className="cycle" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          {lines.map((line) => (
            <path key={line} d={line} />
          ))}
        </svg>
        {placed.map(({ member, x, y }) => {
          const counted = parts(countStates(of.get(member.deployment) ?? []));
          return (
            <div key={member.deployment} className={`member bracket ${member.deployment === current ? "busy" : ""}`} style={{ left: x, top: y, width: WIDTH, height: HEIGHT }}>
              <span className="named" title={member.deployment}>
                <b>{member.deployment}</b>
                {member.role !== "member" && <em> {member.role === "preHook" ? "before all" : "after all"}</em>}
              </span>
              <Bar parts={counted} />
              <small className="soft">{counted.filter((one) => one.count > 0).map((one) => `${one.count} ${one.word}`).join(" · ") || "no targets"}</small>
            </div>
          );
        })}
      </div>
    </div>
  );
}
