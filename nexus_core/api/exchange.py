"""/api/export and /api/import: conversations as files, and files as conversations."""

from collections import Counter
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, File, Form, Query, UploadFile
from fastapi.responses import StreamingResponse
from pydantic import Field

from nexus_core import exchange, importing
from nexus_core.api.conversations import AgentId, ConversationId, JustChat, Narrowed, ProjectId, narrowed
from nexus_core.api.schema import Camel, Success, Who, done
from nexus_core.conversations import Place
from nexus_core.database import transaction
from nexus_core.exchange import Format
from nexus_core.filenames import attachment
from nexus_core.search import Filter

router = APIRouter(tags=["Conversations"])
MOST = 500
AsFormat = Annotated[Format, Query(description="json, whole, to be imported again; or markdown, to be read.")]
_ONE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {media: {} for media in exchange.MEDIA.values()}}
}
_MANY: dict[int | str, dict[str, Any]] = {200: {"description": "The zip.", "content": {"application/zip": {}}}}


class Outcome(Camel):
    """What became of a conversation in the file."""

    title: str = Field(description="Its title.")
    status: Literal["imported", "known", "trashed", "failed"] = Field(
        description="known: it is here already and stays as it is; trashed: it is in the trash."
    )
    conversation_id: UUID | None = Field(description="Its id here.")
    messages: int = Field(description="How many messages it has here.")
    left: dict[str, int] = Field(
        description="How many could not be taken along, by kind: attachments, images, tool_calls, thoughts, system, "
        "unknown; authors: messages of other people, kept without a name; project, agent, task: not here."
    )
    reason: str = Field(description="Why it failed.")


class Report(Camel):
    """What an import did."""

    imported: int = Field(description="Conversations that are new here.")
    known: int = Field(description="Those that were here already, the trash included.")
    failed: int = Field(description="Those of which nothing was stored.")
    conversations: list[Outcome] = Field(description="One by one, in the order of the file.")


@router.get(
    "/conversations/{conversation_id}/export",
    response_class=StreamingResponse,
    responses=_ONE,
    summary="Export a conversation",
)
def export_conversation(who: Who, conversation_id: ConversationId, format: AsFormat = "json") -> StreamingResponse:
    """As a file: JSON with every version, part and figure, or Markdown of what is shown."""
    return _sent(exchange.one(who, conversation_id, format))


@router.get("/export", response_class=StreamingResponse, responses=_MANY, summary="Export conversations")
def export_conversations(
    who: Who,
    asked: Annotated[Narrowed, Depends()],
    agent_id: AgentId = None,
    is_just_chat: JustChat = False,
    project_id: ProjectId = None,
    outside: Annotated[bool, Query(description="Those of no project.")] = False,
    ids: Annotated[list[UUID], Query(alias="id", max_length=MOST, description="These; may be given many times.")] = [],  # noqa: B006
    format: AsFormat = "json",
) -> StreamingResponse:
    """Everything that you may see, or what fits, as a zip of files; it comes as it is made, however much it is."""
    if not ids:
        with transaction(who) as tx:
            filter = narrowed(tx, asked, Filter(project_id, outside, agent_id, is_just_chat))
        ids = exchange.wanted(who, filter, asked.q or "")
    return _sent(exchange.many(who, ids, format))


@router.post("/import", response_model=Success[Report], summary="Import conversations")
def import_conversations(
    who: Who,
    file: Annotated[UploadFile, File(description="Nexus' own JSON, ChatGPT's or Claude's export, or a zip of them.")],
    project_id: Annotated[UUID | None, Form(alias="projectId", description="Into this project.")] = None,
) -> dict[str, Any]:
    """They become yours: where they were, as far as that project and agent are here, else outside any project.

    Importing the same file again adds nothing. 200 MB at most. Needs the role operator.
    """
    into = None if project_id is None else Place(project_id)
    outcomes = list(importing.run(who, file.file, into))
    counts = Counter("known" if one.status == "trashed" else one.status for one in outcomes)
    return done({name: counts[name] for name in ("imported", "known", "failed")} | {"conversations": outcomes})


def _sent(file: exchange.File) -> StreamingResponse:
    return StreamingResponse(file.chunks, media_type=file.media_type, headers=attachment(file.name))
