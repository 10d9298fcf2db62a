"""Names in a definition: which are allowed, which are taken, and the plural of a kind."""

from __future__ import annotations

import re

RESOURCE_ID = re.compile(r"[a-z][a-zA-Z0-9]*")
KIND = re.compile(r"[A-Z][a-zA-Z0-9]{0,62}")
VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?")
GROUP = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
SHORT_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")

LONGEST_LABEL = 63
"""Of a label's value: what objects carry there to be found again may not be longer."""

NOW, SIGNALS, EACH, SCHEMA, RUNTIME = "now", "signals", "each", "schema", "runtime"

_OF_THE_LANGUAGE = (
    "as break const continue else false for function if import in let loop namespace null package return true var "
    "void while"
)
_OF_GRAPHS = (
    "apiVersion context dependency dependencies each externalRef externalReference externalRefs externalReferences "
    "graph instance item items kind kro metadata namespace now object resource resourceGraphDefinition "
    "resourcegraphdefinition resources root runtime schema self serviceAccountName signals spec status this variables "
    "vars version"
)
LANGUAGE_WORDS = frozenset(_OF_THE_LANGUAGE.split())
RESERVED = LANGUAGE_WORDS | frozenset(_OF_GRAPHS.split())

RESERVED_LABEL_PREFIXES = ("kro.run/", "internal.kro.run/")


def id_problem(name: str) -> str | None:
    if not RESOURCE_ID.fullmatch(name):
        return f"{name!r} is not a valid id; allowed is lower camel case: letters and digits, a small letter first"
    if len(name) > LONGEST_LABEL:
        return f"{name!r} is {len(name)} characters long; allowed are {LONGEST_LABEL}, because objects carry it in a label"
    if name in RESERVED:
        return f"{name!r} is a reserved word and cannot be an id"
    return None


def iterator_problem(name: str, resource_ids: frozenset[str]) -> str | None:
    if not RESOURCE_ID.fullmatch(name):
        return f"{name!r} is not a valid iterator name; allowed is lower camel case, a small letter first"
    if name in RESERVED:
        return f"{name!r} is a reserved word and cannot name an iterator"
    if name in resource_ids:
        return f"{name!r} is the id of a resource and cannot name an iterator"
    return None


_UNCOUNTABLE = frozenset(
    [
        "equipment",
        "information",
        "rice",
        "money",
        "species",
        "series",
        "fish",
        "sheep",
        "jeans",
        "police",
        "data",
        "metadata",
        "media",
        "news",
        "aircraft",
        "software",
        "hardware",
        "firmware",
    ]
)
_IRREGULAR = {
    "person": "people",
    "man": "men",
    "child": "children",
    "sex": "sexes",
    "move": "moves",
    "mouse": "mice",
    "goose": "geese",
    "ox": "oxen",
    "foot": "feet",
    "tooth": "teeth",
    "quiz": "quizzes",
    "index": "indices",
    "matrix": "matrices",
    "vertex": "vertices",
    "analysis": "analyses",
    "basis": "bases",
    "crisis": "crises",
    "datum": "data",
    "medium": "media",
    "criterion": "criteria",
    "phenomenon": "phenomena",
    "hero": "heroes",
    "potato": "potatoes",
    "tomato": "tomatoes",
    "echo": "echoes",
    "bus": "buses",
    "status": "statuses",
    "alias": "aliases",
    "virus": "viruses",
    "octopus": "octopi",
    "leaf": "leaves",
    "life": "lives",
    "knife": "knives",
    "wife": "wives",
    "half": "halves",
    "shelf": "shelves",
    "wolf": "wolves",
}
_ENDINGS = (
    (re.compile(r"(?<=[^aeiou])y$"), "ies"),
    (re.compile(r"(?<=qu)y$"), "ies"),
    (re.compile(r"(?<=[ml])ouse$"), "ice"),
    (re.compile(r"(s|x|z|ch|sh)$"), r"\1es"),
)


def plural_of(kind: str) -> str:
    """The English plural of the kind in small letters; for a compound, that of its last part where it is irregular."""
    word = kind.lower()
    if word in _UNCOUNTABLE:
        return word
    for singular, plural in _IRREGULAR.items():
        if word == singular or (len(singular) > 3 and word.endswith(singular)):
            return word.removesuffix(singular) + plural
    for ending, replacement in _ENDINGS:
        if ending.search(word):
            return ending.sub(replacement, word)
    return word + "s"
