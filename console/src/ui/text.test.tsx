// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, test } from "vitest";
import { Refused } from "../api/client";
import { Sentence, Trouble, troubles } from "./parts";
import { Brief, Written } from "./text";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
const box = document.createElement("div");
const root = createRoot(box);
const show = (what: React.ReactNode): Promise<void> => act(async () => root.render(what));
afterEach(() => show(null));

test("what somebody wrote keeps its direction to itself", async () => {
  await show(
    <p>
      <Written text={"\u202egnp.exe"} /> set by ann: <Sentence text={"frozen: \u202ereason"} />
    </p>,
  );
  expect([...box.querySelectorAll("bdi")].map((one) => one.textContent)).toEqual(["\u202egnp.exe", "frozen: \u202ereason"]);
  expect(box.textContent).toContain("set by ann");
});

test("a long text is one line until somebody asks for more", async () => {
  const text = `failed: ${"x".repeat(300)}\nsecond line`;
  await show(<Brief text={text} />);
  expect(box.textContent).not.toContain("second line");
  await act(async () => box.querySelector("button")?.click());
  expect(box.textContent).toContain("second line");
  await show(<Brief key="short" text="short" />);
  expect(box.querySelector("button")).toBeNull();
});

const refused = (detail: string, errors: { path: string; message: string }[]): Refused =>
  new Refused({ type: "", title: "It is refused", status: 422, detail, instance: "", errors } as unknown as ConstructorParameters<typeof Refused>[0]);

test("an error is said once, with its place", async () => {
  const one = refused("spec.selector: ends too early", [{ path: "spec.selector", message: "ends too early" }]);
  expect(troubles(one)).toEqual([{ path: "", text: "spec.selector: ends too early" }]);
  expect(troubles(refused("ends too early", [{ path: "selector", message: "ends too early" }]))).toEqual([{ path: "selector", text: "ends too early" }]);
  const two = refused("two things are wrong", [
    { path: "a", message: "is empty" },
    { path: "b", message: "is empty" },
  ]);
  expect(troubles(two).map((line) => line.path)).toEqual(["", "a", "b"]);
  await show(<Trouble error={one} />);
  expect(box.textContent?.match(/ends too early/g)).toHaveLength(1);
});
