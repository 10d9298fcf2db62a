// The rules of the line, in words.
import type { ReactNode } from "react";
import type { Policy } from "../api/types";
import { placeByName } from "../live/tables";
import { Link, to } from "../router";
import type { Column } from "../ui/listing";
import { Mark } from "../ui/parts";
import { plural, spaced } from "../words";
import { Objects } from "./tables";

function kindsOf(policy: Policy): string {
  const kinds = policy.rules.map((rule) => Object.keys(rule).find((key) => key !== "id" && key !== "name") ?? "");
  return [...new Set(kinds)].map(spaced).join(", ");
}

const COLUMNS: Column<Policy>[] = [
  { name: "Policy", text: (one) => one.name, cell: (one) => <Link href={to("policies", one.name)}>{one.name}</Link> },
  { name: "For", text: (one) => one.selector ?? "", cell: (one) => (one.selector === null ? "everything" : <code>{one.selector}</code>), wide: true },
  {
    name: "Rules",
    text: kindsOf,
    cell: (one) => (
      <>
        {plural(one.rules.length, "rule")} <span className="soft">{kindsOf(one)}</span>
      </>
    ),
    wide: true,
  },
  { name: "Priority", cell: (one) => one.priority },
  { name: "State", cell: (one) => (one.enabled ? <Mark tone="good" sign="✓" word="in force" /> : <Mark tone="quiet" sign="–" word="switched off" />) },
];

export function Policies(): ReactNode {
  return (
    <Objects
      title="Policies"
      noun="policy"
      path="policies"
      kind="Policy"
      placed={placeByName}
      columns={COLUMNS}
      id={(one: Policy) => one.id}
      empty={{ says: "Without a policy every version goes everywhere at once.", command: "headgate apply -f policy.yaml" }}
      acts={
        <Link href="/policies?new=yes" className="button primary">
          New policy
        </Link>
      }
    />
  );
}
