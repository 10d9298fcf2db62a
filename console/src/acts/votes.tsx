// Yes and no to a version: what somebody has said already is not offered to them again.
import type { ReactNode } from "react";
import type { Approval } from "../api/types";
import { useVotes } from "../live/tables";
import { useSession } from "../session";
import { ActButton } from "./act";
import { vote } from "./fleet";

interface Asked {
  deployment: string;
  version: string;
  environment: string;
}

/** How they have voted on it; undefined if they have not. */
export function ownVote(votes: Approval[], user: string, { deployment, version, environment }: Asked): Approval["status"] | undefined {
  return votes.find((one) => one.user === user && one.deployment === deployment && one.tag === version && one.environment === environment)?.status;
}

export function VoteButtons(asked: Asked): ReactNode {
  const { session } = useSession();
  const votes = useVotes(asked.deployment, asked.version);
  const own = ownVote(votes.items ?? [], session.user, asked);
  const { deployment, version, environment } = asked;
  return (
    <span className="buttons">
      {own !== undefined && <span className="soft">you have {own} it</span>}
      {own !== "approved" && <ActButton act={vote("approved", deployment, version, environment)} />}
      {own !== "rejected" && <ActButton act={vote("rejected", deployment, version, environment)} />}
    </span>
  );
}
