"""Writes to an API server, as those of the port: each with a precondition, that what was seen is what is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import msgspec

from headgate.cluster.port import Conflict, NotNow, ReadPort, WriteRefused
from headgate.graph.reconcile import revisions
from headgate.kernel.objects import Key, Object, OwnerReference
from headgate.kubernetes import managed_fields, objects
from headgate.kubernetes.discovery import Discovery
from headgate.kubernetes.errors import ApiError, NotFoundError, TooManyRequestsError, UnreachableError
from headgate.kubernetes.fencing import FencedClient
from headgate.kubernetes.reflector import ReadObject
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator.running import translation
from headgate.operator.running.contested import ContestedObjects
from headgate.operator.running.feed import ObjectFeed
from headgate.operator.running.pace import WritePace
from headgate.operator.running.retired_revisions import RetiredRevisions
from headgate.operator.running.translation import ABSENT_VERSION

_OURS_WHOLE = frozenset({("v1", "Pod"), (revisions.API_VERSION, revisions.KIND)})


class WatchedKinds(Protocol):
    def of_kind(self, kind: str) -> tuple[ApiResource, ...]:
        """The kinds of that name that are watched; those of several groups may share it."""


class ObjectWriter:
    """One controller's, to be awaited. What is written is told to the feed as soon as it is answered."""

    def __init__(
        self,
        client: FencedClient,
        discovery: Discovery,
        heard: ReadPort,
        watched: WatchedKinds,
        feed: ObjectFeed,
        pace: WritePace,
        *,
        manager: str,
        by: str,
        applied: Callable[[Object | None, Object], None] | None = None,
        read: ReadObject = objects.read,
    ) -> None:
        """`heard` is what the controller knows of the cluster, by which its plans are made. `read` is how it keeps objects;
        `applied` is shown what an object was, and what the server has after it was made or changed, with those labels and
        annotations alone that are this controller's."""
        self._client = client
        self._discovery = discovery
        self._heard = heard
        self._watched = watched
        self._feed = feed
        self._pace = pace
        self._manager = manager
        self._by = by
        self._applied = applied
        self._read = read
        self._retired = RetiredRevisions(client, discovery, feed, pace, by)
        self._contested = ContestedObjects()

    async def tidy(self) -> None:
        """What was put off until there is more of it."""
        await self._retired.remove_due()

    def hurry(self) -> None:
        self._retired.hurry()

    def tidies_in_seconds(self) -> float | None:
        """None if nothing was put off."""
        return self._retired.due_in_seconds()

    async def create(self, item: Object) -> None:
        with self._writing(item.key):
            await self._create(item)

    async def update(self, item: Object) -> None:
        with self._writing(item.key):
            await self._update(item, self._seen(item.key, item.uid))

    async def update_status(self, key: Key, uid: str, status: Document) -> None:
        with self._writing(key):
            await self._update_status(self._seen(key, uid), status)

    async def delete(self, key: Key, uid: str, resource_version: int | None) -> None:
        """What went by itself meanwhile is what was wanted."""
        with self._writing(key):
            if self._heard.get(key) is None:
                return
            seen = self._seen(key, uid)
            if not self._retired.take(seen):
                await self._delete(seen, resource_version)

    @contextmanager
    def _writing(self, key: Key) -> Iterator[None]:
        """What watches say of the object meanwhile is told afterwards, and what the server answers instead in the words of
        the port. Some of its errors are that already: those that news will end."""
        with self._feed.writing(key):
            try:
                yield
            except Conflict:
                raise
            except (TooManyRequestsError, UnreachableError) as error:
                if error.after_seconds:
                    self._pace.pause(error.after_seconds)
                raise NotNow(str(error), reason=error.reason) from error
            except ApiError as error:
                raise WriteRefused(str(error), reason=error.reason) from error

    def _seen(self, key: Key, uid: str) -> Object:
        seen = self._heard.get(key)
        if seen is None or (uid and seen.uid != uid):
            raise Conflict(f"{key.kind} {key.name} is not there any more")
        return seen

    async def _create(self, item: Object) -> None:
        resource = await self._discovery.find(item.api_version, item.kind)
        written = self._document(item)
        if len(written["metadata"].get("ownerReferences", ())) != len(item.owners):
            raise Conflict(f"the owner of {item.kind} {item.name} is not there any more")
        is_status_apart = _has_status_apart(resource)
        if item.status and not is_status_apart:
            written["status"] = item.status
        await self._pace.turn()
        if _is_ours_whole(item):
            answer = await self._client.create(resource, written, manager=self._manager)
        else:
            answer = await self._client.apply(
                resource,
                written,
                manager=self._manager,
                uid="",
                resource_version=ABSENT_VERSION,
                force=True,
            )
        made = self._read(answer, resource)
        self._feed.read_document(made, answer)
        self._show(None, made)
        try:
            if item.status and is_status_apart:
                made = await self._apply_status(resource, made, item.status)
        finally:
            self._feed.wrote(made, None, self._by)

    async def _update(self, item: Object, seen: Object) -> None:
        """Others may hold fields of what is put back: it is this operator's object, so they are taken from them, less
        and less often if they come back for them."""
        if seen.resource_version != item.resource_version:
            raise Conflict(f"{item.kind} {item.name} has moved on")
        before, wanted = self._document(seen), self._document(item)
        patch = translation.difference(before, wanted)
        if not patch:
            return
        self._contested.check(item.key, seen.uid, patch)
        resource = await self._discovery.find(item.api_version, item.kind)
        await self._pace.turn()
        version = str(seen.resource_version)
        if _is_ours_whole(item):
            answer = await self._client.patch(
                resource, patch, item.name, item.namespace, manager=self._manager, resource_version=version
            )
        else:
            fields = self._feed.fields(self._manager, item.key)
            applied = translation.applied_anew(before, fields, patch)
            applied = {**applied, "apiVersion": item.api_version, "kind": item.kind}
            applied["metadata"] = {
                **applied.get("metadata", {}),
                **{
                    key: wanted["metadata"][key] for key in ("name", "namespace") if key in wanted["metadata"]
                },
            }
            answer = await self._client.apply(
                resource,
                applied,
                manager=self._manager,
                uid=seen.uid,
                resource_version=version,
                force=True,
            )
        if answer["metadata"].get("resourceVersion") != version:
            self._contested.wrote(item.key, seen.uid, patch)
        self._tell(answer, resource, seen)

    async def _update_status(self, seen: Object, status: Document) -> None:
        resource = await self._discovery.find(seen.api_version, seen.kind)
        await self._pace.turn()
        if _has_status_apart(resource):
            made = await self._apply_status(resource, seen, status)
        else:
            made = await self._replace_status(resource, seen, status)
        self._feed.wrote(made, seen, self._by)

    async def _apply_status(self, resource: ApiResource, seen: Object, status: Document) -> Object:
        """Nobody else has a say in it, so the whole of it is applied, whatever became of the spec meanwhile."""
        metadata = {"name": seen.name}
        if seen.namespace:
            metadata["namespace"] = seen.namespace
        written = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": metadata,
            "status": status,
        }
        answer = await self._client.apply(
            resource, written, manager=self._manager, uid=seen.uid, force=True, subresource="status"
        )
        return self._read(answer, resource)

    async def _replace_status(self, resource: ApiResource, seen: Object, status: Document) -> Object:
        """Of a kind whose status is a field like others, and which is nobody else's: the object as it was seen, with
        another status."""
        written = self._document(seen)
        written["metadata"] |= {"uid": seen.uid, "resourceVersion": str(seen.resource_version)}
        answer = await self._client.update(resource, {**written, "status": status}, manager=self._manager)
        return self._read(answer, resource)

    async def _delete(self, seen: Object, version: int | None) -> None:
        """Only as of that version, if there is one: a watch may be behind, and what seemed to be down may serve by now."""
        resource = await self._discovery.find(seen.api_version, seen.kind)
        await self._pace.turn()
        try:
            answer = await self._client.delete(
                resource,
                seen.name,
                seen.namespace,
                uid=seen.uid,
                resource_version="" if version is None else str(version),
            )
        except NotFoundError:
            self._feed.deleted(seen, self._by)
            return
        metadata = answer.get("metadata") or {}
        # A pod that no node has to end is answered as if it stayed, and is gone.
        is_staying = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
        if metadata.get("deletionTimestamp") and metadata.get("resourceVersion") and is_staying:
            self._tell(answer, resource, seen)
        else:
            self._feed.deleted(seen, self._by)

    def _tell(self, answer: Document, resource: ApiResource, before: Object) -> None:
        item = self._read(answer, resource)
        if (
            item.deleted_at is not None
            and before.deleted_at is not None
            and not item.finalizers
            and before.finalizers
        ):
            # The last finalizer of what was on its way out: the answer is the last that is heard of it.
            self._feed.deleted(item, self._by)
            return
        self._feed.read_document(item, answer)
        self._show(before, item)
        self._feed.wrote(item, before, self._by)

    def _show(self, before: Object | None, item: Object) -> None:
        if self._applied is None or item.deleted_at is not None:
            return
        fields = self._feed.fields(self._manager, item.key).get("f:metadata") or {}
        marks = {"labels": item.labels, "annotations": item.annotations}
        held = managed_fields.extracted(marks, fields) if fields else {}
        self._applied(
            before,
            msgspec.structs.replace(
                item, labels=held.get("labels", {}), annotations=held.get("annotations", {})
            ),
        )

    def _document(self, item: Object) -> Document:
        return translation.document(item, self._owner_version)

    def _owner_version(self, owner: OwnerReference, namespace: str) -> str | None:
        kinds = self._watched.of_kind(owner.kind)
        for resource in kinds:
            place = namespace if resource.is_namespaced else ""
            heard = self._heard.get(Key(resource.group, resource.kind, place, owner.name))
            if heard is not None and heard.uid == owner.uid:
                return resource.api_version
        return kinds[0].api_version if len(kinds) == 1 else None


def _is_ours_whole(item: Object) -> bool:
    """Pods are made once and hardly changed, nobody else writes their spec, and lists in it may name a thing twice,
    which server-side apply does not take. Revisions are nobody else's at all. So they are written plainly."""
    return (item.api_version, item.kind) in _OURS_WHOLE


def _has_status_apart(resource: ApiResource) -> bool:
    """Where nobody asked discovery nothing is known, and most kinds have it so."""
    return "status" in resource.subresources or not resource.verbs
