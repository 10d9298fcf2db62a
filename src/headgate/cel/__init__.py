"""CEL for Headgate: expressions compiled once, evaluated at the speed of Python, within a budget."""

from headgate.cel.core.errors import BudgetExceeded, CompileError, EvaluationError, MissingKey, SyntaxProblem
from headgate.cel.core.meter import DEFAULT_STEPS, SELECTOR_STEPS, Meter
from headgate.cel.core.values import Duration, Optional, Timestamp, TypeValue, Uint
from headgate.cel.environment import CelEnvironment
from headgate.cel.functions import Function
from headgate.cel.index import SelectorIndex
from headgate.cel.program import Program, Selector
from headgate.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
)

__all__ = [
    "BOOL",
    "BYTES",
    "DEFAULT_STEPS",
    "DOUBLE",
    "DURATION",
    "DYN",
    "INT",
    "NULL",
    "SELECTOR_STEPS",
    "STRING",
    "TIMESTAMP",
    "UINT",
    "BudgetExceeded",
    "CelEnvironment",
    "CompileError",
    "Duration",
    "EvaluationError",
    "Function",
    "Meter",
    "MissingKey",
    "Optional",
    "Program",
    "Selector",
    "SelectorIndex",
    "SyntaxProblem",
    "Timestamp",
    "Type",
    "TypeValue",
    "Uint",
    "list_of",
    "map_of",
    "optional_of",
]
