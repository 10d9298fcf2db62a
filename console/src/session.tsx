// Who is logged in, what they may do, and where they work.
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import * as client from "./api/client";
import type { Session } from "./api/types";
import { StreamContext } from "./live/queries";
import { Stream } from "./live/stream";
import { FAILURES, Login } from "./pages/login";
import { go, stayIn, usePlace, WORKSPACE, withQuery } from "./router";
import { DEFAULT_WORKSPACE } from "./words";

interface Current {
  session: Session;
  workspace: string;
  workspaces: string[];
  choose: (workspace: string) => void;
  leave: () => Promise<void>;
}

const Context = createContext<Current | null>(null);
const KEPT_WORKSPACE = "headgate.workspace";

export function useSession(): Current {
  const current = useContext(Context);
  if (current === null) throw new Error("a page outside of the session");
  return current;
}

/** Whether the caller may do it here; the answer of the server decides in the end. */
export function useMay(): (permission: string) => boolean {
  const { session, workspace } = useSession();
  return useCallback(
    (permission) => [workspace, "*"].some((name) => session.workspaces[name]?.includes(permission) ?? false),
    [session, workspace],
  );
}

type Stage = { name: "asking" } | { name: "out"; why: string } | { name: "in"; session: Session };

export function SessionGate({ children }: { children: ReactNode }): ReactNode {
  const [stage, setStage] = useState<Stage>({ name: "asking" });
  const enter = useCallback((session: Session) => {
    client.adoptSession(session);
    setStage({ name: "in", session });
  }, []);
  useEffect(() => {
    client.whenSessionEnds(() => setStage({ name: "out", why: "Your session has ended. Log in again to go on where you were." }));
    void begin().then(enter, (error: Error) => {
      const isFirst = error instanceof client.Refused && error.status === 401 && !error.problem.title.includes("link");
      setStage({ name: "out", why: isFirst ? "" : error.message });
    });
  }, [enter]);
  if (stage.name === "asking") return null;
  if (stage.name === "out") return <Login why={stage.why} onSession={enter} />;
  return <Inside session={stage.session} onLeave={() => setStage({ name: "out", why: "You are logged out." })}>{children}</Inside>;
}

/** A link that logs in once leaves no trace in the address. */
async function begin(): Promise<Session> {
  const failure = /^#login-failed=([\w-]+)$/.exec(window.location.hash)?.[1];
  if (failure !== undefined) {
    window.history.replaceState(null, "", window.location.pathname + window.location.search);
    throw new Error(FAILURES[failure] ?? FAILURES["refused"]);
  }
  const code = /^#login=([\w-]+)$/.exec(window.location.hash)?.[1];
  if (code === undefined) return await client.get<Session>("session", {}, false);
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
  return await client.send<Session>("POST", "session", { code }, false);
}

function Inside({ session, onLeave, children }: { session: Session; onLeave: () => void; children: ReactNode }): ReactNode {
  const [workspaces, setWorkspaces] = useState<string[] | null>(null);
  const { query } = usePlace();
  const [workspace, setWorkspace] = useState(() => query.get(WORKSPACE) ?? firstWorkspace(session));
  const named = query.get(WORKSPACE) ?? (workspace === DEFAULT_WORKSPACE ? workspace : null);
  client.chooseWorkspace(workspace);
  stayIn(workspace === DEFAULT_WORKSPACE ? null : workspace);
  useEffect(() => {
    // The address decides: whoever goes back, goes back to the workspace of before. One that names none is told this one.
    if (named === null) go(withQuery({}), true);
    else if (named !== workspace) choose(named);
  }, [named]);
  const choose = (name: string): void => {
    sessionStorage.setItem(KEPT_WORKSPACE, name);
    setWorkspace(name);
  };
  useEffect(() => {
    void client
      .all<{ name: string }>("workspaces", {}, 20_000, false)
      .then((found) => setWorkspaces(found.map((one) => one.name)), () => undefined);
  }, []);
  const stream = useMemo(() => {
    client.chooseWorkspace(workspace);
    return new Stream(session.user, workspace);
  }, [session.user, workspace]);
  useEffect(() => {
    stream.start();
    return () => stream.stop();
  }, [stream]);
  const current: Current = {
    session,
    workspace,
    workspaces: workspaces ?? [workspace],
    choose: (name) => {
      stayIn(name === DEFAULT_WORKSPACE ? null : name);
      choose(name);
      go(withQuery({}));
    },
    leave: async () => {
      await client.send("DELETE", "session", undefined, false);
      onLeave();
    },
  };
  return (
    <Context value={current}>
      <StreamContext value={stream} key={workspace}>
        {children}
      </StreamContext>
    </Context>
  );
}

function firstWorkspace(session: Session): string {
  const named = Object.keys(session.workspaces).filter((name) => name !== "*");
  const kept = sessionStorage.getItem(KEPT_WORKSPACE);
  if (kept !== null && (named.includes(kept) || "*" in session.workspaces)) return kept;
  return named.length === 1 && !("*" in session.workspaces) ? (named[0] as string) : DEFAULT_WORKSPACE;
}
