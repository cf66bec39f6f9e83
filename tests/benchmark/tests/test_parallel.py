"""Several processes, one document: stand-ins for tests.run_ops measure a part each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.benchmark import parallel
from tests.benchmark.tests import sample

# Writes a row for each of five shapes that devices.share gives it.
MEASURES = """
import argparse, pathlib
from tests.benchmark import devices, document
from tests.benchmark.tests import sample
parser = argparse.ArgumentParser()
for name in ("--op", "--device", "--share", "--json"):
    parser.add_argument(name)
options = parser.parse_args()
index, count = map(int, options.share.split("/"))
mine = devices.share([1, 2, 3, 4, 5], [f"gpu:{i}" for i in range(count)])[f"gpu:{index}"]
rows = [sample.row(options.op, (each, 64), device=options.device) for each in mine]
absent = [{"peer": "quack", "reason": "cannot be imported"}]
document.save(sample.document(rows, peers_absent=absent), pathlib.Path(options.json))
"""
# gpu:1 fails; the other one would run for a minute.
FAILS = """
import sys, time
if "gpu:1" in sys.argv:
    sys.exit("no such device")
time.sleep(60)
"""


def script(folder: Path, text: str) -> list[str]:
    path = folder / "run_ops.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def test_every_row_is_measured_once(tmp_path: Path) -> None:
    document = parallel.run(["--op", "copy"], ["gpu:0", "gpu:1"], command=script(tmp_path, MEASURES))
    assert sorted((row.shape[0], row.device) for row in document.rows) == [
        (1, "gpu:0"),
        (2, "gpu:1"),
        (3, "gpu:0"),
        (4, "gpu:1"),
        (5, "gpu:0"),
    ]
    assert {row.operator for row in document.rows} == {"copy"}
    assert len(document.limits) == 5 and len(document.peers_absent) == 1 and len(document.devices) == 1


@pytest.mark.parametrize("devices", [["gpu:1", "gpu:0"], ["gpu:0", "gpu:1"], ["gpu:1"]])
def test_a_part_that_fails_is_named_and_ends_the_others(tmp_path: Path, devices: list[str]) -> None:
    with pytest.raises(parallel.ParallelError, match=r"gpu:1.*status 1.*no such device"):
        parallel.run([], devices, command=script(tmp_path, FAILS))


def test_without_a_gpu_nothing_is_measured() -> None:
    with pytest.raises(parallel.ParallelError, match="no GPU is here"):
        parallel.run([], [])


def test_a_part_without_a_document_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(parallel.ParallelError, match=r"0\.json"):
        parallel.run([], ["gpu:0"], command=script(tmp_path, "pass"))


def test_what_parts_share_is_kept_once() -> None:
    first, second = (sample.document([sample.row(shape=(each, 64))]) for each in (1, 2))
    merged = parallel.merge([first, second])
    assert len(merged.rows) == 2 and len(merged.devices) == 1 and merged.git == second.git
