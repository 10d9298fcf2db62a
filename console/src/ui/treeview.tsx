// A set or graph down to its pods: every part with its phase, revision and role. Pods are a strip, for there are many.
import { type ReactNode, useState } from "react";
import type { Tree } from "../api/types";
import { plural } from "../words";
import { Mark } from "./parts";
import { type Level, plurals, signOf, toneOf } from "./tree";

const MOST_CHILDREN = 50;

export function Progress({ levels }: { levels: Level[] }): ReactNode {
  return (
    <div className="levels">
      {levels.map((level) => (
        <div key={level.kind}>
          <span className="soft">{plurals(level.kind)}</span>
          <div className="bar" role="img" aria-label={`${level.updated} of ${level.total} ${plurals(level.kind)} are at the newest revision`}>
            <span className="good" style={{ width: `${(100 * level.updated) / Math.max(1, level.total)}%` }} />
          </div>
          <span className="figures">
            {level.updated} of {level.total} <span className="soft">updated, {level.ready} ready</span>
          </span>
        </div>
      ))}
    </div>
  );
}

export function TreeView({ tree, depth = 0 }: { tree: Tree; depth?: number }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const pods = tree.children.filter((one) => one.children.length === 0 && (one.part?.kind === "pod" || one.part?.kind === "object"));
  const others = tree.children.filter((one) => !pods.includes(one));
  const shown = isWhole ? others : others.slice(0, MOST_CHILDREN);
  return (
    <details className="tree" open={depth < 3 || toneOf(tree.state) === "bad"}>
      <summary>
        <Part one={tree} />
      </summary>
      <div className="below">
        {tree.lines.filter((line) => line.verdict !== "allowed").map((line) => (
          <p key={line.type + line.message} className={line.verdict === "denied" ? "denied" : "soft"}>
            {line.message}
          </p>
        ))}
        {pods.length > 0 && (
          <ul className="pods" aria-label={plural(pods.length, "part")}>
            {pods.map((one) => (
              <li key={one.subject} className={`pod ${toneOf(one.state)}${one.part?.role === "surge" ? " surge" : ""}`} title={`${one.subject}: ${one.state}${one.message ? `, ${one.message}` : ""}`}>
                <span aria-hidden="true">{signOf(one.state)}</span> {one.subject.replace(/^\w+ /, "")}{" "}
                {one.part?.revision != null && <small>r{one.part.revision}</small>}
                {one.part?.role === "surge" && <small> surge</small>}
                <span className="hidden">{one.state}</span>
              </li>
            ))}
          </ul>
        )}
        {shown.map((one) => (
          <TreeView key={one.subject} tree={one} depth={depth + 1} />
        ))}
        {others.length > shown.length && (
          <button type="button" onClick={() => setWhole(true)}>
            Show {others.length - shown.length} more
          </button>
        )}
      </div>
    </details>
  );
}

function Part({ one }: { one: Tree }): ReactNode {
  return (
    <span className="part">
      <b>{one.subject}</b> <Mark tone={toneOf(one.state)} sign={signOf(one.state)} word={one.state} />
      {one.part?.revision != null && <span className="badge">revision {one.part.revision}</span>}
      {one.part?.role === "surge" && <span className="badge">surge</span>} <span className="soft">{one.message}</span>
    </span>
  );
}
