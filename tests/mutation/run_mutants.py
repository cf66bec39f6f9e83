"""Runs the mutants of one operator on one backend: python -m tests.mutation.run_mutants BACKEND OP SKIP.

Prints one JSON object a line: what begins, and how it ended. SKIP is a JSON list of mutants in which an earlier process
ended. CAMP_BUILD_DIR has the mutable module first. What an outcome means is test_mutants.py's part.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.harness.record import Case, OperatorRecord, load_record
from tests.harness.running import CaseError, TechniqueRefusedError, run_case
from tests.harness.suite import suits_techniques
from tests.harness.targets import Target
from tests.mutation.sites import Site, find_sites

SEEDS = range(10)
# Enough for every path of a kernel; a mutant that only larger inputs show is shown by these in another way.
MOST_ELEMENTS = 200_000
# Without a barrier a warp that runs ahead does harm in most schedules; with these each order of two warps comes up.
ORDERS = tuple(f"warp-first-random:{seed}" for seed in SEEDS)


class Switches:
    """The variables of the loaded module by which a site is broken."""

    def __init__(self, module_path: str, count: int) -> None:
        module = ctypes.CDLL(module_path)
        self._kind = ctypes.c_int.in_dll(module, "oprt_mutation_kind")
        self._site = ctypes.c_int.in_dll(module, "oprt_mutated_site")
        self._reached = (ctypes.c_ubyte * count).in_dll(module, "oprt_reached_sites")

    def break_site(self, number: int, kind: int = 0) -> None:
        """Leave a site out; kind 1: a bad address there, 2: no end. -1 is no site."""
        self._kind.value = kind
        self._site.value = number

    def reached(self) -> set[int]:
        """Sites that ran since the last call."""
        found = {number for number, flag in enumerate(self._reached) if flag}
        ctypes.memset(self._reached, 0, ctypes.sizeof(self._reached))
        return found


@dataclass(frozen=True)
class Trial:
    """One technique ("" for the reference) of one operator on one target."""

    oprt: Any
    record: OperatorRecord
    target: Target
    technique: str

    def cases(self) -> list[Case]:
        """The cases of the default run that the mutable module can run, small ones first."""
        cases = [case for case in self.record.cases if case.dtype == "float32" or case.dtype == "bits32"]
        cases = [case for case in cases if case.elements <= MOST_ELEMENTS]
        return sorted((case for case in cases if not self.technique or suits_techniques(case)), key=by_elements)

    def first_failure(self, cases: Sequence[Case]) -> str:
        """The first case that fails and how, "" when all pass."""
        for case in cases:
            try:
                run_case(self.oprt, self.record, case, self.target, self.technique)
            except TechniqueRefusedError:
                continue
            except CaseError as error:
                return f"{self.record.case_id(case)}: {str(error).splitlines()[1]}"
        return ""

    def first_failure_in_any_order(self, cases: Sequence[Case]) -> str:
        """The order and the case in which something fails, "" when nothing does in any order."""
        for order in ORDERS:
            os.environ["CAMP_EMULATOR_ORDER"] = order
            failure = self.first_failure(cases)
            if failure:
                return f"{order}, {failure}"
        return ""

    def reached_sites(self, switches: Switches) -> dict[int, list[Case]]:
        """Which cases reach which site, nothing being broken. A failure here is an error of the test itself."""
        reached: dict[int, list[Case]] = {}
        switches.break_site(-1)
        switches.reached()
        for case in self.cases():
            failure = self.first_failure([case])
            if failure:
                raise SystemExit(f"the unbroken kernel of {self.record.name} {self.technique} fails: {failure}")
            for number in switches.reached():
                reached.setdefault(number, []).append(case)
        return reached


def by_elements(case: Case) -> int:
    """Key that sorts small cases first."""
    return case.elements


def mutants(trial: Trial, sites: Sequence[Site], switches: Switches, skip: set[str]) -> Iterator[dict[str, Any]]:
    """Break each site that a technique reaches, and see whether the cases that reach it notice."""
    os.environ.pop("CAMP_EMULATOR_ORDER", None)
    for number, cases in sorted(trial.reached_sites(switches).items()):
        mutant = f"{trial.technique or 'reference'}:{number}"
        if mutant in skip:
            continue
        yield {"begins": mutant}
        switches.break_site(number)
        if sites[number].kind == "barrier":
            failure = trial.first_failure_in_any_order([case for case in cases if case.orders] or cases[:3])
            os.environ.pop("CAMP_EMULATOR_ORDER", None)
        else:
            failure = trial.first_failure(cases)
        switches.break_site(-1)
        yield {"ended": mutant, "failure": failure}


def main() -> None:
    import operator_runtime as oprt

    backend, op, skip = sys.argv[1:]
    target = Target(backend, "emulator")
    sites = find_sites()
    path = oprt.module_path(**target.where)
    switches = Switches(path, len(sites))
    print(json.dumps({"module": path}), flush=True)
    for technique in ("", *oprt.techniques(op, **target.where)):
        trial = Trial(oprt, load_record(op), target, technique)
        for event in mutants(trial, sites, switches, set(json.loads(skip))):
            print(json.dumps(event), flush=True)


if __name__ == "__main__":
    main()
