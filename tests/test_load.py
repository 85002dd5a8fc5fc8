"""The load of bench.load, small: people in the cockpit and a program, on a process of their own."""

from bench.load import Load, measure_here


def test_nobody_loses_a_chunk(database_url: str) -> None:
    found = measure_here(Load(people=4, programs=1, seconds=2, spread=0.3))
    assert found["lost_chunks"] == 0
    assert found["scripts"] >= 3 * 3  # opened, asked, ended
    assert found["looks"] > 3
    assert 0 < found["script_median_ms"] <= found["script_p95_ms"]
    assert found["first_chunk_p95_ms"] > 0
