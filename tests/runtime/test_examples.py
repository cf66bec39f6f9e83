"""The examples of docs/examples are strict C99, include only the umbrella header, and print what they promise."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.harness.targets import Target
from tests.runtime.test_programs import on_target
from tests.runtime.workshop import ROOT, Workshop, run

EXAMPLES = sorted((ROOT / "docs/examples").glob("*.c"))


def output_of(workshop: Workshop, oprt: Any, target: Target, example: str) -> str:
    program = workshop.compile(ROOT / f"docs/examples/{example}.c", example)
    # The default backend is the first one that the folders hold: name the target's folder alone.
    environment = on_target(workshop, oprt, target) | {"CAMP_DEVICE": target.device}
    return run(program, environment=environment)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_includes_only_the_umbrella_header(example: Path) -> None:
    ours = re.findall(r'#include "(.+)"', example.read_text())
    assert ours == ["operator_runtime/operator_runtime.h"]


def test_softmax(workshop: Workshop, oprt: Any, target: Target) -> None:
    lines = output_of(workshop, oprt, target, "softmax").splitlines()
    assert lines[1:] == [
        "  0.0321  0.0871  0.2369  0.6439   sum 1.0000",
        "  0.2500  0.2500  0.2500  0.2500   sum 1.0000",
        "  0.0900  0.2447  0.6652  0.0000   sum 1.0000",
    ]


def test_graph(workshop: Workshop, oprt: Any, target: Target) -> None:
    lines = output_of(workshop, oprt, target, "graph").splitlines()
    assert lines[0] == "relu(a + b) = 0 0 1 2 3"
    assert re.fullmatch(r"10 launches took \d+\.\d+ ms", lines[1])
