// The way in: at the provider that the server knows, or a token, which goes to the server once and stays in a cookie that
// no script reads.
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import * as client from "../api/client";
import type { LoginWays, Session } from "../api/types";
import { Command, Trouble } from "../ui/parts";

/** Why a provider has logged nobody in, as the server names it. */
export const FAILURES: Record<string, string> = {
  denied: "You were not logged in: it was declined at the provider.",
  stale: "You were not logged in: this browser has not begun that login, or too long ago. Try again.",
  away: "You were not logged in: the provider does not answer as it should. The log of the server says how.",
  refused: "You were not logged in: what the provider says cannot be taken. The log of the server says why.",
  "no-role": "You are known, but none of your groups has a role here. Ask who runs this service.",
  "too-long": "You were not logged in: the provider says more of you than fits into a cookie. Ask who runs this service.",
};

export function Login({ why, onSession }: { why: string; onSession: (session: Session) => void }): ReactNode {
  const [token, setToken] = useState("");
  const [error, setError] = useState<Error>();
  const [ways, setWays] = useState<LoginWays>();
  useEffect(() => {
    client.get<LoginWays>("session/ways", {}, false).then(setWays, () => undefined);
  }, []);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      onSession(await client.send<Session>("POST", "session", { token: token.trim() }, false));
    } catch (failure) {
      setError(failure as Error);
    }
  };
  const leave = async (): Promise<void> => {
    try {
      const returnTo = window.location.pathname + window.location.search;
      const begun = await client.send<{ address: string }>("POST", "session/oidc", { returnTo }, false);
      window.location.assign(begun.address);
    } catch (failure) {
      setError(failure as Error);
    }
  };
  const provider = ways?.oidc?.title;
  return (
    <main className="login">
      <h1>Headgate</h1>
      {why && <p role="status">{why}</p>}
      {provider !== undefined && (
        <section className="card">
          <button type="button" className="primary" onClick={() => void leave()}>
            Log in with {provider}
          </button>
        </section>
      )}
      <form className="card" onSubmit={(event) => void submit(event)}>
        <label htmlFor="token">API token</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          autoFocus
          required
          value={token}
          placeholder="hg_…"
          onChange={(event) => setToken(event.target.value)}
        />
        <button className={provider === undefined ? "primary" : undefined} type="submit">
          Log in
        </button>
        <Trouble error={error} />
      </form>
      <div className="empty">
        <p>On the command line you are logged in already? This prints a link that logs in once:</p>
        <Command text="headgate console" />
      </div>
    </main>
  );
}
