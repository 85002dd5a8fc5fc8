"""/api/docs: the reference, rendered here from the OpenAPI document; it loads nothing from elsewhere."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from nexus_core.api import html

INTRODUCTION = (
    "Everything speaks camelCase in the envelope {success, data}; but projects, their tasks, memory, proposals, "
    "conversations and runs speak snake_case without one. Every refusal is {success: false, error: {code, message, "
    "field}}. A workspace is chosen by ?workspace=slug."
)
METHODS = ("get", "post", "put", "patch", "delete")
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A parameter or a field: its name, its type in words, whether it is needed, what it means."""

    name: str
    kind: str
    needed: bool
    text: str


@dataclass(frozen=True)
class Operation:
    """A method of a path, as the page shows it."""

    name: str
    method: str
    path: str
    summary: str
    text: str
    parameters: list[Row]
    body: list[Row]
    answer: list[Row]
    example: str


async def page(request: Request) -> Response:
    """The reference as one page."""
    document = request.app.openapi()
    sections: dict[str, list[Operation]] = {}
    for operation, tag in _operations(document):
        sections.setdefault(tag, []).append(operation)
    return html.page("reference.html", title=document["info"]["title"], text=INTRODUCTION, sections=sections)


def _operations(document: Schema) -> Iterator[tuple[Operation, str]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield _operation(document, path, method, item[method]), item[method]["tags"][0]


def _operation(document: Schema, path: str, method: str, told: Schema) -> Operation:
    body = _schema(told.get("requestBody", {}))
    answers = (_schema(answer) for status, answer in told["responses"].items() if status.startswith("2"))
    answer = _resolved(document, next(answers, {}))
    answer = _resolved(document, answer.get("properties", {}).get("data", answer))
    parameters = [
        Row(one["name"], _kind(document, one["schema"]), one.get("required", False), _told(one))
        for one in told.get("parameters", ())
    ]
    asked, shown = _rows(document, _resolved(document, body)), _rows(document, _item(document, answer))
    address = f"/api{path}"
    example = _example(document, address, method, body)
    words = (told["summary"], told.get("description", ""))
    return Operation(told["operationId"], method.upper(), address, *words, parameters, asked, shown, example)


def _example(document: Schema, address: str, method: str, body: Schema) -> str:
    """The request as a curl command; ids stand in braces."""
    said = [f"curl -s http://localhost:8501{address}"]
    if method != "get":
        said[0] = said[0].replace("curl -s", f"curl -s -X {method.upper()}")
    fields = _resolved(document, body).get("properties", {})
    sent = {name: field["examples"][0] for name, field in fields.items() if field.get("examples")}
    if body:
        said += ["-H 'content-type: application/json'", f"-d '{json.dumps(sent, ensure_ascii=False)}'"]
    return " \\\n  ".join(said)


def _schema(told: Schema) -> Schema:
    found: Schema = told.get("content", {}).get("application/json", {}).get("schema", {})
    return found


def _resolved(document: Schema, schema: Schema) -> Schema:
    """What a reference points to; of `X or null`, X."""
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null":
            return _resolved(document, option) if "$ref" in option else schema
    if "$ref" not in schema:
        return schema
    found: Schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _item(document: Schema, schema: Schema) -> Schema:
    return _resolved(document, schema["items"]) if schema.get("type") == "array" else schema


def _told(field: Schema) -> str:
    return str(field.get("description", "")).replace("`", "")


def _rows(document: Schema, schema: Schema) -> list[Row]:
    """The fields, each followed by those of what it holds, told once: `cards[].name`."""
    return list(_fields(document, schema, "", {}))


def _fields(document: Schema, schema: Schema, within: str, told: dict[int, str]) -> Iterator[Row]:
    needed = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        path, whole = within + name, _resolved(document, field)
        held = _resolved(document, whole.get("items", whole))
        known = told.get(id(held))
        kind = _kind(document, field) + (f", as {known}" if known else "")
        yield Row(path, kind, name in needed, _told(field))
        if known is None and held.get("properties"):
            told[id(held)] = path
            yield from _fields(document, held, path + ("[]." if "items" in whole else "."), told)


def _kind(document: Schema, schema: Schema) -> str:
    if "anyOf" in schema:
        return " or ".join(_kind(document, option) for option in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return name.split("__")[-1] if "__api__" in name else name  # two of one name have their module before it
    if schema.get("type") == "array":
        return f"list of {_kind(document, schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "anything")
