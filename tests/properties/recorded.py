"""A run as the outside sees it: the scenario document and the output document, with what both say in convenient form."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any

from headgate.fleet.model import expressions
from headgate.simulate.model.result import Result

from .objects import Document

NEVER = float("inf")


def moment(text: str | None) -> float:
    return NEVER if text is None else datetime.fromisoformat(text).timestamp()


class Run:
    """Steps, objects, jobs and groups; what was refused never happened."""

    def __init__(self, scenario: Document, played: Result) -> None:
        result = played.document()
        self._sequence = {job.id: number for number, job in enumerate(played.jobs)}
        self.spec = scenario["spec"]
        self.start = moment(self.spec["start"].replace("Z", "+00:00"))
        self.end = moment(result["end"])
        self.jobs: list[Document] = result["jobs"]
        self.groups: list[Document] = result["groups"]
        self.converged: bool = result["converged"]
        self.refused = {item["step"] for item in result["rejected"]}

    @cached_property
    def steps(self) -> list[tuple[float, str, Any]]:
        """Accepted steps: when, what kind, and what it says."""
        found = []
        for number, step in enumerate(self.spec["timeline"]):
            kind = next(key for key in step if key != "at")
            if f"timeline[{number}].{kind}" not in self.refused:
                found.append((self.start + float(step["at"][1:-1]), kind, step[kind]))
        return found

    def said(self, *kinds: str) -> list[Any]:
        return [payload for _, kind, payload in self.steps if kind in kinds]

    @cached_property
    def moved(self) -> set[str]:
        """Kinds of objects that were changed or deleted on the way."""
        return {payload["kind"] for payload in self.said("apply", "delete")}

    @cached_property
    def objects(self) -> dict[str, dict[str, Document]]:
        found: dict[str, dict[str, Document]] = defaultdict(dict)
        for number, document in enumerate(self.spec["objects"]):
            if f"objects[{number}]" not in self.refused:
                found[document["kind"]][document["metadata"]["name"]] = document["spec"]
        return found

    @cached_property
    def published(self) -> dict[tuple[str, str], float]:
        """When each version was created; only the first publication of a tag counts."""
        found = {(spec["deployment"], spec["tag"]): self.start for spec in self.objects["Version"].values()}
        for at, kind, payload in self.steps:
            if kind == "publish":
                found[(payload["deployment"], payload["tag"])] = at
        return found

    def rules(self, kind: str) -> Iterator[tuple[str, Document, Document]]:
        """Policy name, policy and rule, for policies that stay as they are and rules that nobody skips."""
        skipped = {(payload["policy"], payload["rule"]) for payload in self.said("skip")}
        if "Policy" in self.moved or self.moved & {"Deployment", "Environment", "Resource"}:
            return
        for name, policy in self.objects["Policy"].items():
            for index, rule in enumerate(policy["rules"]):
                if kind in rule and policy.get("enabled", True) and (name, index) not in skipped:
                    yield name, policy, rule[kind]

    def covers(self, policy: Document, job: Document) -> bool:
        return self.matches(
            policy.get("selector", "true"), job["deployment"], job["environment"], job["resource"]
        )

    def matches(self, selector: str, deployment: str, environment: str, resource: str) -> bool:
        bindings = {
            "deployment": self._view("Deployment", deployment),
            "environment": self._view("Environment", environment),
            "resource": self._view("Resource", resource),
        }
        return expressions.SELECTOR.selector(selector).matches(bindings)

    def value_of(self, group_by: str | None, resource: str) -> str | None:
        """What a rule's `groupBy` gives, read from the document; those without a value are together."""
        spec = self._view("Resource", resource)
        match group_by:
            case None:
                return None
            case "resource.name" | "resource.kind":
                return str(spec[group_by.removeprefix("resource.")])
            case "resource.metadata['zone']":
                zone = spec.get("metadata", {}).get("zone")
                return None if zone is None else str(zone)
        raise AssertionError(f"groupBy {group_by} is not known to the judge")

    def _view(self, kind: str, name: str) -> Document:
        return {"name": name, **self.objects[kind].get(name, {})}

    def by_target(self) -> dict[tuple[str, str, str], list[Document]]:
        """Jobs of each target in the order in which they were created, also within one instant."""
        found: dict[tuple[str, str, str], list[Document]] = defaultdict(list)
        for job in sorted(self.jobs, key=lambda job: self._sequence[job["id"]]):
            found[(job["deployment"], job["environment"], job["resource"])].append(job)
        return found

    def is_earlier(self, job: Document, other: Document) -> bool:
        return self._sequence[job["id"]] < self._sequence[other["id"]]

    def by_group(self) -> dict[str, list[Document]]:
        found: dict[str, list[Document]] = defaultdict(list)
        for job in self.jobs:
            if job["group"] is not None:
                found[job["group"]].append(job)
        return found

    @cached_property
    def handled(self) -> set[tuple[str, str]]:
        """Environments and resources whose groups an operator took in hand."""
        return {(payload["environment"], payload["resource"]) for payload in self.said("group")}

    def is_handled(self, group: Document) -> bool:
        return (group["environment"], group["resource"]) in self.handled


def name_of(job: Document) -> str:
    return (
        f"{job['deployment']}/{job['environment']}/{job['resource']} {job['version']} at {job['createdAt']}"
    )


def taken_back(job: Document) -> bool:
    """No agent had come for it when its version was rejected: nothing has run, and what was there before it is there."""
    return job["status"] == "cancelled" and job["startedAt"] is None


def upstream_of(run: Run, job: Document) -> Iterator[str]:
    for _, policy, rule in run.rules("deploymentDependency"):
        place = (job["environment"], job["resource"])
        if not run.covers(policy, job):
            continue
        if run.matches(rule.get("appliesTo", "true"), job["deployment"], *place):
            for name in run.objects["Deployment"]:
                if name != job["deployment"] and run.matches(rule["dependsOn"], name, *place):
                    yield name
