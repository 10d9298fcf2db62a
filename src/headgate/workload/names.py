"""The names of everything that a set expands into. A name follows from indices alone, never from what exists."""

from collections.abc import Container
from typing import Literal

from headgate.kernel import identifiers
from headgate.kernel.identifiers import IdSource

Level = Literal["set", "group", "clique"]
"""Whose a claim is."""

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Without vowels and look-alikes, so that no suffix spells a word or is misread."""
_SUFFIX_LENGTH = 5
_MOST_SUFFIX_TRIES = 100


def headless_service(pcs: str, pcs_index: int) -> str:
    return f"{pcs}-{pcs_index}"


def service_address(pcs: str, pcs_index: int, namespace: str) -> str:
    return f"{headless_service(pcs, pcs_index)}.{namespace}.svc.cluster.local"


def standalone_clique(pcs: str, pcs_index: int, clique: str) -> str:
    return f"{pcs}-{pcs_index}-{clique}"


def scaling_group(pcs: str, pcs_index: int, group: str) -> str:
    return f"{pcs}-{pcs_index}-{group}"


def scaling_group_replica(pcs: str, pcs_index: int, group: str, group_index: int) -> str:
    """Also the name of the replica's topology constraint group."""
    return f"{scaling_group(pcs, pcs_index, group)}-{group_index}"


def member_clique(pcs: str, pcs_index: int, group: str, group_index: int, clique: str) -> str:
    return f"{scaling_group_replica(pcs, pcs_index, group, group_index)}-{clique}"


def base_gang(pcs: str, pcs_index: int) -> str:
    return f"{pcs}-{pcs_index}"


def scaled_gang(pcs: str, pcs_index: int, group: str, group_index: int, min_available: int) -> str:
    """Counted from zero over the replicas that are not in the base gang."""
    return f"{scaling_group(pcs, pcs_index, group)}-{group_index - min_available}"


def autoscaler(target: str) -> str:
    return target


def shared_claim(owner: str, template: str) -> str:
    """Of a claim that all replicas of its owner share."""
    return f"{owner}-all-{template}"


def claim_of_replica(owner: str, index: int, template: str) -> str:
    """Of a claim that one replica of its owner has."""
    return f"{owner}-{index}-{template}"


LEVELS: tuple[Level, ...] = ("set", "group", "clique")


def claim_in_pod(level: Level, template: str) -> str:
    """What a pod calls a claim that it shares: by whose it is, so that each level may share the same template."""
    return f"{level}-{template}"


def index_of_replica(pcs: str, name: str) -> int | None:
    """Which replica of the set an object belongs to, by its name alone."""
    if not name.startswith(f"{pcs}-"):
        return None
    number, _, _ = name[len(pcs) + 1 :].partition("-")
    return int(number) if number.isascii() and number.isdigit() else None


def place_in_group(pcs: str, group: str, cliques: Container[str], name: str) -> tuple[str, int] | None:
    """The group's object and the replica of it that a member clique belongs to, by its name alone."""
    pcs_index = index_of_replica(pcs, name)
    if pcs_index is None:
        return None
    owner = scaling_group(pcs, pcs_index, group)
    if not name.startswith(f"{owner}-"):
        return None
    number, _, clique = name[len(owner) + 1 :].partition("-")
    is_member = number.isascii() and number.isdigit() and clique in cliques
    return (owner, int(number)) if is_member else None


def hostname(clique_object: str, pod_index: int) -> str:
    return f"{clique_object}-{pod_index}"


def index_of_hostname(hostname: str) -> int | None:
    _, dash, index = hostname.rpartition("-")
    return int(index) if dash and index.isascii() and index.isdigit() else None


def pod(
    clique_object: str, pod_index: int, ids: IdSource, origin: str, taken: Container[str] = frozenset()
) -> str:
    """It follows from what the pod is made of and from nothing else: whoever makes it again, because the answer was lost
    or because somebody else leads now, is told that it is there. `origin` is which clique and which template. There is
    no index in it, and a pod of another template has another name."""
    for attempt in range(_MOST_SUFFIX_TRIES):
        seed = f"{hostname(clique_object, pod_index)}@{origin}"
        name = f"{clique_object}-{_suffix(ids.new('Pod', f'{seed}#{attempt}' if attempt else seed))}"
        if name not in taken:
            return name
    raise ValueError(f"{clique_object}: no free pod name found in {_MOST_SUFFIX_TRIES} tries")


def _suffix(text: str) -> str:
    number = int(identifiers.derive("pod-name", text).replace("-", ""), 16)
    letters: list[str] = []
    for _ in range(_SUFFIX_LENGTH):
        number, letter = divmod(number, len(_SUFFIX_LETTERS))
        letters.append(_SUFFIX_LETTERS[letter])
    return "".join(letters)


def revision(pcs: str, revision_hash: str) -> str:
    return f"{pcs}-{revision_hash}"
