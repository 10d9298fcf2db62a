// @vitest-environment jsdom
import { act, lazy, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import { Boundary, isLost, isReplaced } from "./boundary";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
const LOST = "Failed to fetch dynamically imported module: https://here/assets/rollout-abc.js";

test("a part that cannot be loaded is told from any other mistake", () => {
  expect(isLost(new TypeError(LOST))).toBe(true);
  expect(isLost(new TypeError("error loading dynamically imported module: x"))).toBe(true);
  expect(isLost(new Error("undefined is not a function"))).toBe(false);
});

test("another console is known by the file that its page names", () => {
  const page = '<script type="module" src="/assets/index-new.js"></script>';
  expect(isReplaced(page, "/assets/index-old.js")).toBe(true);
  expect(isReplaced(page, "/assets/index-new.js")).toBe(false);
  expect(isReplaced(page, null)).toBe(false);
});

test("a page that cannot be loaded leaves its frame, says so, and can be tried again", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  const Page = lazy<() => null>(() => Promise.reject(new TypeError(LOST)));
  const box = document.createElement("div");
  const root = createRoot(box);
  await act(async () =>
    root.render(
      <>
        <header>Headgate</header>
        <Boundary>
          <Suspense fallback="…">
            <Page />
          </Suspense>
        </Boundary>
      </>,
    ),
  );
  expect(box.querySelector("header")?.textContent).toBe("Headgate");
  expect(box.textContent).toContain("This page cannot be shown");
  await act(async () => box.querySelector("button")?.click());
  expect(box.textContent).toContain("The server does not answer yet");
  await act(async () => root.unmount());
});
