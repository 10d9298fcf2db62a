"""json.*: values from and to JSON text."""

import json

from headgate import cel
from headgate.cel.core import values

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def unmarshal(text: str) -> object:
    def refuse(constant: str) -> object:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def marshal(value: object) -> str:
    """Keys in order and nothing between the tokens, so that equal values give equal text."""
    text = json.dumps(
        _encodable(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.translate(_ESCAPES)


def _encodable(value: object) -> object:
    match values.kind(value):
        case "null_type" | "bool" | "int" | "string" | "double":
            return value
        case "uint":
            return int(value)  # type: ignore[call-overload]
        case "list":
            return [_encodable(item) for item in value]  # type: ignore[attr-defined]
        case "map":
            return {str(key): _encodable(item) for key, item in value.items()}  # type: ignore[attr-defined]
    as_document = getattr(value, "as_document", None)
    if as_document is not None:
        return _encodable(as_document())
    raise cel.EvaluationError(f"json.marshal: a value of type {values.kind(value)} has no JSON form")


FUNCTIONS = (
    cel.Function("json.unmarshal", (cel.STRING,), cel.DYN, unmarshal),
    cel.Function("json.marshal", (cel.DYN,), cel.STRING, marshal),
)
