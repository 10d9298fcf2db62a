import { expect, test } from "vitest";
import type { OrderOutlook } from "../api/types";
import { order } from "./fleet";

const target = { deployment: "api", environment: "prod", resource: "n1" };
const back = (changes: Partial<OrderOutlook>): OrderOutlook[] => [{ action: "rollback", refusal: null, to: "v1", versions: ["v0", "v1"], ...changes }];

test("going back names the versions that are allowed, and asks for one where none goes by itself", () => {
  expect(order("rollback", target, back({})).fields?.[0]).toMatchObject({ placeholder: "v1 if left empty; allowed are v0, v1" });
  expect(order("rollback", target, back({ to: null })).fields?.[0]).toMatchObject({ placeholder: "one of v0, v1", required: true });
  expect(order("rollback", target).fields?.[0]).toMatchObject({ placeholder: "the one before, if left empty" });
});

test("what the server would refuse is refused, and where it was not asked it is asked by the plan", () => {
  expect(order("rollback", target, back({ refusal: "nothing ran before", to: null, versions: [] })).refusal).toBe("nothing ran before");
  expect(order("rollback", target, back({})).refusal).toBeUndefined();
  expect(order("rollback", target).refusal).toBeUndefined();
});
