"""Headgate as a library: play scenarios, judge documents, ask why, and run the engine of a fleet.

These names are the public face, see docs/library.md; every other module may change from one version to the next. They
are imported when they are used: the command line imports this package first of all, and has to start fast.
"""

TYPE_CHECKING = False
"""As `typing` has it, which takes longer to import than all of this package."""

if TYPE_CHECKING:
    from headgate.fleet.engine.engine import Decisions, Engine
    from headgate.fleet.engine.manifests import read_objects
    from headgate.fleet.model.changes import Change, Delete, JobReported, Put, Vote
    from headgate.fleet.model.objects import (
        Deployment,
        Environment,
        Freeze,
        JobAgent,
        Policy,
        Resource,
        Rule,
        Signal,
        VariableSet,
        Version,
    )
    from headgate.kernel import instants
    from headgate.kernel.identifiers import NamedIds
    from headgate.kernel.problems import Problem, Rejected
    from headgate.simulate.library import explain, read_scenario, simulate
    from headgate.simulate.model.result import Result
    from headgate.simulate.scenario import Scenario
    from headgate.validation import validate

__all__ = [
    "Change",
    "Decisions",
    "Delete",
    "Deployment",
    "Engine",
    "Environment",
    "Freeze",
    "JobAgent",
    "JobReported",
    "NamedIds",
    "Policy",
    "Problem",
    "Put",
    "Rejected",
    "Resource",
    "Result",
    "Rule",
    "Scenario",
    "Signal",
    "VariableSet",
    "Version",
    "Vote",
    "explain",
    "instants",
    "read_objects",
    "read_scenario",
    "simulate",
    "validate",
]

_HOMES = {
    "Change": "headgate.fleet.model.changes:Change",
    "Decisions": "headgate.fleet.engine.engine:Decisions",
    "Delete": "headgate.fleet.model.changes:Delete",
    "Deployment": "headgate.fleet.model.objects:Deployment",
    "Engine": "headgate.fleet.engine.engine:Engine",
    "Environment": "headgate.fleet.model.objects:Environment",
    "Freeze": "headgate.fleet.model.objects:Freeze",
    "JobAgent": "headgate.fleet.model.objects:JobAgent",
    "JobReported": "headgate.fleet.model.changes:JobReported",
    "NamedIds": "headgate.kernel.identifiers:NamedIds",
    "Policy": "headgate.fleet.model.objects:Policy",
    "Problem": "headgate.kernel.problems:Problem",
    "Put": "headgate.fleet.model.changes:Put",
    "Rejected": "headgate.kernel.problems:Rejected",
    "Resource": "headgate.fleet.model.objects:Resource",
    "Result": "headgate.simulate.model.result:Result",
    "Rule": "headgate.fleet.model.objects:Rule",
    "Scenario": "headgate.simulate.scenario:Scenario",
    "Signal": "headgate.fleet.model.objects:Signal",
    "VariableSet": "headgate.fleet.model.objects:VariableSet",
    "Version": "headgate.fleet.model.objects:Version",
    "Vote": "headgate.fleet.model.changes:Vote",
    "explain": "headgate.simulate.library:explain",
    "instants": "headgate.kernel.instants",
    "read_objects": "headgate.fleet.engine.manifests:read_objects",
    "read_scenario": "headgate.simulate.library:read_scenario",
    "simulate": "headgate.simulate",
    "validate": "headgate.validation:validate",
}
"""Where each name is. The package `simulate` can be called, see there."""


if not TYPE_CHECKING:
    # A type checker would take a module with this function to have every name.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import pkgutil

        exported = globals()[name] = pkgutil.resolve_name(_HOMES[name])
        return exported


def __dir__() -> list[str]:
    return __all__
