"""/v1: OpenAI's chat completions and models, for clients that know nothing of Nexus."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response, StreamingResponse

from nexus_core import __version__, answerers, completions
from nexus_core.answerers import Answerer
from nexus_core.api import openai_errors, openai_wire
from nexus_core.api.limits import BodyLimit, too_large
from nexus_core.api.schema import Object, Text, Who
from nexus_core.completions import Ask
from nexus_core.database import transaction
from nexus_core.dialogue import hear
from nexus_core.errors import Invalid, NexusError, NotFound
from nexus_core.i18n import _
from nexus_core.text import as_uuid
from nexus_core.watching import exchange

_log = logging.getLogger(__name__)
PASSED = (
    "temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "presence_penalty",
    "frequency_penalty", "logit_bias", "response_format", "reasoning_effort", "verbosity",
)  # fmt: skip
"""What goes to the model as it came."""
LOOK_SECONDS = 0.5
_PASSED = "Passed to the model as it is; goes before the profile's own."

v1 = FastAPI(title="Nexus as OpenAI", version=__version__, docs_url=None, redoc_url=None)
v1.add_middleware(BodyLimit)


Key = Annotated[str | None, Header(max_length=200, description="The same key is the same request.")]


class Function(BaseModel):
    """The function of a call."""

    name: Text = Field(max_length=200, description="Its name.")
    arguments: Text = Field("", description="JSON, as text.")


class Call(BaseModel):
    """A call that an answer made."""

    id: Text = Field(max_length=200, description="Its id.")
    type: Literal["function"] = Field("function", description="Functions alone.")
    function: Function = Field(description="What was called.")


class Piece(BaseModel):
    """A message."""

    role: Text = Field(description="system, developer, user, assistant or tool.")
    content: Text | list[dict[str, Any]] | None = Field(None, description="A text, or text parts.")
    tool_calls: list[Call] | None = Field(None, description="What an answer called.")
    tool_call_id: Text | None = Field(None, description="Which call this is the result of.")


class Declared(BaseModel):
    """What a tool is."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$", description="Its name.")
    description: Text | None = Field(None, description="What it does.")
    parameters: Object = Field({}, description="A JSON schema.")
    strict: bool | None = Field(None, description="Whether the arguments follow the schema to the letter.")


class Tool(BaseModel):
    """A tool that the client runs itself."""

    type: Literal["function"] = Field(description="Functions alone.")
    function: Declared = Field(description="What it is.")


class StreamOptions(BaseModel):
    """How to stream."""

    include_usage: bool = Field(False, description="Tell the tokens in a last chunk.")


class Completion(BaseModel):
    """A request for a chat completion; what is not known here is left aside."""

    model: Text = Field(description="An agent or a profile; GET /v1/models lists them.", examples=["builtin"])
    messages: list[Piece] = Field(min_length=1, description="What was said.")
    stream: bool = Field(False, description="As server-sent events.")
    stream_options: StreamOptions | None = Field(None, description="How to stream.")
    user: Text | None = Field(None, description="Whom you speak for; their memory is used.")
    metadata: dict[str, Any] | None = Field(
        None, description="`session_id`: the conversation; `project_id`: the project to talk in."
    )
    tools: list[Tool] | None = Field(None, max_length=128, description="Tools that you run yourself.")
    tool_choice: Any = Field(None, description="Which of them to call.")
    parallel_tool_calls: bool | None = Field(None, description="Whether several may be called at once.")
    n: int | None = Field(None, description="1: Nexus keeps one answer.")
    logprobs: bool | None = Field(None, description="Not to be had.")
    functions: Any = Field(None, description="Of old; use tools.")
    modalities: list[str] | None = Field(None, description="Text alone.")
    temperature: float | None = Field(None, description=_PASSED)
    top_p: float | None = Field(None, description=_PASSED)
    max_tokens: int | None = Field(None, gt=0, description=_PASSED)
    max_completion_tokens: int | None = Field(None, gt=0, description=_PASSED)
    stop: str | list[str] | None = Field(None, description=_PASSED)
    seed: int | None = Field(None, description=_PASSED)
    presence_penalty: float | None = Field(None, description=_PASSED)
    frequency_penalty: float | None = Field(None, description=_PASSED)
    logit_bias: dict[str, float] | None = Field(None, description=_PASSED)
    response_format: Object | None = Field(None, description=_PASSED)
    reasoning_effort: str | None = Field(None, description=_PASSED)
    verbosity: str | None = Field(None, description=_PASSED)

    def ask(self, idempotency_key: str | None) -> Ask:
        """As the core takes it; raises Invalid for what it can't do."""
        unable = {"n": (self.n or 1) != 1, "logprobs": self.logprobs, "functions": self.functions}
        unable["modalities"] = self.modalities not in (None, ["text"])
        for name, asked in unable.items():
            if asked:
                raise Invalid(_("Nexus can't do this: {name}.").format(name=name), field=name)
        tools = [tool.model_dump(exclude_none=True) for tool in self.tools or ()]
        params = {name: value for name in PASSED if (value := getattr(self, name)) is not None}
        if tools:
            given = {"tool_choice": self.tool_choice, "parallel_tool_calls": self.parallel_tool_calls}
            params |= {name: value for name, value in given.items() if value is not None}
        session, project = self._named("session_id"), self._named("project_id")
        project_id = as_uuid(project) if project else None
        if project and project_id is None:
            raise NotFound(_("There is no such project here."), field="metadata.project_id")
        return Ask(
            self.model,
            hear(self.messages),
            self.user or None,
            session,
            project_id,
            params,
            tools,
            idempotency_key or None,
        )

    def _named(self, name: str) -> str | None:
        value = (self.metadata or {}).get(name)
        if value is None or (isinstance(value, str) and value):
            return value
        raise Invalid(_("This has to be a text."), field=f"metadata.{name}")


@v1.post("/chat/completions", summary="Answer")
async def complete(
    request: Request,
    who: Who,
    wanted: Completion,
    idempotency_key: Key = None,
) -> Response:
    """The answer to the last message, stored as all are. Needs the role operator."""
    begun = await to_thread.run_sync(completions.begin, who, wanted.ask(idempotency_key))
    told = openai_wire.headers(begun)
    if not wanted.stream:
        ended = await exchange(who, begun.answer_id)
        end = await to_thread.run_sync(completions.ending, who, ended.answer)
        return JSONResponse(openai_wire.whole(begun, end), headers=told)
    options = wanted.stream_options or StreamOptions(include_usage=False)
    told |= openai_wire.HEADERS
    telling = openai_wire.stream(who, begun, int(time.time()), with_usage=options.include_usage)
    return StreamingResponse(await _begun(request, telling), media_type="text/event-stream", headers=told)


@v1.get("/models", summary="Agents and profiles")
def models(who: Who) -> dict[str, Any]:
    """Whom `model` can name."""
    with transaction(who) as tx:
        return {"object": "list", "data": [_model(found) for found in answerers.list_(tx)]}


@v1.get("/models/{name:path}", summary="An agent or a profile")
def model(who: Who, name: str) -> dict[str, Any]:
    """The one that `model` would name."""
    with transaction(who) as tx:
        return _model(answerers.named(tx, name))


async def _begun(request: Request, telling: AsyncGenerator[str, None]) -> AsyncIterator[str]:
    """The stream, once its first event is there: what fails before it still has a status of its own.

    Who leaves before it stops the answer as who leaves later does.
    """
    waiting = asyncio.ensure_future(anext(telling))
    while not waiting.done():
        await asyncio.wait([waiting], timeout=LOOK_SECONDS)
        if not waiting.done() and await request.is_disconnected():
            waiting.cancel()
            await asyncio.wait([waiting])
            raise ClientDisconnect
    return _told(waiting.result(), telling)


async def _told(first: str, telling: AsyncGenerator[str, None]) -> AsyncIterator[str]:
    async with aclosing(telling):
        yield first
        async for event in telling:
            yield event


def _model(found: Answerer) -> dict[str, Any]:
    return {
        "id": found.id,
        "object": "model",
        "created": int(found.created_at.timestamp()) if found.created_at else 0,
        "owned_by": "agent" if found.agent_id else "profile",
        "name": found.name,
        "description": found.description,
    }


@v1.exception_handler(NexusError)
async def refused(request: Request, error: NexusError) -> Response:
    """What Nexus refuses on purpose."""
    return openai_errors.refusal(error)


@v1.exception_handler(RequestValidationError)
async def invalid(request: Request, error: RequestValidationError) -> Response:
    """What does not have the shape of a request."""
    first = error.errors()[0]
    steps = () if first["type"] == "json_invalid" else first["loc"][1:]
    return openai_errors.refusal(Invalid(str(first["msg"]), field=".".join(map(str, steps)) or None))


@v1.exception_handler(HTTPException)
async def unknown(request: Request, error: HTTPException) -> Response:
    """A path or a method that does not exist, or a body that is too large."""
    kinds: dict[int, NexusError] = {
        404: NotFound(_("There is no such address here.")),
        413: too_large(request.url.path),
    }
    found = kinds.get(error.status_code) or NexusError(str(error.detail))
    answer = openai_errors.refusal(found)
    answer.status_code = error.status_code
    return answer


@v1.exception_handler(ClientDisconnect)
async def gone(request: Request, error: ClientDisconnect) -> Response:
    """Nobody is left to hear it."""
    return Response(status_code=499)


@v1.exception_handler(Exception)
async def broken(request: Request, error: Exception) -> Response:
    """A fault of ours: in the log with its trace, and never in the answer."""
    _log.error("%s %s failed", request.method, request.url.path)
    return openai_errors.refusal(NexusError(_("Something went wrong in Nexus; its log says what.")))
