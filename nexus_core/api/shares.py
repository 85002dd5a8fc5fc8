"""/api/shares: public links to what a conversation showed."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import Field

from nexus_core import conversations, shares
from nexus_core.api.conversations import ConversationId, Deleted
from nexus_core.api.gate import is_secure
from nexus_core.api.schema import Camel, Success, Who, done
from nexus_core.database import transaction
from nexus_core.shares import DAYS, MOST_DAYS

router = APIRouter(tags=["Shares"])


class NewShare(Camel):
    """How long a link works."""

    days: int = Field(DAYS, ge=1, le=MOST_DAYS, description="So many days from now.", examples=[7])


class Share(Camel):
    """A link that works."""

    id: UUID = Field(description="Its id.")
    conversation_id: UUID = Field(description="The conversation.")
    title: str = Field(description="The conversation's title now.")
    created_by: UUID | None = Field(description="Who shared it.")
    created_at: datetime = Field(description="When; what was said later is not shown.")
    expires_at: datetime = Field(description="Until when it works.")
    views: int = Field(description="How often it was opened.")
    messages: int = Field(description="How many messages it shows.")


class Made(Share):
    """A link that was just made."""

    url: str = Field(
        description="The link. It is told here only: Nexus keeps nothing from which it could be made again."
    )


@router.post(
    "/conversations/{conversation_id}/shares",
    response_model=Success[Made],
    status_code=HTTPStatus.CREATED,
    summary="Share a conversation",
)
def share_conversation(who: Who, conversation_id: ConversationId, body: NewShare, request: Request) -> dict[str, Any]:
    """Whoever has the link reads what people and assistants have said so far, without names, prompts, memory or costs.

    Needs the role operator.
    """
    with transaction(who) as tx:
        made, token = shares.create(tx, conversation_id, days=body.days)
    scheme = "https" if is_secure(request) else "http"
    return done(vars(made) | {"url": f"{scheme}://{request.url.netloc}/shared/{token}"})


@router.get("/conversations/{conversation_id}/shares", response_model=Success[list[Share]], summary="List its links")
def list_conversation_shares(who: Who, conversation_id: ConversationId) -> dict[str, Any]:
    """The links to a conversation that work, whosesoever, the newest first."""
    with transaction(who) as tx:
        conversations.get(tx, conversation_id)
        return done(shares.of_conversation(tx, conversation_id))


@router.get("/shares", response_model=Success[list[Share]], summary="List links")
def list_shares(who: Who) -> dict[str, Any]:
    """The links that you made and that work, the newest first; as an admin, all to conversations that you may see."""
    with transaction(who) as tx:
        return done(shares.live(tx))


@router.delete("/shares/{share_id}", response_model=Success[Deleted], summary="Withdraw a link")
def withdraw_share(who: Who, share_id: Annotated[UUID, Path(description="The link's id.")]) -> dict[str, Any]:
    """It is dead at once. One of your own, or to a conversation of yours; any that you may see needs the role admin."""
    with transaction(who) as tx:
        shares.revoke(tx, share_id)
    return done({"id": share_id})
