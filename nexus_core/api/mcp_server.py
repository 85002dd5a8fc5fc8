"""One request of the Model Context Protocol, answered by the official package; imported at the first one alone."""

import logging
from typing import Any

from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as Listed
from pydantic import TypeAdapter, ValidationError
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from nexus_core import __version__, assistants
from nexus_core.api.limits import most
from nexus_core.assistants import TOOLS
from nexus_core.database import Scope
from nexus_core.errors import NexusError

_log = logging.getLogger(__name__)
_OURS = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The gate has judged Host and Origin already."""
_JSON: TypeAdapter[Any] = TypeAdapter(Any)
_LIST = ListToolsResult(
    tools=[
        Listed(
            name=tool.name,
            description=tool.description,
            input_schema=tool.takes.model_json_schema(),
            annotations=ToolAnnotations(
                read_only_hint=tool.reads, destructive_hint=False, idempotent_hint=tool.reads, open_world_hint=False
            ),
        )
        for tool in TOOLS
    ]
)


async def answer(who: Scope, connection: Connection, receive: Receive, send: Send) -> None:
    """Answer one POST, stateless: the next one may reach another process, as another person, with another role."""

    async def list_(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return _LIST

    async def call(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        return await to_thread.run_sync(_called, who, params.name, dict(params.arguments or {}))

    server: Server[Any] = Server(
        "nexus", version=__version__, title="Nexus", instructions=assistants.INSTRUCTIONS, on_list_tools=list_,
        on_call_tool=call,
    )  # fmt: skip
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, security_settings=_OURS, max_request_body_size=most("/mcp")
    )
    async with manager.run():
        await manager.handle_request(connection, receive, send)


def _called(who: Scope, name: str, given: dict[str, Any]) -> CallToolResult:
    """What a tool gives, or what a model is told of why not; nothing of a fault of ours but that it was one."""
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    try:
        if tool is None:
            return _failed(f"There is no tool {name} here.")
        found = assistants.call(who, tool, given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return _failed(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except NexusError as error:
        return _failed(f"{error.field}: {error.message}" if error.field else error.message)
    except Exception:  # noqa: BLE001 - a model that asks wrong must not end the connection of the assistant
        _log.exception("the tool %s failed", name)
        return _failed("Something went wrong in Nexus; its log says what.")
    text = _JSON.dump_json(found, indent=1).decode()
    return CallToolResult(content=[TextContent(text=text)], structured_content=_JSON.dump_python(found, mode="json"))


def _failed(sentence: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=sentence)], is_error=True)
