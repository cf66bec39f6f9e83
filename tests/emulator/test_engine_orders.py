"""Schedule orders: what each does, that a seed plays again, and that one shows wrong kernels which another hides."""

from __future__ import annotations

import itertools

import pytest

from tests.emulator.engine_programs import Build, Workshop, builds, workshop

__all__ = ["workshop"]


def play(workshop: Workshop, build: Build, part: str, order: str, threads: str = "1") -> dict[str, list[str]]:
    output = workshop.run(
        build,
        workshop.program(build, "orders"),
        part,
        env={"CAMP_EMULATOR_ORDER": order, "CAMP_EMULATOR_THREADS": threads},
    )
    lines = [line.split() for line in output.splitlines()]
    return {line[0]: line[1:] for line in lines}


def arrivals(workshop: Workshop, build: Build, order: str) -> list[int]:
    """Threads in the order in which they start the first phase of a block of three warps."""
    trace = [int(event) for event in play(workshop, build, "trace", order)["trace"]]
    return [event for event in trace[: 2 * 3 * build.warp_size] if event < 1000]


@builds()
def test_ring_goes_round_the_block(workshop: Workshop, build: Build) -> None:
    threads = list(range(3 * build.warp_size))
    assert arrivals(workshop, build, "ring") == threads
    assert arrivals(workshop, build, "forward") == threads
    assert arrivals(workshop, build, "ring-reverse") == threads[::-1]
    assert arrivals(workshop, build, "reverse") == threads[::-1]


@builds()
@pytest.mark.parametrize(("order", "step"), [("warp-first", 1), ("warp-first-reverse", -1)])
def test_a_warp_runs_to_the_block_barrier_first(workshop: Workshop, build: Build, order: str, step: int) -> None:
    width = build.warp_size
    trace = [int(event) for event in play(workshop, build, "trace", order)["trace"]]
    warps = [event % 1000 // width for event in trace[: 2 * 3 * width]]
    assert warps == [warp for warp in range(3)[::step] for _ in range(2 * width)]


@builds()
@pytest.mark.parametrize("order", ["ring-random", "warp-first-random"])
def test_a_seed_plays_again_and_another_one_differs(workshop: Workshop, build: Build, order: str) -> None:
    first = play(workshop, build, "trace", f"{order}:1")
    assert play(workshop, build, "trace", f"{order}:1", threads="4") == first
    assert play(workshop, build, "trace", f"{order}:2")["trace"] != first["trace"]
    assert sorted(first["no_wait"], key=int) == [str(thread) for thread in range(40)]
    if order == "warp-first-random":
        trace = [int(event) % 1000 // build.warp_size for event in first["trace"][: 6 * build.warp_size]]
        assert sum(a != b for a, b in itertools.pairwise(trace)) == 2


@builds()
def test_blocks_start_in_the_same_direction(workshop: Workshop, build: Build) -> None:
    blocks = list(range(100))

    def started(order: str) -> list[int]:
        return [int(block) for block in play(workshop, build, "blocks", order)["blocks"]]

    assert started("ring") == started("warp-first") == blocks
    assert started("ring-reverse") == blocks[::-1]
    random = started("ring-random:7")
    assert sorted(random) == blocks
    assert random not in (blocks, blocks[::-1])
    assert started("ring-random:7") == random != started("ring-random:8")


@builds()
def test_an_order_shows_what_another_hides(workshop: Workshop, build: Build) -> None:
    assert play(workshop, build, "bugs", "ring")["reads_below"] == ["right"]
    assert play(workshop, build, "bugs", "ring-reverse")["reads_below"] == ["wrong"]
    assert play(workshop, build, "bugs", "ring")["missing_barrier"] == ["wrong"]
    for seed in range(5):
        assert play(workshop, build, "bugs", f"ring-random:{seed}")["missing_barrier"] == ["wrong"]


@builds(Build("g++", 32))
def test_the_report_names_order_and_seed(workshop: Workshop, build: Build) -> None:
    program = workshop.program(build, "broken_synchronisation", "-g")
    for order in ("warp-first-random:99", "ring-reverse"):
        output = workshop.run(build, program, "divergence", env={"CAMP_EMULATOR_ORDER": order})
        assert f"order {order}\n" in output
