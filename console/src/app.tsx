// The frame around every page: where one can go, how fresh it is, who one is.
import { lazy, type LazyExoticComponent, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { Obstacles } from "./acts/obstacles";
import { zone } from "./clock";
import { useFreshness } from "./live/queries";
import { Fleet } from "./pages/fleet";
import { Now } from "./pages/now";
import { go, Link, type Place, usePlace } from "./router";
import { useSession } from "./session";
import { Boundary } from "./ui/boundary";
import { Dialog, Empty, Loading, Trouble, useNow } from "./ui/parts";
import { Palette } from "./ui/palette";
import { Toasts } from "./ui/toasts";
import { DEFAULT_WORKSPACE, relative } from "./words";

const Rollout = lazy(async () => ({ default: (await import("./pages/rollout")).Rollout }));
const Target = lazy(async () => ({ default: (await import("./pages/target")).Target }));
const PolicyPage = lazy(async () => ({ default: (await import("./pages/policy")).PolicyPage }));
const NewPolicy = lazy(async () => ({ default: (await import("./pages/policy")).NewPolicy }));
const NewVersion = lazy(async () => ({ default: (await import("./pages/versions")).NewVersion }));
const WorkloadPage = lazy(async () => ({ default: (await import("./pages/workloads")).WorkloadPage }));
const GraphPage = lazy(async () => ({ default: (await import("./pages/graphs")).GraphPage }));

/** Pages of one word: their addresses, titles and files. */
const LISTS: Record<string, { title: string; page: LazyExoticComponent<() => ReactNode> }> = {
  versions: { title: "Versions", page: lazy(async () => ({ default: (await import("./pages/versions")).Versions })) },
  policies: { title: "Policies", page: lazy(async () => ({ default: (await import("./pages/policies")).Policies })) },
  workloads: { title: "Workloads", page: lazy(async () => ({ default: (await import("./pages/workloads")).Workloads })) },
  graphs: { title: "Graphs", page: lazy(async () => ({ default: (await import("./pages/graphs")).Graphs })) },
  freezes: { title: "Freezes", page: lazy(async () => ({ default: (await import("./pages/freezes")).Freezes })) },
  approvals: { title: "Approvals", page: lazy(async () => ({ default: (await import("./pages/approvals")).Approvals })) },
  agents: { title: "Agents", page: lazy(async () => ({ default: (await import("./pages/agents")).Agents })) },
  signals: { title: "Signals", page: lazy(async () => ({ default: (await import("./pages/signals")).Signals })) },
  audit: { title: "Audit", page: lazy(async () => ({ default: (await import("./pages/audit")).Audit })) },
  simulate: { title: "Simulate", page: lazy(async () => ({ default: (await import("./pages/simulate")).Simulate })) },
  settings: { title: "Settings", page: lazy(async () => ({ default: (await import("./pages/settings")).Settings })) },
};

/** Letters that go to a page. */
const GOES: Record<string, [string, string]> = {
  n: ["/", "what is in motion"],
  f: ["/fleet", "the fleet"],
  t: ["/fleet?view=grid", "every target"],
  v: ["/versions", "versions"],
  p: ["/policies", "policies"],
  a: ["/approvals", "approvals"],
  z: ["/freezes", "freezes"],
  w: ["/workloads", "workloads"],
  g: ["/graphs", "graphs"],
  l: ["/audit", "the audit log"],
};

const KEYS: [string, [string, string][]][] = [
  [
    "Everywhere",
    [
      ["/ or Ctrl-K", "go to anything by its name, or do it: freeze, approve, explain"],
      ["?", "these keys"],
      ["Tab, Enter", "to the next thing, and press it"],
      ["Escape", "close what is open"],
    ],
  ],
  ["Go to", Object.entries(GOES).map(([key, [, says]]) => [key, says])],
  [
    "In the grid of targets",
    [
      ["← ↑ → ↓", "choose a target"],
      ["Enter", "open it"],
      ["Space", "select it; with Shift all in between"],
      ["Escape", "select none"],
    ],
  ],
  [
    "On the slider of time",
    [
      ["← →", "a little earlier or later"],
      ["Home, End", "to the beginning, to the end"],
    ],
  ],
  [
    "In charts over time",
    [
      ["← ↑ → ↓", "choose a bar"],
      ["Enter", "open its target"],
      ["+ -", "nearer, further"],
      [", .", "earlier, later"],
      ["0", "all of it"],
    ],
  ],
  [
    "Where something is written",
    [
      ["Ctrl-Space", "what may stand here, in a policy"],
      ["Tab", "take the first that is offered"],
      ["↑ ↓, Enter", "choose one that is offered, and take it"],
    ],
  ],
];

function page({ segments, query }: Place): ReactNode {
  const [first, ...rest] = segments;
  if (first === undefined) return <Now />;
  if (first === "fleet" && rest.length === 0) return <Fleet />;
  if (first === "rollouts" && rest.length === 2) return <Rollout key={segments.join("/")} deployment={rest[0] as string} tag={rest[1] as string} />;
  if (first === "targets" && rest.length === 3) {
    return <Target key={segments.join("/")} deployment={rest[0] as string} environment={rest[1] as string} resource={rest[2] as string} />;
  }
  if (first === "policies" && rest.length === 0 && query.has("new")) return <NewPolicy />;
  if (first === "versions" && rest[0] === "new" && rest.length === 1) return <NewVersion />;
  if (first === "workloads" && rest.length === 1) return <WorkloadPage key={rest[0]} id={rest[0] as string} />;
  if (first === "graphs" && rest.length === 1) return <GraphPage key={rest[0]} id={rest[0] as string} />;
  if (first === "policies" && rest.length === 1) return <PolicyPage key={rest[0]} name={rest[0] as string} />;
  const Found = rest.length === 0 ? LISTS[first]?.page : undefined;
  return Found ? <Found key={first} /> : <Empty>There is no such page.</Empty>;
}

export function App(): ReactNode {
  const place = usePlace();
  const { workspace, workspaces } = useSession();
  const [open, setOpen] = useState<"palette" | "keys" | null>(null);
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, dialog") !== null;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") setOpen("palette");
      else if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      else if (event.key === "/") setOpen("palette");
      else if (event.key === "?") setOpen("keys");
      else if (Object.hasOwn(GOES, event.key)) go(GOES[event.key]?.[0] ?? "/");
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", hear);
    return () => window.removeEventListener("keydown", hear);
  }, []);
  const here = place.segments[0] ?? "";
  const menu = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow screen the menu is longer than it: where one is comes into sight.
    const current = menu.current?.querySelector("[aria-current]");
    if (!menu.current || !current) return;
    const [whole, own] = [menu.current.getBoundingClientRect(), current.getBoundingClientRect()];
    menu.current.scrollLeft += own.left - whole.left - (whole.width - own.width) / 2;
  }, [here]);
  useEffect(() => {
    document.title = `${here ? (LISTS[here]?.title ?? place.segments.slice(1).join(" ")) || "Fleet" : "Now"}${workspace === DEFAULT_WORKSPACE ? "" : ` · ${workspace}`} · Headgate`;
  });
  return (
    <>
      <a className="jump" href="#main">
        To the content
      </a>
      <header className="top">
        <Link href="/" className="brand">
          Headgate
        </Link>
        <span className="workspace" title="the workspace">
          <span className="hidden">in the workspace </span>
          {workspace}
        </span>
        <nav aria-label="Pages" ref={menu}>
          <Link href="/" current={here === ""}>
            Now
          </Link>
          <Link href="/fleet" current={here === "fleet" || here === "targets"}>
            Fleet
          </Link>
          {Object.entries(LISTS).map(([key, { title }]) => (
            <Link key={key} href={`/${key}`} current={here === key || (key === "versions" && here === "rollouts")}>
              {title}
            </Link>
          ))}
        </nav>
        <span className="right">
          <button type="button" onClick={() => setOpen("palette")} title="Ctrl-K">
            Go to …
          </button>
          <FreshnessMark />
          <Zone />
          <Who />
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        {workspaces.includes(workspace) ? (
          <>
            <Obstacles />
            <Boundary key={place.segments.join("/")}>
              <Suspense fallback={<Loading what="the page" />}>{page(place)}</Suspense>
            </Boundary>
          </>
        ) : (
          <Trouble error={new Error(`There is no workspace ${workspace} that you may see. Choose another one under your name.`)} />
        )}
      </main>
      <Toasts />
      {open === "palette" && <Palette onClose={() => setOpen(null)} />}
      {open === "keys" && (
        <Dialog title="Keys" onClose={() => setOpen(null)}>
          <div className="keygroups">
            {KEYS.map(([where, keys]) => (
              <section key={where}>
                <h3>{where}</h3>
                <dl className="keys">
                  {keys.map(([key, does]) => (
                    <div key={key}>
                      <dt>
                        <kbd>{key}</kbd>
                      </dt>
                      <dd>{does}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
          <div className="buttons">
            <button type="button" onClick={() => setOpen(null)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function FreshnessMark(): ReactNode {
  const freshness = useFreshness();
  const now = useNow();
  if (freshness.state === "live") return <span className="fresh good">● live</span>;
  if (freshness.state === "connecting") return <span className="fresh wait">○ connecting</span>;
  return (
    <span className="fresh bad" role="status">
      ○ reconnecting, stale since {relative(freshness.since, now)}
    </span>
  );
}

/** Said once for all times that are shown. */
function Zone(): ReactNode {
  const now = useNow();
  return (
    <span className="fresh soft zone" title="All times are shown in this zone; what stands on hover has the instant in UTC too.">
      <span className="hidden">times in </span>
      {zone(now)}
    </span>
  );
}

const SCHEMES = ["auto", "light", "dark"];
const KEPT_SCHEME = "headgate.scheme";

function Who(): ReactNode {
  const { session, workspace, workspaces, choose, leave } = useSession();
  const [scheme, setScheme] = useState(localStorage.getItem(KEPT_SCHEME) ?? "auto");
  useEffect(() => {
    document.documentElement.dataset["scheme"] = scheme;
    localStorage.setItem(KEPT_SCHEME, scheme);
  }, [scheme]);
  return (
    <details className="who">
      <summary>{session.user}</summary>
      <div className="menu">
        <label>
          Workspace
          <select value={workspace} onChange={(event) => choose(event.target.value)}>
            {workspaces.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Colours
          <select value={scheme} onChange={(event) => setScheme(event.target.value)}>
            {SCHEMES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void leave()}>
          Log out
        </button>
      </div>
    </details>
  );
}
