"""The schema for one DeepSpeed release: `x-since`, `x-removed` and `x-before` applied.

A key that a release does not have is left out, so a validator for that release treats it as that release does: a
pydantic block refuses it, a raw block ignores it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dsgui.core.config.context import version_tuple

Node = Mapping[str, Any]
Version = tuple[int, ...]
_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_VALUE_SPANS = ("x-values-since", "x-values-removed")


def at_version(document: Node, version: str) -> dict[str, Any]:
    """The JSON Schema `document` for DeepSpeed `version`."""
    return _at(document, version_tuple(version))


def in_release(node: Node, version: str) -> bool:
    """Whether DeepSpeed `version` has the key that `node` describes."""
    return _present(node, version_tuple(version))


def before(node: Node, version: str) -> dict[str, Any]:
    """`node` with the keywords it had in `version`; its children are left as they are."""
    return _before(node, version_tuple(version))


def _at(node: Node, version: Version) -> dict[str, Any]:
    result = _before(node, version)
    if "properties" in result:
        children = result["properties"].items()
        result["properties"] = {key: _at(child, version) for key, child in children if _present(child, version)}
    if "anyOf" in result:
        spans: dict[str, Any] = {word: result[word] for word in _VALUE_SPANS if word in result}
        result["anyOf"] = [_at({**spans, **branch}, version) for branch in result["anyOf"]]
    for keyword in ("items", "additionalProperties"):
        if isinstance(result.get(keyword), Mapping):
            result[keyword] = _at(result[keyword], version)
    if "enum" in result:
        result["enum"] = [value for value in result["enum"] if _value_present(result, value, version)]
    return result


def _before(node: Node, version: Version) -> dict[str, Any]:
    result = dict(node)
    for change in node.get("x-before", ()):
        if version < version_tuple(change["version"]):
            result |= {keyword: value for keyword, value in change.items() if keyword != "version"}
    for bound in _BOUNDS:
        if bound in result and result[bound] is None:  # a bound that a release did not have yet
            del result[bound]
    if "x-model" in result and any("x-model" in change for change in node.get("x-before", ())):
        result.pop("additionalProperties", None)
        if result["x-model"] == "pydantic":
            result["additionalProperties"] = False
    return result


def _present(node: Node, version: Version) -> bool:
    since, removed = node.get("x-since", ""), node.get("x-removed", "")
    return not (since and version < version_tuple(since)) and not (removed and version >= version_tuple(removed))


def _value_present(node: Node, value: Any, version: Version) -> bool:
    since, removed = (node.get(word, {}).get(value, "") for word in _VALUE_SPANS)
    return _present({"x-since": since, "x-removed": removed}, version)


def releases(node: Node) -> Iterator[str]:
    """Every release in which `node` or a key inside it changed."""
    for keyword in ("x-since", "x-removed"):
        if keyword in node:
            yield node[keyword]
    yield from (change["version"] for change in node.get("x-before", ()))
    for keyword in _VALUE_SPANS:
        yield from node.get(keyword, {}).values()
    children = [*node.get("properties", {}).values(), *node.get("anyOf", ())]
    for child in [*children, node.get("items"), node.get("additionalProperties")]:
        if isinstance(child, Mapping):
            yield from releases(child)
