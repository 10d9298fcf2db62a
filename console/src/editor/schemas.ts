// The schema of a manifest, from the API's own description; asked for once.
import type { Schema } from "./complete";

interface Description {
  components: { schemas: Record<string, Schema> };
}

let asked: Promise<Description> | undefined;

export async function describedManifest(kind: string): Promise<{ root: Schema; components: Record<string, Schema> }> {
  asked ??= fetch("/openapi.json", { credentials: "same-origin" }).then((answer) => answer.json() as Promise<Description>);
  const components = (await asked).components.schemas;
  const whole = components[`${kind}Input`] ?? components[kind] ?? {};
  const { name: _name, id: _id, metadata, createdAt: _createdAt, ...spec } = whole.properties ?? {};
  const root: Schema = {
    properties: {
      apiVersion: { const: "headgate.dev/v1" },
      kind: { const: kind },
      metadata: { properties: { name: { type: "string" } }, ...(metadata?.description ? { description: metadata.description } : {}) },
      spec: { type: "object", properties: spec },
    },
  };
  return { root, components };
}
