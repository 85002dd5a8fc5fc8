"""What messages state plainly, and what only looks like it."""

import pytest

from nexus_core.statements import stated


@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        ("Decision: launch from Lisbon.", "decisions", "Launch from Lisbon"),
        ("**Decision**: launch from Lisbon", "decisions", "Launch from Lisbon"),
        ("After lunch we decided to launch from Lisbon.", "decisions", "Launch from Lisbon"),
        ("We've agreed on 12 %.", "decisions", "12 %"),
        ("It was decided that Ana signs", "decisions", "Ana signs"),
        ("Decisión: lanzar desde Lisboa", "decisions", "Lanzar desde Lisboa"),
        ("Hemos decidido que lanzamos en mayo.", "decisions", "Lanzamos en mayo"),
        ("Al final acordamos un descuento del 12 %", "decisions", "Un descuento del 12 %"),
        ("Open question: who signs?", "open_questions", "Who signs?"),
        ("Pregunta abierta: ¿quién firma?", "open_questions", "Quién firma?"),
        ("Riesgo: lluvia", "risks", "Lluvia"),
    ],
)
def test_stated(text: str, field: str, said: str) -> None:
    assert [(one.field, one.text) for one in stated(text)] == [(field, said)]


@pytest.mark.parametrize(
    "text",
    [
        "What did we decide about Lisbon?", "Have we decided to launch?", "If we decided to launch, who signs?",
        "We have not decided to launch.", "No hemos decidido nada", "¿Qué acordamos en mayo?", "We should decide soon.",
        "Cuando acordamos algo, se anota", "The risk is high", "", "decision", "Decision:",
        "We decided to " + "x" * 500,
    ],
)  # fmt: skip
def test_not_stated(text: str) -> None:
    assert list(stated(text)) == []
