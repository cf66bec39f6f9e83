"""Tests of the tests: a kernel without its body, copy without a store, a reduction without a barrier are noticed.

Every site that the default cases reach is broken on its own, in a child process; a mutant that none notices fails here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.harness.record import operator_names
from tests.harness.targets import ROOT, Target
from tests.mutation.mutable_module import build, build_tree_of
from tests.mutation.sites import OPERATORS, Site, emulated_code, find_sites, sources

pytestmark = pytest.mark.mutation

# Barriers whose removal cannot change a value, by operator, technique (reference included) and file, and why.
HARMLESS: dict[tuple[str, str, str], str] = {}


def run_mutants(oprt: Any, target: Target, op: str) -> dict[str, str]:
    """How each mutant, technique:site, ended: the case that noticed it, "crashed", or "" when none noticed."""
    tree = build_tree_of(oprt.module_path(**target.where))
    if tree is None:
        pytest.skip("the module under test lies in no build folder")
    folder = build(tree, target.backend, op)
    environment = {**os.environ, "CAMP_BUILD_DIR": os.pathsep.join((str(folder), str(tree)))}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    outcomes: dict[str, str] = {}
    while True:
        with tempfile.TemporaryFile("w+") as errors:
            command = [
                sys.executable,
                "-m",
                "tests.mutation.run_mutants",
                target.backend,
                op,
                json.dumps(sorted(outcomes)),
            ]
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                timeout=300,
                check=False,
            )
            errors.seek(0)
            said = errors.read()
        running = ""
        for line in done.stdout.splitlines():
            event = json.loads(line)
            assert Path(event.get("module", folder / "x")).parent == folder, f"the wrong module was loaded: {line}"
            running = event.get("begins", "")
            if "ended" in event:
                outcomes[event["ended"]] = event["failure"]
        if done.returncode == 0:
            return outcomes
        if not running:
            pytest.fail(f"{' '.join(command)} ended with {done.returncode}\n{said}", pytrace=False)
        outcomes[running] = "crashed"


@pytest.mark.parametrize("op", operator_names())
def test_every_mutant_is_noticed(oprt: Any, target: Target, op: str) -> None:
    if not target.is_emulator:
        pytest.skip("mutants are built for the emulator")
    sites = find_sites()
    outcomes = run_mutants(oprt, target, op)
    survivors = []
    for mutant, failure in outcomes.items():
        technique, site = mutant.split(":")[0], sites[int(mutant.split(":")[1])]
        if not failure and (op, technique, site.file) not in HARMLESS:
            survivors.append(f"{op} {technique}: without {site} every case passes")
    reached = {int(mutant.split(":")[1]) for mutant in outcomes}
    missed = [str(site) for site in sites if site.number not in reached and _belongs(site, op)]
    survivors += [f"{op}: no case reaches {site}" for site in missed]
    if survivors:
        pytest.fail("\n".join(survivors), pytrace=False)


def _belongs(site: Site, op: str) -> bool:
    """Whether an operator's cases have to reach a site: it lies in the operator's folder, or in its framework's."""
    folders = Path(site.file).parts[:-1]
    return op in folders or (folders == ("elementwise",) and (OPERATORS / "elementwise" / op).is_dir())


def test_the_sites_are_found() -> None:
    """The patterns still fit the sources: no kernel, no barrier and neither store of copy's packs is overlooked."""
    sites = find_sites()
    texts = [emulated_code((OPERATORS / path).read_text()) for path in sources()]
    for kind, word in (("body", r"\b__global__\b"), ("barrier", r"\b__sync(?:threads|warp)\w*\(")):
        found = len([site for site in sites if site.kind == kind])
        assert found == sum(len(re.findall(word, text)) for text in texts) > 0
    vectorised = [site for site in sites if site.kind == "store" and site.file == "copy/techniques/vectorised.h"]
    assert len(vectorised) == 2, "whole packs; head and tail"
