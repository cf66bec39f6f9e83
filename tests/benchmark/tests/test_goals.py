"""Each goal at its edge: a time just within it holds, one just over it misses, and other rows are not concerned."""

from __future__ import annotations

from typing import Any

import pytest

from tests.benchmark import goals
from tests.benchmark.document import Document
from tests.benchmark.records import Row
from tests.benchmark.tests import sample


def lines_of(document: Document, row: Row) -> list[goals.Line]:
    return [goal.line for goal in goals.goals_of(document, row)]


def held(row: Row, *others: Row, **sections: Any) -> bool:
    found = goals.goals_of(sample.document([row, *others], **sections), row)
    assert found
    return all(goal.holds for goal in found)


@pytest.mark.parametrize(
    ("operator", "shape", "dtype", "factor", "extra_us"),
    [
        ("softmax", (144, 1280), "float32", 0, 0.45),
        ("softmax", (4096, 32768), "float32", 1.03, 0),
        ("softmax", (144, 1280), "float16", 0, 0.6),
        ("softmax", (144, 1280), "bfloat16", 0, 0.6),
        ("softmax", (4096, 32768), "float16", 1.08, 0),
        ("softmax", (4096, 65536), "float32", 1.03, 0),  # 256 KB a row
        ("softmax", (4096, 65540), "float32", 1.15, 0),
        ("softmax", (64, 1048576), "float32", 1.15, 0),  # 4 MB a row
        ("softmax", (4096, 131072), "float16", 1.08, 0),
        ("reduce_sum", (144, 1280), "float32", 0, 0.6),
        ("reduce_sum", (4096, 32768), "float32", 1.08, 0),
        ("reduce_sum", (1, 67108864), "float16", 1.08, 0),
    ],
)
def test_limits_have_an_edge(operator: str, shape: tuple[int, int], dtype: str, factor: float, extra_us: float) -> None:
    limit_us = sample.row(operator, shape, dtype).limit_us
    assert limit_us is not None
    edge_us = limit_us * factor if factor else limit_us + extra_us
    assert held(sample.row(operator, shape, dtype, time_us=edge_us * 0.9999))
    assert not held(sample.row(operator, shape, dtype, time_us=edge_us * 1.0001))


def test_long_rows_are_read_twice() -> None:
    shape = (1, 67108864)
    limit = sample.limit(sample.row(shape=shape).bytes_read)
    assert limit.read_twice_us is not None
    assert held(sample.row(shape=shape, time_us=limit.read_twice_us * 1.0499))
    assert not held(sample.row(shape=shape, time_us=limit.read_twice_us * 1.0501))


def test_elementwise_is_measured_by_the_best_peer_and_the_noise() -> None:
    shape = (4093000,)
    peers = [sample.peer("torch", "relu", shape, "float32", 1.2), sample.peer("b", "relu", shape, "float32", 1.1)]
    assert held(sample.row("relu", shape, factor=1.1 * 1.0039), *peers)  # the sample's noise is 0.4 %
    assert not held(sample.row("relu", shape, factor=1.1 * 1.0041), *peers)
    alone = sample.row("relu", shape)
    assert goals.goals_of(sample.document([alone]), alone) == []


def test_noise_beyond_2_percent_excuses_nothing() -> None:
    noisy = [{**vars(sample.document().self_test[0]), "noise": 0.3}]
    peer = sample.peer("torch", "relu", (4093000,), "float32", 1.0)
    assert held(sample.row("relu", (4093000,), factor=1.0199), peer, self_test=noisy)
    assert not held(sample.row("relu", (4093000,), factor=1.0201), peer, self_test=noisy)


@pytest.mark.parametrize(
    ("factor", "peer_factors", "holds"),
    [
        (1.02, [1.06], True),
        (1.061, [1.06], False),  # over 1.05 x the limit: equal or behind is not enough
        (1.06, [1.06], False),
        (1.029, [1.027], True),  # near the limit: within the noise
        (1.029, [1.02], False),
        (1.029, [1.027, 1.051], True),
    ],
)
def test_peers_are_beaten_where_that_can_be(factor: float, peer_factors: list[float], holds: bool) -> None:
    shape = (144, 1280)  # so small that the goal of the limit itself allows more
    peers = [
        sample.peer(f"peer{position}", "softmax", shape, "float32", each) for position, each in enumerate(peer_factors)
    ]
    assert held(sample.row(shape=shape, factor=factor), *peers) == holds


def test_a_suspect_peer_is_no_measure() -> None:
    peer = sample.peer("torch", "softmax", (144, 1280), "float32", 0.1, verdict="SUSPECT")
    assert held(sample.row(shape=(144, 1280)), peer)


def test_overlapped_launches() -> None:
    document = sample.document()
    row = sample.row(shape=(1008, 2304), launch="overlap", factor=0.999)
    assert lines_of(document, row) == [goals.OVERLAP]
    assert held(row)
    assert not held(sample.row(shape=(1008, 2304), launch="overlap", factor=1.001))
    for other in (
        sample.row(shape=(144, 1280), launch="overlap"),
        sample.row(shape=(4096, 4096), dtype="float16", launch="overlap"),
        sample.row(shape=(1, 67108864), launch="overlap"),  # has to be read twice
        sample.row("reduce_sum", launch="overlap"),
    ):
        assert lines_of(document, other) == []


@pytest.mark.parametrize(
    "row",
    [
        sample.row(subject="naive"),
        sample.peer("torch", "softmax", (4096, 4096), "float32", 1.0),
        sample.row(device="emulator"),
        sample.row(limit_us=None),
        sample.row(parameters={"axis": 0}),
        sample.row("reduce_sum", parameters={}),  # a matrix all at once has no rows
        sample.row("reduce_sum", parameters={"axis": 0}),
    ],
)
def test_rows_without_a_goal(row: Row) -> None:
    assert goals.goals_of(sample.document([row]), row) == []
    assert goals.verdict([]) == "-"


def test_host_time() -> None:
    times = {"bare launch": 2.4, "prepared run": 3.3, "functional": 5.5, "torch.add": 7.0}
    host = [{"backend": "nvidia", "device": "gpu", "what": what, "median_us": time} for what, time in times.items()]
    found = {goal.what: goal.holds for goal in goals.host_goals(sample.document(host_time=host))}
    assert found == {"prepared run on nvidia gpu": True, "functional on nvidia gpu": False}
    assert goals.host_goals(sample.document(host_time=host[1:])) == []


def test_the_verdict_says_the_worst_miss() -> None:
    line = goals.REDUCE_SUM
    found = [goals.Goal(line, "a", 9.0, 10.0), goals.Goal(line, "b", 11.0, 10.0), goals.Goal(line, "c", 13.0, 10.0)]
    assert goals.verdict(found) == "miss by 30.0 %"
    assert goals.verdict(found[:1]) == "ok"
