"""An answer while it is being written."""

import threading

from nexus_core.draft import Draft
from nexus_core.parts import reasoning, step_start, text, tool


def test_pieces_of_one_kind_are_one_part_and_a_look_changes_nothing() -> None:
    draft = Draft()
    assert draft.snapshot().parts == []
    for kind, piece in (("reasoning", "a"), ("reasoning", "b"), ("text", "c"), ("text", "d")):
        draft.add(kind, piece)
        draft.snapshot()
    thought, said = draft.snapshot().parts
    duration = thought["providerMetadata"]["nexus"]["duration_ms"]
    assert (thought, said) == (reasoning("ab", duration_ms=duration), text("cd"))


def test_a_result_takes_the_place_of_its_call_the_first_that_waits() -> None:
    draft = Draft()
    draft.add("text", "Look.")
    for _call in range(2):
        draft.append(tool("c1", "search_memory", "{}"))
    done = tool("c1", "search_memory", "{}", output=[1])
    draft.answer_call("c1", done)
    assert draft.snapshot().parts == [text("Look."), done, tool("c1", "search_memory", "{}")]
    draft.append(step_start())
    draft.add("text", "Found.")
    assert draft.snapshot().parts[-1] == text("Found.")


def test_each_change_has_a_new_number() -> None:
    draft = Draft()
    seen = [draft.snapshot().version]
    for change in (
        lambda: draft.add("text", "a"),
        lambda: draft.append(tool("c1", "x", "{}")),
        lambda: draft.answer_call("c1", tool("c1", "x", "{}", output=1)),
        draft.clear,
    ):
        change()
        seen.append(draft.snapshot().version)
    assert seen == sorted(set(seen))


def test_the_note_says_why_it_waits_until_something_comes() -> None:
    draft = Draft()
    draft.add("text", "half")
    draft.clear("too many requests")
    assert (draft.snapshot().parts, draft.snapshot().note) == ([], "too many requests")
    draft.add("text", "a")
    assert draft.snapshot().note == ""


def test_a_snapshot_from_another_thread_is_whole() -> None:
    draft = Draft()
    done = threading.Event()

    def write() -> None:
        for number in range(3000):
            draft.add("text" if number % 3 else "reasoning", "x")
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    lengths = []
    while not done.is_set():
        lengths.append(sum(len(part["text"]) for part in draft.snapshot().parts))
    writer.join()
    assert lengths == sorted(lengths)
    assert sum(len(part["text"]) for part in draft.snapshot().parts) == 3000
