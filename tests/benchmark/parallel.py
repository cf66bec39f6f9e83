"""Shares a benchmark over several GPUs: a process for each, which measures its part, and one document of all parts.

Processes and not threads, because what is measured on the host would wait for the other threads.
Which rows a part has is devices.share's affair, which the process calls itself.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.benchmark.document import Document, load, merge_peers_absent
from tests.benchmark.records import DocumentError
from tests.harness.targets import ROOT

POLL_S = 0.1
RUN_OPS = (sys.executable, "-m", "tests.run_ops")


class ParallelError(Exception):
    """A part failed; the text has the device and what its process printed last."""


def run(arguments: Sequence[str], devices: Sequence[str], *, command: Sequence[str] = RUN_OPS) -> Document:
    """Measure on all devices at once.

    Parameters
    ----------
    arguments : sequence of str
        For each process, without --device, --share and --json.
    devices : sequence of str
        One process each; it gets --device gpu:1 --share 1/4 --json FILE.

    Raises
    ------
    ParallelError
        There is no device, or a process failed or wrote no document; the others were ended.
    """
    if not devices:
        raise ParallelError("--device gpu:all: no GPU is here that a backend was built for")
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder, f"{index}.json") for index in range(len(devices))]
        logs = [part.with_suffix(".log") for part in parts]
        children = [
            _start([*command, *arguments, "--device", device, "--share", f"{index}/{len(devices)}"], parts[index])
            for index, device in enumerate(devices)
        ]
        try:
            _wait(dict(zip(devices, zip(children, logs, strict=True), strict=True)))
            return merge([load(part) for part in parts])
        except DocumentError as error:
            raise ParallelError(str(error)) from None
        finally:
            for child in children:
                if child.poll() is None:
                    child.terminate()
                child.wait()


def merge(documents: Sequence[Document]) -> Document:
    """One document: lists are joined without repeats, everything else is the first one's."""
    merged = documents[0]
    for document in documents[1:]:
        for item in dataclasses.fields(Document):
            before, more = getattr(merged, item.name), getattr(document, item.name)
            if isinstance(before, list) and item.name != "build":
                setattr(merged, item.name, before + [entry for entry in more if entry not in before])
    merged.peers_absent = merge_peers_absent(merged.peers_absent)
    return merged


def _start(command: Sequence[str], part: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    with part.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(
            [*command, "--json", str(part)],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
        )


def _wait(running: dict[str, tuple[subprocess.Popen[bytes], Path]]) -> None:
    """Until all have ended, or the first has failed."""
    while running:
        ended = {device: child.returncode for device, (child, _) in running.items() if child.poll() is not None}
        for device, status in ended.items():
            _, log = running.pop(device)
            if status:
                last = "\n".join(log.read_text(errors="replace").strip().splitlines()[-5:])
                said = last or "it printed nothing"
                raise ParallelError(f"{device}: the benchmark ended with status {status}: {said}")
            print(f"{device}: done", flush=True)
        time.sleep(POLL_S)
