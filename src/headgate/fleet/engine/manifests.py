"""Manifests: objects as people write them. Text to documents, documents to objects, and what is wrong with either."""

from headgate.fleet.engine.manifest_checks import validate
from headgate.fleet.engine.manifest_objects import (
    API_VERSION,
    ForeignObject,
    describe,
    located,
    parse,
    parse_parts,
)
from headgate.fleet.engine.manifest_text import TextDocument
from headgate.fleet.engine.manifest_text import read as _read
from headgate.fleet.model import kinds
from headgate.fleet.model.changes import Object
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected

__all__ = [
    "API_VERSION",
    "ForeignObject",
    "Object",
    "TextDocument",
    "describe",
    "located",
    "parse",
    "parse_parts",
    "read_documents",
    "read_objects",
    "validate",
]


def read_documents(text: str, *, source: str) -> list[TextDocument]:
    """Raises Rejected if the text is not YAML or JSON that can be read at all."""
    return _read(text, source)


def read_objects(text: str, *, ids: IdSource, now: Instant, source: str = "text") -> list[Object]:
    """Every object of the fleet in the text. Raises Rejected with all problems; objects of other levels are one."""
    problems: list[Problem] = []
    objects: list[Object] = []
    for document in read_documents(text, source=source):
        try:
            parsed = parse(document, ids, now)
        except Rejected as rejected:
            problems.extend(located(document, problem) for problem in rejected.problems)
            continue
        if isinstance(parsed, ForeignObject):
            problems.append(
                located(
                    document, Problem("kind", f"is {parsed.kind}; allowed are {', '.join(kinds.BY_NAME)}")
                )
            )
        else:
            objects.append(parsed)
    if problems:
        raise Rejected(problems)
    return objects
