// PodCliqueSets of connected clusters: how far each is, and one of them down to its pods.
import { type ReactNode, useMemo, useState } from "react";
import { ActButton } from "../acts/act";
import { orderCluster, partition } from "../acts/clusters";
import { get, place } from "../api/client";
import type { Workload, WorkloadDetail } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import { Link, to } from "../router";
import { Stuck, Unanswering } from "../ui/clusters";
import type { Column } from "../ui/listing";
import { Loading, Mark, Section, Time, Trouble } from "../ui/parts";
import { levels, signOf, stuck, toneOf } from "../ui/tree";
import { Progress, TreeView } from "../ui/treeview";
import { Objects } from "./tables";

export function Workloads(): ReactNode {
  const [version, setVersion] = useState(0);
  const columns = useMemo<Column<Workload>[]>(
    () => [
      { name: "Set", text: (one) => `${one.namespace}/${one.name}`, cell: (one) => <Link href={to("workloads", one.id)}>{one.namespace}/<b>{one.name}</b></Link> },
      { name: "Cluster", text: (one) => one.cluster, cell: (one) => one.cluster },
      { name: "State", text: (one) => one.state, cell: (one) => <Mark tone={toneOf(one.state)} sign={signOf(one.state)} word={one.state} /> },
      {
        name: "Replicas",
        cell: (one) => (
          <span className="figures">
            {one.updatedReplicas} of {one.replicas} updated, {one.availableReplicas} available
          </span>
        ),
      },
      { name: "What", text: (one) => one.message, cell: (one) => one.message, wide: true },
      {
        name: "From",
        text: (one) => one.target ?? "",
        cell: (one) =>
          one.target === null ? <span className="soft">not of this workspace</span> : (
            <Link href={`/targets/${one.target.split("/").map(encodeURIComponent).join("/")}`}>
              {one.target} {one.version}
            </Link>
          ),
      },
    ],
    [],
  );
  return (
    <Objects
      title="Workloads"
      noun="set"
      path="workloads"
      kinds={["Job", "JobAgent"]}
      version={version}
      columns={columns}
      choices={[
        { key: "cluster", label: "Cluster", of: (one: Workload) => one.cluster },
        { key: "state", label: "State", of: (one: Workload) => one.state },
      ]}
      id={(one: Workload) => one.id}
      above={<Unanswering version={version} />}
      empty={{ says: "No connected cluster has a PodCliqueSet. A job agent of the type workload connects one:", command: "headgate apply -f workload-agent.yaml" }}
      acts={
        <button type="button" onClick={() => setVersion((old) => old + 1)}>
          Ask again
        </button>
      }
    />
  );
}

export function WorkloadPage({ id }: { id: string }): ReactNode {
  const found = useLive(`workload ${id}`, () => get<WorkloadDetail>(`workloads/${place(id)}`), ofKinds("Job"));
  const one = found.data;
  if (one === undefined) return found.error ? <Trouble error={found.error} /> : <Loading what="the set" />;
  return (
    <>
      <div className="head">
        <h1>
          {one.name} <span className="soft">in {one.namespace} of {one.cluster}</span>
        </h1>
        <span className="buttons">
          <button type="button" onClick={found.reload}>
            Ask again
          </button>
          {one.isPaused ? <ActButton act={orderCluster("workloads", "resume", id, one.name, found.reload)} /> : <ActButton act={orderCluster("workloads", "pause", id, one.name, found.reload)} />}
          <ActButton act={partition(id, one.name, one.partition, found.reload)} />
          <ActButton act={orderCluster("workloads", "abort", id, one.name, found.reload)} />
        </span>
      </div>
      <Trouble error={found.error} />
      <section className="card answer">
        <p>
          <Mark tone={toneOf(one.state)} sign={signOf(one.state)} word={one.state} /> <b>{one.message}</b>{" "}
          {one.isPaused && <span className="badge">paused</span>} {one.partition > 0 && <span className="badge">partition {one.partition}</span>}
        </p>
        <dl>
          <div>
            <dt>pods</dt>
            <dd>
              {one.pods.updated} of {one.pods.total} updated
            </dd>
          </div>
          <div>
            <dt>replicas</dt>
            <dd>
              {one.updatedReplicas} of {one.replicas} updated, {one.availableReplicas} available
            </dd>
          </div>
          <div>
            <dt>applied for</dt>
            <dd>{one.target === null ? "–" : <Link href={`/targets/${one.target.split("/").map(encodeURIComponent).join("/")}`}>{one.target}</Link>}</dd>
          </div>
          <div>
            <dt>there</dt>
            <dd>
              <Time at={one.createdAt} />
            </dd>
          </div>
        </dl>
      </section>
      <Section title="Progress by level" id="progress">
        <Progress levels={levels(one.tree)} />
      </Section>
      <Stuck found={stuck(one.tree)} />
      <Section title="Replicas, groups and pods" id="tree">
        {one.isCut && <p className="soft">There is more than is shown.</p>}
        <TreeView tree={one.tree} />
      </Section>
    </>
  );
}
