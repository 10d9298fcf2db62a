// @vitest-environment jsdom
import { expect, test } from "vitest";
import { lacking } from "./obstacles";

test("what lacks is said once for each permission", () => {
  const found = lacking([
    ["freeze:write", ["Freeze all"]],
    ["approval:write", ["Approve", "Reject", "Approve"]],
  ]);
  expect(found).toBe("Approve and Reject need approval:write; Freeze all needs freeze:write");
});
