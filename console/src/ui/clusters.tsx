// What is said of clusters on several pages: which one does not answer, and who is stuck.
import type { ReactNode } from "react";
import { get } from "../api/client";
import type { ConnectedCluster, Page } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import { Mark, Section, Time } from "./parts";
import type { Stuck as Stuckness } from "./tree";

export function Unanswering({ version }: { version: number }): ReactNode {
  const clusters = useLive(`clusters ${version}`, () => get<Page<ConnectedCluster>>("clusters"), ofKinds("JobAgent"));
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
