// What is said of clusters on several pages: which one does not answer, and who is stuck.
import type { ReactNode } from "react";
import type { ConnectedCluster, Page } from "../api/types";
import { useCluster } from "../live/follow";
import { ObjectPage, type Shown } from "./tables";
import { Link, to } from "../router";
import { Mark, Section, Time } from "../ui/parts";
import type { Stuck as Stuckness } from "../ui/tree";

/** A list of what connected clusters hold, which follows them. */
export function ClusterList<T>({ list, ...shown }: Shown<T> & { list: "workloads" | "graphs" }): ReactNode {
  const found = useCluster<Page<T>>({ list });
  return <ObjectPage {...shown} items={found.data?.items} error={found.error} above={<Unanswering />} />;
}

/** The target that something was applied for. */
export function AppliedFor({ target, version }: { target: string | null; version: string | null }): ReactNode {
  if (target === null) return <span className="soft">not of this workspace</span>;
  return (
    <Link href={to("targets", ...target.split("/"))}>
      {target} {version}
    </Link>
  );
}

function Unanswering(): ReactNode {
  const clusters = useCluster<Page<ConnectedCluster>>({ list: "clusters" });
  const silent = clusters.data?.items.filter((one) => !one.isAnswering) ?? [];
  if (silent.length === 0) return null;
  return (
    <div className="trouble" role="status">
      {silent.map((one) => (
        <span key={one.name}>
          <b>{one.name}</b> does not answer: {one.message}
        </span>
      ))}
    </div>
  );
}

export function Stuck({ found }: { found: Stuckness[] }): ReactNode {
  if (found.length === 0) return null;
  return (
    <Section title="What waits, and for what" id="stuck">
      <ul className="plain">
        {found.slice(0, 30).map((one) => (
          <li key={one.type + one.message} className="row">
            <Mark tone={one.verdict === "denied" ? "bad" : "wait"} sign={one.verdict === "denied" ? "✕" : "○"} word={one.verdict} />
            <span className="grow">
              <b>{one.subject}</b>: {one.message}
            </span>
            {one.at && (
              <small className="soft">
                asked again <Time at={one.at} />
              </small>
            )}
          </li>
        ))}
        {found.length > 30 && <li className="soft">and {found.length - 30} more</li>}
      </ul>
    </Section>
  );
}
