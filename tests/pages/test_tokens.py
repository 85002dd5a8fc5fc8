"""The page Tokens: made, shown once, listed and revoked."""

from streamlit.testing.v1 import AppTest

from nexus_core import api_tokens, projects, signin
from nexus_core.database import Scope, transaction
from tests.pages.conftest import Open

PAGE = "system/tokens.py"


def words(page: AppTest) -> str:
    return "\n".join(e.value for e in [*page.markdown, *page.caption, *page.error])


def test_a_token_is_shown_once_and_revoked(open_page: Open, scope: Scope, operator: Scope) -> None:
    with transaction(scope) as tx:
        apollo = projects.create(tx, "Apollo *x*")
    page = open_page(operator, PAGE)
    assert "There is no token" in words(page) and not page.toggle
    page = page.button(key="tokens_new").click().run()
    page = page.button(key="token_make").click().run()
    assert "Write a name" in page.error[0].value
    page.text_input(key="token_name").set_value("CI ![x](https://evil/p)")
    page.multiselect(key="token_projects").set_value([apollo.id])
    page = page.button(key="token_make").click().run()
    token = page.code[0].value
    assert signin.resolve_token(token).project_ids == (apollo.id,)
    page = page.button(key="token_done").click().run()
    assert not page.code and token not in words(page)
    with transaction(operator) as tx:
        (made,) = api_tokens.list_(tx)
    shown = words(page)
    assert made.hint in shown and "![" not in shown and "Apollo *x*" not in shown
    everybodys = open_page(scope, PAGE).toggle(key="tokens_all").set_value(True).run()
    assert "Olga" in words(everybodys)
    page = everybodys.button(key=f"token_revoke_{made.id}").click().run()
    assert not page.exception and signin.resolve_token(token) is None and "There is no token" in words(page)
