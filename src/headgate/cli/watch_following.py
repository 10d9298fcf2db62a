"""A snapshot that follows the events of the server; what they do not carry is asked for, once for many of them."""

from __future__ import annotations

import time
from collections.abc import Iterable

import msgspec

from headgate.cli import event_stream, failures, refusals, watch_changes, watch_state
from headgate.cli.client import ApiClient, path
from headgate.cli.event_stream import Item
from headgate.cli.watch_changes import Stale
from headgate.screens import watched_fleet
from headgate.screens.watched_fleet import WatchedFleet

LEAST_BETWEEN_QUESTIONS_SECONDS = 1.0
LONGEST_BETWEEN_QUESTIONS_SECONDS = 30.0
"""Sentences tell of times that pass without an event, so whoever waits is looked at again after so long."""
REST_PER_SECOND_OF_WORK = 2.0
"""From one question to the next: a server that takes long to answer is asked less often."""
LONGEST_PAUSE_SECONDS = 10.0
MOST_DEPLOYMENTS_APART, MOST_GROUPS_APART = 3, 4
"""With more of them one question about all is less work for the server."""


class Following:
    """`asks_for_stuck`: also know who can be moved by a person alone, once nothing else moves."""

    def __init__(self, client: ApiClient, names: tuple[str, ...], *, asks_for_stuck: bool) -> None:
        self._client = client
        self._names = names
        self._asks_for_stuck = asks_for_stuck
        self._stale = Stale(everything=True)
        self._lost: str | None = None
        self._refused: str | None = None
        self._asked_at = time.monotonic()
        self._pause_seconds = 0.0
        self.snapshot = WatchedFleet([])

    def begin(self) -> None:
        """What is wrong with the call itself ends it. From here on a server that is away is only asked again, so that
        the screen goes on."""
        self._ask()
        self._client.attempts = 1
        self._client.close()
        self._succeeded()

    @property
    def trouble(self) -> str | None:
        """Why the snapshot is not that of this moment."""
        return self._refused or self._lost

    def take(self, items: Iterable[Item]) -> None:
        for item in items:
            if isinstance(item, event_stream.Lost):
                self._lost = item.reason
                continue
            self._lost = None
            if isinstance(item, event_stream.Live):
                self._stale.everything = self._stale.everything or not item.resumed
                self._pause_seconds = LEAST_BETWEEN_QUESTIONS_SECONDS
                continue
            self._stale.add(self._of_watched(watch_changes.left_open(self.snapshot, item)))
            self.snapshot = watch_changes.applied(self.snapshot, item)

    def _of_watched(self, stale: Stale) -> Stale:
        """What nobody looks at need not be known."""
        if self._names and stale.counts:
            stale.counts &= set(self._names)
        return stale

    def catch_up(self) -> None:
        """Asks for what is not known, if it is time. A server that is away is asked again, a little later each time.

        Every time on a connection of its own: the server may have closed one that nothing was asked on for a while.
        """
        age = time.monotonic() - self._asked_at
        if age >= LONGEST_BETWEEN_QUESTIONS_SECONDS and self.snapshot.count("waiting", "frozen", "verifying"):
            self._stale.counts = None
        if not self._stale or age < self._pause_seconds:
            return
        self._asked_at = time.monotonic()
        try:
            self._ask()
        except failures.CommandFailure as failure:
            if not refusals.may_pass(failure):
                raise
            self._refused = failure.sentences[0]
            self._pause_seconds = min(2 * self._pause_seconds, LONGEST_PAUSE_SECONDS)
        else:
            self._succeeded()
        finally:
            self._client.close()

    def _succeeded(self) -> None:
        took_seconds = time.monotonic() - self._asked_at
        self._refused, self._stale = None, Stale()
        self._pause_seconds = max(LEAST_BETWEEN_QUESTIONS_SECONDS, REST_PER_SECOND_OF_WORK * took_seconds)

    def _ask(self) -> None:
        stale = self._stale
        if stale.everything:
            self.snapshot = watch_state.fetch(self._client, self._names)
        else:
            self._ask_for_groups(stale)
            self._ask_for_counts(stale)
            if stale.budgets:
                self._set(budgets=watch_state.fetch_budgets(self._client))
            self._ask_for_failed()
        if self._asks_for_stuck and not self.snapshot.is_moving_or_done:
            stuck = watch_state.fetch_stuck(self._client, self._names)
            self._set(deployments=stuck.deployments, at_rest=stuck.at_rest, knows_stuck=True)

    def _set(self, **parts: object) -> None:
        self.snapshot = msgspec.structs.replace(self.snapshot, **parts)

    def _ask_for_groups(self, stale: Stale) -> None:
        """A group that was not known yet says by its members whose counts it changes."""
        if len(stale.groups) > MOST_GROUPS_APART:
            self._set(groups=watch_state.fetch_groups(self._client, self._names))
            return
        for identity in sorted(stale.groups):
            group = self._group(identity)
            others = [one for one in self.snapshot.groups if one["id"] != identity]
            is_open = group is not None and group["status"] in watch_state.OPEN_GROUPS
            if group is not None and is_open and watch_state.is_watched(group, self._names):
                others.append(group)
                members = {member["deployment"] for member in group["members"]}
                stale.add(self._of_watched(Stale(counts=members)))
            self._set(groups=others)

    def _group(self, identity: str) -> watched_fleet.Document | None:
        try:
            group: watched_fleet.Document = self._client.get(path("groups", identity))
        except refusals.RefusedRequest as refusal:
            if refusal.status != 404:
                raise
            return None
        return group

    def _ask_for_counts(self, stale: Stale) -> None:
        if stale.counts is not None and len(stale.counts) <= MOST_DEPLOYMENTS_APART:
            try:
                for deployment in sorted(stale.counts):
                    self.snapshot = watch_state.with_counts_of(self._client, self.snapshot, deployment)
            except refusals.RefusedRequest as refusal:
                if refusal.status != 404:
                    raise
                stale.counts = None
            else:
                return
        counted = watch_state.fetch_counts_alone(self._client, self._names)
        self._set(deployments=counted.deployments, at_rest=counted.at_rest, knows_stuck=False)

    def _ask_for_failed(self) -> None:
        """Events name those that fail; how many there are at all says whether one was missed."""
        total = self.snapshot.count("failed")
        watched = {one["name"] for one in self.snapshot.deployments}
        known = sum(len(names) for (name, _), names in self.snapshot.failed.items() if name in watched)
        if total == 0:
            self._set(failed={})
        elif known != total and min(known, total) < watch_state.MOST_FAILED:
            self._set(failed=watch_state.fetch_failed(self._client, self._names))
