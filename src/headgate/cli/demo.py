"""The ten-node upgrade with shortened times: real jobs on this machine, done in about a minute."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING

from headgate.fleet import changes, manifests
from headgate.kernel.instants import Instant
from headgate.runtime.commands import Caller, Context

if TYPE_CHECKING:
    from headgate.cli.serving import Process

DEMO = Caller("demo")
VERSIONS = (("kubelet-upgrade", "v1.29.2"), ("containerd-upgrade", "v1.7.3"), ("os-patch", "2026-03"))
_PAUSE_SECONDS = 2.0
_background: set[asyncio.Task[None]] = set()


def begin(process: Process, say: Callable[[str], None]) -> None:
    task = asyncio.get_running_loop().create_task(_play(process, say))
    _background.add(task)
    task.add_done_callback(_background.discard)


async def _play(process: Process, say: Callable[[str], None]) -> None:
    text = (resources.files("headgate.cli") / "demo_files" / "fleet.yaml").read_text("utf-8")
    documents = manifests.read_documents(text, source="demo")

    def load(context: Context) -> bool:
        if context.engine.state.resources:
            return False
        for document in documents:
            thing = manifests.parse(document, context.ids, context.now)
            assert not isinstance(thing, manifests.ForeignObject)
            context.apply(changes.Put(thing))
        return True

    is_new = await process.desk.submit("default", load, DEMO, alone=True)
    if not is_new:
        say("The demo is loaded already.")
        return
    say("Ten nodes, five deployments, one drain per node, never more than two nodes at a time.")
    say("See it move: headgate watch")
    for deployment, tag in VERSIONS:
        await process.desk.submit("default", _publish(deployment, tag), DEMO)
        await asyncio.sleep(_PAUSE_SECONDS)


def _publish(deployment: str, tag: str) -> Callable[[Context], None]:
    def command(context: Context) -> None:
        document = {
            "apiVersion": manifests.API_VERSION,
            "kind": "Version",
            "metadata": {"name": f"{deployment}/{tag}"},
            "spec": {"deployment": deployment, "tag": tag},
        }
        now: Instant = context.now
        version = manifests.parse(document, context.ids, now)
        assert not isinstance(version, manifests.ForeignObject)
        context.apply(changes.Put(version, create_only=True))

    return command
