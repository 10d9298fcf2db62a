"""Old revisions are kept while something was built from them, and some more so that going back finds its number."""

from headgate.workload import labels
from headgate.workload.plan.situation import Situation

MOST_UNUSED = 50


def prune(situation: Situation) -> None:
    known = situation.tree.revisions
    if len(known) <= MOST_UNUSED:
        return
    used = _used(situation)
    unused = sorted(
        (revision for revision in known.values() if revision.hash not in used),
        key=lambda revision: revision.number,
    )
    for revision in unused[:-MOST_UNUSED]:
        situation.writes.delete(situation.tree.revision_objects[revision.hash], "nothing uses it")


def _used(situation: Situation) -> set[str]:
    persisted = situation.persisted
    used = {situation.newest.hash, situation.target.hash, persisted.done_revision or ""}
    if persisted.progress is not None:
        used.add(persisted.progress.previous or "")
    used |= {record.revision for record in persisted.records.values()}
    for replica in situation.tree.replicas.values():
        for clique in replica.all_cliques():
            if clique.object is not None:
                used.add(clique.object.labels.get(labels.REVISION, ""))
            used |= {pod.object.labels.get(labels.REVISION, "") for pod in clique.pods}
    return used
