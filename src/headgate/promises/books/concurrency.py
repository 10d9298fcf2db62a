"""Books of the concurrency rules, kept without the engine: who each group of a rule covers, and who is active under it."""

from headgate.fleet.model import changes, expressions
from headgate.fleet.model import objects as model
from headgate.promises.books.mirror import Mirror, TargetKey, matches


class Budget:
    """One group of a resourceConcurrency rule: who it covers, and who is active under it for which reasons."""

    def __init__(self, policy: model.Policy, rule: model.Rule, value: str | None) -> None:
        self.policy = policy
        self.rule = rule
        self.value = value
        """What `groupBy` gives for its resources; None without one."""
        self.members: set[str] = set()
        self.holders: dict[str, set[str]] = {}
        self._covered: dict[TargetKey, bool] = {}

    @property
    def limit(self) -> int:
        spec = self.rule.spec
        if spec.limit_type == "count":
            return int(spec.limit_value)
        return -(-len(self.members) * int(spec.limit_value) // 100)

    @property
    def scope(self) -> str:
        if self.value is None:
            return str(self.rule.spec.group_selector)
        return self.value or "(no value)"

    @property
    def holds_through_verification(self) -> bool:
        return bool(self.rule.spec.hold_through_verification)

    def covers(self, mirror: Mirror, target: TargetKey) -> bool:
        if target.resource not in self.members:
            return False
        covered = self._covered.get(target)
        if covered is None:
            covered = self._covered[target] = matches(self.policy.selector, mirror.bindings(*target))
        return covered


class Budgets:
    """The books: every rule, and every reason for which a resource is in progress (a job, or a started group)."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._budgets: list[Budget] = []
        self._by_resource: dict[tuple[str, str], Budget] = {}
        self._is_stale = True
        self._reasons: dict[str, set[TargetKey]] = {}
        self._verified: set[str] = set()
        """Reasons that are kept only by budgets that hold through verification."""

    def changed(self, change: changes.Change) -> None:
        match change:
            case changes.Put(object=model.Policy() | model.Deployment() | model.Environment()):
                self._is_stale = True
            case changes.Put(object=model.Resource()) | changes.SetVariable():
                self._is_stale = True
            case changes.Delete(kind="Policy" | "Deployment" | "Environment" | "Resource"):
                self._is_stale = True
            case _:
                pass

    def current(self) -> list[Budget]:
        if self._is_stale:
            self._rebuild()
        return self._budgets

    def _rebuild(self) -> None:
        self._is_stale = False
        self._budgets = [
            budget
            for policy in self._mirror.policies.values()
            if policy.enabled
            for rule in policy.rules
            if rule.kind == "resourceConcurrency"
            for budget in self._groups_of(policy, rule)
        ]
        self._by_resource = {(b.rule.id, name): b for b in self._budgets for name in b.members}
        for budget in self._budgets:
            for reason, targets in self._reasons.items():
                if reason in self._verified and not budget.holds_through_verification:
                    continue
                for target in targets:
                    if budget.covers(self._mirror, target):
                        budget.holders.setdefault(target.resource, set()).add(reason)

    def _groups_of(self, policy: model.Policy, rule: model.Rule) -> list[Budget]:
        group_by = rule.spec.group_by
        groups: dict[str | None, Budget] = {}
        if group_by is None:
            groups[None] = Budget(policy, rule, None)
        for name in self._mirror.resources:
            view = self._mirror.view("Resource", name)
            if view is None or not matches(rule.spec.group_selector, {"resource": view}):
                continue
            value = expressions.group_value(group_by, view) if group_by is not None else None
            groups.setdefault(value, Budget(policy, rule, value)).members.add(name)
        return [groups[value] for value in sorted(groups, key=str)]

    def of(self, rule: str, resource: str) -> Budget | None:
        """The group of the rule that the resource is in."""
        self.current()
        return self._by_resource.get((rule, resource))

    def take(self, reason: str, target: TargetKey) -> list[Budget]:
        """The budgets in which this made the resource active."""
        budgets = self.current()
        self._reasons.setdefault(reason, set()).add(target)
        taken = []
        for budget in budgets:
            if budget.covers(self._mirror, target):
                reasons = budget.holders.setdefault(target.resource, set())
                if not reasons:
                    taken.append(budget)
                reasons.add(reason)
        return taken

    def verifying(self, reason: str) -> None:
        """The work is done, what it did is being verified."""
        if reason in self._verified:
            return
        self._verified.add(reason)
        self._leave(reason, [b for b in self.current() if not b.holds_through_verification])

    def free(self, reason: str) -> None:
        self._verified.discard(reason)
        if not self._is_stale:
            self._leave(reason, self._budgets)
        self._reasons.pop(reason, None)

    def _leave(self, reason: str, budgets: list[Budget]) -> None:
        targets = self._reasons.get(reason, set())
        for budget in budgets:
            for target in targets:
                reasons = budget.holders.get(target.resource)
                if reasons is not None:
                    reasons.discard(reason)
                    if not reasons:
                        del budget.holders[target.resource]
