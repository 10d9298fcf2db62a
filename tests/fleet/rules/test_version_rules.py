"""Rules that judge a version: approval, progression, cooldown, selector, scoped versions."""

from headgate.fleet.model import objects as model
from headgate.fleet.rules import (
    approval,
    environment_progression,
    scoped_version,
    version_cooldown,
    version_selector,
)
from headgate.fleet.rules.environment_progression import EnvironmentProgression, Stage
from headgate.kernel import instants
from headgate.kernel.decisions import Verdict

NINE = instants.parse("2026-03-01T09:00:00Z")


def at(minutes: float) -> int:
    return NINE + instants.minutes(minutes)


def vote(
    user: str, minutes: int, status: model.VoteStatus = "approved", roles: tuple[str, ...] = ()
) -> model.CastVote:
    reason = "breaks logins" if status == "rejected" else None
    return model.CastVote("v", "prod", user, status, reason, at(minutes), roles)


def approve(rule: approval.Approval, *votes: model.CastVote) -> Verdict:
    return approval.judge(rule, votes, "v2", "prod", NINE)


def test_approval_waits_for_people_and_says_since_when() -> None:
    verdict = approve(approval.Approval())
    assert verdict.outcome == "pending"
    assert verdict.message == "v2 in prod waits for 1 approval since 2026-03-01T09:00:00Z"
    assert verdict.requeue_at is None


def test_approval_is_satisfied_at_the_moment_of_the_last_vote_needed() -> None:
    rule = approval.Approval(min_approvals=2)
    verdict = approve(rule, vote("cy", 30), vote("ana", 10), vote("ben", 20))
    assert (verdict.outcome, verdict.satisfied_at) == ("allowed", at(20))
    assert verdict.message == "v2 in prod approved by ana, ben and cy"


def test_a_missing_second_approval_names_who_has_approved() -> None:
    verdict = approve(approval.Approval(min_approvals=2), vote("ana", 1), vote("ana", 2))
    assert (
        verdict.message
        == "v2 in prod has 1 of 2 approvals (ana), waits for 1 more since 2026-03-01T09:00:00Z"
    )


def test_a_rejection_is_a_veto_with_name_and_reason() -> None:
    verdict = approve(approval.Approval(), vote("ana", 1), vote("ben", 2, "rejected"))
    assert verdict.outcome == "denied"
    assert 'rejected by ben at 2026-03-01T09:02:00Z ("breaks logins")' in verdict.message


def test_a_later_approval_of_the_same_person_withdraws_the_rejection() -> None:
    verdict = approve(approval.Approval(), vote("ben", 2, "rejected"), vote("ben", 5))
    assert (verdict.outcome, verdict.satisfied_at) == ("allowed", at(5))


def test_with_roles_only_their_votes_count_also_against() -> None:
    rule = approval.Approval(roles=("sre",))
    assert approve(rule, vote("ana", 1), vote("eve", 2, "rejected")).outcome == "pending"
    assert approve(rule, vote("ben", 1, roles=("dev", "sre"))).outcome == "allowed"


def test_without_approvals_needed_only_a_veto_holds() -> None:
    rule = approval.Approval(min_approvals=0)
    assert approve(rule).satisfied_at == NINE
    assert approve(rule, vote("ben", 2, "rejected")).outcome == "denied"


def progress(now_minutes: float, *stages: Stage, **fields: object) -> Verdict:
    rule = EnvironmentProgression("environment.name == 'staging'", **fields)  # type: ignore[arg-type]
    return environment_progression.judge(rule, stages, at(now_minutes))


def staged(total: int, *minutes: int, name: str = "staging") -> Stage:
    return Stage(name, total, tuple(at(minute) for minute in minutes))


def test_progression_without_a_matching_environment_is_denied_naming_the_expression() -> None:
    verdict = progress(0)
    assert verdict.outcome == "denied"
    assert verdict.message == "no environment matches environment.name == 'staging'"


def test_progression_counts_what_succeeded_against_what_is_needed() -> None:
    verdict = progress(9, staged(3, 1, 2), minimum_success_percentage=100)
    assert verdict.outcome == "pending"
    assert verdict.message == "staging: 2 of 3 targets succeeded, needs 3 (100%)"
    assert verdict.requeue_at is None


def test_progression_is_satisfied_when_the_percentage_was_reached() -> None:
    verdict = progress(9, staged(4, 1, 2, 3, 8), minimum_success_percentage=50)
    assert (verdict.outcome, verdict.satisfied_at) == ("allowed", at(2))


def test_even_zero_percent_needs_one_success() -> None:
    assert progress(9, staged(3), minimum_success_percentage=0).outcome == "pending"


def test_a_fraction_of_a_percent_is_exact() -> None:
    rule = EnvironmentProgression("true", minimum_success_percentage=99.9)
    assert environment_progression.required_count(rule, 1000) == 999


def test_soak_ends_at_an_exact_time_counted_from_the_percentage() -> None:
    verdict = progress(20, staged(2, 1, 5), minimum_soak_time_minutes=30)
    assert (verdict.outcome, verdict.requeue_at) == ("pending", at(35))
    assert verdict.message == "staging: soaks since 2026-03-01T09:05:00Z, until 2026-03-01T09:35:00Z"
    done = progress(35, staged(2, 1, 5), minimum_soak_time_minutes=30)
    assert (done.outcome, done.satisfied_at) == ("allowed", at(35))


def test_a_success_that_is_too_old_is_denied_and_the_moment_is_announced() -> None:
    fresh = progress(60, staged(1, 0), maximum_age_hours=1.0)
    assert (fresh.outcome, fresh.requeue_at) == ("allowed", at(60) + 1)
    assert progress(61, staged(1, 0), maximum_age_hours=1.0).outcome == "denied"


def test_all_stages_or_any_of_them() -> None:
    done, waiting = staged(1, 3, name="qa"), staged(1, name="staging")
    assert progress(9, done, waiting).outcome == "pending"
    verdict = progress(9, done, waiting, require="any")
    assert (verdict.outcome, verdict.satisfied_at) == ("allowed", at(3))


def test_time_alone_does_not_help_while_another_stage_waits_for_success() -> None:
    soaking, waiting = staged(1, 3, name="qa"), staged(1, name="staging")
    assert progress(4, soaking, waiting, minimum_soak_time_minutes=9).requeue_at is None
    assert progress(4, soaking, waiting, minimum_soak_time_minutes=9, require="any").requeue_at == at(12)


def test_a_stage_without_a_target_in_scope_is_denied_or_exempt() -> None:
    assert progress(0, staged(0)).outcome == "denied"
    assert progress(0, staged(0), scoped_versions="exempt").outcome == "allowed"


def test_cooldown_counts_from_the_end_of_the_last_deployment() -> None:
    rule = version_cooldown.VersionCooldown(interval_seconds=600)
    assert version_cooldown.judge(rule, None, NINE).is_allowed
    waiting = version_cooldown.judge(rule, NINE, at(9))
    assert (waiting.outcome, waiting.requeue_at) == ("pending", at(10))
    assert "until 2026-03-01T09:10:00Z" in waiting.message
    assert version_cooldown.judge(rule, NINE, at(10)).is_allowed


def test_a_version_selector_that_does_not_match_is_denied_with_its_text() -> None:
    rule = version_selector.VersionSelector("version.tag.startsWith('v2')")
    assert version_selector.judge(rule, {"version": {"tag": "v2.1"}}).is_allowed
    verdict = version_selector.judge(rule, {"version": {"tag": "v1"}})
    assert verdict.outcome == "denied"
    assert rule.selector in verdict.message
    assert version_selector.judge(rule, {"version": {}}).outcome == "denied"


def test_scoped_versions_can_be_taken_refused_or_need_approvals() -> None:
    def judge(rule: scoped_version.ScopedVersion, is_scoped: bool, *votes: model.CastVote) -> str:
        return scoped_version.judge(rule, is_scoped, votes, "v2", "prod", NINE).outcome

    assert judge(scoped_version.ScopedVersion(), True) == "allowed"
    assert judge(scoped_version.ScopedVersion(allow=False), True) == "denied"
    assert judge(scoped_version.ScopedVersion(allow=False), False) == "allowed"
    assert judge(scoped_version.ScopedVersion(require_approvals=1), True) == "pending"
    assert judge(scoped_version.ScopedVersion(require_approvals=1), True, vote("ana", 1)) == "allowed"
