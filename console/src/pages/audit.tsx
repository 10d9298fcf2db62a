// Who changed what, from what, to what.
import { type ReactNode, useState } from "react";
import { get } from "../api/client";
import type { AuditEntry, Page } from "../api/types";
import { useObjects } from "../live/tables";
import { Changes, pretty } from "../ui/changes";
import { type Column, Listing } from "../ui/listing";
import { Loading, Time, Trouble } from "../ui/parts";

const PAGE = 200;

/** What was said with the change; else the reason that the object itself has since then, such as that of a freeze. */
export function whyOf({ reason, after }: AuditEntry): string {
  const object = (after ?? {}) as { reason?: unknown; spec?: { reason?: unknown } | null };
  const own = object.reason ?? object.spec?.reason;
  return reason ?? (typeof own === "string" ? own : "");
}

const COLUMNS: Column<AuditEntry>[] = [
  { name: "When", cell: (one) => <Time at={one.at} /> },
  { name: "Who", text: (one) => one.user, cell: (one) => one.user },
  { name: "Did", text: (one) => one.action, cell: (one) => one.action },
  { name: "What", text: (one) => `${one.kind} ${one.name}`, cell: (one) => `${one.kind} ${one.name}`, wide: true },
  { name: "Why", text: whyOf, cell: whyOf, wide: true },
  {
    name: "Change",
    text: (one) => `${pretty(one.before)} ${pretty(one.after)}`,
    cell: (one) => (one.before === null && one.after === null ? null : <Change entry={one} />),
    wide: true,
  },
];

/** Drawn when it is opened: a diff of two hundred entries is not asked for. */
function Change({ entry }: { entry: AuditEntry }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{entry.before === null ? "what it is" : entry.after === null ? "what it was" : "before and after"}</summary>
      {isOpen && <Changes before={pretty(entry.before)} after={pretty(entry.after)} />}
    </details>
  );
}

/** What is told is the newest; it may have been asked for as well. */
export function placeEntry(items: AuditEntry[], _: string, object: unknown): AuditEntry[] {
  const told = object as AuditEntry;
  return items.some((one) => one.seq === told.seq) ? items : [told, ...items].sort((a, b) => b.seq - a.seq);
}

export function Audit(): ReactNode {
  const [older, setOlder] = useState<{ items: AuditEntry[]; next: string | null } | null>(null);
  const [error, setError] = useState<Error>();
  const [behind, setBehind] = useState<string | null>(null);
  const newest = useObjects<AuditEntry>(
    "audit",
    "AuditEntry",
    async () => {
      const page = await get<Page<AuditEntry>>("audit", { limit: PAGE });
      setBehind(page.next);
      return page.items;
    },
    placeEntry,
  );
  const seen = new Set<number>();
  const items = [...(newest.items ?? []), ...(older?.items ?? [])].filter((one) => !seen.has(one.seq) && seen.add(one.seq));
  const next = older === null ? behind : older.next;
  const more = async (): Promise<void> => {
    try {
      const page = await get<Page<AuditEntry>>("audit", { limit: PAGE, cursor: next });
      setOlder({ items: [...(older?.items ?? []), ...page.items], next: page.next });
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <>
      <h1>Audit</h1>
      <Trouble error={newest.error ?? error} />
      {newest.items === undefined ? (
        !newest.error && <Loading what="the audit log" />
      ) : (
        <Listing
          items={items}
          columns={COLUMNS}
          id={(one) => String(one.seq)}
          noun="change"
          choices={[
            { key: "who", label: "Who", of: (one) => one.user },
            { key: "kind", label: "Kind", of: (one) => one.kind },
            { key: "did", label: "Did", of: (one) => one.action },
          ]}
        />
      )}
      {next && (
        <button type="button" onClick={() => void more()}>
          Show older
        </button>
      )}
    </>
  );
}
