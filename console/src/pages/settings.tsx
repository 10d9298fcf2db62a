// Tokens of the workspace: who may do what, until when, and which of them nobody uses.
import { type ReactNode, useState } from "react";
import { type Act, ActButton } from "../acts/act";
import { momentOf } from "../acts/objects";
import { all, place, send, serverNow } from "../api/client";
import type { NewToken, Token } from "../api/types";
import { useLive } from "../live/queries";
import { useMay, useSession } from "../session";
import type { Column } from "../ui/listing";
import { Command, Dialog, Section, Time } from "../ui/parts";
import { plural } from "../words";
import { ObjectPage } from "./tables";

const ROLES = ["viewer", "deployer", "approver", "operator", "admin"];

function create(onMade: (made: NewToken) => void): Act {
  return {
    label: "New token",
    title: "A new token",
    says: "Whoever has its secret may do what its role may. The secret is shown once and is kept nowhere.",
    permission: "token:write",
    fields: [
      { name: "name", label: "Name", required: true, placeholder: "ci" },
      { name: "role", label: "Role", options: ROLES, initial: "viewer" },
      { name: "until", label: "Expires", placeholder: "90d, or 2026-12-31; never if left empty" },
      { name: "agents", label: "Only for agents", placeholder: "names with commas; for every agent if left empty" },
    ],
    run: async ({ name, role, until, agents, reason }) => {
      const expiresAt = momentOf(until ?? "", serverNow());
      const names = (agents ?? "").split(",").map((one) => one.trim()).filter(Boolean);
      const body = { name, role, ...(expiresAt ? { expiresAt } : {}), ...(names.length > 0 ? { agents: names } : {}) };
      onMade(await send<NewToken>("POST", "tokens", body, true, { reason }));
      return "";
    },
  };
}

function removal(one: Token, onDone: () => void): Act {
  return {
    label: "Delete",
    title: `Delete the token ${one.name}`,
    says: "Whoever uses it is refused within seconds, in sessions of the console too.",
    permission: "token:write",
    tone: "bad",
    retype: one.name,
    run: async ({ reason }) => {
      await send("DELETE", `tokens/${place(one.id)}`, undefined, true, { reason });
      onDone();
      return `the token ${one.name} is deleted`;
    },
  };
}

export function Settings(): ReactNode {
  const { session, workspace } = useSession();
  const may = useMay();
  const [version, setVersion] = useState(0);
  const [made, setMade] = useState<NewToken | null>(null);
  const changed = (): void => setVersion((old) => old + 1);
  // They belong to no workspace's log, so no event tells of them, nor of when each was used last.
  const tokens = useLive(`tokens ${version}`, async () => (may("token:write") ? await all<Token>("tokens") : []), () => false);
  const columns: Column<Token>[] = [
    { name: "Token", text: (one) => one.name, cell: (one) => one.name },
    { name: "Role", text: (one) => one.role ?? "", cell: (one) => one.role ?? <span title={one.permissions.join(", ")}>{plural(one.permissions.length, "permission")}</span> },
    { name: "For", cell: (one) => one.workspace ?? "all workspaces" },
    { name: "Agents", text: (one) => one.agents.join(" "), cell: (one) => one.agents.join(", ") || <span className="soft">any</span> },
    { name: "Last used", cell: (one) => (one.lastUsedAt === null ? <span className="soft">never</span> : <Time at={one.lastUsedAt} />) },
    { name: "Expires", cell: (one) => (one.expiresAt === null ? "never" : <Time at={one.expiresAt} />) },
    { name: "Made", cell: (one) => <Time at={one.createdAt} /> },
    { name: "By", text: (one) => one.createdBy, cell: (one) => one.createdBy },
    { name: "", cell: (one) => <ActButton act={removal(one, changed)} /> },
  ];
  const mine = session.workspaces[workspace] ?? session.workspaces["*"] ?? [];
  const about = (
    <Section title="You" id="you">
      <dl>
        <div>
          <dt>name</dt>
          <dd>{session.user}</dd>
        </div>
        <div>
          <dt>workspace</dt>
          <dd>{workspace}</dd>
        </div>
        <div>
          <dt>session ends</dt>
          <dd>{session.expiresAt === null ? "when you log out, or within twelve hours" : <Time at={session.expiresAt} />}</dd>
        </div>
      </dl>
      <details>
        <summary>You have {plural(mine.length, "permission")} here</summary>
        <p>{[...mine].sort().join(", ")}</p>
      </details>
    </Section>
  );
  return (
    <>
      {may("token:write") ? (
        <ObjectPage
          title="Settings"
          noun="token"
          items={tokens.data}
          error={tokens.error}
          columns={columns}
          choices={[{ key: "role", label: "Role", of: (one: Token) => one.role ?? "" }]}
          id={(one: Token) => one.id}
          empty={{ says: "No token is for this workspace alone.", command: "headgate token create NAME --role viewer" }}
          acts={<ActButton act={create((token) => (setMade(token), changed()))} />}
          above={about}
        />
      ) : (
        <>
          <h1>Settings</h1>
          {about}
          <p className="soft">Tokens are shown to those who have the permission token:write.</p>
        </>
      )}
      {made !== null && (
        <Dialog title={`The token ${made.name}`} onClose={() => setMade(null)}>
          <p>This is its secret. It is shown this once:</p>
          <Command text={made.secret} />
          <div className="buttons">
            <button type="button" className="primary" onClick={() => setMade(null)}>
              I have it
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
