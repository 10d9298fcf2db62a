// Acts on objects that have a name: deletion asks for it, and says before whom it concerns.
import { place, send } from "../api/client";
import type { Deletion } from "../api/types";
import { plural } from "../words";
import { type Act } from "./act";
import { ofObject } from "./fleet";

export interface Deletable {
  kind: string;
  collection: string;
  noun: string;
  permission: string;
  /** Whether a plan says what follows from it. */
  isPlanned?: boolean;
  /** Whether the API asks to be told that it is meant; whoever has typed the name has said so. */
  isConfirmed?: boolean;
}

export function remove(what: Deletable, name: string): Act {
  return {
    label: "Delete",
    title: `Delete the ${what.noun} ${name}`,
    says: "It cannot be taken back; the audit log keeps what it was.",
    permission: what.permission,
    tone: "bad",
    retype: name,
    ...(what.isPlanned ? { plan: () => ({ deletions: [{ kind: what.kind, name }] }) } : {}),
    confirms: ofObject(what.kind, name),
    run: async ({ reason }) => {
      const query = { reason, ...(what.isConfirmed ? { confirm: true } : {}) };
      const answer = await send<Deletion | undefined>("DELETE", `${what.collection}/${place(name)}`, undefined, true, query);
      const targets = answer?.concerns?.targets;
      return `the ${what.noun} ${name} is deleted${targets ? `, which concerns ${plural(targets, "target")}` : ""}`;
    },
  };
}

/** A value that somebody types: JSON where it is some, else a text. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** "2h", "30m", "3d" from now, or a moment; undefined for nothing. */
export function momentOf(text: string, now: number): string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const parts = [...trimmed.matchAll(/(\d+)\s*([smhd])/g)];
  if (parts.length > 0 && parts.map((part) => part[0]).join("").replaceAll(" ", "") === trimmed.replaceAll(" ", "")) {
    const seconds = { s: 1, m: 60, h: 3600, d: 86400 } as const;
    const sum = parts.reduce((all, part) => all + Number(part[1]) * seconds[part[2] as "s" | "m" | "h" | "d"], 0);
    return new Date(now + sum * 1000).toISOString();
  }
  const at = Date.parse(trimmed);
  if (Number.isNaN(at)) throw new Error(`"${trimmed}" is neither a length of time such as 2h nor a moment such as 2026-03-01 09:00`);
  return new Date(at).toISOString();
}
