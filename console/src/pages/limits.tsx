// Limits at a moment: how full each is, and who holds the slots.
import type { ReactNode } from "react";
import type { SeenBudget } from "../api/types";
import type { Tables } from "../live/store";
import { Section } from "../ui/parts";
import { PHASES } from "../words";

const MOST_SLOTS = 40;

export function BudgetRows({ tables, only }: { tables: Tables; only?: (budget: SeenBudget) => boolean }): ReactNode {
  const budgets = [...tables.budgets.values()].filter(only ?? (() => true));
  if (budgets.length === 0) return null;
  const holders = holdersOf(tables);
  return (
    <Section title="Limits" id="limits">
      <ul className="plain">
        {budgets.map((budget) => (
          <li key={budget.name} className="row">
            <Slots used={budget.used} limit={budget.limit} />
            <b className="figures">
              {budget.used} of {budget.limit}
            </b>
            <span className="grow">
              {budget.rule} <span className="soft">({budget.policy}{budget.environment ? `, ${budget.environment}` : ""}{budget.scope ? `, ${budget.scope}` : ""})</span>
            </span>
            {budget.stoppedAt !== null && <span className="mark bad">✕ the line is stopped</span>}
            {budget.kind === "resourceConcurrency" && <span className="soft">{holders.slice(0, 6).join(", ")}</span>}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function Slots({ used, limit }: { used: number; limit: number }): ReactNode {
  return (
    <span className="gauge" role="img" aria-label={`${used} of ${limit} used`}>
      {Array.from({ length: Math.min(Math.max(limit, used), MOST_SLOTS) }, (_, index) => (
        <i key={index} className={index < used ? "busy" : ""} />
      ))}
    </span>
  );
}

/** Resources that something moves on. */
function holdersOf(tables: Tables): string[] {
  const found = new Set<string>();
  for (const group of tables.groups.values()) if (group.status === "executing" || group.status === "failed") found.add(group.resource);
  if (found.size === 0) {
    for (const target of tables.targets.values()) {
      if (PHASES[target.state].tone === "busy") found.add(target.name.split("/").slice(2).join("/"));
    }
  }
  return [...found];
}
