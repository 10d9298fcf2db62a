// What was published: per deployment, two of them compared, and a form that shows whom a new one reaches before it is there.
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { ActButton } from "../acts/act";
import { offerAgain, publish, rejectVersion, withdraw } from "../acts/fleet";
import { valueOf } from "../acts/objects";
import { all, get } from "../api/client";
import type { Concerns, Version } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import { type Kept, placeByName, placeVersion, useObjects } from "../live/tables";
import { go, Link, to, usePlace, withQuery } from "../router";
import { Changes, pretty } from "../ui/changes";
import { type Column, Listing } from "../ui/listing";
import { Empty, Loading, Mark, Section, Time, Trouble } from "../ui/parts";
import { Preview, refusedFor, usePlan } from "../ui/plan";
import { Written } from "../ui/text";
import { plural } from "../words";

const TONES = { ready: "good", building: "wait", paused: "wait", failed: "bad", rejected: "bad" } as const;
const SIGNS = { ready: "✓", building: "○", paused: "‖", failed: "✕", rejected: "✕" } as const;

export function VersionMark({ version }: { version: Version }): ReactNode {
  return <Mark tone={TONES[version.status]} sign={SIGNS[version.status]} word={version.status} />;
}

function Scope({ version }: { version: Version }): ReactNode {
  if (version.targetSelector === null) return <span className="soft">all targets</span>;
  return (
    <>
      <span className="badge">scoped</span> <code>{version.targetSelector}</code>
    </>
  );
}

function useDeployments(): Kept<{ name: string }> {
  return useObjects("deployments", "Deployment", () => all<{ name: string }>("deployments"), placeByName);
}

export function Versions(): ReactNode {
  const { query } = usePlace();
  const versions = useObjects<Version>("versions", "Version", () => all<Version>("versions"), placeVersion);
  const deployments = useDeployments();
  const [picked, setPicked] = useState<string[]>([]);
  const names = deployments.items?.map((one) => one.name) ?? [];
  const compared = (query.get("compare") ?? "").split("~").filter(Boolean).map(decodeURIComponent);
  const columns = useMemo<Column<Version>[]>(
    () => [
      {
        name: "Pick",
        cell: (one) => (
          <input
            type="checkbox"
            aria-label={`Compare ${one.deployment} ${one.tag}`}
            checked={picked.includes(one.id)}
            onChange={(event) => setPicked((old) => (event.target.checked ? [...old.slice(-1), one.id] : old.filter((id) => id !== one.id)))}
          />
        ),
      },
      {
        name: "Version",
        text: (one) => `${one.deployment} ${one.tag}`,
        cell: (one) => (
          <Link href={to("rollouts", one.deployment, one.tag)}>
            {one.deployment} <b>{one.tag}</b>
          </Link>
        ),
      },
      { name: "Status", text: (one) => one.status, cell: (one) => <VersionMark version={one} /> },
      { name: "For", text: (one) => one.targetSelector ?? "", cell: (one) => <Scope version={one} />, wide: true },
      { name: "Published", cell: (one) => <Time at={one.publishedAt ?? one.createdAt} /> },
      {
        name: "Message",
        text: (one) => one.message ?? "",
        cell: (one) => (one.rejection === null ? one.message : <>rejected by <Written text={one.rejection.by} />: <Written text={one.rejection.reason} /></>),
        wide: true,
      },
      {
        name: "",
        cell: (one) => (
          <span className="buttons">
            {one.status === "ready" ? <ActButton act={withdraw(one.deployment, one.tag)} /> : <ActButton act={offerAgain(one.deployment, one.tag, one.status)} />}
            {one.status !== "rejected" && <ActButton act={rejectVersion(one.deployment, one.tag)} />}
          </span>
        ),
      },
    ],
    [picked],
  );
  const found = versions.items;
  return (
    <>
      <div className="head">
        <h1>Versions</h1>
        <span className="buttons">
          <button type="button" disabled={picked.length !== 2} title={picked.length === 2 ? undefined : "pick two"} onClick={() => go(withQuery({ compare: picked.map(encodeURIComponent).join("~") }))}>
            Compare
          </button>
          {names.length > 0 && (
            <Link href="/versions/new" className="button primary">
              New version
            </Link>
          )}
        </span>
      </div>
      {compared.length === 2 && found !== undefined && <Comparison versions={found} ids={compared} />}
      <Trouble error={versions.error} />
      {found === undefined ? (
        !versions.error && <Loading what="versions" />
      ) : found.length === 0 ? (
        <Empty command="headgate publish DEPLOYMENT v1">
          {names.length === 0 ? "A version is one of a deployment, and there is none yet." : "No version was published yet."}
        </Empty>
      ) : (
        <Listing
          items={found}
          columns={columns}
          id={(one) => one.id}
          noun="version"
          choices={[
            { key: "deployment", label: "Deployment", of: (one) => one.deployment },
            { key: "status", label: "Status", of: (one) => one.status },
            { key: "scope", label: "Scope", of: (one) => (one.targetSelector === null ? "all targets" : "scoped") },
          ]}
        />
      )}
    </>
  );
}

function Comparison({ versions, ids }: { versions: Version[]; ids: string[] }): ReactNode {
  const [before, after] = ids.map((id) => versions.find((one) => one.id === id));
  if (before === undefined || after === undefined) return <Trouble error={new Error("One of the two versions is not there any more.")} />;
  const [old, fresh] = Date.parse(before.createdAt) <= Date.parse(after.createdAt) ? [before, after] : [after, before];
  const plain = ({ id: _id, name: _name, createdAt: _createdAt, updatedAt: _updatedAt, publishedAt: _publishedAt, ...rest }: Version): object => rest;
  return (
    <Section
      title={`${old.deployment} ${old.tag} → ${fresh.deployment} ${fresh.tag}`}
      id="comparison"
      acts={
        <button type="button" onClick={() => go(withQuery({ compare: null }))}>
          Close
        </button>
      }
    >
      <Changes before={pretty(plain(old))} after={pretty(plain(fresh))} />
    </Section>
  );
}

interface Form {
  deployment: string;
  tag: string;
  targetSelector: string;
  message: string;
  config: string;
  metadata: string;
}

/** "key=value" lines become a map. */
export function pairsOf(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("=");
      if (at < 1) throw new Error(`"${line}" is no key=value`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/** What is sent, and nothing that was left empty. */
export function bodyOf(form: Omit<Form, "deployment">): Record<string, unknown> {
  const metadata = pairsOf(form.metadata);
  return {
    tag: form.tag.trim(),
    ...(form.targetSelector.trim() ? { targetSelector: form.targetSelector.trim() } : {}),
    ...(form.message.trim() ? { message: form.message.trim() } : {}),
    ...(form.config.trim() ? { config: valueOf(form.config) } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
}

export function NewVersion(): ReactNode {
  const { query } = usePlace();
  const deployments = useDeployments();
  const names = deployments.items?.map((one) => one.name) ?? [];
  const [form, setForm] = useState<Form>({ deployment: query.get("deployment") ?? "", tag: "", targetSelector: query.get("selector") ?? "", message: "", config: "", metadata: "" });
  const deployment = form.deployment || (names[0] ?? "");
  const change = (name: keyof Form) => (event: { target: { value: string } }) => setForm((old) => ({ ...old, [name]: event.target.value }));
  let body: Record<string, unknown> | null = null;
  let flaw: Error | undefined;
  try {
    body = form.tag.trim() ? bodyOf(form) : null;
  } catch (error) {
    flaw = error as Error;
  }
  const wish = body === null ? null : { version: { deployment, ...body } };
  const planned = usePlan(wish);
  const refusal = body === null ? "a version needs a name" : refusedFor(wish, planned);
  if (deployments.items === undefined) return <Loading what="deployments" />;
  if (names.length === 0) {
    return <Empty command="headgate apply -f deployment.yaml">A version is one of a deployment, and there is none yet.</Empty>;
  }
  return (
    <>
      <h1>New version</h1>
      <div className="columns">
        <section className="card form">
          <label>
            Deployment
            <select value={deployment} onChange={change("deployment")}>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            Version
            <input value={form.tag} placeholder="v1.2.3" onChange={change("tag")} autoFocus />
          </label>
          <label>
            Only for targets (CEL)
            <textarea rows={2} spellCheck={false} value={form.targetSelector} placeholder="resource.metadata['region'] == 'eu'; all if left empty" onChange={change("targetSelector")} />
          </label>
          <label>
            Message
            <input value={form.message} placeholder="what is in it" onChange={change("message")} />
          </label>
          <label>
            Configuration (JSON)
            <textarea rows={3} spellCheck={false} value={form.config} placeholder='{"image": "registry/app:1.2.3"}' onChange={change("config")} />
          </label>
          <label>
            Metadata
            <textarea rows={2} spellCheck={false} value={form.metadata} placeholder={"commit=https://…\none key=value a line"} onChange={change("metadata")} />
          </label>
          <Trouble error={flaw} />
          <div className="buttons">
            <Link href="/versions" className="button">
              Cancel
            </Link>
            {body === null || refusal !== undefined ? (
              <button type="button" className="primary" disabled title={refusal}>
                Publish
              </button>
            ) : (
              <ActButton act={{ ...publish(deployment, body), tone: "primary" }} />
            )}
          </div>
        </section>
        <div className="stack">
          <Reached deployment={deployment} selector={form.targetSelector.trim()} />
          <Section title="What would follow" id="follows">
            <Preview wish={wish} planned={planned} />
          </Section>
        </div>
      </div>
    </>
  );
}

const PAUSE_MS = 300;

/** The targets that a selector reaches, while it is written. */
export function Reached({ deployment, selector }: { deployment?: string; selector: string }): ReactNode {
  const [settled, setSettled] = useState(selector);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(selector), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [selector]);
  const found = useLive(
    `reached ${deployment ?? ""} ${settled}`,
    () => get<Concerns>("selection", { selector: settled, deployment }),
    ofKinds("Resource", "Deployment", "Environment"),
  );
  return (
    <Section title="Whom it reaches" id="reached">
      <Trouble error={found.error} />
      {found.data !== undefined && found.error === undefined && (
        <>
          <p role="status">
            <b>{plural(found.data.targets, "target")}</b>
            {found.data.note && `: ${found.data.note}`}
          </p>
          <p className="links">
            {found.data.sample.map((name) => (
              <Link key={name} href={`/targets/${name.split("/").map(encodeURIComponent).join("/")}`}>
                {name}
              </Link>
            ))}
            {found.data.targets > found.data.sample.length && <span className="soft">and {found.data.targets - found.data.sample.length} more</span>}
          </p>
        </>
      )}
    </Section>
  );
}
