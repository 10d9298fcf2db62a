"""The fields that expressions know are those that objects show of themselves."""

from headgate.fleet.model import known_fields
from headgate.fleet.model import objects as model


def test_every_object_shows_exactly_the_fields_that_are_known() -> None:
    shown = {
        "resource": model.Resource(id="r", name="r").cel_view(),
        "environment": model.Environment(id="e", name="e").cel_view(),
        "deployment": model.Deployment(id="d", name="d").cel_view(),
        "version": model.Version(id="v", name="d/v1", deployment="d", tag="v1").cel_view(),
        "jobAgent": model.JobAgent(id="a", name="a", type="pull").cel_view(),
    }
    assert {name: tuple(sorted(view)) for name, view in shown.items()} == known_fields.FIELDS
