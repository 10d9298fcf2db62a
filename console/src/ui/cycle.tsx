// A cycle as a graph: what runs before all, the members by what they wait for, what runs after all.
import dagre from "@dagrejs/dagre";
import { type ReactNode, useMemo } from "react";
import type { Group, Member } from "../api/types";
import { Link, to } from "../router";
import { type Phase, spaced } from "../words";

const WIDTH = 190;
const HEIGHT = 46;

const TONES: Record<Member["state"], Phase["tone"]> = {
  waiting: "wait",
  running: "busy",
  retrying: "busy",
  succeeded: "good",
  failed: "bad",
  unchanged: "quiet",
  dropped: "quiet",
  skipped: "quiet",
  rollingBack: "bad",
  rolledBack: "bad",
};

interface Placed {
  member: Member;
  x: number;
  y: number;
}

export function layout(members: Member[]): { placed: Placed[]; lines: string[]; width: number; height: number } {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 46, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  const by = (role: Member["role"]): Member[] => members.filter((member) => member.role === role);
  for (const member of members) graph.setNode(member.deployment, { width: WIDTH, height: HEIGHT });
  const stages = [by("preHook"), by("member"), by("postHook")].filter((stage) => stage.length > 0);
  for (const [index, stage] of stages.entries()) {
    for (const from of stage) for (const next of stages[index + 1] ?? []) graph.setEdge(from.deployment, next.deployment);
  }
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

export function Cycle({ group }: { group: Group }): ReactNode {
  const { placed, lines, width, height } = useMemo(() => layout(group.members), [group.members]);
  return (
    <div className="scroll">
      <div className="cycle" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          {lines.map((line) => (
            <path key={line} d={line} />
          ))}
        </svg>
        {placed.map(({ member, x, y }) => (
          <div key={member.deployment} className={`member ${TONES[member.state]}`} style={{ left: x, top: y, width: WIDTH, height: HEIGHT }} title={member.note}>
            <Link href={to("targets", member.deployment, group.environment, group.resource)}>
              <b>{member.deployment}</b> {member.version}
            </Link>
            <span>
              {spaced(member.state)}
              {member.role !== "member" && <em> {member.role === "preHook" ? "before all" : "after all"}</em>}
            </span>
          </div>
        ))}
      </div>
    </div>
  );
}
