// @vitest-environment jsdom
import { expect, test } from "vitest";
import { bodyOf, pairsOf } from "./versions";

const EMPTY = { tag: "", targetSelector: "", message: "", config: "", metadata: "" };

test("what was left empty is not sent", () => {
  expect(bodyOf({ ...EMPTY, tag: " v1 " })).toEqual({ tag: "v1" });
  expect(bodyOf({ ...EMPTY, tag: "v1", config: '{"a": 1}', metadata: "commit = x=y\n\nby=me" })).toEqual({
    tag: "v1",
    config: { a: 1 },
    metadata: { commit: "x=y", by: "me" },
  });
});

test("a line that is no pair is named", () => {
  expect(() => pairsOf("commit")).toThrow("commit");
});
