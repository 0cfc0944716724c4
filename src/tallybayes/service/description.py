"""The description of the service, made of its endpoints: OpenAPI for programs, and a page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import msgspec

import tallybayes
from tallybayes.rendering import Document, Heading, Part, Table
from tallybayes.service.faults import FaultAnswer
from tallybayes.service.settings import Role

if TYPE_CHECKING:
    from tallybayes.service.application import Endpoint

ABOUT = (
    "Models over HTTP: they score, learn every event once, and explain themselves. Errors are one "
    "object of JSON with a sentence, `error`, and a word for programs, `code`."
)
FROM = "#/components/schemas/{name}"
ANY = {"type": "string", "format": "binary"}


def openapi(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the description as OpenAPI 3.1."""
    types = [each for e in endpoints for each in (e.request, e.answer) if each not in (None, bytes)]
    schemas, components = msgspec.json.schema_components([*types, FaultAnswer], ref_template=FROM)
    of_types = dict(zip(map(id, [*types, FaultAnswer]), schemas, strict=True))
    fault = {"description": "Why not", "content": _json(of_types[id(FaultAnswer)])}
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        name = endpoint.function.__name__ + ("_version" if "{version}" in endpoint.path else "")
        summary, _, more = inspect.cleandoc(endpoint.function.__doc__ or "").partition("\n\n")
        answer: Any = {endpoint.media: {"schema": {"type": "string"}}}
        if endpoint.answer is not None:
            answer = _json(of_types[id(endpoint.answer)])
        said: dict[str, Any] = {
            "operationId": name if endpoint.path != "/" else "home",
            "summary": " ".join(summary.split()),
            "parameters": list(_parameters(endpoint)),
            "responses": {
                str(endpoint.status): {"description": "Done", "content": answer},
                "default": fault,
            },
            "security": [{"token": []}] if endpoint.role > Role.anyone else [],
            "x-role": endpoint.role.name,
        }
        if more:
            said["description"] = " ".join(more.split())
        if endpoint.request is bytes:
            content = {"application/octet-stream": {"schema": ANY}}
            said["requestBody"] = {"required": True, "content": content}
        elif endpoint.request is not None:
            content = _json(of_types[id(endpoint.request)])
            said["requestBody"] = {"required": True, "content": content}
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = said
    return {
        "openapi": "3.1.0",
        "info": {"title": "tallybayes", "version": tallybayes.__version__, "description": ABOUT},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _parameters(endpoint: Endpoint) -> Iterable[dict[str, Any]]:
    """Go through what stands in the path and behind its question mark."""
    for name in re.findall(r"{(\w+)}", endpoint.path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    if endpoint.query is not None:
        _, components = msgspec.json.schema_components([endpoint.query])
        for name, schema in components[endpoint.query.__name__]["properties"].items():
            yield {"name": name, "in": "query", "schema": schema}


def openapi_json(endpoints: Sequence[Endpoint]) -> bytes:
    """Return the description as it is sent."""
    return msgspec.json.encode(openapi(endpoints))


def page(endpoints: Sequence[Endpoint]) -> str:
    """Return the description as a page of HTML."""
    body = Document(tuple(_parts(openapi(endpoints)))).to_html()
    title = escape(f"tallybayes {tallybayes.__version__}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width"></head>'
        f'<body style="font-family:system-ui;margin:2rem">{body}</body></html>'
    )


def _parts(described: dict[str, Any]) -> Iterable[Part]:
    """Go through what the page says: each endpoint, then each form of a body."""
    yield Heading(f"tallybayes {described['info']['version']}", 1)
    yield described["info"]["description"].replace("`", "")
    for path, methods in described["paths"].items():
        for method, said in methods.items():
            yield Heading(f"{method.upper()} {path}", 3)
            role = said["x-role"]
            who = "" if role == "anyone" else f" It takes a token of the role {role}."
            yield said["summary"] + who + (" " + said.get("description", "")).rstrip()
            for parameter in said["parameters"]:
                if parameter["in"] == "query":
                    yield f"?{parameter['name']}={_form(parameter['schema'])}"
            body = said.get("requestBody", {}).get("content", {})
            yield (
                " ".join(f"Body: {_form(x['schema'])} ({media})." for media, x in body.items())
                or "No body."
            )
            content = said["responses"]["200"]["content"]
            yield " ".join(
                f"Answer: {_form(x['schema'])} ({media})." for media, x in content.items()
            )
    yield Heading("Forms of bodies and answers", 2)
    for name, schema in described["components"]["schemas"].items():
        columns = [("field", "label"), ("value", "label"), ("if left out", "label")]
        needed = schema.get("required", ())
        rows = [
            (
                field,
                _form(each),
                "needed" if field in needed else msgspec.json.encode(each.get("default")).decode(),
            )
            for field, each in schema.get("properties", {}).items()
        ]
        yield Heading(name, 3)
        yield " ".join(schema.get("description", "").split())
        yield Table.of("", columns, rows)
    yield "The same for programs: /openapi.json"


def _form(schema: dict[str, Any]) -> str:
    """Write a schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_form, schema["anyOf"])))
    if "enum" in schema:
        return " or ".join(map(repr, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_form(schema.get('items', {}))}"
    if isinstance(inner := schema.get("additionalProperties"), dict) and inner:
        return f"object of {_form(inner)}"
    kind = schema.get("type", "anything")
    return "bytes" if schema.get("format") == "binary" else str(kind)
