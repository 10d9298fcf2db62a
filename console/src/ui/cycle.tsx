// A cycle as a graph: what runs before all, the members by what each comes after, what runs after all; how far each is, and
// how long it took.
import type { ReactNode } from "react";
import type { Bracket, Group, Job, Member } from "../api/types";
import { Link, to } from "../router";
import { length, type Phase, spaced } from "../words";
import { type BracketMember, edgesOf } from "./bracket";
import { Flow, RoleWord } from "./flow";
import { useNow } from "./parts";

const STATES: Record<Member["state"], { tone: Phase["tone"]; sign: string }> = {
  waiting: { tone: "wait", sign: "○" },
  running: { tone: "busy", sign: "▶" },
  retrying: { tone: "busy", sign: "↻" },
  succeeded: { tone: "good", sign: "✓" },
  failed: { tone: "bad", sign: "✕" },
  unchanged: { tone: "quiet", sign: "=" },
  dropped: { tone: "quiet", sign: "–" },
  skipped: { tone: "quiet", sign: "»" },
  rollingBack: { tone: "bad", sign: "↶" },
  rolledBack: { tone: "bad", sign: "↩" },
};

/** Which comes before which: by the order of the bracket, where those that are not in this cycle are passed over. */
export function stagesOf(members: Member[], order: BracketMember[] = []): [string, string][] {
  const before = new Map(order.map((one) => [one.deployment, one.after]));
  const here = new Set(members.map((one) => one.deployment));
  const ahead = (name: string, seen = new Set<string>()): Set<string> => {
    for (const one of before.get(name) ?? []) if (!seen.has(one)) ahead(one, seen.add(one));
    return seen;
  };
  return edgesOf(members.map(({ deployment, role }) => ({ deployment, role, after: [...ahead(deployment)].filter((one) => here.has(one)) })));
}

/** "12 s", "for 8 s" while it goes on; nothing of what has not begun. */
export function tookOf(job: Job | undefined, now: number): string {
  if (job === undefined || job.startedAt === null) return "";
  const until = job.completedAt === null ? now : Date.parse(job.completedAt);
  const took = length(Math.max(0, Math.round((until - Date.parse(job.startedAt)) / 1000)));
  const again = job.attempt > 1 ? `, attempt ${job.attempt}` : "";
  return `${job.completedAt === null ? `for ${took}` : took}${again}`;
}

export function Cycle({ group, bracket, jobs }: { group: Group; bracket: Bracket | undefined; jobs: Job[] }): ReactNode {
  const now = useNow();
  const boxes = group.members.map((member) => {
    const { tone, sign } = STATES[member.state];
    return {
      name: member.deployment,
      tone,
      title: member.note,
      content: (
        <>
          <Link href={to("targets", member.deployment, group.environment, group.resource)}>
            <b>{member.deployment}</b> {member.version}
          </Link>
          <span>
            <span className={`sign ${tone}`} aria-hidden="true">
              {sign}
            </span>{" "}
            {spaced(member.state)}
            <RoleWord role={member.role} />
          </span>
          <span className="soft figures">{tookOf(jobs.find((job) => job.id === member.job), now)}</span>
        </>
      ),
    };
  });
  return <Flow boxes={boxes} edges={stagesOf(group.members, bracket?.members)} width={190} height={64} />;
}
