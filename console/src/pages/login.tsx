// The way in: a token, which goes to the server once and stays in a cookie that no script reads.
import { type FormEvent, type ReactNode, useState } from "react";
import * as client from "../api/client";
import type { Session } from "../api/types";
import { Command, Trouble } from "../ui/parts";

export function Login({ why, onSession }: { why: string; onSession: (session: Session) => void }): ReactNode {
  const [token, setToken] = useState("");
  const [error, setError] = useState<Error>();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      onSession(await client.send<Session>("POST", "session", { token: token.trim() }, false));
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <main className="login">
      <h1>Headgate</h1>
      {why && <p role="status">{why}</p>}
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
        <button className="primary" type="submit">
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
