// Acts on many targets that were chosen one by one.
import { place, send } from "../api/client";
import type { TargetsOrder } from "../api/types";
import { partsOf } from "../time/moments";
import { plural } from "../words";
import type { Act } from "./act";
import { orderFields, REASON } from "./fleet";

/** Resources by deployment and environment: each such pair is one order. */
export function byPair(names: string[]): { deployment: string; environment: string; resources: string[] }[] {
  const found = new Map<string, { deployment: string; environment: string; resources: string[] }>();
  for (const name of names) {
    const { deployment, environment, resource } = partsOf(name);
    const key = `${deployment}/${environment}`;
    const known = found.get(key) ?? { deployment, environment, resources: [] };
    known.resources.push(resource);
    found.set(key, known);
  }
  return [...found.values()];
}

export function selectorOf(resources: string[]): string {
  return `resource.name in [${resources.map((name) => JSON.stringify(name)).join(", ")}]`;
}

export function orderSelected(action: "redeploy" | "rollback", names: string[]): Act {
  const label = action === "redeploy" ? "Redeploy" : "Roll back";
  const what = plural(names.length, "target");
  return {
    label,
    title: `${label} ${what}`,
    says:
      action === "redeploy"
        ? `What runs there is deployed once more on ${listed(names)}, by the same rules as any rollout.`
        : `The version that ran before goes to ${listed(names)}, by the same rules as any rollout.`,
    permission: "target:act",
    fields: orderFields(action),
    ...(action === "rollback" ? { tone: "bad" as const } : {}),
    ...(names.length > 20 ? { retype: String(names.length) } : {}),
    plan: ({ to }) => ({ orders: byPair(names).map((pair) => ({ action, ...pair, ...(to ? { to } : {}) })) }),
    run: async ({ to, reason }) => {
      let count = 0;
      let refused = 0;
      for (const { deployment, environment, resources } of byPair(names)) {
        const body = { environment, selector: selectorOf(resources), reason, ...(to ? { to } : {}) };
        const answer = await send<TargetsOrder>("POST", `deployments/${place(deployment)}/${action}`, body);
        count += answer.count;
        refused += answer.refusedCount;
      }
      return `${label}: ${plural(count, "target")}${refused ? `, ${refused} cannot be moved` : ""}`;
    },
  };
}

export function skipSelected(names: string[]): Act {
  return {
    label: "Skip a rule",
    title: `Skip a rule for ${plural(names.length, "target")}`,
    says: `${listed(names)}: they pass the rule, whatever the version. Their other rules hold.`,
    permission: "skip:write",
    tone: "bad",
    retype: String(names.length),
    fields: [
      { name: "rule", label: "Rule, by its name", required: true },
      { name: "policy", label: "Policy, if the name of the rule is not enough" },
      REASON,
    ],
    plan: ({ rule, policy }) =>
      rule ? { skips: names.map((name) => ({ rule, reason: "planned", ...(policy ? { policy } : {}), ...partsOf(name) })) } : null,
    run: async ({ rule, policy, reason }) => {
      for (const name of names) {
        await send("POST", "skips", { rule, reason, ...(policy ? { policy } : {}), ...partsOf(name) });
      }
      return `${rule} is skipped for ${plural(names.length, "target")}`;
    },
  };
}

function listed(names: string[]): string {
  return names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
}
