// PodCliqueSets of connected clusters: how far each is, and one of them down to its pods.
import type { ReactNode } from "react";
import { ActButton } from "../acts/act";
import { orderCluster, partition } from "../acts/clusters";
import type { Workload, WorkloadDetail } from "../api/types";
import { useCluster } from "../live/follow";
import { Link, to } from "../router";
import { AppliedFor, ClusterList, Stuck } from "./clusters";
import type { Column } from "../ui/listing";
import { Loading, Mark, Section, Time, Trouble } from "../ui/parts";
import { levels, signOf, stuck, toneOf } from "../ui/tree";
import { Progress, TreeView } from "../ui/treeview";

const COLUMNS: Column<Workload>[] = [
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
  { name: "From", text: (one) => one.target ?? "", cell: (one) => <AppliedFor target={one.target} version={one.version} /> },
];

export function Workloads(): ReactNode {
  return (
    <ClusterList
      title="Workloads"
      noun="set"
      list="workloads"
      columns={COLUMNS}
      choices={[
        { key: "cluster", label: "Cluster", of: (one: Workload) => one.cluster },
        { key: "state", label: "State", of: (one: Workload) => one.state },
      ]}
      id={(one: Workload) => one.id}
      empty={{ says: "No connected cluster has a PodCliqueSet. A job agent of the type workload connects one:", command: "headgate apply -f workload-agent.yaml" }}
    />
  );
}

export function WorkloadPage({ id }: { id: string }): ReactNode {
  const found = useCluster<WorkloadDetail>({ workload: id });
  const one = found.data;
  if (one === undefined) return found.error ? <Trouble error={found.error} /> : <Loading what="the set" />;
  return (
    <>
      <div className="head">
        <h1>
          {one.name} <span className="soft">in {one.namespace} of {one.cluster}</span>
        </h1>
        <span className="buttons">
          <ActButton act={orderCluster("workloads", one.isPaused ? "resume" : "pause", id, one.name)} />
          <ActButton act={partition(id, one.name, one.partition)} />
          <ActButton act={orderCluster("workloads", "abort", id, one.name)} />
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
            <dd>
              <AppliedFor target={one.target} version={one.version} />
            </dd>
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
