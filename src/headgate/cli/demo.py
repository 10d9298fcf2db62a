"""The ten-node upgrade with shortened times: real jobs on this machine, done in about a minute."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING

from headgate.fleet.engine import manifests
from headgate.fleet.engine.queries import lookup, versions
from headgate.fleet.model import changes, kinds
from headgate.kernel import instants
from headgate.runtime.commands import Caller, CommandContext, EngineView
from headgate.store.log import Event
from headgate.store.port import UnavailableError

if TYPE_CHECKING:
    from headgate.cli.serving import Process

WORKSPACE = "default"
DEMO = Caller("demo")
VERSIONS = {"kubelet-upgrade": "v1.29.2", "containerd-upgrade": "v1.7.3", "os-patch": "2026-03"}
_PAUSE_SECONDS = 2.0
_POLL_SECONDS = 1.0
_HELD = """
The rest waits for somebody: `headgate status` says for what. The fleet of an earlier demo stays with its policies; without
the folder that it is in, .headgate unless another is named, the next demo begins anew."""
_LAST_NUMBER = re.compile(r"(\d+)(?!.*\d)")

Say = Callable[[str], None]


async def play(process: Process, say: Say) -> bool:
    """Loads the fleet, or what is newer for one that is loaded; follows it until everything has converged, or what is left
    waits for somebody. Whether it has converged."""
    with contextlib.suppress(UnavailableError):
        seen = await asyncio.to_thread(process.store.newest_event, WORKSPACE)
        is_new = await process.worker_client.submit(WORKSPACE, _load, DEMO, alone=True)
        say("Ten nodes, five deployments, one drain per node, never more than two nodes at a time.")
        say("In another terminal, in this folder: headgate watch")
        say("")
        publishing = asyncio.create_task(_publish_all(process, is_new))
        try:
            return await _follow(process, seen, publishing, say)
        finally:
            publishing.cancel()
    return False


def _load(context: CommandContext) -> bool:
    if lookup.names(context.engine, kinds.RESOURCE):
        return False
    text = (resources.files("headgate.cli") / "demo_files" / "fleet.yaml").read_text("utf-8")
    for document in manifests.read_documents(text, source="demo"):
        item = manifests.parse(document, context.ids, context.now)
        assert not isinstance(item, manifests.ForeignObject)
        context.apply(changes.Put(item))
    return True


async def _publish_all(process: Process, is_new: bool) -> None:
    for deployment, tag in VERSIONS.items():
        await process.worker_client.submit(WORKSPACE, _publish(deployment, tag if is_new else None), DEMO)
        await asyncio.sleep(_PAUSE_SECONDS)


def _publish(deployment: str, tag: str | None) -> Callable[[CommandContext], None]:
    """Without a tag, the one after the newest."""

    def command(context: CommandContext) -> None:
        if lookup.get(context.engine, kinds.DEPLOYMENT, deployment) is None:
            return
        chosen = tag if tag is not None else next_tag(versions.tags_of(context.engine, deployment))
        document = {
            "apiVersion": manifests.API_VERSION,
            "kind": "Version",
            "metadata": {"name": f"{deployment}/{chosen}"},
            "spec": {"deployment": deployment, "tag": chosen},
        }
        version = manifests.parse(document, context.ids, context.now)
        assert not isinstance(version, manifests.ForeignObject)
        context.apply(changes.Put(version, create_only=True))

    return command


def next_tag(tags: list[str]) -> str:
    """With the last number of the newest one counted up until nothing has that tag."""
    chosen = tags[-1] if tags else "v0"
    while chosen in tags or not tags:
        if not _LAST_NUMBER.search(chosen):
            return f"{chosen}.1"
        chosen = _LAST_NUMBER.sub(
            lambda digits: str(int(digits[1]) + 1).zfill(len(digits[1])), chosen, count=1
        )
        if not tags:
            break
    return chosen


async def _follow(process: Process, seen: int, publishing: asyncio.Task[None], say: Say) -> bool:
    while True:
        for event in await asyncio.to_thread(process.store.events_after, WORKSPACE, seen, 1_000):
            seen = event.seq
            if event.kind in ("Job", "Group") or event.type == "version.published":
                say(_line(event))
        if publishing.done():
            if await process.worker_client.ask(WORKSPACE, _is_converged):
                say("\nEverything is up to date.")
                return True
            if await process.worker_client.ask(WORKSPACE, _is_at_rest):
                say(_HELD)
                return False
        await process.worker_client.wait_for_events(WORKSPACE, seen, _POLL_SECONDS)


def _line(event: Event) -> str:
    return f"{instants.show(event.at)[11:19]}  {event.message}"


def _is_at_rest(view: EngineView) -> bool:
    return view.engine.is_at_rest()


def _is_converged(view: EngineView) -> bool:
    return view.engine.is_converged(view.now)
