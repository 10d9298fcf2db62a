// Names for what the API answers. The shapes come from its own description.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Session = Schemas["ConsoleSession"];
export type Status = Schemas["Status"];
export type EnvironmentStatus = Schemas["EnvironmentStatus"];
export type Counts = Schemas["Counts"];
export type Explanation = Schemas["Explanation"];
export type RuleLine = Schemas["RuleLine"];
export type Action = Schemas["Action"];
export type DeploymentExplanation = Schemas["DeploymentExplanation"];
export type ReasonGroup = Schemas["ReasonGroup"];
export type Group = Schemas["Group"];
export type Member = Schemas["Member"];
export type Budget = Schemas["Budget"];
export type ListedTarget = Schemas["ListedTarget"];
export type TargetDetail = Schemas["TargetDetail"];
export type Job = Schemas["Job"];
export type Version = Schemas["Version"];
export type Freeze = Schemas["Freeze"];
export type Approval = Schemas["Approval"];
export type Policy = Schemas["Policy"];
export type PlanResult = Schemas["PlanResult"];
export type TargetsOrder = Schemas["TargetsOrder"];
export type LiveEvent = Schemas["Event"];
export type AuditEntry = Schemas["AuditEntry"];
export type ProblemDocument = Schemas["Problem"];
export type SeenTarget = Schemas["PastTarget"];
export type SeenGroup = Schemas["PastGroup"];
export type SeenBudget = Schemas["PastBudget"];
export type Past = Schemas["Past"];
export type PastChanges = Schemas["PastChanges"];
export type SeenChange = Schemas["SeenChange"];
export type Future = Schemas["Future"];
export type Forecast = Schemas["Forecast"];
export type Bracket = Schemas["Bracket"];
export type State = ListedTarget["state"];

export interface Page<T> {
  items: T[];
  next: string | null;
}
