import click

from headgate.cli import completions, failures, kinds, manifest_files, options, output, refusals
from headgate.cli.client import Client, path


@click.command("delete")
@click.argument("kind", required=False, shell_complete=completions.kinds)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completions.names_of_kind)
@options.files(required=False)
@options.output()
@options.with_server
def command(
    client: Client, kind: str | None, names: tuple[str, ...], paths: tuple[str, ...], form: str
) -> None:
    """Deletes the objects of KIND with the given names, or those that manifests name.

    With -f, what is not there is passed over, and objects go in the reverse order of the files.

    Exit codes: 0 deleted; 1 there is none of that name, or it is in use; 2 called wrongly or an input cannot be read;
    4 the server cannot be reached; 5 not allowed.
    """
    if bool(paths) == bool(kind):
        raise failures.misused("give KIND and NAME, or -f PATH")
    if paths:
        _delete_manifests(client, paths, form)
        return
    chosen = kinds.find(kind or "")
    if not chosen.is_deletable:
        allowed = ", ".join(one.collection for one in kinds.ALL if one.is_deletable)
        raise failures.misused(f"KIND: {chosen.collection} cannot be deleted; allowed are {allowed}")
    if not names:
        raise failures.misused(f"NAME: is missing; which {chosen.singular} shall be deleted?")
    for name in names:
        client.send("DELETE", path(chosen.collection, name), scoped=chosen.is_scoped)
        _say(chosen.singular, name, "deleted", form)


def _delete_manifests(client: Client, paths: tuple[str, ...], form: str) -> None:
    documents = manifest_files.read(paths)
    for document in reversed(documents):
        kind = kinds.of_manifest(document.value.get("kind", "Policy" if "rules" in document.value else None))
        name = _name_of(document.value)
        if kind is None or name is None:
            place = f"{document.source}:{document.line}"
            raise failures.misused(f"{place}: has no kind and metadata.name of an object that can be deleted")
        try:
            client.send("DELETE", path(kind.collection, name))
            _say(kind.singular, name, "deleted", form)
        except refusals.Refused as refused:
            if refused.status != 404:
                raise
            _say(kind.singular, name, "was not there", form)


def _name_of(value: dict[str, object]) -> str | None:
    metadata, spec = value.get("metadata"), value.get("spec")
    if value.get("kind") == "Version" and isinstance(spec, dict):
        tag = spec.get("tag") or (metadata.get("name") if isinstance(metadata, dict) else None)
        return f"{spec.get('deployment')}/{tag}"
    name = metadata.get("name") if isinstance(metadata, dict) else value.get("name")
    return name if isinstance(name, str) else None


def _say(kind: str, name: str, what: str, form: str) -> None:
    output.result({"kind": kind, "name": name, "action": what}, form, f"{kind} {name} {what}", name)
