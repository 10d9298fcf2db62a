// One policy: what it says in words, whom it binds now, and what would be different if it said something else.
import { type ReactNode, useEffect, useState } from "react";
import { parse, stringify } from "yaml";
import { type Act, ActButton } from "../acts/act";
import { ofObject } from "../acts/fleet";
import { remove } from "../acts/objects";
import { get, place, send } from "../api/client";
import type { Difference, Policy, PolicyInWords } from "../api/types";
import type { Schema } from "../editor/complete";
import { Editor } from "../editor/editor";
import { describedManifest } from "../editor/schemas";
import { useLive } from "../live/queries";
import { useObjects } from "../live/tables";
import { go, Link, to, usePlace, withQuery } from "../router";
import { Changes } from "../ui/changes";
import { Loading, Mark, Section, Trouble, Worded } from "../ui/parts";
import { Foreseen, type PlanWish, usePlan } from "../ui/plan";
import { summary } from "../ui/planning";
import { firstLine, plural, spaced } from "../words";
import { Reached } from "./versions";

const DELETABLE = { kind: "Policy", collection: "policies", noun: "policy", permission: "policy:write", isPlanned: true, isConfirmed: true };
const TEMPLATE = `apiVersion: headgate.dev/v1
kind: Policy
metadata:
  name: NAME
spec:
  selector: "environment.name == 'prod'"
  rules:
    - name: somebody says yes
      approval:
        minApprovals: 1
`;

/** The manifest of a policy, without what follows from where and when it was made: as `headgate export` writes it. */
async function manifestOf(name: string): Promise<unknown> {
  const answer = await send<{ differences: Difference[] }>("POST", "diff", { deletions: [{ kind: "Policy", name }] });
  const before = answer.differences.find((one) => one.kind === "Policy" && one.name === name)?.before;
  if (!before) return null;
  const { workspace: _workspace, ...metadata } = before["metadata"] as Record<string, unknown>;
  const { createdAt: _createdAt, ...spec } = before["spec"] as Record<string, unknown>;
  return { ...before, metadata, spec };
}

export function PolicyPage({ name }: { name: string }): ReactNode {
  const { query } = usePlace();
  const policy = useObjects<Policy>(
    `policy ${name}`,
    "Policy",
    async () => [await get<Policy>(`policies/${place(name)}`)],
    (items, told, object) => (told === name && object !== null ? [object as Policy] : items),
  );
  const words = useLive(`policy words ${name}`, () => get<PolicyInWords>(`policies/${place(name)}/text`), ofObject("Policy", name));
  const isEditing = query.get("edit") !== null;
  const found = policy.items?.[0];
  if (found === undefined) return policy.error ? <Trouble error={policy.error} /> : <Loading what="the policy" />;
  return (
    <>
      <div className="head">
        <h1>{found.name}</h1>
        <span className="buttons">
          <Link href={withQuery({ edit: isEditing ? null : "yes" })} className="button">
            {isEditing ? "Stop editing" : "Edit and try"}
          </Link>
          <ActButton act={remove(DELETABLE, found.name)} />
        </span>
      </div>
      <section className="card answer">
        <p>
          <Worded text={words.data?.text ?? ""} /> {!found.enabled && <Mark tone="quiet" sign="–" word="switched off" />}
        </p>
        {found.description && <p>{found.description}</p>}
      </section>
      {isEditing ? (
        <Existing name={name} />
      ) : (
        <>
          <InWords words={words.data} />
          <Reached selector={found.selector ?? ""} />
        </>
      )}
    </>
  );
}

function InWords({ words }: { words: PolicyInWords | undefined }): ReactNode {
  if (words === undefined) return <Loading what="its rules" />;
  return (
    <Section title={plural(words.rules.length, "rule")} id="rules">
      <ol className="gates">
        {words.rules.map((rule) => (
          <li key={rule.id}>
            <div className="grow">
              <b>{rule.name}</b> <span className="soft">{spaced(rule.kind)}</span>
              <p>
                <Worded text={rule.text} />
              </p>
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Existing({ name }: { name: string }): ReactNode {
  const [before, setBefore] = useState<string>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    manifestOf(name).then((found) => setBefore(stringify(found, { lineWidth: 100 })), setError);
  }, [name]);
  if (before === undefined) return error ? <Trouble error={error} /> : <Loading what="its manifest" />;
  return <DryRun before={before} initial={before} />;
}

export function NewPolicy(): ReactNode {
  return (
    <>
      <h1>New policy</h1>
      <DryRun before="" initial={TEMPLATE} />
    </>
  );
}

/** Reads the text; a flaw is a sentence with its line. */
export function manifestsOf(text: string): { manifest: Record<string, unknown> | null; flaw?: Error } {
  try {
    const found = parse(text) as unknown;
    if (typeof found !== "object" || found === null || Array.isArray(found)) return { manifest: null, flaw: new Error("a manifest is a map with kind, metadata and spec") };
    const manifest = found as Record<string, unknown>;
    if (manifest["kind"] !== "Policy") return { manifest: null, flaw: new Error(`kind is ${JSON.stringify(manifest["kind"] ?? null)}; allowed here is Policy`) };
    return { manifest };
  } catch (error) {
    return { manifest: null, flaw: error as Error };
  }
}

interface Applied {
  results: { action: string; note: string | null; concerns: { targets: number } | null }[];
}

function apply(manifest: Record<string, unknown>): Act {
  const name = String((manifest["metadata"] as { name?: unknown } | undefined)?.name ?? "");
  return {
    label: "Apply",
    title: `Apply the policy ${name}`,
    says: "Everything that waits is judged by it from now on. What runs is finished.",
    permission: "policy:write",
    tone: "primary",
    plan: () => ({ manifests: [manifest] }),
    confirms: ofObject("Policy", name),
    run: async ({ reason }) => {
      const answer = await send<Applied>("POST", "apply", { manifests: [manifest] }, true, { reason });
      const one = answer.results[0];
      go(to("policies", name));
      return `the policy ${name} is ${one?.action ?? "applied"}${one?.concerns ? `, binding ${plural(one.concerns.targets, "target")}` : ""}${one?.note ? `; ${one.note}` : ""}`;
    },
  };
}

const NOW: PlanWish = {};

function DryRun({ before, initial }: { before: string; initial: string }): ReactNode {
  const [text, setText] = useState(initial);
  const [schema, setSchema] = useState<{ root: Schema; components: Record<string, Schema> }>();
  useEffect(() => {
    void describedManifest("Policy").then(setSchema, () => undefined);
  }, []);
  const { manifest, flaw } = manifestsOf(text);
  const isChanged = text !== before;
  const present = usePlan(NOW);
  const changed = usePlan(manifest === null || !isChanged ? null : { manifests: [manifest] });
  // Both are drawn over the longer of their times, or they could not be compared.
  const scale = Math.max(...[present.plan, changed.plan].map((plan) => (plan === undefined ? 0 : summary(plan).length)));
  const selector = (manifest?.["spec"] as { selector?: unknown } | undefined)?.selector;
  return (
    <div className="columns">
      <section className="card">
        <Editor label="The policy in YAML" value={text} onChange={setText} root={schema?.root} components={schema?.components} />
        <Trouble error={flaw} />
        <div className="buttons">
          <button type="button" disabled={!isChanged} onClick={() => setText(initial)}>
            Undo all
          </button>
          {manifest !== null && isChanged ? (
            <ActButton act={apply(manifest)} />
          ) : (
            <button type="button" className="primary" disabled title={flaw ? "it cannot be read" : "nothing is changed"}>
              Apply
            </button>
          )}
        </div>
      </section>
      <div className="stack">
        <Section title="What changes" id="changes">
          {isChanged ? <Changes before={before} after={text} /> : <p className="soft">Change something on the left and see here what would be different, before anything is saved.</p>}
        </Section>
        {typeof selector === "string" && <Reached selector={selector} />}
        <Section title="How the rollout would go" id="beside">
          <div className="beside">
            <div>{present.plan ? <Foreseen plan={present.plan} title="As it is" scale={scale} /> : <Trouble error={present.error} />}</div>
            <div aria-busy={changed.isAsking}>
              {flaw !== undefined ? (
                <p className="trouble">
                  With the change: not known, because the policy cannot be read. <span>{firstLine(flaw.message)}</span>
                </p>
              ) : changed.error ? (
                <Trouble error={changed.error} />
              ) : changed.plan ? (
                <Foreseen plan={changed.plan} title="With the change" scale={scale} />
              ) : (
                <p className="soft">{changed.isAsking ? "Asking …" : "With the change: the same."}</p>
              )}
            </div>
          </div>
        </Section>
      </div>
    </div>
  );
}
