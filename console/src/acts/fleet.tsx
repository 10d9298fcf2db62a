// The acts of the fleet: what each asks, what it says before it is done, and what it tells afterwards.
import { place, send } from "../api/client";
import type { Freeze, LiveEvent, OrderOutlook, TargetsOrder } from "../api/types";
import type { OrderAction } from "../ui/plan";
import { Written } from "../ui/text";
import { plural } from "../words";
import type { Act, Field } from "./act";
import { refusalOf } from "./refusals";

interface WithConcerns {
  concerns?: { targets: number; note?: string | null };
}

export const REASON = { name: "reason", label: "Reason", required: true, placeholder: "for those who ask later" };

/** The event of an object, or of an act on it. */
export function ofObject(kind: string, name?: string): (event: LiveEvent) => boolean {
  return (event) => event.kind === kind && (name === undefined || event.name === name);
}

export function manifest(kind: string, name: string, spec: object): Record<string, unknown> {
  return { apiVersion: "headgate.dev/v1", kind, metadata: { name }, spec };
}

export function concerning(what: string, answer: WithConcerns): string {
  const concerns = answer.concerns;
  if (concerns === undefined) return what;
  return `${what}: concerns ${plural(concerns.targets, "target")}${concerns.note ? `; ${concerns.note}` : ""}`;
}

export function freeze(selector?: { label: string; cel: string }): Act {
  return {
    label: selector ? "Pause" : "Freeze all",
    title: selector ? `Pause ${selector.label}` : "Freeze everything",
    says: selector
      ? `What runs is finished; nothing new of ${selector.label} starts until the freeze ends.`
      : "What runs is finished; nothing new starts anywhere until the freeze ends.",
    permission: "freeze:write",
    tone: "bad",
    fields: [{ name: "name", label: "Name of the freeze", required: true, initial: `freeze-${Date.now().toString(36)}` }, REASON],
    plan: ({ name, reason }) =>
      name && reason ? { manifests: [manifest("Freeze", name, { reason, ...(selector ? { selector: selector.cel } : {}) })] } : null,
    confirms: (event, { name }) => event.kind === "Freeze" && event.name === name,
    run: async ({ name, reason }) => {
      const body = { name, reason, ...(selector ? { selector: selector.cel } : {}) };
      return concerning(`${name} is in force`, await send<WithConcerns>("POST", "freezes", body));
    },
  };
}

export function unfreeze(one: Freeze): Act {
  return {
    label: "Unfreeze",
    title: `End the freeze ${one.name}`,
    says: (
      <>
        What it held may start again, by its other rules. It was set by <Written text={one.user} />: <Written text={one.reason} />
      </>
    ),
    permission: "freeze:write",
    plan: () => ({ deletions: [{ kind: "Freeze", name: one.name }] }),
    confirms: ofObject("Freeze", one.name),
    run: async ({ reason }) =>
      concerning(`${one.name} is over`, (await send<WithConcerns>("DELETE", `freezes/${place(one.name)}`, undefined, true, { reason })) ?? {}),
  };
}

export function vote(status: "approved" | "rejected", deployment: string, tag: string, environment: string): Act {
  const verb = status === "approved" ? "Approve" : "Reject";
  return {
    label: verb,
    title: `${verb} ${deployment} ${tag} for ${environment}`,
    says:
      status === "approved"
        ? "Your vote counts for this version in this environment; it starts when enough have voted and its other rules allow it."
        : "Your vote says no: the version does not go to this environment while it stands.",
    permission: "approval:write",
    tone: status === "approved" ? "primary" : "bad",
    fields: [{ ...REASON, required: status === "rejected" }],
    plan: () => ({ approvals: [{ deployment, tag, environment, status }] }),
    confirms: ofObject("Approval", `${deployment}/${tag}/${environment}`),
    run: async ({ reason }) => {
      const body = { deployment, tag, environment, status, ...(reason ? { reason } : {}) };
      return concerning(`${deployment} ${tag} ${status} for ${environment}`, await send<WithConcerns>("POST", "approvals", body));
    },
  };
}

/** `orders` is what the server says of them, null while it has not answered; undefined where it was not asked. */
export function order(action: OrderAction, target: { deployment: string; environment: string; resource: string }, orders?: OrderOutlook[] | null): Act {
  const { deployment, environment, resource } = target;
  const outlook = orders?.find((one) => one.action === action);
  const words = {
    retry: ["Retry", "The failed job is tried again, by its rules."],
    redeploy: ["Redeploy", "What runs there is deployed once more, by its rules."],
    rollback: ["Roll back", "The version that ran before goes there, by the same rules as any other."],
  }[action] as [string, string];
  return {
    label: words[0],
    title: `${words[0]} ${deployment} on ${resource}`,
    says: words[1],
    permission: "target:act",
    ...(action === "rollback" ? { tone: "bad" as const } : {}),
    ...(orders === undefined ? {} : { refusal: refusalOf(orders, action) }),
    fields: orderFields(action, outlook),
    plan: ({ to }) => ({ orders: [{ action, deployment, environment, resources: [resource], ...(to ? { to } : {}) }] }),
    confirms: (event) =>
      (event.kind === "ReleaseTarget" && event.name === `${deployment}/${environment}/${resource}`) ||
      (event.kind === "Job" && event.data["resource"] === resource && event.data["deployment"] === deployment),
    run: async ({ to, reason }) => {
      const path = `release-targets/${place(deployment, environment, resource)}/${action}`;
      await send("POST", path, { reason, ...(to ? { to } : {}) });
      return `${words[0]} of ${deployment} on ${resource}: ordered`;
    },
  };
}

/** Going back asks whereto; whatever it is, somebody will ask why. */
export function orderFields(action: OrderAction, outlook?: OrderOutlook): Field[] {
  return action === "rollback" ? [whereto(outlook), REASON] : [REASON];
}

/** Which versions can be named is said where it is known; where none goes by itself, one has to be. */
function whereto(outlook: OrderOutlook | undefined): Field {
  const named = outlook?.versions.join(", ");
  const field = { name: "to", label: "To version", placeholder: "the one before, if left empty" };
  if (!named) return field;
  if (outlook?.to == null) return { ...field, placeholder: `one of ${named}`, required: true };
  return { ...field, placeholder: `${outlook.to} if left empty; allowed are ${named}` };
}

/** `tag` is the version that somebody wants to be rid of, where one is looked at. */
export function orderMany(action: OrderAction, deployment: string, environment: string, tag?: string): Act {
  const label = { retry: "Retry failed", redeploy: "Redeploy all", rollback: "Roll back all" }[action];
  return {
    label,
    title: `${label} of ${deployment} in ${environment}`,
    says: "Every target of the deployment in this environment that can be moved so; by the same rules as any rollout.",
    permission: "target:act",
    tone: action === "rollback" ? "bad" : "primary",
    retype: deployment,
    fields: orderFields(action),
    ...(tag !== undefined && action === "rollback" ? { against: { deployment, tag, instead: rejectVersion(deployment, tag) } } : {}),
    plan: ({ to }) => ({ orders: [{ action, deployment, environment, ...(to ? { to } : {}) }] }),
    confirms: (event) => event.kind === "ReleaseTarget" || event.kind === "Job",
    run: async ({ to, reason }) => {
      const body = { environment, reason, ...(to ? { to } : {}) };
      const answer = await send<TargetsOrder>("POST", `deployments/${place(deployment)}/${action}`, body);
      const refused = answer.refusedCount ? `, ${answer.refusedCount} cannot be moved` : "";
      return `${label}: ${plural(answer.count, "target")} of ${deployment}${refused}`;
    },
  };
}

interface Skipped {
  rule: string;
  policy: string;
  /** Why it is refused or does not help, as the server says. */
  refusal: string | undefined;
}

export function skip({ rule, policy, refusal }: Skipped, where: { deployment: string; environment: string; resource: string; tag: string | null }): Act {
  return {
    refusal,
    label: "Skip",
    title: `Skip ${rule} for ${where.deployment} on ${where.resource}`,
    says: "This target passes the rule for this version. The other rules hold.",
    permission: "skip:write",
    tone: "bad",
    retype: where.resource,
    fields: [REASON],
    plan: () => ({ skips: [{ rule, policy, reason: "planned", ...where }] }),
    confirms: ofObject("Skip"),
    run: async ({ reason }) => {
      const body = { rule, policy, reason, ...where };
      return concerning(`${rule} is skipped`, await send<WithConcerns>("POST", "skips", body));
    },
  };
}

export function onGroup(action: "retry" | "abort" | "release", group: { id: string; resource: string; orders: OrderOutlook[] }): Act {
  const { id, resource: where } = group;
  const [label, says] = {
    retry: ["Retry cycle", "The cycle goes on with what failed."],
    abort: ["Abort cycle", "What has not started is dropped; hooks that put the resource back are run."],
    release: ["Release slot", "The slot of this failed cycle is given to the next one, although the resource may not be in order."],
  }[action] as [string, string];
  return {
    label,
    title: `${label} on ${where}`,
    says,
    permission: "group:act",
    refusal: refusalOf(group.orders, action),
    tone: action === "retry" ? "primary" : "bad",
    ...(action === "retry" ? {} : { retype: where }),
    fields: [REASON],
    plan: () => ({ groups: [{ action, group: id }] }),
    confirms: ofObject("Group"),
    run: async ({ reason }) => {
      await send("POST", `groups/${place(id)}/${action}`, { reason });
      return `${label} on ${where}: done`;
    },
  };
}

export function rejectVersion(deployment: string, tag: string): Act {
  return {
    label: "Reject version",
    title: `Mark ${deployment} ${tag} as bad`,
    says: "It starts nowhere any more. Choose whether what runs it goes back.",
    permission: "version:reject",
    tone: "bad",
    retype: tag,
    fields: [REASON, { name: "rollback", label: "Roll back what runs it", options: ["no", "yes"], initial: "no" }],
    plan: ({ rollback }) => ({ statuses: [{ deployment, tag, status: "rejected", rollback: rollback === "yes" }] }),
    confirms: ofObject("Version", `${deployment}/${tag}`),
    run: async ({ reason, rollback }) => {
      const path = `deployments/${place(deployment)}/versions/${place(tag)}/reject`;
      return concerning(`${tag} is rejected`, await send<WithConcerns>("POST", path, { reason, rollback: rollback === "yes" }));
    },
  };
}

export function withdraw(deployment: string, tag: string): Act {
  return {
    label: "Withdraw",
    title: `Withdraw ${deployment} ${tag}`,
    says: "It starts nowhere any more until it is ready again. Where it runs already it stays; a cycle that has begun and is still to run it waits for you.",
    permission: "version:write",
    tone: "bad",
    fields: [REASON],
    plan: () => ({ statuses: [{ deployment, tag, status: "paused" }] }),
    confirms: ofObject("Version", `${deployment}/${tag}`),
    run: async ({ reason }) => {
      const path = `deployments/${place(deployment)}/versions/${place(tag)}`;
      return concerning(`${tag} is withdrawn`, await send<WithConcerns>("PATCH", path, { status: "paused", message: reason }, true, { reason }));
    },
  };
}

/** To say yes to what was marked as bad is for those who may mark it. */
export function offerAgain(deployment: string, tag: string, status: string): Act {
  return {
    label: "Make ready",
    title: `Make ${deployment} ${tag} ready again`,
    says: "It goes to every target that it concerns, as the policies allow. What was said against it counts no longer.",
    permission: status === "rejected" ? "version:reject" : "version:write",
    plan: () => ({ statuses: [{ deployment, tag, status: "ready" }] }),
    confirms: ofObject("Version", `${deployment}/${tag}`),
    run: async ({ reason }) => {
      const path = `deployments/${place(deployment)}/versions/${place(tag)}`;
      return concerning(`${tag} is ready`, await send<WithConcerns>("PATCH", path, { status: "ready" }, true, { reason }));
    },
  };
}

/** What a form asks for beside names: published is what its plan has shown. */
export function publish(deployment: string, body: Record<string, unknown>): Act {
  return {
    label: "Publish",
    title: `Publish ${deployment} ${String(body["tag"])}`,
    says: "It goes to every target of the deployment that it concerns, as the policies allow.",
    permission: "version:write",
    plan: () => ({ version: { deployment, ...body } }),
    confirms: ofObject("Version", `${deployment}/${String(body["tag"])}`),
    run: async ({ reason }) => {
      const path = `deployments/${place(deployment)}/versions`;
      return concerning(`published ${deployment} ${String(body["tag"])}`, await send<WithConcerns>("POST", path, body, true, { reason }));
    },
  };
}
