import { expect, test } from "vitest";
import { refusalOf } from "./refusals";

test("an order is refused for what the server says, and while it has not answered", () => {
  const orders = [
    { action: "retry" as const, refusal: "it has nothing that failed", to: null, versions: [] },
    { action: "redeploy" as const, refusal: null, to: "v1", versions: [] },
  ];
  expect(refusalOf(orders, "retry")).toBe("it has nothing that failed");
  expect(refusalOf(orders, "redeploy")).toBeUndefined();
  expect(refusalOf(orders, "rollback")).toBe("nothing can be ordered here any more");
  expect(refusalOf(null, "redeploy")).toContain("not known");
});
