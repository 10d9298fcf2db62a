"""Manifests: objects as people write them. Text to documents, documents to objects, and what is wrong with either."""

from headgate.fleet.changes import Object
from headgate.fleet.manifest_checks import validate
from headgate.fleet.manifest_objects import (
    API_VERSION,
    KINDS,
    ForeignObject,
    describe,
    located,
    parse,
)
from headgate.fleet.manifest_text import Document
from headgate.fleet.manifest_text import read as _read

__all__ = [
    "API_VERSION",
    "KINDS",
    "Document",
    "ForeignObject",
    "Object",
    "describe",
    "located",
    "parse",
    "read_documents",
    "validate",
]


def read_documents(text: str, *, source: str) -> list[Document]:
    """Raises Rejected if the text is not YAML or JSON that can be read at all."""
    return _read(text, source)
