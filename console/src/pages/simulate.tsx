// A scenario, played in the server: its page is shown in a frame that can reach nothing.
import { type ChangeEvent, type ReactNode, useEffect, useState } from "react";
import { send } from "../api/client";
import type { SimulationResult } from "../api/types";
import { Editor } from "../editor/editor";
import { Mark, Section, Trouble } from "../ui/parts";

const EXAMPLE = `apiVersion: headgate.dev/v1
kind: Scenario
metadata: {name: three nodes one after the other}
spec:
  start: 2026-03-01T09:00:00Z
  objects:
    - {apiVersion: headgate.dev/v1, kind: JobAgent, metadata: {name: local}, spec: {type: exec, config: {command: "true"}}}
    - {apiVersion: headgate.dev/v1, kind: Environment, metadata: {name: prod}, spec: {resourceSelector: "true"}}
    - {apiVersion: headgate.dev/v1, kind: Deployment, metadata: {name: kubelet}, spec: {jobAgent: local, resourceSelector: "true"}}
    - {apiVersion: headgate.dev/v1, kind: Resource, metadata: {name: node-1}, spec: {kind: Node, identifier: node-1}}
    - {apiVersion: headgate.dev/v1, kind: Resource, metadata: {name: node-2}, spec: {kind: Node, identifier: node-2}}
    - {apiVersion: headgate.dev/v1, kind: Resource, metadata: {name: node-3}, spec: {kind: Node, identifier: node-3}}
    - apiVersion: headgate.dev/v1
      kind: Policy
      metadata: {name: careful}
      spec:
        selector: "true"
        rules:
          - gradualRollout: {timeScaleInterval: 300}
  timeline:
    - at: +1m
      publish: {deployment: kubelet, tag: v1}
`;
const KEPT = "headgate.scenario";

/** Of what was opened, the scenario and the files that it may name. */
export function sorted(given: [string, string][]): { scenario: string | undefined; others: [string, string][] } {
  const isScenario = ([, text]: [string, string]): boolean => /^\s*"?kind"?:\s*"?Scenario\b/m.test(text);
  const first = given.find(isScenario);
  return { scenario: first?.[1], others: given.filter((one) => one !== first) };
}

export function Simulate(): ReactNode {
  const [text, setText] = useState(() => sessionStorage.getItem(KEPT) ?? EXAMPLE);
  const [files, setFiles] = useState<Record<string, string>>({});
  const [until, setUntil] = useState("");
  const [result, setResult] = useState<SimulationResult>();
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (text.length < 100_000) sessionStorage.setItem(KEPT, text);
  }, [text]);
  const open = async (event: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const given = await Promise.all([...(event.target.files ?? [])].map(async (file): Promise<[string, string]> => [file.name, await file.text()]));
    event.target.value = "";
    const { scenario, others } = sorted(given);
    if (scenario !== undefined) setText(scenario);
    setFiles((old) => ({ ...old, ...Object.fromEntries(others) }));
  };
  const without = (name: string): void => setFiles(({ [name]: _, ...rest }) => rest);
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      setResult(await send<SimulationResult>("POST", "simulate", { scenario: text, files, ...(until.trim() ? { until: until.trim() } : {}) }));
    } catch (failure) {
      setError(failure as Error);
    }
    setBusy(false);
  };
  return (
    <>
      <div className="head">
        <h1>Simulate</h1>
        <span className="buttons">
          <label className="button">
            Open files
            <input type="file" multiple accept=".yaml,.yml,.json" className="hidden" onChange={(event) => void open(event)} />
          </label>
          <label className="choice">
            until
            <input size={10} value={until} placeholder="+72h" onChange={(event) => setUntil(event.target.value)} />
          </label>
          <button type="button" className="primary" disabled={isBusy} onClick={() => void run()}>
            {isBusy ? "Playing …" : "Play"}
          </button>
        </span>
      </div>
      <section className="card">
        <p className="soft">A scenario is played in virtual time by the engine that decides here, and concerns no workspace. The command line does the same:{" "}
          <code>headgate simulate scenario.yaml</code>. Files that it names under <code>files</code> are opened too, together with it or afterwards.
        </p>
        {Object.keys(files).length > 0 && (
          <p className="links" aria-label="Files beside the scenario">
            With{" "}
            {Object.keys(files).map((name) => (
              <span key={name} className="badge">
                {name}{" "}
                <button type="button" className="quiet" aria-label={`Without ${name}`} onClick={() => without(name)}>
                  ✕
                </button>
              </span>
            ))}
          </p>
        )}
        <Editor label="The scenario in YAML" value={text} onChange={setText} rows={result ? 8 : 22} />
        <Trouble error={error} />
      </section>
      {result !== undefined && <Outcome result={result} />}
    </>
  );
}

function Outcome({ result }: { result: SimulationResult }): ReactNode {
  const download = (): void => {
    const address = URL.createObjectURL(new Blob([result.page], { type: "text/html" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = `${result.scenario.replace(/[^\w-]+/g, "-").slice(0, 80) || "simulation"}.html`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return (
    <Section
      title={
        <>
          {result.scenario}{" "}
          {result.wasCut ? <Mark tone="wait" sign="○" word="cut" /> : result.converged ? <Mark tone="good" sign="✓" word="done" /> : <Mark tone="wait" sign="○" word="something waits" />}
        </>
      }
      id="outcome"
      acts={
        <button type="button" onClick={download}>
          Download
        </button>
      }
    >
      {result.violations.map((one) => (
        <p key={one} className="trouble">
          A promise is broken: {one}
        </p>
      ))}
      {result.failedExpectations.map((one) => (
        <p key={one} className="trouble">
          Expected otherwise: {one}
        </p>
      ))}
      <iframe className="page" title={`Simulation of ${result.scenario}`} sandbox="allow-scripts" srcDoc={result.page} />
    </Section>
  );
}
