"""Settings and prices: what administrators set, what is refused, what others only read."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import (
    audit,
    budgets,
    conversations,
    keeping,
    messages,
    people,
    pricing,
    projects,
    repricing,
    workspaces,
)
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid
from nexus_core.parts import text
from tests.nexus_core import ledger
from tests.pages.conftest import Open

SETTINGS = "system/settings.py"
MODELS = "system/models.py"


def words(page: AppTest) -> str:
    return "\n".join(e.value for e in [*page.title, *page.subheader, *page.markdown, *page.caption, *page.error])


def statuses(scope: Scope) -> list[budgets.Status]:
    with transaction(scope) as tx:
        return budgets.statuses(tx, datetime.now(UTC))


def test_name_and_zone_are_the_administrators(open_page: Open, scope: Scope, operator: Scope) -> None:
    page = open_page(scope, SETTINGS)
    page.text_input(key="settings_name").set_value("Aurora")
    page.selectbox(key="settings_zone").set_value("Europe/Madrid")
    page.button(key="settings_save").click().run()
    with transaction(scope) as tx:
        found, entry = workspaces.get(tx), audit.latest(tx)[0]
        assert (found.name, found.time_zone) == ("Aurora", "Europe/Madrid")
        assert entry.detail["changes"]["time_zone"] == ["UTC", "Europe/Madrid"]
        with pytest.raises(Invalid):
            workspaces.update(tx, name="Aurora", time_zone="Mars/Olympus")
    with transaction(operator) as tx, pytest.raises(Forbidden):
        workspaces.update(tx, name="Mine", time_zone="UTC")
    assert "Only administrators" in words(open_page(operator, SETTINGS))


def test_a_budget_is_set_changed_and_removed(open_page: Open, scope: Scope, database_url: str) -> None:
    with transaction(scope) as tx:
        apollo = projects.create(tx, "Apollo *x*")
    with ledger.owner(database_url) as owner:
        ledger.add(owner, scope, datetime.now(UTC), project_id=apollo.id, cost_estimate=Decimal("6"))
        ledger.add(owner, scope, datetime.now(UTC), project_id=apollo.id, cost_estimate=None)
    page = open_page(scope, SETTINGS)
    page.button(key="budget_new").click().run()
    page.button(key="budget_save_new").click().run()
    assert "between 0 and a billion" in page.error[0].value
    page.button_group(key="budget_kind").set_value("project").run()
    page.selectbox(key="budget_target_project").set_value(apollo.id)
    page.number_input(key="budget_amount_new").set_value(10.5)
    page.button(key="budget_save_new").click().run()
    (status,) = statuses(scope)
    assert (status.budget.target_id, status.budget.amount, status.budget.blocks) == (apollo.id, Decimal("10.5"), True)
    shown = words(open_page(scope, SETTINGS))
    assert "Project · Apollo" in shown and "≥ &#36;6.00" in shown and "1 run unpriced" in shown
    page = open_page(scope, SETTINGS)
    page.button(key=f"budget_change_{status.budget.id}").click().run()
    page.number_input(key=f"budget_amount_{status.budget.id}").set_value(20.0)
    page.toggle(key=f"budget_blocks_{status.budget.id}").set_value(False)
    page.button(key=f"budget_save_{status.budget.id}").click().run()
    assert [(one.budget.amount, one.budget.blocks) for one in statuses(scope)] == [(Decimal(20), False)]
    page = open_page(scope, SETTINGS)
    page.button(key=f"budget_remove_{status.budget.id}").click().run()
    assert statuses(scope) == []


def test_a_missing_price_is_set_and_past_runs_follow_and_go_back(
    open_page: Open, scope: Scope, database_url: str
) -> None:
    with ledger.owner(database_url) as owner:
        for days in (1, 2):
            ledger.add(
                owner, scope, datetime.now(UTC) - timedelta(days=days), model="acme/own-model", cost_estimate=None,
                cost_source=None, price_version=None, input_tokens=1_000_000, output_tokens=1_000_000,
            )  # fmt: skip
    page = open_page(scope, MODELS, tab="prices")
    assert "acme/own-model" in words(page) and "2 runs in 90 days" in words(page)
    page.button(key="price_missing_acme/own-model").click().run()
    page.number_input(key="price_input_price_acme/own-model").set_value(1.5)
    page.button(key="price_save_acme/own-model").click().run()
    assert "both its input and its output" in page.error[0].value
    page.number_input(key="price_output_price_acme/own-model").set_value(2.0)
    page.date_input(key="price_from_acme/own-model").set_value((datetime.now(UTC) - timedelta(days=9)).date())
    page.button(key="price_save_acme/own-model").click().run()
    with transaction(scope) as tx:
        assert [(one.model, one.input_price, one.output_price) for one in pricing.history(tx)] == [
            ("acme/own-model", Decimal("1.5"), Decimal(2))
        ]
    page = open_page(scope, MODELS, tab="prices")
    page.button(key="reprice_look").click().run()
    assert sum(page.dataframe[-1].value["after"]) == 7.0
    page.button(key="reprice_apply").click().run()
    with transaction(scope) as tx:
        (batch,) = repricing.batches(tx)
    assert batch.runs == 2 and "Every model that was called" in words(open_page(scope, MODELS, tab="prices"))
    page = open_page(scope, MODELS, tab="prices")
    page.button(key=f"reprice_undo_{batch.id}").click().run()
    assert "2 runs in 90 days" in words(open_page(scope, MODELS, tab="prices"))


def test_others_read_prices_and_change_none(open_page: Open, operator: Scope) -> None:
    page = open_page(operator, MODELS, tab="prices")
    assert not {"price_new", "reprice_look"} & {button.key for button in page.button}
    assert "comes before the bundled table" in words(page)


def test_an_administrator_erases_a_person_after_typing_their_address(
    scope: Scope, operator: Scope, colleague: Scope, open_page: Open
) -> None:
    page = open_page(operator, "system/settings.py")
    assert not [box for box in page.selectbox if box.key == "erase_person"]
    with transaction(operator) as tx:
        bridge = projects.create(tx, "Bridge *x*").id
        talk = conversations.create(tx, Place(bridge))
        said = messages.append(tx, talk.id, "user", [text("We build it of **steel**.")])
    keeping.keep(operator, said.id, "risks")
    page = open_page(scope, "system/settings.py")
    page = page.selectbox(key="erase_person").set_value(str(operator.user_id)).run()
    assert page.button(key="erase_do").disabled
    assert "1 entry of a project’s memory" in page.warning[0].value
    assert "steel" in words(page)
    confirm = f"erase_confirm_{operator.user_id}"
    page = page.text_input(key=confirm).set_value("colleague@example.com").run()
    assert page.button(key="erase_do").disabled
    page = page.text_input(key=confirm).set_value("Operator@example.com").run()
    page = page.button(key="erase_do").click().run()
    assert not page.exception and [box.value for box in page.success] == ["Erased."]
    assert "1 entry of a project’s memory stays" in words(page) and "steel" in words(page)
    assert not page.warning
    with transaction(scope) as tx:
        assert [one.name for one in people.members(tx)] == ["Carlos", "Owner"]


def test_a_rule_is_set_says_what_it_would_do_and_goes(scope: Scope, viewer: Scope, open_page: Open) -> None:
    page = open_page(scope, SETTINGS)
    assert "No rule: everything is kept." in words(page)
    save = next(one for one in page.button if "retention_save" in (one.key or ""))
    page = save.click().run()
    assert "Say after how many days" in words(page)
    page.number_input(key="retention_archive").set_value(30)
    page.number_input(key="retention_delete").set_value(365)
    page = next(one for one in page.button if "retention_save" in (one.key or "")).click().run()
    assert not page.exception and "archived after 30 days, deleted after 365 days" in words(page)
    assert "it would change nothing" in words(page)
    assert "it would change nothing" not in words(open_page(viewer, SETTINGS))
    (remove,) = [one for one in page.button if (one.key or "").startswith("retention_remove")]
    assert "No rule: everything is kept." in words(remove.click().run())
