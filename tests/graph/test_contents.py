"""When an object holds what was written into it."""

import pytest

from headgate.graph.reconcile import contents
from headgate.kernel.objects import Object

REVISION = "deployment.kubernetes.io/revision"


@pytest.mark.parametrize(
    ("kind", "annotations", "is_in_force"),
    [
        ("Deployment", {REVISION: "7", "team": "web"}, True),
        ("Deployment", {"team": "web"}, True),
        ("Deployment", {REVISION: '"1"', "team": "other"}, False),
        ("DaemonSet", {REVISION: "7", "team": "web"}, False),
    ],
)
def test_what_a_controller_of_the_cluster_keeps_is_no_drift(
    kind: str, annotations: dict[str, str], *, is_in_force: bool
) -> None:
    """Deployments are counted in an annotation: a template that says something of it never agrees with that for long."""
    wanted = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "a", "annotations": {REVISION: '"1"', "team": "web"}},
    }
    item = Object("apps/v1", kind, "default", "a", annotations=annotations)
    assert contents.is_in_force(item, wanted, {}) == is_in_force
