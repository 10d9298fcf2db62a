// Ctrl-K: finds what has a name and goes there, or does what one says.
import { type KeyboardEvent, type ReactNode, useMemo, useState } from "react";
import { type Act, ActDialog } from "../acts/act";
import { freeze, unfreeze, vote } from "../acts/fleet";
import { ownVote } from "../acts/votes";
import { all } from "../api/client";
import type { Approval, Freeze } from "../api/types";
import { askedVotes } from "../live/needed";
import { useLive } from "../live/queries";
import { go, to } from "../router";
import { useSession } from "../session";
import { Dialog } from "./parts";
import { Written } from "./text";

export interface Entry {
  kind: string;
  name: string;
  href?: string;
  act?: Act;
}

export const PAGES: Entry[] = [
  ["Now", "/"],
  ["Fleet", "/fleet"],
  ["Targets", "/fleet?view=grid"],
  ["Versions", "/versions"],
  ["Policies", "/policies"],
  ["Freezes", "/freezes"],
  ["Approvals", "/approvals"],
  ["Workloads", "/workloads"],
  ["Graphs", "/graphs"],
  ["Agents", "/agents"],
  ["Signals", "/signals"],
  ["Audit", "/audit"],
  ["Simulate", "/simulate"],
  ["Settings", "/settings"],
  ["New version", "/versions/new"],
  ["New policy", "/policies?new=yes"],
].map(([name, href]) => ({ kind: "page", name: name as string, href: href as string }));

const MOST = 12;

/** The best first: what begins so, then a word that begins so, then what contains it, then what has all of its words. */
export function found(entries: Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return entries.slice(0, MOST);
  const words = wanted.split(/\s+/);
  const rank = ({ name }: Entry): number => {
    const lower = name.toLowerCase();
    const at = lower.indexOf(wanted);
    if (at < 0) return words.length > 1 && words.every((word) => lower.includes(word)) ? 3 : -1;
    if (at === 0) return 0;
    return /[\s/_.-]/.test(name[at - 1] ?? "") ? 1 : 2;
  };
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter((one) => one.rank >= 0)
    .sort((a, b) => a.rank - b.rank || a.entry.name.length - b.entry.name.length)
    .slice(0, MOST)
    .map((one) => one.entry);
}

/** What somebody is waiting to be told yes or no to, and has not been told by this user. */
async function votes(user: string): Promise<Entry[]> {
  const asked = await askedVotes();
  const given = asked.length === 0 ? [] : await all<Approval>("approvals");
  const acts = asked.flatMap((one) =>
    (["approved", "rejected"] as const)
      .filter((status) => ownVote(given, user, one) !== status)
      .map((status) => vote(status, one.deployment, one.version, one.environment)),
  );
  return [...new Map(acts.map((act) => [act.title, act])).values()].map((act) => ({ kind: "act", name: act.title, act }));
}

export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const { session } = useSession();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const versions = useLive("palette versions", () => all<{ deployment: string; tag: string }>("versions", {}, 1000), () => false);
  const policies = useLive("palette policies", () => all<{ name: string }>("policies", {}, 1000), () => false);
  const targets = useLive("palette targets", () => all<{ name: string; deployment: string; environment: string; resource: string }>("release-targets"), () => false);
  const freezes = useLive("palette freezes", () => all<Freeze>("freezes", {}, 1000), () => false);
  const asked = useLive("palette votes", () => votes(session.user), () => false);
  const [act, setAct] = useState<Act>();
  const acts = useMemo<Entry[]>(() => {
    const stop = freeze();
    const ends = (freezes.data ?? []).map(unfreeze);
    return [stop, ...ends].map((one): Entry => ({ kind: "act", name: one.title, act: one }));
  }, [freezes.data]);
  const entries = useMemo<Entry[]>(
    () => [
      ...PAGES,
      ...acts,
      ...(asked.data ?? []),
      ...[...new Set((targets.data ?? []).map((one) => one.deployment))].map((name) => ({ kind: "deployment", name, href: `/versions?deployment=${encodeURIComponent(name)}` })),
      ...[...new Set((targets.data ?? []).map((one) => one.resource))].map((name) => ({
        kind: "resource",
        name,
        href: `/fleet?view=grid&cel=${encodeURIComponent(`target.resource == ${JSON.stringify(name)}`)}`,
      })),
      ...(versions.data ?? []).map((one) => ({ kind: "version", name: `${one.deployment} ${one.tag}`, href: to("rollouts", one.deployment, one.tag) })),
      ...(policies.data ?? []).map((one) => ({ kind: "policy", name: one.name, href: to("policies", one.name) })),
      ...(targets.data ?? []).map((one) => ({ kind: "act", name: `Explain ${one.name}`, href: to("targets", one.deployment, one.environment, one.resource) })),
    ],
    [versions.data, policies.data, targets.data, acts, asked.data],
  );
  const shown = found(entries, text);
  const open = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    if (entry.act !== undefined) return setAct(entry.act);
    onClose();
    if (entry.href !== undefined) go(entry.href);
  };
  const steer = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, shown.length - 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") open(shown[chosen]);
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
  };
  if (act !== undefined) return <ActDialog act={act} onClose={onClose} />;
  return (
    <Dialog title="Go to, or do" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown[chosen] ? `palette-${chosen}` : undefined}
        aria-label="Deployment, version, resource, policy, page or act"
        autoFocus
        value={text}
        onKeyDown={steer}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
      />
      <ul id="palette-list" className="palette" role="listbox" aria-label="Found">
        {shown.map((entry, index) => (
          <li
            key={entry.kind + entry.name}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onMouseEnter={() => setChosen(index)}
            onClick={() => open(entry)}
          >
            <Written text={entry.name} /> <span className="soft">{entry.kind}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
