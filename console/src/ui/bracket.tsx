// A bracket as a graph: its hooks and members by what each comes after, with how many targets are in which phase.
import type { ReactNode } from "react";
import type { Bracket, SeenTarget } from "../api/types";
import type { Tables } from "../live/store";
import { partsOf } from "../time/moments";
import { Flow, RoleWord } from "./flow";
import { Bar } from "./parts";
import { countStates, parts } from "../words";

export type BracketMember = Bracket["members"][number];

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

export function BracketGraph({ bracket, tables, current }: { bracket: Bracket; tables: Tables; current: string }): ReactNode {
  const of = new Map<string, SeenTarget[]>(bracket.members.map((one) => [one.deployment, []]));
  for (const target of tables.targets.values()) of.get(partsOf(target.name).deployment)?.push(target);
  const boxes = bracket.members.map((member) => {
    const counted = parts(countStates(of.get(member.deployment) ?? []));
    return {
      name: member.deployment,
      tone: `bracket ${member.deployment === current ? "busy" : ""}`,
      content: (
        <>
          <span className="named" title={member.deployment}>
            <b>{member.deployment}</b>
            <RoleWord role={member.role} />
          </span>
          <Bar parts={counted} />
          <small className="soft">{counted.filter((one) => one.count > 0).map((one) => `${one.count} ${one.word}`).join(" · ") || "no targets"}</small>
        </>
      ),
    };
  });
  return <Flow boxes={boxes} edges={edgesOf(bracket.members)} width={232} height={82} />;
}
