"""The memory modes in the words that people read; programs say none, session and user."""

from nexus_core.i18n import _, pgettext


def names() -> dict[str, tuple[str, str]]:
    """The memory modes: what each is called, and what it does."""
    return {
        "none": (pgettext("a memory mode", "None"), _("Every message stands alone; nothing said before is sent.")),
        "session": (_("Conversation"), _("What was said in this conversation, as far as the limits allow.")),
        "user": (
            _("Person"),
            _("One rolling history of what this person said with the agent in this project, over all conversations."),
        ),
    }


def title(mode: str) -> str:
    """The mode as a heading, a badge or a sentence names it."""
    return _("Memory: {mode}").format(mode=names()[mode][0])
