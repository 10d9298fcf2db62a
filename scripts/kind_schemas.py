"""Writes the compact schemas of the built-in kinds from an installed or unpacked lightkube-models.

    python scripts/kind_schemas.py FOLDER src/headgate/graph/kinds.json

FOLDER is the package's `lightkube` folder. Its modules are read as text and never imported: they hold one class a
type, whose annotated fields are all that is needed here.
"""

import ast
import json
import sys
from pathlib import Path

STRING_MAPS = frozenset(
    {"labels", "annotations", "matchLabels", "nodeSelector", "stringData", "parameters", "volumeAttributes"}
)
STRING_MAPS_OF = {
    ("ConfigMap", "data"),
    ("ServiceSpec", "selector"),
    ("ReplicationControllerSpec", "selector"),
}
BYTES = frozenset({"caBundle"})
BYTES_OF = {("CertificateSigningRequestSpec", "request"), ("CertificateSigningRequestStatus", "certificate")}
BYTES_MAPS_OF = {("Secret", "data"), ("ConfigMap", "binaryData")}
PLAIN = {
    "str": "s",
    "int": "i",
    "float": "n",
    "bool": "b",
    "dict": "{}",
    "Dict": "{}",
    "Any": "*",
    "object": "*",
}
ALIASES = {
    "meta_v1.Time": "t",
    "meta_v1.MicroTime": "t",
    "meta_v1.FieldsV1": "*",
    "meta_v1.Patch": "*",
    "resource.Quantity": "*",
    "util_intstr.IntOrString": "*",
    "runtime.RawExtension": "*",
    "apiextensions_v1.JSON": "*",
    "apiextensions_v1.JSONSchemaPropsOrArray": "*",
    "apiextensions_v1.JSONSchemaPropsOrBool": "*",
    "apiextensions_v1.JSONSchemaPropsOrStringArray": "*",
    "apiextensions_v1.CustomResourceSubresourceStatus": "*",
}
"""Types of one letter: s string, i integer, n number, b boolean, t time, B bytes, * anything; {}X and []X hold X."""


def main(folder: Path, target: Path) -> None:
    types = _types(folder / "models")
    kinds = _kinds(folder / "resources")
    used: dict[str, dict[str, str]] = {}
    for name, (type_name, _, _) in kinds.items():
        if type_name not in types:
            raise SystemExit(f"{name}: no type {type_name}")
        _collect(type_name, types, used)
    content = {"kinds": dict(sorted(kinds.items())), "types": dict(sorted(used.items()))}
    target.write_text(json.dumps(content, separators=(",", ":")) + "\n")
    print(f"{len(kinds)} kinds, {len(used)} types, {target.stat().st_size} bytes")


def _collect(name: str, types: dict[str, dict[str, str]], used: dict[str, dict[str, str]]) -> None:
    pending = [name]
    while pending:
        current = pending.pop()
        if current in used:
            continue
        used[current] = types[current]
        pending.extend(_inner(field) for field in types[current].values() if "." in _inner(field))


def _types(folder: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for file in sorted(folder.glob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef):
                fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
                found[f"{file.stem}.{node.name}"] = {
                    _field_name(item): _field_type(item, file.stem, node.name) for item in fields
                }
    return {
        owner: {name: _known(written, found) for name, written in fields.items()}
        for owner, fields in found.items()
    }


def _known(written: str, types: dict[str, dict[str, str]]) -> str:
    """A type that is no class of its own is an alias for some map."""
    inner = _inner(written)
    return written if "." not in inner or inner in types else written.replace(inner, "*")


def _inner(written: str) -> str:
    return written.rstrip("!").replace("[]", "").replace("{}", "")


def _field_name(item: ast.AnnAssign) -> str:
    """A name that Python cannot spell is in the metadata of the field."""
    if isinstance(item.value, ast.Call):
        for keyword in item.value.keywords:
            if keyword.arg == "metadata":
                metadata = ast.literal_eval(keyword.value)
                return str(metadata.get("json", _own_name(item)))
    return _own_name(item)


def _own_name(item: ast.AnnAssign) -> str:
    assert isinstance(item.target, ast.Name)
    return item.target.id


def _field_type(item: ast.AnnAssign, module: str, owner: str) -> str:
    annotation = ast.literal_eval(item.annotation) if isinstance(item.annotation, ast.Constant) else None
    text = annotation if isinstance(annotation, str) else ast.unparse(item.annotation)
    required = "" if text.startswith("Optional[") else "!"
    name = _field_name(item)
    if (owner, name) in BYTES_MAPS_OF:
        return "{}B" + required
    if name in BYTES or (owner, name) in BYTES_OF:
        return "B" + required
    written = _type(text.removeprefix("Optional[").removesuffix("]") if not required else text, module)
    if written == "{}":
        is_text = name in STRING_MAPS or (owner, name) in STRING_MAPS_OF
        written = "{}s" if is_text else "{}*"
    return written + required


def _type(text: str, module: str) -> str:
    if text.startswith("List["):
        element = _type(text.removeprefix("List[").removesuffix("]"), module)
        return "[]" + ("{}*" if element == "{}" else element)
    if text in PLAIN:
        return PLAIN[text]
    name = text if "." in text else f"{module}.{text}"
    return ALIASES.get(name, name)


def _kinds(folder: Path) -> dict[str, tuple[str, str, int]]:
    """By apiVersion and kind: the type, the plural, and whether objects live in a namespace."""
    found: dict[str, tuple[str, str, int]] = {}
    for file in sorted(folder.glob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if not isinstance(node, ast.ClassDef) or len(node.bases) < 2:
                continue
            base, model = (ast.unparse(each) for each in node.bases[:2])
            if "SubResource" in base or "Resource" not in base:
                continue
            info = next(
                item.value
                for item in node.body
                if isinstance(item, ast.Assign) and isinstance(item.value, ast.Call)
            )
            assert isinstance(info, ast.Call)
            given = {keyword.arg: keyword.value for keyword in info.keywords}
            definition = given["resource"]
            assert isinstance(definition, ast.Call)
            group, version, kind = (ast.literal_eval(each) for each in definition.args)
            name = f"{group}/{version} {kind}" if group else f"{version} {kind}"
            plural = ast.literal_eval(given["plural"])
            found[name] = (model.removeprefix("m_"), plural, int("Namespaced" in base))
    return found


main(Path(sys.argv[1]), Path(sys.argv[2]))
