from __future__ import annotations

from typing import Any

import click

from headgate.cli import (
    asking,
    completions,
    concerns,
    exit_codes,
    failures,
    kinds,
    manifest_files,
    options,
    output,
    refusals,
)
from headgate.cli.client import ApiClient, path
from headgate.cli.kinds import Collection


@click.command("delete")
@click.argument("kind", required=False, shell_complete=completions.kinds)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completions.names_of_kind)
@options.files(required=False)
@click.option("--dry-run", is_flag=True, help="Only say what it would end.")
@asking.YES
@options.REASON
@options.output()
@options.with_server
def command(
    client: ApiClient,
    kind: str | None,
    names: tuple[str, ...],
    paths: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    reason: str | None,
    form: str,
) -> None:
    """Deletes the objects of KIND with the given names, or those that manifests name.

    With -f, what is not there is passed over, and objects go in the reverse order of the files. Environments,
    deployments and policies with release targets are asked about first.

    Exit codes: 0 deleted, or would be; 1 there is none of that name, or it is in use, or you did not confirm it; 2 called
    wrongly or an input cannot be read; 4 the server cannot be reached; 5 not allowed.
    """
    if bool(paths) == bool(kind):
        raise failures.misused("give KIND and NAME, or -f PATH")
    deleter = _Deleter(client, form, yes=yes, dry_run=dry_run, reason=reason)
    if paths:
        _delete_manifests(deleter, paths)
    else:
        _delete_named(deleter, kind or "", names)
    if deleter.would_be_refused:
        raise SystemExit(exit_codes.FAILED)


def _delete_named(deleter: _Deleter, kind: str, names: tuple[str, ...]) -> None:
    chosen = kinds.find(kind)
    if not chosen.is_deletable:
        allowed = ", ".join(one.collection for one in kinds.ALL if one.is_deletable)
        raise failures.misused(f"KIND: {chosen.collection} cannot be deleted; allowed are {allowed}")
    if not names:
        raise failures.misused(f"NAME: is missing; which {chosen.singular} shall be deleted?")
    for name in names:
        deleter.delete(chosen, name)


class _Deleter:
    def __init__(self, client: ApiClient, form: str, *, yes: bool, dry_run: bool, reason: str | None) -> None:
        self._client = client
        self._form = form
        self._yes = yes
        self._dry_run = dry_run
        self._reason = reason
        self.would_be_refused = False
        """Something that was only looked at is needed by others."""

    def delete(self, kind: Collection, name: str) -> None:
        if self._dry_run:
            self._preview(kind, name)
            return
        try:
            answer = self._send(
                kind,
                name,
                {asking.CONFIRM: "true"}
                if self._yes and kind.kind is not None and kind.kind.is_confirmed
                else {},
            )
        except refusals.RefusedRequest as refused:
            if not asking.is_asked(refused):
                raise
            asking.be_sure(f"{asking.question(refused)}. Delete it?", yes=self._yes)
            answer = self._send(kind, name, {asking.CONFIRM: "true"})
        self.say(kind, name, "deleted", answer)

    def _send(self, kind: Collection, name: str, query: dict[str, str]) -> Any:
        place = path(kind.collection, name)
        asked = options.reason_query(self._reason, query)
        return self._client.send("DELETE", place, query=asked, scoped=kind.is_scoped)

    def _preview(self, kind: Collection, name: str) -> None:
        if kind.kind is None:
            raise failures.misused(f"KIND: {kind.collection} cannot be looked at before they are deleted")
        preview = self._send(kind, name, {"dryRun": "true"})
        sentence = f"{kind.singular} {name} would be deleted (dry run, nothing deleted)"
        if preview["neededBy"]:
            self.would_be_refused = True
            sentence = f"{kind.singular} {name} cannot be deleted: {preview['neededBy']}"
        output.result(preview, self._form, concerns.message_of(sentence, preview), name)

    def say(self, kind: Collection, name: str, what: str, answer: dict[str, Any] | None = None) -> None:
        document = {"kind": kind.singular, "name": name, "action": what}
        if answer is not None:
            document["concerns"] = answer["concerns"]
        output.result(
            document, self._form, concerns.message_of(f"{kind.singular} {name} {what}", document), name
        )


def _delete_manifests(deleter: _Deleter, paths: tuple[str, ...]) -> None:
    documents = manifest_files.read(paths)
    for document in reversed(documents):
        kind = kinds.of_manifest(document.value.get("kind", "Policy" if "rules" in document.value else None))
        name = _name_of(document.value)
        if kind is None or name is None:
            place = f"{document.source}:{document.line}"
            raise failures.misused(f"{place}: has no kind and metadata.name of an object that can be deleted")
        try:
            deleter.delete(kind, name)
        except refusals.RefusedRequest as refused:
            if refused.status != 404:
                raise
            deleter.say(kind, name, "was not there")


def _name_of(value: dict[str, object]) -> str | None:
    metadata, spec = value.get("metadata"), value.get("spec")
    if value.get("kind") == "Version" and isinstance(spec, dict):
        tag = spec.get("tag") or (metadata.get("name") if isinstance(metadata, dict) else None)
        return f"{spec.get('deployment')}/{tag}"
    name = metadata.get("name") if isinstance(metadata, dict) else value.get("name")
    return name if isinstance(name, str) else None
