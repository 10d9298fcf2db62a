"""Deployments that change a resource together, in one cycle between their hooks. How the cycle runs is in `brackets`."""

from typing import Annotated, Literal

import msgspec

from headgate.fleet.model import expressions
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import instants
from headgate.kernel.problems import Problem

Seconds = Annotated[int, msgspec.Meta(ge=0, le=366 * 86_400)]
ReadinessMode = Literal["collection_window", "wait_for_all", "immediate"]
UnchangedMemberStrategy = Literal["skip_unchanged", "redeploy_current", "require_all"]
OverlapStrategy = Literal["queue", "merge"]
WindowTrigger = Literal["published", "eligible"]
RollbackStrategy = Literal["all_members", "individual", "halt_and_notify"]
OnStuck = Literal["hold", "release"]

_UNCHANGED_WORDS: dict[UnchangedMemberStrategy, str] = {
    "skip_unchanged": "those without one are left as they are",
    "redeploy_current": "those without one run theirs again",
    "require_all": "it waits until all have one, as long as it may",
}


class DeploymentBracket(RuleSpec, frozen=True, rename="camel"):
    """`hooks_idempotent`: a hook may run again after an unknown outcome. `prepared_state_persists`: merging may rely
    on what the pre-hooks did. A hook selector of "false" means that there is no such hook."""

    traits = Traits(
        stage=GateStage.CYCLE,
        event="the group here goes on or ends",
        rather_than_skipped="a cycle is not skipped: retry it, go on without a member, or abort it",
    )

    deployment_selector: expressions.DeploymentSelectorText
    readiness_mode: ReadinessMode = "collection_window"
    readiness_window_seconds: Seconds | None = None
    unchanged_member_strategy: UnchangedMemberStrategy = "skip_unchanged"
    overlap_strategy: OverlapStrategy = "queue"
    window_trigger: WindowTrigger = "published"
    pre_hook_selector: expressions.DeploymentSelectorText | None = None
    post_hook_selector: expressions.DeploymentSelectorText | None = None
    require_all_timeout_seconds: Seconds | None = None
    rollback_strategy: RollbackStrategy = "all_members"
    stuck_timeout_seconds: Annotated[int, msgspec.Meta(ge=1, le=366 * 86_400)] | None = None
    on_stuck: OnStuck = "hold"
    hooks_idempotent: bool = True
    prepared_state_persists: bool = True

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        mode = given.get("readiness_mode")
        if mode in ("collection_window", "wait_for_all") and given.get("readiness_window_seconds", 0) is None:
            problems.append(
                Problem(
                    f"{path}.readinessWindowSeconds",
                    f"is required for readinessMode {mode}; only immediate needs no window",
                )
            )
        if given.get("on_stuck") == "release" and given.get("stuck_timeout_seconds", 0) is None:
            problems.append(
                Problem(
                    f"{path}.stuckTimeoutSeconds", "is required for onStuck release: it says after how long"
                )
            )

    def in_words(self) -> str:
        """What makes a bracket; the other fields say what happens when something goes wrong."""
        what = f"Deployments with `{self.deployment_selector}` change together on each resource"
        unchanged = _UNCHANGED_WORDS[self.unchanged_member_strategy]
        verb = "waits for" if self.overlap_strategy == "queue" else "joins"
        return f"{what}, {self._when_in_words()}; {unchanged}, and what comes meanwhile {verb} the cycle under way."

    def binding_selector(self) -> str:
        return self.deployment_selector

    def _when_in_words(self) -> str:
        if self.readiness_mode == "immediate":
            return "as soon as one of them has a new version"
        window = instants.show_duration(instants.seconds(self.readiness_window_seconds or 0))
        if self.readiness_mode == "wait_for_all":
            return f"as soon as all of them have a new version, at the latest {window} after the first"
        return f"{window} after the first of them has a new version"
