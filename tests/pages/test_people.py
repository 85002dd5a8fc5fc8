"""The page People: inviting, roles, deactivation, sessions; what others than administrators see."""

from streamlit.testing.v1 import AppTest

from nexus_core import accounts, passwords, people, signin
from nexus_core.database import Scope, transaction
from tests.conftest import member
from tests.pages.conftest import Open

PAGE = "system/people.py"
PASSWORD = "correct horse battery"


def words(page: AppTest) -> str:
    return "\n".join(e.value for e in [*page.title, *page.subheader, *page.markdown, *page.caption, *page.error])


def test_a_person_is_invited_and_managed(open_page: Open, scope: Scope) -> None:
    page = open_page(scope, PAGE)
    page = page.button(key="people_invite").click().run()
    page.text_input(key="invite_email").set_value("ana@example.com")
    page.text_input(key="invite_name").set_value("Ana *x*")
    page = page.button(key="invite_make").click().run()
    assert "Set a password for yourself first" in page.error[0].value
    with transaction(scope) as tx:
        people.set_password(tx, scope.user_id, passwords.hash_(PASSWORD))
    page = page.button(key="invite_make").click().run()
    code = page.code[0].value.rpartition("/")[2]
    assert accounts.whose(code).name == "Ana *x*"
    page = page.button(key="person_link_done").click().run()
    assert not page.code and "Ana *x*" not in words(page) and "invited" in words(page)
    session = accounts.choose_password(code, PASSWORD, user_agent="Browser <b>")
    ana = signin.resolve(session).person.id
    page = open_page(scope, PAGE, person=ana)
    assert "signs in by password" in words(page) and "<b>" not in words(page)
    page = page.button_group(key=f"person_role_{ana}").set_value("viewer").run()
    page = page.button(key="person_reset").click().run()
    assert page.code[0].value.startswith("/welcome/") and signin.resolve(session) is None
    page = page.button(key="person_link_done").click().run()
    page = page.button(key="person_deactivate").click().run()
    assert "deactivated" in words(page)
    page = page.button(key="person_reactivate").click().run()
    page = page.button(key="person_remove").click().run()
    assert not page.exception and "Ana" not in words(page)
    page = open_page(scope, PAGE, person=scope.user_id)
    page = page.button_group(key=f"person_role_{scope.user_id}").set_value("viewer").run()
    assert "only administrator" in page.error[0].value
    page.text_input(key="password_current").set_value("wrong")
    page = page.button(key="password_change").click().run()
    assert "not your current" in page.error[0].value
    page.text_input(key="password_current").set_value(PASSWORD)
    page.text_input(key="password_new").set_value("new " + PASSWORD)
    assert "Changed" in page.button(key="password_change").click().run().success[0].value
    assert "no such person" in words(open_page(scope, PAGE, person="x"))


def test_others_see_who_is_here_and_their_own_sessions(open_page: Open, operator: Scope, scope: Scope) -> None:
    for number in range(9):
        member(scope, f"p{number}@example.com", f"Person {number}", "viewer")
    page = open_page(operator, PAGE)
    buttons = {button.key for button in page.button if (button.key or "").startswith(("person_open", "people_"))}
    assert buttons == {f"person_open_{operator.user_id}"} and "invited" not in words(page)
    page = page.text_input(key="people_find").set_value("PERSON 7").run()
    assert "Person 7" in words(page) and "Person 6" not in words(page)
    assert "Nowhere." in words(open_page(operator, PAGE, person=operator.user_id))
    assert "Only administrators" in open_page(operator, PAGE, person=scope.user_id).info[0].value
