"""How the modules of the library name their functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Callee = TypeVar("Callee", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Implementation:
    """One function for all overloads of a name; a metered one takes the Meter first."""

    call: Callable[..., Any]
    metered: bool
    arities: frozenset[int]


class Library:
    def __init__(self) -> None:
        self.implementations: dict[str, Implementation] = {}

    def function(self, name: str, *arities: int) -> Callable[[Callee], Callee]:
        return self._registrar(name, arities, metered=False)

    def metered(self, name: str, *arities: int) -> Callable[[Callee], Callee]:
        return self._registrar(name, arities, metered=True)

    def _registrar(self, name: str, arities: tuple[int, ...], *, metered: bool) -> Callable[[Callee], Callee]:
        def register(callee: Callee) -> Callee:
            self.implementations[name] = Implementation(callee, metered, frozenset(arities or (1,)))
            return callee

        return register
