"""Broken kernels: each is stopped with a report of the defect, block, thread and line, and the process lives on.

Words that start with @ stand for the line of the program that carries that name; <lanes> for the warp width.
"""

from __future__ import annotations

import pytest

from tests.emulator.engine_programs import Build, Workshop, builds, lines_named, workshop

__all__ = ["workshop"]

# (program, part) -> words of the report, in their order.
REPORTS = {
    ("broken_synchronisation", "divergence"): [
        "code barrier_divergence",
        "kernel divergence(int*) was stopped",
        "__syncthreads at @outer barrier",
        "threads 0-31 wait in __syncthreads at @inner barrier",
        "block (0, 0, 0), thread (32, 0, 0)",
        "a grid of (2, 1, 1) blocks of (64, 1, 1) threads; warps of <lanes> lanes, order ring",
    ],
    ("broken_synchronisation", "two_branches"): [
        "code barrier_divergence",
        "__syncthreads at @odd barrier",
        "thread 0 waits in __syncthreads at @even barrier",
        "thread (1, 0, 0)",
    ],
    ("broken_synchronisation", "deadlock"): [
        "code deadlock",
        "<lanes> threads of the block wait",
        "thread 0 waits in __syncthreads at @block waits for the whole block",
        "wait in __syncwarp at @warp waits",
        "for thread 0",
    ],
    ("broken_synchronisation", "not_in_mask"): [
        "code warp_misuse",
        "__shfl_sync at @mask: lane 16 calls it with the mask 0xffff, which does not name lane 16",
        "thread (16, 0, 0)",
    ],
    ("broken_synchronisation", "different_collectives"): [
        "code warp_misuse",
        "__ballot_sync at @ballot",
        "thread 0 waits in __syncwarp at @syncwarp",
        "thread (1, 0, 0)",
    ],
    ("broken_synchronisation", "grid_barrier"): [
        "code not_supported",
        "grid.sync()",
        "is not supported by the emulator",
    ],
    ("broken_synchronisation", "launch_in_kernel"): ["code not_supported", "a kernel launched a kernel"],
    ("broken_memory", "past_end"): [
        "code illegal_address",
        "kernel write_at(int*, long, unsigned int) was stopped",
        "SIGSEGV",
        "96 bytes past the end of allocation",
        "(4000 bytes at",
        "at @write in write_at",
        "block (0, 0, 0), thread (7, 0, 0)",
    ],
    ("broken_memory", "far_past_end"): [
        "code illegal_address",
        "4 bytes past the end of allocation",
        "at @write",
        "thread (31, 0, 0)",
    ],
    ("broken_memory", "canary"): [
        "code memory_corruption",
        "byte 4 past the end of allocation",
        "(4000 bytes at",
        "was overwritten",
    ],
    ("broken_memory", "canary_before"): ["code memory_corruption", "byte 8 before allocation", "(400 bytes at"],
    ("broken_memory", "released"): ["code illegal_address", "byte 12 of the released allocation", "at @read"],
    ("broken_memory", "null"): ["code illegal_address", "0x14 (SIGSEGV): a null pointer with an offset", "at @read"],
    ("broken_memory", "through_call"): [
        "code illegal_address",
        "3996000 bytes past the end of allocation",
        "at @callee in store",
        "called from @caller in through_call",
    ],
    ("broken_memory", "past_dynamic"): [
        "code illegal_address",
        "past the end of the block's dynamic shared memory (256 bytes)",
        "at @dynamic",
    ],
    ("broken_memory", "dynamic_canary"): [
        "code memory_corruption",
        "wrote past the end of dynamic shared memory: byte 101 of 100",
    ],
    ("broken_memory", "call_null"): [
        "code illegal_address",
        "call of a null function pointer",
        "at @call in call_null",
    ],
    ("broken_crashes", "division"): [
        "code arithmetic",
        "integer division by zero",
        "at @division in divide",
        "thread (0, 0, 0)",
    ],
    ("broken_crashes", "assert"): [
        "code device_assert",
        "@assert: assertion `input[t] >= 0` failed in failed_assert",
        "block (3, 0, 0), thread (8, 0, 0)",
    ],
    ("broken_crashes", "trap"): ["code trap", "__trap() at @trap"],
    ("broken_crashes", "abort"): ["code aborted", "abort() was called", "@abort in abort_in_kernel"],
    ("broken_crashes", "exception"): ["code aborted", "C++ exception: thrown on purpose"],
    ("broken_crashes", "stack_overflow"): [
        "code stack_overflow",
        "in recursion(int volatile*, int) (",
        "thread (2, 0, 0)",
    ],
    ("broken_crashes", "huge_frame"): ["code stack_overflow", "in huge_frame"],
    ("broken_crashes", "endless"): [
        "code time_limit",
        "the kernel still ran after 0.3 s (CAMP_EMULATOR_TIME_LIMIT)",
        "in endless(int volatile*)",
        "thread (0, 0, 0)",
    ],
    ("broken_crashes", "endless_yield"): ["code time_limit", "kernel endless_after_barrier", "thread (5, 0, 0)"],
    ("broken_crashes", "endless_barriers"): ["code time_limit", "in endless_barriers"],
    ("broken_crashes", "configuration"): [
        "code invalid_configuration",
        "kernel good(int*) could not start",
        "the block is (0, 1, 1); wanted 1 to 1024 threads",
        "the block is (1025, 1, 1)",
        "the block is (32, 33, 1)",
        "the block is (65536, 65536, 1)",
        "the block is (32, 32, 4194304)",
        "the grid is (1, 65536, 1)",
        "the grid is (0, 1, 1)",
    ],
}


def expected(build: Build, program: str, words: list[str]) -> list[str]:
    marks = sorted(lines_named(program).items(), key=lambda item: -len(item[0]))
    result = []
    for word in words:
        for name, place in marks:
            word = word.replace(f"@{name}", place)
        result.append(word.replace("<lanes>", str(build.warp_size)))
    return result


def check(output: str, words: list[str]) -> None:
    position = 0
    for word in words:
        found = output.find(word, position)
        assert found >= 0, f"the report lacks {word!r} after its first {position} characters:\n{output}"
        position = found
    assert output.endswith("alive\n"), output


@builds()
@pytest.mark.parametrize(("program", "part"), REPORTS)
def test_report(workshop: Workshop, build: Build, program: str, part: str) -> None:
    executable = workshop.program(build, program, "-g")
    output = workshop.run(build, executable, part, env={"CAMP_EMULATOR_TIME_LIMIT": "0.3"})
    check(output, expected(build, program, REPORTS[program, part]))


@builds()
def test_a_mask_of_32_bits_at_64_lanes(workshop: Workshop, build: Build) -> None:
    output = workshop.run(build, workshop.program(build, "broken_synchronisation", "-g"), "narrow_mask")
    if build.warp_size == 32:
        assert "code none" in output
    else:
        words = [
            "code warp_misuse",
            "__shfl_down_sync at @narrow: lane 32",
            "a mask of 32 bits leaves out lanes 32 to 63",
        ]
        check(output, expected(build, "broken_synchronisation", words))


@builds(Build("g++", 32), Build("clang++", 32))
def test_misaligned_vector_access(workshop: Workshop, build: Build) -> None:
    output = workshop.run(build, workshop.program(build, "broken_memory", "-g"), "misaligned")
    check(output, expected(build, "broken_memory", ["code misaligned_address", "at @vector in misaligned"]))


@builds(Build("g++", 32), Build("clang++", 64))
def test_lines_are_found_without_addr2line(workshop: Workshop, build: Build, tmp_path) -> None:  # type: ignore[no-untyped-def]
    executable = workshop.program(build, "broken_memory", "-g")
    output = workshop.run(build, executable, "through_call", env={"PATH": str(tmp_path)})
    check(
        output,
        expected(
            build,
            "broken_memory",
            ["code illegal_address", "at @callee in store", "called from @caller in through_call"],
        ),
    )


@builds(Build("g++", 32))
def test_a_variable_that_cannot_be_understood(workshop: Workshop, build: Build) -> None:
    executable = workshop.program(build, "broken_synchronisation", "-g")
    for variable, value, wanted in [
        ("ORDER", "ring-random", "ring, ring-reverse, ring-random:SEED"),
        ("ORDER", "sideways", "warp-first-random:SEED"),
        ("THREADS", "0", "a number from 1 to 1024"),
        ("TIME_LIMIT", "soon", "seconds (0: no limit)"),
    ]:
        output = workshop.run(build, executable, "grid_barrier", env={f"CAMP_EMULATOR_{variable}": value}, expect=1)
        assert f'CAMP_EMULATOR_{variable} is "{value}"; wanted' in output
        assert wanted in output
