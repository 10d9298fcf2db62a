// @vitest-environment jsdom
import { expect, test } from "vitest";
import type { Approval } from "../api/types";
import { ownVote } from "./votes";

test("a vote is one's own for one version in one environment", () => {
  const votes = [{ user: "ann", deployment: "api", tag: "v1", environment: "prod", status: "approved" }] as unknown as Approval[];
  const asked = { deployment: "api", version: "v1", environment: "prod" };
  expect(ownVote(votes, "ann", asked)).toBe("approved");
  expect(ownVote(votes, "bob", asked)).toBeUndefined();
  expect(ownVote(votes, "ann", { ...asked, environment: "stage" })).toBeUndefined();
});
