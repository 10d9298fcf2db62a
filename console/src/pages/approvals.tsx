// Who has said yes or no to what; what somebody waits for a vote on comes first. Skips stand below: they pass rules too.
import { type ReactNode, useMemo } from "react";
import { type Act, ActButton } from "../acts/act";
import { concerning, ofObject } from "../acts/fleet";
import { VoteButtons } from "../acts/votes";
import { all, place, send } from "../api/client";
import type { Approval, Concerns, Skip } from "../api/types";
import { askedVotes, changesNeed } from "../live/needed";
import { useLive } from "../live/queries";
import { placeVotes, useObjects } from "../live/tables";
import { Link, to } from "../router";
import { useSession } from "../session";
import { type Column, Listing } from "../ui/listing";
import { Empty, Mark, Section, Sentence, Time, Trouble } from "../ui/parts";
import { Written } from "../ui/text";
import { plural } from "../words";
import { Objects } from "./tables";

function withdrawVote(one: Approval): Act {
  return {
    label: "Withdraw",
    title: `Withdraw your vote on ${one.deployment} ${one.tag} in ${one.environment}`,
    says: "It counts no longer. What has started because of it goes on.",
    permission: "approval:write",
    plan: () => ({ approvals: [{ deployment: one.deployment, tag: one.tag, environment: one.environment, status: "withdrawn" }] }),
    confirms: ofObject("Approval"),
    run: async ({ reason }) => {
      const path = `approvals/${place(one.versionId, one.environment)}`;
      return concerning("your vote is withdrawn", (await send<{ concerns?: Concerns }>("DELETE", path, undefined, true, { reason })) ?? {});
    },
  };
}

function endSkip(one: Skip): Act {
  const rule = one.ruleName ?? one.rule;
  return {
    label: "End",
    title: `End the skip of ${rule}`,
    says: `${rule} of ${one.policy} holds again. It was skipped by ${one.user}: ${one.reason}`,
    permission: "skip:write",
    plan: () => ({ endedSkips: [one.id] }),
    confirms: ofObject("Skip"),
    run: async ({ reason }) =>
      concerning("the skip is over", (await send<{ concerns?: Concerns }>("DELETE", `skips/${place(one.id)}`, undefined, true, { reason })) ?? {}),
  };
}

export function Approvals(): ReactNode {
  const { session } = useSession();
  const waiting = useLive("awaited", askedVotes, changesNeed);
  const skips = useObjects<Skip>("skips", "Skip", () => all<Skip>("skips"), (_, __, every) => every as Skip[]);
  const columns = useMemo<Column<Approval>[]>(
    () => [
      {
        name: "Version",
        text: (one) => `${one.deployment} ${one.tag}`,
        cell: (one) => (
          <Link href={to("rollouts", one.deployment, one.tag)}>
            {one.deployment} <b>{one.tag}</b>
          </Link>
        ),
      },
      { name: "Environment", text: (one) => one.environment, cell: (one) => one.environment },
      { name: "Vote", cell: (one) => <Mark tone={one.status === "approved" ? "good" : "bad"} sign={one.status === "approved" ? "✓" : "✕"} word={one.status} /> },
      { name: "By", text: (one) => one.user, cell: (one) => one.user },
      { name: "When", cell: (one) => <Time at={one.at} /> },
      { name: "Reason", text: (one) => one.reason ?? "", cell: (one) => one.reason ?? "", wide: true },
      { name: "", cell: (one) => (one.user === session.user ? <ActButton act={withdrawVote(one)} /> : null) },
    ],
    [session.user],
  );
  const asked = waiting.data ?? [];
  return (
    <>
      <Objects
        title="Approvals"
        noun="vote"
        path="approvals"
        kind="Approval"
        placed={placeVotes}
        columns={columns}
        choices={[
          { key: "environment", label: "Environment", of: (one: Approval) => one.environment },
          { key: "vote", label: "Vote", of: (one: Approval) => one.status },
        ]}
        id={(one: Approval) => `${one.versionId} ${one.environment} ${one.user}`}
        empty={{ says: "Nobody has voted yet. A policy asks for votes with the rule approval:", command: "headgate approve DEPLOYMENT TAG -e ENVIRONMENT" }}
        above={
          asked.length > 0 && (
            <Section title="Waits for a vote" id="awaited">
              <ul className="plain">
                {asked.map((one) => (
                  <li key={`${one.deployment} ${one.environment} ${one.version} ${one.policy} ${one.rule}`} className="row">
                    <Link href={to("rollouts", one.deployment, one.version)}>
                      {one.deployment} <b>{one.version}</b>
                    </Link>
                    <span className="grow">
                      <Written text={one.environment} />: <Sentence text={one.message} /> <span className="soft">({plural(one.count, "target")})</span>
                    </span>
                    <VoteButtons deployment={one.deployment} version={one.version} environment={one.environment} />
                  </li>
                ))}
              </ul>
            </Section>
          )
        }
      />
      <Section title="Skips" id="skips">
        <Trouble error={skips.error} />
        {skips.items !== undefined && skips.items.length === 0 && <Empty>No rule is skipped for anything.</Empty>}
        {skips.items !== undefined && skips.items.length > 0 && <Skips skips={skips.items} />}
      </Section>
    </>
  );
}

const SKIPS: Column<Skip>[] = [
  {
    name: "Rule",
    text: (one) => `${one.policy} ${one.ruleName ?? one.rule}`,
    cell: (one) => (
      <>
        <Link href={to("policies", one.policy)}>{one.policy}</Link> {one.ruleName ?? one.rule}
      </>
    ),
  },
  {
    name: "For",
    text: (one) => [one.deployment, one.tag, one.environment, one.resource].filter(Boolean).join(" "),
    cell: (one) => [one.deployment, one.tag, one.environment, one.resource].filter(Boolean).join(" ") || "everything",
    wide: true,
  },
  { name: "Reason", text: (one) => one.reason, cell: (one) => one.reason, wide: true },
  { name: "By", text: (one) => one.user, cell: (one) => one.user },
  { name: "Since", cell: (one) => <Time at={one.createdAt} /> },
  { name: "Ends", cell: (one) => <Time at={one.expiresAt} /> },
  { name: "", cell: (one) => <ActButton act={endSkip(one)} /> },
];

function Skips({ skips }: { skips: Skip[] }): ReactNode {
  return <Listing items={skips} columns={SKIPS} id={(one) => one.id} noun="skip" />;
}
