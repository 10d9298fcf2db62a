// Limits at a moment: how full each is, and who holds the slots.
import type { ReactNode } from "react";
import type { SeenBudget } from "../api/types";
import type { Tables } from "../live/store";
import { Written } from "../ui/text";
import { Section } from "../ui/parts";

const MOST_SLOTS = 40;
const MOST_HOLDERS = 6;

export function BudgetRows({ tables, only }: { tables: Tables; only?: (budget: SeenBudget) => boolean }): ReactNode {
  const budgets = [...tables.budgets.values()].filter(only ?? (() => true));
  if (budgets.length === 0) return null;
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
              <Written text={budget.rule} /> <span className="soft">(<Written text={[budget.policy, budget.environment, budget.scope].filter(Boolean).join(", ")} />)</span>
            </span>
            {budget.stoppedAt !== null && <span className="mark bad">✕ the line is stopped</span>}
            {budget.holders.length > 0 && <span className="soft"><Written text={holdersOf(budget)} /></span>}
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

/** Those of this limit, as far as there is room. */
export function holdersOf({ holders, used }: Pick<SeenBudget, "holders" | "used">): string {
  const shown = holders.slice(0, MOST_HOLDERS);
  return shown.join(", ") + (used > shown.length ? ` and ${used - shown.length} more` : "");
}
