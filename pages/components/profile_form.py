"""The form of a profile: which model, where it is served, with which parameters; never a key."""

import json
from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core import llm, profiles
from nexus_core.database import transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import _
from nexus_core.profiles import Profile
from pages.components import notice, session
from pages.components.attempt import attempt, refusal

FIELDS = ("name", "slug", "model", "api_base", "params", "context_tokens")


def draw(profile: Profile | None, suggested: str = "") -> None:
    """The form of `profile`, or of a new one for the model `suggested`; afterwards the list again."""
    name = str(profile.id) if profile else "new"
    with st.form(f"profile_{name}", enter_to_submit=False):
        _identity(name, profile, suggested)
        _details(name, profile)
        refusal(name, besides=FIELDS)
        with st.container(horizontal=True):
            st.form_submit_button(
                _("Save"),
                type="primary",
                icon=":material/save:",
                key=f"profile_{name}_save",
                on_click=_save,
                args=(name,),
            )
            st.form_submit_button(_("Cancel"), key=f"profile_{name}_cancel", on_click=show)


def show(profile: str = "", model: str = "") -> None:
    """Go to a profile, to "new" (for `model`), or back to all of them."""
    for key, value in (("profile", profile), ("model", model)):
        if value:
            st.query_params[key] = value
        else:
            st.query_params.pop(key, None)


def _identity(name: str, profile: Profile | None, suggested: str) -> None:
    left, right = st.columns(2)
    with left:
        st.text_input(
            _("Name"), profile.name if profile else "", key=f"profile_{name}_name", placeholder=_("Fast and cheap")
        )
        refusal(name, "name")
    with right:
        slug_help = _("How the ledger and programs name it: letters, digits, dots and dashes.")
        st.text_input(
            _("Slug"), profile.slug if profile else "", key=f"profile_{name}_slug", help=slug_help, placeholder="fast"
        )
        refusal(name, "slug")
    st.text_input(
        _("Model, with its provider"),
        profile.model if profile else suggested,
        key=f"profile_{name}_model",
        placeholder=f"{', '.join(llm.EXAMPLES)}, …",
        help=_("As litellm names it. For a server that speaks OpenAI's protocol: openai/ and the model's name there."),
    )
    refusal(name, "model")


def _details(name: str, profile: Profile | None) -> None:
    left, right = st.columns([3, 2])
    with left:
        st.text_input(
            _("Address"),
            (profile.api_base if profile else None) or "",
            key=f"profile_{name}_api_base",
            placeholder=_("empty: the provider's own"),
            help=_(
                "Of a server of your own. One that speaks OpenAI's protocol mostly wants /v1 at the end, such as "
                "{example}; Ollama does not: http://localhost:11434."
            ).format(example=llm.EXAMPLE_BASE),
        )
        refusal(name, "api_base")
    with right:
        key = f"profile_{name}_context_tokens"
        if key not in st.session_state:
            st.session_state[key] = profile.context_tokens if profile else None
        st.number_input(
            _("Context size in tokens"),
            min_value=1,
            value=None,
            step=1000,
            key=key,
            placeholder=_("as known for the model"),
        )
        refusal(name, "context_tokens")
    st.text_area(
        _("Parameters of every call, as JSON"),
        json.dumps(profile.params, indent=2, ensure_ascii=False) if profile and profile.params else "",
        key=f"profile_{name}_params",
        placeholder='{"temperature": 0.2, "max_tokens": 2000}',
        height=120,
    )
    refusal(name, "params")


def _save(name: str) -> None:
    values = {field: st.session_state[f"profile_{name}_{field}"] for field in FIELDS}
    if attempt(name, lambda: _store(name, values)) is not None:
        notice.say(_("Saved."))
        show()


def _store(name: str, values: dict[str, Any]) -> Profile:
    values["params"] = _params(values["params"])
    with transaction(session.scope()) as tx:
        return profiles.save(tx, **values, profile_id=None if name == "new" else UUID(name))


def _params(written: str) -> dict[str, Any]:
    try:
        params = json.loads(written or "{}")
    except ValueError as error:
        raise Invalid(_("This is not JSON: {reason}").format(reason=error), field="params") from None
    if not isinstance(params, dict):
        raise Invalid(_('Write an object, such as {"temperature": 0.2}.'), field="params")
    return params
