"""/api/conversations/many: one change to many conversations at once; /api/tags: the workspace's words on them."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from nexus_core import keeping, moves, shelf, tags
from nexus_core.api.schema import Camel, Success, Text, Who, done
from nexus_core.database import transaction
from nexus_core.tags import MOST

router = APIRouter(tags=["Conversations"])


class Change(Camel):
    """What to do with which conversations."""

    ids: Annotated[list[UUID], Field(min_length=1, max_length=shelf.MOST)] = Field(description="The conversations.")
    action: Literal["archive", "unarchive", "trash", "restore", "delete", "move", "tag", "untag"] = Field(
        description="delete is for good; trash can be restored for 30 days.", examples=["tag"]
    )
    project_id: UUID | None = Field(None, description="Of move: the project; null: outside any.")
    tags: Annotated[list[Text], Field(max_length=MOST)] = Field(
        [], description="Of tag and untag: the words.", examples=[["pricing"]]
    )


class Changed(Camel):
    """What was done."""

    changed: int = Field(description="How many conversations are otherwise than before.")


class Tag(Camel):
    """A tag."""

    id: UUID = Field(description="Its id.")
    name: str = Field(description="The word.", examples=["pricing"])


@router.get("/tags", response_model=Success[list[Tag]], summary="List tags")
def list_tags(who: Who) -> dict[str, Any]:
    """Every tag of the workspace, by name; one that nothing carries goes by itself."""
    with transaction(who) as tx:
        return done(tags.list_(tx))


@router.post("/conversations/many", response_model=Success[Changed], summary="Change many conversations")
def change_conversations(who: Who, body: Change) -> dict[str, Any]:
    """All or none. Needs the role operator; to trash, restore, delete or move others' needs the role admin."""
    if body.action == "archive":
        return done({"changed": len(keeping.archive(who, body.ids))})
    with transaction(who) as tx:
        if body.action == "unarchive":
            return done({"changed": len(shelf.unarchive(tx, body.ids))})
        if body.action == "move":
            return done({"changed": len(moves.move(tx, body.ids, body.project_id))})
        if body.action in ("tag", "untag"):
            (tags.add if body.action == "tag" else tags.remove)(tx, body.ids, body.tags)
        else:
            {"trash": shelf.trash, "restore": shelf.restore, "delete": shelf.delete}[body.action](tx, body.ids)
    return done({"changed": len(set(body.ids))})
