// Why something cannot be done here: said in words beside the buttons, once for all of them, and not on hover alone.
import { createContext, type ReactNode, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import { useMay } from "../session";
import { Sentence } from "../ui/parts";
import { NOT_KNOWN } from "./refusals";

const Held = createContext<string | null>(null);

/** While a page shows another moment than now, its acts are disabled, and say why. */
export function HeldActs({ why, children }: { why: string | null; children: ReactNode }): ReactNode {
  return <Held value={why}>{children}</Held>;
}

/** What lacks, by permission: the labels of the acts that are disabled for it, as often as they are on the page. */
const missing = new Map<string, string[]>();
const watchers = new Set<() => void>();
let version = 0;

function tell(): void {
  version += 1;
  for (const one of watchers) one();
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** What there is to know of an act to say why it cannot be done. */
interface Offered {
  label: string;
  permission: string;
  refusal?: string | undefined;
}

/** Why the act cannot be done; undefined if it can. */
export function useObstacle({ label, permission, refusal }: Offered): string | undefined {
  const may = useMay()(permission);
  const held = useContext(Held);
  useEffect(() => {
    if (may) return;
    missing.set(permission, [...(missing.get(permission) ?? []), label]);
    tell();
    return () => {
      const left = [...(missing.get(permission) ?? [])];
      left.splice(left.indexOf(label), 1);
      if (left.length > 0) missing.set(permission, left);
      else missing.delete(permission);
      tell();
    };
  }, [may, permission, label]);
  if (!may) return `needs the permission ${permission}`;
  return held ?? refusal;
}

/** What would be refused is said beside its button, and not on hover alone; to those who may not do it something else is. */
export function Refusals({ acts }: { acts: readonly Offered[] }): ReactNode {
  const may = useMay();
  const refused = acts.filter((act) => act.refusal !== undefined && act.refusal !== NOT_KNOWN && may(act.permission));
  if (refused.length === 0) return null;
  return (
    <ul className="refusals soft">
      {refused.map((act) => (
        <li key={act.label}>
          {act.label}: <Sentence text={act.refusal ?? ""} />
        </li>
      ))}
    </ul>
  );
}

/** "Freeze all needs freeze:write; Approve and Reject need approval:write". */
export function lacking(labels: Iterable<[string, string[]]>): string {
  return [...labels]
    .map(([permission, all]) => {
      const each = [...new Set(all)];
      const named = each.length > 1 ? `${each.slice(0, -1).join(", ")} and ${each.at(-1)}` : each[0];
      return `${named} ${each.length > 1 ? "need" : "needs"} ${permission}`;
    })
    .sort()
    .join("; ");
}

/** Stands at the head of a page on which something is disabled for who looks at it. */
export function Obstacles(): ReactNode {
  const seen = useSyncExternalStore(subscribe, () => version);
  const text = useMemo(() => lacking(missing), [seen]);
  if (text === "") return null;
  return (
    <p className="obstacles soft" role="note">
      <span aria-hidden="true">⚿</span> Not everything here is yours to do: {text}. Whoever gives out roles can change that.
    </p>
  );
}
