// What is stopped, by whom, why and until when.
import type { ReactNode } from "react";
import { type Act, ActButton } from "../acts/act";
import { concerning, manifest, unfreeze } from "../acts/fleet";
import { momentOf } from "../acts/objects";
import { send, serverNow } from "../api/client";
import type { Concerns, Freeze } from "../api/types";
import { placeByName } from "../live/tables";
import type { Column } from "../ui/listing";
import { Time } from "../ui/parts";
import { Objects } from "./tables";

function begin(): Act {
  const spec = ({ reason, selector, until }: Record<string, string>): object => {
    const expiresAt = momentOf(until ?? "", serverNow());
    return { reason, ...(selector ? { selector } : {}), ...(expiresAt ? { expiresAt } : {}) };
  };
  return {
    label: "Freeze",
    title: "Stop the line",
    says: "What runs is finished; nothing new that it matches starts until the freeze ends.",
    permission: "freeze:write",
    tone: "bad",
    fields: [
      { name: "name", label: "Name of the freeze", required: true, initial: `freeze-${Date.now().toString(36)}` },
      { name: "reason", label: "Reason", required: true, placeholder: "for those who wait" },
      { name: "selector", label: "Only for (CEL)", placeholder: "environment.name == 'prod'; everything if left empty" },
      { name: "until", label: "Ends", placeholder: "2h, or 2026-03-01 09:00; by hand if left empty" },
    ],
    plan: (values) => {
      if (!values["name"] || !values["reason"]) return null;
      try {
        return { manifests: [manifest("Freeze", values["name"], spec(values))] };
      } catch {
        return null;
      }
    },
    confirms: (event, { name }) => event.kind === "Freeze" && event.name === name,
    run: async (values) => {
      const answer = await send<{ concerns?: Concerns }>("POST", "freezes", { name: values["name"], ...spec(values) });
      return concerning(`${values["name"]} is in force`, answer);
    },
  };
}

const COLUMNS: Column<Freeze>[] = [
  { name: "Freeze", text: (one) => one.name, cell: (one) => one.name },
  { name: "For", text: (one) => one.selector ?? "", cell: (one) => (one.selector === null ? "everything" : <code>{one.selector}</code>) },
  { name: "Reason", text: (one) => one.reason, cell: (one) => one.reason, wide: true },
  { name: "By", text: (one) => one.user, cell: (one) => one.user },
  { name: "Since", cell: (one) => <Time at={one.createdAt} /> },
  { name: "Ends", cell: (one) => (one.expiresAt === null ? "by hand" : <Time at={one.expiresAt} />) },
  { name: "", cell: (one) => <ActButton act={unfreeze(one)} /> },
];

export function Freezes(): ReactNode {
  return (
    <Objects
      title="Freezes"
      noun="freeze"
      path="freezes"
      kind="Freeze"
      placed={placeByName}
      columns={COLUMNS}
      choices={[{ key: "by", label: "By", of: (one: Freeze) => one.user }]}
      id={(one: Freeze) => one.id}
      empty={{ says: "Nothing is frozen. To stop the line:", command: 'headgate freeze NAME --reason "why"' }}
      acts={<ActButton act={begin()} />}
    />
  );
}
