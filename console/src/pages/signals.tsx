// Values from outside that gates read.
import type { ReactNode } from "react";
import { type Act, ActButton, type Values } from "../acts/act";
import { manifest } from "../acts/fleet";
import { momentOf, remove, valueOf } from "../acts/objects";
import { place, send, serverNow } from "../api/client";
import type { Signal } from "../api/types";
import { placeByName } from "../live/tables";
import type { Column } from "../ui/listing";
import { Time } from "../ui/parts";
import { Objects } from "./tables";

const DELETABLE = { kind: "Signal", collection: "signals", noun: "signal", permission: "signal:write", isPlanned: true };

function set(old?: Signal): Act {
  const specOf = ({ value, until }: Values): { value: unknown; expiresAt?: string } => {
    const expiresAt = momentOf(until ?? "", serverNow());
    return { value: valueOf(value ?? ""), ...(expiresAt ? { expiresAt } : {}) };
  };
  return {
    label: old === undefined ? "Set a signal" : "Set",
    title: old === undefined ? "Set a signal" : `Set the signal ${old.name}`,
    says: "Gates that read it are asked again at once.",
    permission: "signal:write",
    fields: [
      ...(old === undefined ? [{ name: "name", label: "Name", required: true }] : []),
      { name: "value", label: "Value (JSON, or a text)", required: true, initial: old === undefined ? "true" : JSON.stringify(old.value) },
      { name: "until", label: "Expires", placeholder: "2h, or 2026-03-01 09:00; never if left empty" },
    ],
    plan: (values) => {
      const name = old?.name ?? values["name"];
      try {
        return name && values["value"] ? { manifests: [manifest("Signal", name, specOf(values))] } : null;
      } catch {
        return null;
      }
    },
    confirms: (event, { name }) => event.kind === "Signal" && event.name === (old?.name ?? name),
    run: async (values) => {
      const mine = old?.name ?? values["name"] ?? "";
      await send("PUT", `signals/${place(mine)}`, { name: mine, ...specOf(values) }, true, { reason: values["reason"] });
      return `the signal ${mine} is set`;
    },
  };
}

const COLUMNS: Column<Signal>[] = [
  { name: "Signal", text: (one) => one.name, cell: (one) => one.name },
  { name: "Value", text: (one) => JSON.stringify(one.value), cell: (one) => <code>{JSON.stringify(one.value)}</code>, wide: true },
  { name: "Set", cell: (one) => <Time at={one.setAt} /> },
  { name: "Expires", cell: (one) => (one.expiresAt === null ? "never" : <Time at={one.expiresAt} />) },
  {
    name: "",
    cell: (one) => (
      <span className="buttons">
        <ActButton act={set(one)} />
        <ActButton act={remove(DELETABLE, one.name)} />
      </span>
    ),
  },
];

export function Signals(): ReactNode {
  return (
    <Objects
      title="Signals"
      noun="signal"
      path="signals"
      kind="Signal"
      placed={placeByName}
      columns={COLUMNS}
      id={(one: Signal) => one.id}
      empty={{ says: "Gates can read signals, such as how full a cluster is; none is set.", command: "headgate apply -f signal.yaml" }}
      acts={<ActButton act={set()} />}
    />
  );
}
