// Ctrl-K: finds what has a name, and goes there.
import { type KeyboardEvent, type ReactNode, useMemo, useState } from "react";
import { all } from "../api/client";
import { useLive } from "../live/queries";
import { go, to } from "../router";
import { Dialog } from "./parts";

export interface Entry {
  kind: string;
  name: string;
  href: string;
}

export const PAGES: Entry[] = [
  ["Now", "/"],
  ["Fleet", "/fleet"],
  ["Targets", "/fleet?view=grid"],
  ["Versions", "/versions"],
  ["Policies", "/policies"],
  ["Freezes", "/freezes"],
  ["Approvals", "/approvals"],
  ["Agents", "/agents"],
  ["Signals", "/signals"],
  ["Audit", "/audit"],
].map(([name, href]) => ({ kind: "page", name: name as string, href: href as string }));

const MOST = 12;

/** The best first: what begins so, then a word that begins so, then what contains it. */
export function found(entries: Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return entries.slice(0, MOST);
  const rank = ({ name }: Entry): number => {
    const at = name.toLowerCase().indexOf(wanted);
    if (at <= 0) return at;
    return /[\s/_.-]/.test(name[at - 1] ?? "") ? 1 : 2;
  };
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter((one) => one.rank >= 0)
    .sort((a, b) => a.rank - b.rank || a.entry.name.length - b.entry.name.length)
    .slice(0, MOST)
    .map((one) => one.entry);
}

export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const versions = useLive("palette versions", () => all<{ deployment: string; tag: string }>("versions", {}, 1000), () => false);
  const policies = useLive("palette policies", () => all<{ name: string }>("policies", {}, 1000), () => false);
  const targets = useLive("palette targets", () => all<{ name: string; deployment: string; environment: string; resource: string }>("release-targets"), () => false);
  const entries = useMemo<Entry[]>(
    () => [
      ...PAGES,
      ...(versions.data ?? []).map((one) => ({ kind: "version", name: `${one.deployment} ${one.tag}`, href: to("rollouts", one.deployment, one.tag) })),
      ...(policies.data ?? []).map((one) => ({ kind: "policy", name: one.name, href: to("policies", one.name) })),
      ...(targets.data ?? []).map((one) => ({ kind: "target", name: one.name, href: to("targets", one.deployment, one.environment, one.resource) })),
    ],
    [versions.data, policies.data, targets.data],
  );
  const shown = found(entries, text);
  const open = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    go(entry.href);
  };
  const steer = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, shown.length - 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") open(shown[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown[chosen] ? `palette-${chosen}` : undefined}
        aria-label="Deployment, version, resource, policy or page"
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
            {entry.name} <span className="soft">{entry.kind}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
