// @vitest-environment jsdom
import { expect, test } from "vitest";
import { nobody } from "./now";

test("that nobody is waited for is said only where it is known", () => {
  expect(nobody(true, 0)).toBe("Nobody is waited for.");
  expect(nobody(false, 0)).toContain("not known");
  expect(nobody(true, 1)).toContain("agents that do not answer");
});
