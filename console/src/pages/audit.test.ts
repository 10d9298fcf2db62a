// @vitest-environment jsdom
import { expect, test } from "vitest";
import type { AuditEntry } from "../api/types";
import { placeEntry, whyOf } from "./audit";

const entry = (more: object): AuditEntry => ({ reason: null, before: null, after: null, ...more }) as unknown as AuditEntry;

test("why it was done is what was said with it, else what the object says itself", () => {
  expect(whyOf(entry({ reason: "ticket 5", after: { reason: "a fire" } }))).toBe("ticket 5");
  expect(whyOf(entry({ after: { reason: "a fire" } }))).toBe("a fire");
  expect(whyOf(entry({ after: { spec: { reason: "a fire" } } }))).toBe("a fire");
  expect(whyOf(entry({ before: { reason: "a fire" } }))).toBe("");
  expect(whyOf(entry({ after: { spec: {} } }))).toBe("");
});

test("what is told of the log comes first, once", () => {
  const items = [entry({ seq: 2 }), entry({ seq: 1 })];
  expect(placeEntry(items, "3", entry({ seq: 3 })).map((one) => one.seq)).toEqual([3, 2, 1]);
  expect(placeEntry(items, "2", entry({ seq: 2 }))).toBe(items);
});
