"""The models page: what is found, profiles saved and refused, and a test that is a real call."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import llm, profiles, runs, trial
from nexus_core.database import Scope, transaction
from nexus_core.profiles import Profile

PAGE = "system/models.py"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that names no model."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY", "OLLAMA_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def saved(scope: Scope, **fields: Any) -> Profile:
    with transaction(scope) as tx:
        return profiles.save(tx, **({"slug": "mini", "name": "Mini", "model": "openai/gpt-4o-mini"} | fields))


def stored(scope: Scope) -> dict[str, Profile]:
    with transaction(scope) as tx:
        return {profile.slug: profile for profile in profiles.list_(tx)}


def words(page: AppTest) -> str:
    return "\n".join(element.value for element in [*page.title, *page.markdown, *page.caption, *page.error])


def keys(page: AppTest) -> set[str]:
    return {button.key for button in page.button}


def fill(page: AppTest, profile: str, /, **values: str) -> AppTest:
    for field, value in values.items():
        key = f"profile_{profile}_{field}"
        (page.text_area(key=key) if field == "params" else page.text_input(key=key)).set_value(value)
    return page.button(key=f"profile_{profile}_save").click().run()


def test_it_says_what_there_is_and_where_keys_live(operator: Scope, open_page: Any) -> None:
    said = words(open_page(operator, PAGE))
    assert "builtin/recall" in said
    assert "No model is connected" in said
    assert "Keys live in the environment" in said


def test_a_profile_with_an_address_of_its_own_is_a_connected_model(scope: Scope, open_page: Any) -> None:
    saved(scope, model="openai/llama", api_base="http://localhost:1234/v1")
    said = words(open_page(scope, PAGE))
    assert "Connected by an address in its profile: Mini" in said
    assert "No model is connected" not in said


def test_readme_and_form_name_the_same_models(scope: Scope, open_page: Any) -> None:
    form = open_page(scope, PAGE, profile="new")
    placeholder = form.text_input(key="profile_new_model").placeholder
    readme = (ROOT / "README.md").read_text("utf-8")
    assert llm.EXAMPLES[0] in placeholder
    for model in llm.EXAMPLES:
        assert model in placeholder
        assert f"`{model}`" in readme
    assert llm.EXAMPLE_BASE in form.text_input(key="profile_new_api_base").help
    assert f"`{llm.EXAMPLE_BASE}`" in readme


def test_what_the_environment_names_becomes_a_profile(
    scope: Scope, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    page = open_page(scope, PAGE)
    said = words(page)
    assert "OPENAI_API_KEY is set" in said.replace("&#95;", "_")
    assert "sk-secret" not in said
    page.button(key="detected_openai").click().run()
    assert page.text_input(key="profile_new_model").value.startswith("openai/")
    fill(page, "new", name="Fast", slug="fast")
    assert stored(scope)["fast"].model.startswith("openai/")
    assert page.title[0].value == "Models"


def test_a_profile_is_saved_whole(scope: Scope, open_page: Any) -> None:
    page = open_page(scope, PAGE, profile="new")
    page.number_input(key="profile_new_context_tokens").set_value(8192)
    params = '{"temperature": 0.2, "stop": ["x"]}'
    fill(page, "new", name="Mine", slug="mine", model="ollama/llama3", api_base="http://localhost:1", params=params)
    profile = stored(scope)["mine"]
    assert (profile.model, profile.api_base, profile.context_tokens) == ("ollama/llama3", "http://localhost:1", 8192)
    assert profile.params == {"temperature": 0.2, "stop": ["x"]}


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("params", "{oops", "This is not JSON"),
        ("params", "[1]", "Write an object"),
        ("params", '{"api_key": "x"}', "Keys are not stored here"),
        ("slug", "no good", "A slug has letters"),
        ("model", "gpt", "Write the model with its provider"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(
    scope: Scope, open_page: Any, field: str, value: str, sentence: str
) -> None:
    page = open_page(scope, PAGE, profile="new")
    good = {"name": "Mine", "slug": "mine", "model": "openai/x"}
    fill(page, "new", **(good | {field: value}))
    (error,) = page.error
    assert sentence in error.value
    assert page.text_input(key="profile_new_name").value == "Mine"
    assert set(stored(scope)) == {"builtin"}


def test_an_edit_keeps_the_profile(scope: Scope, open_page: Any) -> None:
    profile = saved(scope, params={"temperature": 1}, context_tokens=1000)
    page = open_page(scope, PAGE, profile=profile.id)
    fill(page, str(profile.id), name="Renamed")
    after = stored(scope)["mini"]
    assert (after.id, after.name, after.params, after.context_tokens) == (
        profile.id,
        "Renamed",
        {"temperature": 1},
        1000,
    )


def test_operators_test_and_change_nothing(operator: Scope, scope: Scope, open_page: Any) -> None:
    profile = saved(scope)
    assert f"profile_{profile.id}_test" in keys(open_page(operator, PAGE))
    for page in (open_page(operator, PAGE), open_page(operator, PAGE, profile=profile.id)):
        assert not keys(page) & {"profiles_new", f"profile_{profile.id}_edit", f"profile_{profile.id}_save"}


def test_viewers_only_read(viewer: Scope, open_page: Any) -> None:
    assert not {key for key in keys(open_page(viewer, PAGE)) if key and key.startswith("profile")}


def test_the_built_in_assistant_answers_its_test(operator: Scope, open_page: Any) -> None:
    builtin = stored(operator)["builtin"]
    page = open_page(operator, PAGE)
    page.button(key=f"profile_{builtin.id}_test").click().run()
    said = words(page)
    assert "not a language model" in said
    assert "tokens · free" in said
    assert not page.error


def test_a_model_without_a_key_says_so_and_the_ledger_knows(operator: Scope, scope: Scope, open_page: Any) -> None:
    profile = saved(scope)
    page = open_page(operator, PAGE)
    page.button(key=f"profile_{profile.id}_test").click().run(timeout=60)
    assert "OPENAI_API_KEY" in page.error[0].value.replace("&#95;", "_")
    tried: trial.Trial = page.session_state[f"profile_{profile.id}_trial"]
    with transaction(operator) as tx:
        run = runs.get(tx, tried.run.id)
    assert (run.kind, run.status, run.error_type, run.profile_slug) == ("test", "failed", "authentication", "mini")
    assert (run.input_tokens, run.cost_estimate) == (None, None)
