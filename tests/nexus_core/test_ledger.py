"""What a run used and cost."""

from decimal import Decimal

from nexus_core import tokens
from nexus_core.ledger import Bill
from nexus_core.parts import reasoning, step_start, text, tool
from nexus_core.stream import Finished, Usage

MODEL = "openai/gpt-4o-mini"  # 0.15 and 0.60 dollars per million


def told(sent: int | None, made: int | None, reason: str = "stop", **more: int | None) -> Finished:
    return Finished(reason, "gpt-4o-mini-2024", Usage(sent, output_tokens=made, source="provider", **more))


def test_one_call_is_what_the_provider_said() -> None:
    bill = Bill(MODEL)
    bill.add(told(1000, 100, cached_tokens=0, reasoning_tokens=40))
    usage, price = bill.total(estimated_input=5, written=[text("whatever")])
    assert usage == Usage(1000, 0, None, 100, 40, "provider")
    assert price.amount == Decimal("0.00021")
    assert bill.served_model == "gpt-4o-mini-2024"


def test_a_loop_is_the_sum_of_its_calls() -> None:
    bill = Bill(MODEL)
    for reason in ("tool_calls", "tool_calls", "stop"):
        bill.begin()
        bill.add(told(1000, 100, reason))
    usage, price = bill.total(estimated_input=5, written=[])
    assert (usage.input_tokens, usage.output_tokens, usage.source) == (3000, 300, "provider")
    assert price.amount == Decimal("0.00063")
    assert [call["reason"] for call in bill.calls] == ["tool_calls", "tool_calls", "stop"]


def test_a_call_cut_short_is_estimated_with_what_it_wrote_its_thoughts_too() -> None:
    usage, price = Bill(MODEL).total(estimated_input=500, written=[reasoning("hmm hmm"), text("one two three")])
    assert usage == Usage(500, output_tokens=tokens.count("hmm hmm") + 3, source="estimated")
    assert price.amount is not None and price.amount > 0


def test_of_a_loop_cut_short_the_last_call_alone_is_estimated_results_count_as_read() -> None:
    bill = Bill(MODEL)
    bill.add(told(1000, 100, "tool_calls"))
    bill.begin()
    result = [tool("c1", "search_memory", "{}", output="word " * 1000)]
    written = [*result, step_start(), text("one two three")]
    usage, _price = bill.total(estimated_input=500, written=written)
    assert usage.output_tokens == 103
    assert usage.input_tokens == 1500 + tokens.count_parts(result)
    assert usage.source == "estimated"


def test_of_a_call_that_gave_nothing_nothing_is_known() -> None:
    usage, price = Bill(MODEL).total(estimated_input=500, written=[])
    assert (usage, price.amount) == (Usage(), None)
    bill = Bill(MODEL)
    bill.add(told(1000, 100, "tool_calls"))
    bill.begin()
    usage, _price = bill.total(estimated_input=500, written=[tool("c1", "x", "{}", output="y"), step_start()])
    assert (usage.input_tokens, usage.output_tokens, usage.source) == (1000, 100, "provider")


def test_one_unknown_makes_the_sum_unknown_never_zero() -> None:
    bill = Bill(MODEL)
    bill.add(told(1000, 100, "tool_calls"))
    bill.add(told(None, 50))
    usage, price = bill.total(estimated_input=None, written=[])
    assert (usage.input_tokens, usage.output_tokens, price.amount) == (None, 150, None)
    assert Bill("openai/of-my-own").total(estimated_input=5, written=[text("a")])[1].amount is None


def test_what_only_some_calls_tell_is_counted_and_a_mixture_is_an_estimate() -> None:
    bill = Bill(MODEL)
    bill.add(told(1000, 100, "tool_calls", cached_tokens=300))
    bill.add(Finished("stop", None, Usage(50, output_tokens=5, source="estimated")))
    usage, _price = bill.total(estimated_input=None, written=[])
    assert (usage.cached_tokens, usage.source) == (300, "estimated")
    assert bill.served_model == "gpt-4o-mini-2024"
