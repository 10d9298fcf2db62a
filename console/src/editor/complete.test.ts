import { expect, test } from "vitest";
import { caretAt, offers, type Schema } from "./complete";

const TEXT = `apiVersion: headgate.dev/v1
kind: Policy
metadata:
  name: careful
spec:
  # who
  selector: "true"
  rules:
    - name: two eyes
      approval:
        minApprovals: 2
    - gate:
        mode: |`;

function at(text: string): ReturnType<typeof caretAt> {
  const offset = text.indexOf("|");
  return caretAt(text.replace("|", ""), offset);
}

test("the caret knows the keys it stands below", () => {
  expect(at("|")).toEqual({ path: [], partial: "", isValue: false });
  expect(at("spec:\n  sel|")).toEqual({ path: ["spec"], partial: "sel", isValue: false });
  expect(at("spec:\n  rules:\n    - app|")).toEqual({ path: ["spec", "rules", "[]"], partial: "app", isValue: false });
  expect(at("spec:\n  rules:\n  - app|")).toEqual({ path: ["spec", "rules", "[]"], partial: "app", isValue: false });
  expect(at("spec:\n  rules:\n    - name: x\n      |")).toEqual({ path: ["spec", "rules", "[]"], partial: "", isValue: false });
  expect(at("spec:\n  rules:\n    - name: x\n      approval:\n        min|")?.path).toEqual(["spec", "rules", "[]", "approval"]);
  expect(at(TEXT)).toEqual({ path: ["spec", "rules", "[]", "gate", "mode"], partial: "", isValue: true });
  expect(at("a:\n  b:\n    c: 1\nd|")?.path).toEqual([]);
});

test("nothing is offered in a comment or in the middle of a text", () => {
  expect(at("spec:\n  # sel|")).toBeNull();
  expect(at("spec:\n  a b|")).toBeNull();
});

const COMPONENTS: Record<string, Schema> = {
  Rule: { oneOf: [{ $ref: "#/components/schemas/Approval" }, { $ref: "#/components/schemas/Gate" }] },
  Approval: { type: "object", properties: { name: { type: "string" }, approval: { type: "object", properties: { minApprovals: { type: "integer" } } } } },
  Gate: { type: "object", properties: { name: { type: "string" }, gate: { properties: { mode: { enum: ["open", "closed"] }, isOn: { type: "boolean" } } } } },
};
const ROOT: Schema = { properties: { rules: { type: "array", items: { $ref: "#/components/schemas/Rule" } }, at: { readOnly: true } } };

test("keys come from every form that the place may have", () => {
  const found = offers(ROOT, COMPONENTS, { path: ["rules", "[]"], partial: "", isValue: false }, ["name"]);
  expect(found.map((offer) => offer.insert)).toEqual(["approval:", "gate: "]);
  expect(offers(ROOT, COMPONENTS, { path: [], partial: "", isValue: false }).map((offer) => offer.text)).toEqual(["rules"]);
  expect(offers(ROOT, COMPONENTS, { path: ["none"], partial: "", isValue: false })).toEqual([]);
});

test("values come from what is allowed", () => {
  const mode = offers(ROOT, COMPONENTS, { path: ["rules", "[]", "gate", "mode"], partial: "cl", isValue: true });
  expect(mode.map((offer) => offer.text)).toEqual(["closed"]);
  const flag = offers(ROOT, COMPONENTS, { path: ["rules", "[]", "gate", "isOn"], partial: "", isValue: true });
  expect(flag.map((offer) => offer.text)).toEqual(["true", "false"]);
});

test("a schema that refers to itself ends", () => {
  const loop: Record<string, Schema> = { A: { anyOf: [{ $ref: "#/components/schemas/A" }], properties: { a: { $ref: "#/components/schemas/A" } } } };
  expect(offers({ $ref: "#/components/schemas/A" }, loop, { path: ["a", "a"], partial: "", isValue: false }).map((offer) => offer.text)).toEqual(["a"]);
});
