"""The functions that expressions of a graph have beyond those of the language."""

from headgate.graph.compile.libraries import (
    addresses,
    chance,
    comparing,
    hashing,
    json_text,
    lists,
    maps,
    quantities,
    searching,
    urls,
    versions,
)

FUNCTIONS = tuple(
    function
    for module in (
        addresses,
        chance,
        comparing,
        hashing,
        json_text,
        lists,
        maps,
        quantities,
        searching,
        urls,
        versions,
    )
    for function in module.FUNCTIONS
)
