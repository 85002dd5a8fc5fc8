"""Models: what this machine can reach, the profiles made of it, and whether they answer."""

import streamlit as st

from nexus_core import llm, profiles
from nexus_core.database import transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _
from nexus_core.profiles import Profile
from pages.components import price_list, profile_form, profile_list, session
from pages.components.markdown import label


def main() -> None:
    """The profile of the URL for admins, or all of them."""
    scope = session.scope()
    chosen = st.query_params.get("profile", "")
    with transaction(scope) as tx:
        found = profiles.list_(tx)
    if chosen and scope.role == "admin":
        _edit(chosen, found)
    else:
        _all(found, scope.role)


def _all(found: list[Profile], role: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.title(_("Models"), anchor=False, width="content")
        if role == "admin":
            st.button(
                _("New profile"),
                type="primary",
                icon=":material/add:",
                key="profiles_new",
                on_click=profile_form.show,
                args=("new",),
            )
    tabs = {"profiles": _("Profiles"), "prices": _("Prices")}
    asked = st.query_params.get("tab")
    chosen = st.segmented_control(
        _("Show"), list(tabs), default=asked if asked in tabs else "profiles", required=True, key="models_tab",
        format_func=tabs.__getitem__, label_visibility="collapsed", on_change=_show,
    )  # fmt: skip
    if chosen == "prices":
        price_list.draw(session.scope())
        return
    st.caption(_("A profile is a model as agents use it. Admins change profiles; operators can test them."))
    profile_list.draw(found, role)
    st.subheader(_("Found on this machine"), anchor=False)
    _detected(role, [one for one in found if llm.connected(one.model, one.api_base)])
    st.caption(
        _("Keys live in the environment or in the file .env, never in Nexus: no page shows, asks for or stores one.")
    )


def _show() -> None:
    st.query_params["tab"] = st.session_state["models_tab"]


def _detected(role: str, connected: list[Profile]) -> None:
    found = llm.detected()
    if not found:
        how = _(
            "Set one of these where Nexus starts, or in the file `.env` beside it, and start it again: "
            "`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`, `MISTRAL_API_KEY`; for models of your own "
            "`OLLAMA_API_BASE` or `OPENAI_BASE_URL`."
        )
        st.markdown(f"{_said(connected)} {how}")
    for seen in found:
        with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            example = f" `{seen.example_model}`" if seen.example_model else ""
            with st.container(width="content", gap=None):
                st.markdown(f":material/check_circle: **{label(seen.label)}**{example}")
                st.caption(label(seen.how))
            if role == "admin":
                st.button(
                    _("Make a profile"),
                    key=f"detected_{seen.provider}",
                    on_click=profile_form.show,
                    args=("new", seen.example_model or f"{seen.provider}/"),
                )


def _said(connected: list[Profile]) -> str:
    """What is connected by profiles alone, where the environment names nothing."""
    if not connected:
        return _("No model is connected.")
    names = label(", ".join(profile.name for profile in connected))
    return _("Connected by an address in its profile: {names}. Another one?").format(names=names)


def _edit(chosen: str, found: list[Profile]) -> None:
    back = ":material/arrow_back:"
    st.button(_("All models"), type="tertiary", icon=back, key="profiles_back", on_click=profile_form.show)
    with st.container(width=860):
        if chosen == "new":
            st.title(_("New profile"), anchor=False)
            profile_form.draw(None, st.query_params.get("model", ""))
        else:
            profile = {str(one.id): one for one in found}.get(chosen)
            if profile is None:
                raise NotFound(_("There is no such profile here."))
            st.title(label(profile.name), anchor=False)
            profile_form.draw(profile)
        st.caption(_("The key belongs in the environment or in .env, in the variable that the provider names."))


main()
