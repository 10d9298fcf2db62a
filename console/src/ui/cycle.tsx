// A cycle as a graph: what runs before all, the members, what runs after all.
import type { ReactNode } from "react";
import type { Group, Member } from "../api/types";
import { Link, to } from "../router";
import { type Phase, spaced } from "../words";
import { Flow, RoleWord } from "./flow";

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

export function stagesOf(members: Member[]): [string, string][] {
  const by = (role: Member["role"]): Member[] => members.filter((member) => member.role === role);
  const stages = [by("preHook"), by("member"), by("postHook")].filter((stage) => stage.length > 0);
  return stages.flatMap((stage, index) =>
    stage.flatMap((from) => (stages[index + 1] ?? []).map((next): [string, string] => [from.deployment, next.deployment])),
  );
}

export function Cycle({ group }: { group: Group }): ReactNode {
  const boxes = group.members.map((member) => ({
    name: member.deployment,
    tone: TONES[member.state],
    title: member.note,
    content: (
      <>
        <Link href={to("targets", member.deployment, group.environment, group.resource)}>
          <b>{member.deployment}</b> {member.version}
        </Link>
        <span>
          {spaced(member.state)}
          <RoleWord role={member.role} />
        </span>
      </>
    ),
  }));
  return <Flow boxes={boxes} edges={stagesOf(group.members)} width={180} height={46} />;
}
