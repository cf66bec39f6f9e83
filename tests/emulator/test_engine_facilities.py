"""Each facility of the engine alone: right results at both warp widths, with both compilers, in several orders."""

from __future__ import annotations

import pytest

from tests.emulator.engine_programs import Build, Workshop, builds, workshop

__all__ = ["workshop"]

FACILITIES = ["lazy_suspension", "barriers", "shuffles", "votes", "indices", "shared_memory", "memory", "yields"]
# Right kernels give right results in every order; one of each kind is enough for each facility.
ORDERS = ["ring", "ring-reverse", "ring-random:3", "warp-first", "warp-first-reverse", "warp-first-random:5"]


@builds()
@pytest.mark.parametrize("facility", FACILITIES)
def test_facility(workshop: Workshop, build: Build, facility: str) -> None:
    program = workshop.program(build, facility)
    assert "passed" in workshop.run(build, program)


@builds()
@pytest.mark.parametrize("order", ORDERS[1:])
def test_facilities_in_other_orders(workshop: Workshop, build: Build, order: str) -> None:
    for facility in FACILITIES:
        workshop.run(build, workshop.program(build, facility), env={"CAMP_EMULATOR_ORDER": order})


@builds()
@pytest.mark.parametrize("threads", ["1", "3", "16"])
def test_any_number_of_workers(workshop: Workshop, build: Build, threads: str) -> None:
    for facility in ("lazy_suspension", "barriers", "shared_memory"):
        workshop.run(build, workshop.program(build, facility), env={"CAMP_EMULATOR_THREADS": threads})


@builds()
@pytest.mark.parametrize("part", ["threads", "short_lived", "fork"])
def test_host_threads(workshop: Workshop, build: Build, part: str) -> None:
    workshop.run(build, workshop.program(build, "host_threads"), part, env={"CAMP_EMULATOR_THREADS": "3"})


@builds()
def test_foreign_signals_go_to_their_handlers(workshop: Workshop, build: Build) -> None:
    workshop.run(build, workshop.program(build, "signal_chain"))
