// The tables: versions, policies, freezes, approvals, agents, signals, audit, tokens.
import { type ReactNode, useMemo } from "react";
import { ActButton } from "../acts/act";
import { freeze, publish, unfreeze } from "../acts/fleet";
import { all, get, place } from "../api/client";
import type { Approval, AuditEntry, Freeze, Page, Policy, Version } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import { Link, to } from "../router";
import { type Column, Listing } from "../ui/listing";
import { Empty, Loading, Mark, Section, Time, Trouble } from "../ui/parts";
import { spaced } from "../words";

interface Shown<T> {
  title: string;
  noun: string;
  path: string;
  kinds: string[];
  columns: Column<T>[];
  id: (item: T) => string;
  empty: { says: string; command?: string };
  acts?: ReactNode;
  most?: number;
}

function Objects<T>({ title, noun, path, kinds, columns, id, empty, acts, most }: Shown<T>): ReactNode {
  const found = useLive(path, () => all<T>(path, most ? { limit: most } : {}, most), ofKinds(...kinds));
  return (
    <>
      <div className="head">
        <h1>{title}</h1>
        {acts}
      </div>
      <Trouble error={found.error} />
      {found.data === undefined ? (
        !found.error && <Loading what={noun} />
      ) : found.data.length === 0 ? (
        <Empty {...(empty.command ? { command: empty.command } : {})}>{empty.says}</Empty>
      ) : (
        <Listing items={found.data} columns={columns} id={id} noun={noun} />
      )}
    </>
  );
}

function named(name: string, text: (item: never) => string, href?: (item: never) => string): Column<never> {
  return { name, text, cell: (item) => (href ? <Link href={href(item)}>{text(item)}</Link> : text(item)) };
}

export function Versions(): ReactNode {
  const deployments = useLive("deployments", () => all<{ name: string }>("deployments"), ofKinds("Deployment"));
  const columns: Column<Version>[] = [
    {
      name: "Version",
      text: (one) => one.name,
      cell: (one) => (
        <Link href={to("rollouts", one.deployment, one.tag)}>
          {one.deployment} <b>{one.tag}</b>
        </Link>
      ),
    },
    {
      name: "Status",
      text: (one) => one.status,
      cell: (one) => (
        <>
          <Mark tone={one.status === "ready" ? "good" : one.status === "building" || one.status === "paused" ? "wait" : "bad"} sign="●" word={one.status} />
          {one.targetSelector !== null && <span className="badge">scoped</span>}
        </>
      ),
    },
    { name: "Published", cell: (one) => <Time at={one.publishedAt ?? one.createdAt} /> },
    { name: "Message", text: (one) => one.message ?? "", cell: (one) => one.message ?? one.rejection?.reason ?? "", wide: true },
  ];
  const names = deployments.data?.map((one) => one.name) ?? [];
  return (
    <Objects
      title="Versions"
      noun="version"
      path="versions"
      kinds={["Version"]}
      columns={columns}
      id={(one: Version) => one.id}
      empty={{ says: "No version was published yet.", command: "headgate publish DEPLOYMENT v1" }}
      acts={names.length > 0 ? <ActButton act={publish(names)} /> : undefined}
    />
  );
}

export function Policies(): ReactNode {
  const columns: Column<Policy>[] = [
    { name: "Policy", text: (one) => one.name, cell: (one) => <Link href={to("policies", one.name)}>{one.name}</Link> },
    { name: "For", text: (one) => one.selector ?? "", cell: (one) => (one.selector === null ? "everything" : <code>{one.selector}</code>), wide: true },
    { name: "Rules", cell: (one) => one.rules.length },
    { name: "Priority", cell: (one) => one.priority },
    { name: "", cell: (one) => (one.enabled ? "" : <Mark tone="quiet" sign="–" word="switched off" />) },
  ];
  return (
    <Objects
      title="Policies"
      noun="policy"
      path="policies"
      kinds={["Policy"]}
      columns={columns}
      id={(one: Policy) => one.id}
      empty={{ says: "Without a policy every version goes everywhere at once.", command: "headgate apply -f policy.yaml" }}
    />
  );
}

export function PolicyPage({ name }: { name: string }): ReactNode {
  const policy = useLive(`policy ${name}`, () => get<Policy>(`policies/${place(name)}`), ofKinds("Policy"));
  const found = policy.data;
  if (found === undefined) return policy.error ? <Trouble error={policy.error} /> : <Loading what="the policy" />;
  return (
    <>
      <h1>{found.name}</h1>
      <section className="card answer">
        <p>
          For {found.selector === null ? "everything" : <code>{found.selector}</code>}
        </p>
        {found.description && <p>{found.description}</p>}
      </section>
      <Section title="Rules" id="rules">
        <ol className="gates">
          {found.rules.map((rule, index) => {
            const [kind, spec] = Object.entries(rule).find(([key]) => key !== "id" && key !== "name") ?? ["", {}];
            return (
              <li key={index}>
                <div className="grow">
                  <b>{rule.name ?? spaced(kind)}</b> <span className="soft">{spaced(kind)}</span>
                  <dl>
                    {Object.entries(spec as object)
                      .filter(([, value]) => value !== null)
                      .map(([key, value]) => (
                        <div key={key}>
                          <dt>{spaced(key)}</dt>
                          <dd>{typeof value === "object" ? <code>{JSON.stringify(value)}</code> : String(value)}</dd>
                        </div>
                      ))}
                  </dl>
                </div>
              </li>
            );
          })}
        </ol>
      </Section>
    </>
  );
}

export function Freezes(): ReactNode {
  const columns: Column<Freeze>[] = [
    { name: "Freeze", text: (one) => one.name, cell: (one) => one.name },
    { name: "For", text: (one) => one.selector ?? "", cell: (one) => (one.selector === null ? "everything" : <code>{one.selector}</code>) },
    { name: "Reason", text: (one) => one.reason, cell: (one) => one.reason, wide: true },
    { name: "By", text: (one) => one.user, cell: (one) => one.user },
    { name: "Since", cell: (one) => <Time at={one.createdAt} /> },
    { name: "Ends", cell: (one) => <Time at={one.expiresAt} /> },
    { name: "", cell: (one) => <ActButton act={unfreeze(one)} /> },
  ];
  return (
    <Objects
      title="Freezes"
      noun="freeze"
      path="freezes"
      kinds={["Freeze"]}
      columns={columns}
      id={(one: Freeze) => one.id}
      empty={{ says: "Nothing is frozen. To stop the line:", command: 'headgate freeze NAME --reason "why"' }}
      acts={<ActButton act={freeze()} />}
    />
  );
}

export function Approvals(): ReactNode {
  const columns: Column<Approval>[] = [
    {
      name: "Version",
      text: (one) => `${one.deployment} ${one.tag}`,
      cell: (one) => (
        <Link href={to("rollouts", one.deployment, one.tag)}>
          {one.deployment} <b>{one.tag}</b>
        </Link>
      ),
    },
    { name: "Environment", text: (one) => one.environment, cell: (one) => one.environment },
    { name: "Vote", cell: (one) => <Mark tone={one.status === "approved" ? "good" : "bad"} sign={one.status === "approved" ? "✓" : "✕"} word={one.status} /> },
    { name: "By", text: (one) => one.user, cell: (one) => one.user },
    { name: "When", cell: (one) => <Time at={one.at} /> },
    { name: "Reason", text: (one) => one.reason ?? "", cell: (one) => one.reason ?? "", wide: true },
  ];
  return (
    <Objects
      title="Approvals"
      noun="vote"
      path="approvals"
      kinds={["Approval", "Version"]}
      columns={columns}
      id={(one: Approval) => `${one.versionId} ${one.environment} ${one.user}`}
      empty={{ says: "Nobody has voted yet. What waits for a vote is on the page Now." }}
    />
  );
}

interface Plain {
  id: string;
  name: string;
  createdAt: string;
}

export function Agents(): ReactNode {
  const columns = useMemo(
    () =>
      [
        named("Agent", (one: { name: string }) => one.name),
        named("Type", (one: { type: string }) => one.type),
        { name: "Since", cell: (one: Plain) => <Time at={one.createdAt} /> },
      ] as Column<Plain>[],
    [],
  );
  return (
    <Objects
      title="Agents"
      noun="agent"
      path="job-agents"
      kinds={["JobAgent"]}
      columns={columns}
      id={(one: Plain) => one.id}
      empty={{ says: "No agent runs jobs yet.", command: "headgate apply -f agent.yaml" }}
    />
  );
}

export function Signals(): ReactNode {
  const columns = useMemo(
    () =>
      [
        named("Signal", (one: { name: string }) => one.name),
        { name: "Value", cell: (one: { value: unknown }) => <code>{JSON.stringify(one.value)}</code>, wide: true },
        { name: "Set", cell: (one: { setAt: string }) => <Time at={one.setAt} /> },
        { name: "Expires", cell: (one: { expiresAt: string | null }) => <Time at={one.expiresAt} /> },
      ] as Column<Plain>[],
    [],
  );
  return (
    <Objects
      title="Signals"
      noun="signal"
      path="signals"
      kinds={["Signal"]}
      columns={columns}
      id={(one: Plain) => one.id}
      empty={{ says: "Gates can read signals; none is set.", command: "headgate apply -f signal.yaml" }}
    />
  );
}

export function Audit(): ReactNode {
  const found = useLive("audit", () => get<Page<AuditEntry>>("audit", { limit: 200 }));
  const columns: Column<AuditEntry>[] = [
    { name: "When", cell: (one) => <Time at={one.at} /> },
    { name: "Who", text: (one) => one.user, cell: (one) => one.user },
    { name: "Did", text: (one) => one.action, cell: (one) => one.action },
    { name: "What", text: (one) => `${one.kind} ${one.name}`, cell: (one) => `${one.kind} ${one.name}`, wide: true },
    { name: "", cell: (one) => <Change before={one.before} after={one.after} />, wide: true },
  ];
  return (
    <>
      <h1>Audit</h1>
      <Trouble error={found.error} />
      {found.data && <Listing items={found.data.items} columns={columns} id={(one) => String(one.seq)} noun="entry" />}
    </>
  );
}

/** What was before and what is after, line by line. */
function Change({ before, after }: { before: unknown; after: unknown }): ReactNode {
  if (before === null && after === null) return null;
  const old = before === null ? [] : JSON.stringify(before, null, 2).split("\n");
  const fresh = after === null ? [] : JSON.stringify(after, null, 2).split("\n");
  const gone = old.filter((line) => !fresh.includes(line));
  const come = fresh.filter((line) => !old.includes(line));
  return (
    <details>
      <summary>change</summary>
      <pre className="diff">
        {gone.map((line, index) => (
          <del key={`-${index}`}>- {line}</del>
        ))}
        {come.map((line, index) => (
          <ins key={`+${index}`}>+ {line}</ins>
        ))}
      </pre>
    </details>
  );
}
