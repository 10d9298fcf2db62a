// Graphs of connected clusters: definitions with their instances in waves, and one of them as a graph of its nodes.
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { ActButton } from "../acts/act";
import { orderCluster } from "../acts/clusters";
import type { Graph, GraphDetail, GraphNode, Tree } from "../api/types";
import { useCluster } from "../live/follow";
import { Link, to } from "../router";
import { AppliedFor, ClusterList, Stuck } from "./clusters";
import type { Column } from "../ui/listing";
import { Loading, Mark, Section, Time, Trouble } from "../ui/parts";
import { signOf, stuck, toneOf } from "../ui/tree";
import { TreeView } from "../ui/treeview";

const Dag = lazy(() => import("../ui/dag"));

function StateMark({ one }: { one: Graph }): ReactNode {
  return (
    <>
      <Mark tone={one.isReady ? "good" : toneOf(one.state)} sign={one.isReady ? "✓" : signOf(one.state)} word={one.state} />
      {one.isPaused && <span className="badge">paused</span>}
    </>
  );
}

const COLUMNS: Column<Graph>[] = [
  {
    name: "Graph",
    text: (one) => `${one.namespace ?? ""} ${one.name}`,
    cell: (one) => (
      <Link href={to("graphs", one.id)}>
        {one.namespace && `${one.namespace}/`}
        <b>{one.name}</b>
      </Link>
    ),
  },
  { name: "Kind", text: (one) => `${one.kind} ${one.instanceKind}`, cell: (one) => (one.kind === "definition" ? `definition of ${one.instanceKind}` : one.instanceKind) },
  { name: "Cluster", text: (one) => one.cluster, cell: (one) => one.cluster },
  { name: "State", text: (one) => one.state, cell: (one) => <StateMark one={one} /> },
  { name: "Revision", cell: (one) => one.revision ?? "–" },
  { name: "What", text: (one) => one.message, cell: (one) => one.message, wide: true },
];

export function Graphs(): ReactNode {
  return (
    <ClusterList
      title="Graphs"
      noun="graph"
      list="graphs"
      columns={COLUMNS}
      choices={[
        { key: "cluster", label: "Cluster", of: (one: Graph) => one.cluster },
        { key: "kind", label: "Kind", of: (one: Graph) => one.kind },
        { key: "definition", label: "Definition", of: (one: Graph) => one.definition },
      ]}
      id={(one: Graph) => one.id}
      empty={{ says: "No connected cluster has a graph. A job agent of the type graph connects one:", command: "headgate apply -f graph-agent.yaml" }}
    />
  );
}

export function GraphPage({ id }: { id: string }): ReactNode {
  const found = useCluster<GraphDetail>({ graph: id });
  const one = found.data;
  const own = useMemo(() => (one?.kind === "instance" ? one.tree : undefined), [one]);
  if (one === undefined) return found.error ? <Trouble error={found.error} /> : <Loading what="the graph" />;
  return (
    <>
      <div className="head">
        <h1>
          {one.name} <span className="soft">{one.kind === "definition" ? `definition of ${one.instanceKind}` : one.instanceKind} in {one.cluster}</span>
        </h1>
        <span className="buttons">
          <ActButton act={orderCluster("graphs", one.isPaused ? "resume" : "pause", id, one.name)} />
        </span>
      </div>
      <Trouble error={found.error} />
      <section className="card answer">
        <p>
          <StateMark one={one} /> <b>{one.message}</b>
        </p>
        <dl>
          <div>
            <dt>revision</dt>
            <dd>{one.revision ?? "–"}</dd>
          </div>
          {one.target !== null && (
            <div>
              <dt>applied for</dt>
              <dd>
                <AppliedFor target={one.target} version={one.version} />
              </dd>
            </div>
          )}
          <div>
            <dt>there</dt>
            <dd>
              <Time at={one.createdAt} />
            </dd>
          </div>
        </dl>
      </section>
      <Stuck found={stuck(one.tree)} />
      {one.nodes.length > 0 && (
        <Section title="Nodes" id="nodes">
          <Suspense fallback={<Loading what="the drawing" />}>
            <Dag nodes={one.nodes} tree={own} />
          </Suspense>
          <Expressions nodes={one.nodes} tree={own} />
        </Section>
      )}
      {one.kind === "definition" && <Instances instances={one.instances} tree={one.tree} />}
      <Section title="All parts" id="tree">
        {one.isCut && <p className="soft">There is more than is shown.</p>}
        <TreeView tree={one.tree} />
      </Section>
    </>
  );
}

/** The same as words, for who does not see the drawing, with the expressions that let a node through. */
function Expressions({ nodes, tree }: { nodes: GraphNode[]; tree: Tree | undefined }): ReactNode {
  return (
    <details>
      <summary>As a table</summary>
      <div className="scroll" tabIndex={0} role="region" aria-label="Table of nodes">
        <table>
          <thead>
            <tr>
              <th>Node</th>
              <th>Kind</th>
              <th>State</th>
              <th>Needs</th>
              <th>Expressions</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((node) => {
              const state = tree?.children.find((child) => child.subject === node.id)?.state;
              return (
                <tr key={node.id}>
                  <td>{node.id}</td>
                  <td>
                    {node.kind}
                    {node.isCollection && <span className="badge">collection</span>}
                    {node.isExternal && <span className="badge">external</span>}
                  </td>
                  <td>{state ? <Mark tone={toneOf(state)} sign={signOf(state)} word={state} /> : "–"}</td>
                  <td>{node.dependsOn.join(", ") || "–"}</td>
                  <td className="wide">
                    {([["included", node.includeWhen], ["ready", node.readyWhen], ["passes on", node.propagateWhen]] as const).map(([word, texts]) =>
                      texts.map((text) => (
                        <p key={word + text}>
                          {word} when <code>{text}</code>
                        </p>
                      )),
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** In the order in which the definition lets them through. */
function Instances({ instances, tree }: { instances: Graph[]; tree: Tree }): ReactNode {
  if (instances.length === 0) return <Section title="Instances" id="instances"><p className="soft">There is none yet.</p></Section>;
  return (
    <Section title="Instances, in the order of their waves" id="instances">
      <ol className="instances">
        {instances.map((one, index) => {
          const part = tree.children[index];
          return (
            <li key={one.id} className={`pod ${one.isReady ? "good" : toneOf(one.state)}`} title={part?.message || one.message}>
              <Link href={to("graphs", one.id)}>
                {one.namespace && `${one.namespace}/`}
                {one.name}
              </Link>{" "}
              <small>{one.revision === null ? "" : `r${one.revision}`} {one.state}</small>
            </li>
          );
        })}
      </ol>
    </Section>
  );
}
