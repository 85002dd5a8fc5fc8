"""The profiles of a workspace, each with what it is, a test, and for admins what can be changed."""

from uuid import UUID

import streamlit as st

from nexus_core import llm, profiles, trial
from nexus_core.database import transaction
from nexus_core.i18n import _
from nexus_core.profiles import BUILTIN, Profile
from nexus_core.trial import Trial
from pages.components import figures, notice, profile_form, prose, session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label


def draw(found: list[Profile], role: str) -> None:
    """One card for each; the default first."""
    for profile in found:
        with st.container(border=True, gap="xsmall", key=f"profile_{profile.id}"):
            facts, buttons = st.columns([3, 2], vertical_alignment="center")
            with facts, st.container(gap=None):
                _facts(profile)
            with buttons, st.container(horizontal=True, horizontal_alignment="right"):
                _buttons(profile, role)
            refusal(f"profile_{profile.id}")
            _result(profile.id)


def _facts(profile: Profile) -> None:
    default = f" :green-badge[{_('Default')}]" if profile.is_default else ""
    st.markdown(f"**{label(profile.name)}**{default}")
    window = profile.context_tokens or (llm.context_window(profile.model) if llm.ready() else None)
    facts = (
        profile.slug,
        profile.model,
        {"built in": _("built in"), "local": _("local"), "remote": _("remote")}[
            llm.runtime_of(profile.model, profile.api_base)
        ],
        profile.api_base or "",
        _("{n} tokens of context").format(n=figures.count(window)) if window else "",
        ", ".join(f"{key} {value}" for key, value in profile.params.items()),
    )
    st.caption(label(" · ".join(fact for fact in facts if fact)))
    if profile.model == BUILTIN:
        st.caption(_("It quotes what Nexus remembers: no key, no network, no cost. It is not a language model."))


def _buttons(profile: Profile, role: str) -> None:
    if role != "viewer":
        st.button(
            _("Test"),
            icon=":material/play_arrow:",
            key=f"profile_{profile.id}_test",
            help=_("Asks the model one short question; a real call, counted in the ledger."),
            on_click=_test,
            args=(profile.id,),
        )
    if role == "admin":
        key = f"profile_{profile.id}_edit"
        shown = str(profile.id)
        st.button(_("Edit"), icon=":material/edit:", key=key, on_click=profile_form.show, args=(shown,))
        if not profile.is_default:
            names = {
                "default": f":material/star: {_('Make it the default')}",
                "delete": f":material/delete: {_('Delete; its agents use the default')}",
            }
            st.menu_button(
                _("More"),
                list(names),
                format_func=names.__getitem__,
                key=f"profile_{profile.id}_menu",
                on_click=_chosen,
                args=(profile.id,),
            )


def _test(profile_id: UUID) -> None:
    st.session_state[f"profile_{profile_id}_trial"] = attempt(
        f"profile_{profile_id}", lambda: trial.run(session.scope(), profile_id)
    )


def _result(profile_id: UUID) -> None:
    tried: Trial | None = st.session_state.get(f"profile_{profile_id}_trial")
    if tried is None:
        return
    run = tried.run
    if run.error_message:
        st.error(label(run.error_message), icon=":material/error:")
    if tried.answer:
        with st.container(border=True):
            prose.draw(tried.answer)
    about = "≈ " if run.usage_source == "estimated" else ""
    used = f"{about}{figures.count(run.input_tokens)} → {figures.count(run.output_tokens)}"
    facts = [run.served_model or run.model, figures.duration(run.duration_ms)]
    if run.output_tokens is not None:
        facts += [_("{tokens} tokens").format(tokens=used), figures.money(run.cost_estimate)]
    st.caption(label(" · ".join(fact for fact in facts if fact)))


def _chosen(profile_id: UUID) -> None:
    choice = st.session_state[f"profile_{profile_id}_menu"]

    def act() -> bool:
        with transaction(session.scope()) as tx:
            (profiles.make_default if choice == "default" else profiles.delete)(tx, profile_id)
        return True

    if choice and attempt(f"profile_{profile_id}", act):
        notice.say(_("Saved.") if choice == "default" else _("Deleted."))
