"""Which pods of a node a drain evicts, which it leaves, and which are not its to decide about."""

from __future__ import annotations

from collections.abc import Container, Iterable

import msgspec

from headgate.kubernetes.resources import Document

_MIRROR = "kubernetes.io/config.mirror"
_CORDON_TAINT = "node.kubernetes.io/unschedulable"
_FINISHED = ("Succeeded", "Failed")
_MOST_NAMED = 5


class NodePods(msgspec.Struct, frozen=True):
    """`lonely` have no controller that would make them again, `storing` lose what is in their emptyDir volumes."""

    leaving: tuple[Document, ...] = ()
    staying: int = 0
    lonely: tuple[Document, ...] = ()
    storing: tuple[Document, ...] = ()


def sort(
    pods: Iterable[Document], *, force: bool, delete_empty_dir_data: bool, known: Container[str] | None
) -> NodePods:
    """`known` are the uids of those that are being evicted already; None before the node is cordoned.

    A pod that came to the cordoned node because it does not mind would come back however often it is evicted: it stays.
    """
    leaving: list[Document] = []
    lonely: list[Document] = []
    storing: list[Document] = []
    staying = 0
    for pod in pods:
        is_newcomer = known is not None and uid_of(pod) not in known
        if _belongs_to_the_node(pod) or (is_newcomer and _minds_no_cordon(pod)):
            staying += 1
        elif is_terminating(pod):
            leaving.append(pod)
        elif _controller(pod) is None and not force:
            lonely.append(pod)
        elif _has_empty_dir(pod) and not delete_empty_dir_data:
            storing.append(pod)
        else:
            leaving.append(pod)
    return NodePods(tuple(leaving), staying, tuple(lonely), tuple(storing))


def refusal(pods: NodePods) -> str | None:
    """Why it may not be drained, with the options that would allow it."""
    problems = []
    if pods.lonely:
        verb = "has" if len(pods.lonely) == 1 else "have"
        problems.append(
            f"{names(pods.lonely)} {verb} no controller and would not come back (config.force evicts them)"
        )
    if pods.storing:
        verb = "has" if len(pods.storing) == 1 else "have"
        problems.append(
            f"{names(pods.storing)} {verb} data in emptyDir volumes that would be lost "
            "(config.deleteEmptyDirData evicts them)"
        )
    return "; ".join(problems) or None


def names(pods: Iterable[Document]) -> str:
    names_of_pods = sorted(name_of(pod) for pod in pods)
    more = len(names_of_pods) - _MOST_NAMED
    return ", ".join(names_of_pods[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def name_of(pod: Document) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def uid_of(pod: Document) -> str:
    return str(pod["metadata"]["uid"])


def is_terminating(pod: Document) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _belongs_to_the_node(pod: Document) -> bool:
    """Pods of the kubelet itself, of DaemonSets, and those that have ended: evicting them frees nothing."""
    if _MIRROR in (pod["metadata"].get("annotations") or {}):
        return True
    if (pod.get("status") or {}).get("phase") in _FINISHED:
        return True
    controller = _controller(pod)
    return controller is not None and controller.get("kind") == "DaemonSet"


def _controller(pod: Document) -> Document | None:
    for owner in pod["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return dict(owner)
    return None


def _has_empty_dir(pod: Document) -> bool:
    return any("emptyDir" in volume for volume in (pod.get("spec") or {}).get("volumes") or ())


def _minds_no_cordon(pod: Document) -> bool:
    return any(
        toleration.get("key") in (None, "", _CORDON_TAINT)
        and toleration.get("effect") in (None, "", "NoSchedule")
        and (toleration.get("operator") == "Exists" or toleration.get("key") == _CORDON_TAINT)
        for toleration in (pod.get("spec") or {}).get("tolerations") or ()
    )
