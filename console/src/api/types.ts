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
export type AwaitedApproval = Schemas["AwaitedApproval"];
export type ReasonGroup = Schemas["ReasonGroup"];
export type Group = Schemas["GroupDetail"];
export type Member = Schemas["Member"];
export type Budget = Schemas["Budget"];
export type ListedTarget = Schemas["ListedTarget"];
export type TargetDetail = Schemas["TargetDetail"];
export type OrderOutlook = Schemas["OrderOutlook"];
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
export type Token = Schemas["Token"];
export type NewToken = Schemas["NewToken"];
export type Skip = Schemas["Skip"];
export type Signal = Schemas["Signal"];
export type JobAgent = Schemas["JobAgent"];
export type JobLog = Schemas["JobLog"];
export type JobLogLine = Schemas["JobLogLine"];
export type PolicyInWords = Schemas["PolicyInWords"];
export type Difference = Schemas["Difference"];
export type Concerns = Schemas["Concerns"];
export type TargetVariable = Schemas["TargetVariable"];
export type SimulationResult = Schemas["SimulationResult"];
export type LoginWays = Schemas["LoginWays"];
export type Deletion = Schemas["Deletion"];
export type Tree = Schemas["ExplanationTree"];
export type Workload = Schemas["Workload"];
export type WorkloadDetail = Schemas["WorkloadDetail"];
export type Graph = Schemas["Graph"];
export type GraphDetail = Schemas["GraphDetail"];
export type GraphNode = Schemas["GraphNode"];
export type ConnectedCluster = Schemas["ConnectedCluster"];
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
