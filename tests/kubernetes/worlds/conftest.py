"""A control plane for stories alone: with the operator's kinds and webhooks, which are for a whole cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kube

from ..answering import Answering, installed


@pytest.fixture(scope="session")
def stage(kube_session: kube.Session) -> Iterator[kube.ControlPlane]:
    with kube_session.private(4) as plane, Answering(plane) as answering:
        installed(plane, answering)
        yield plane


@pytest.fixture
def place(stage: kube.ControlPlane) -> Iterator[str]:
    with kube.fresh_namespace(stage) as name:
        yield name
