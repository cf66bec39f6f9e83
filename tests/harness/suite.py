"""Makes the pytest tests of an operator from its record: op_tests/test_<op>.py holds one call of suite().

Which targets and cases run is decided by the options of conftest.py; running a case is running.py's part.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from tests.harness.record import Case, OperatorRecord, Refused, load_record
from tests.harness.running import CaseError, TechniqueRefusedError, run_case, run_refused
from tests.harness.targets import Target

# Schedules of the emulator beside its default (ring): who runs first, and whether a warp runs on until a block barrier.
ORDERS = (
    "ring-reverse",
    "ring-random:1",
    "warp-first",
    "warp-first-reverse",
    "warp-first-random:1",
    "warp-first-random:2",
)
# Techniques climb as learners do; dtypes and layouts beyond these levels are the reference's.
TECHNIQUE_LEVELS = (1, 2)


class OperatorSuite:
    """Tests of one operator. pytest_generate_tests in conftest.py calls parametrize."""

    record: ClassVar[OperatorRecord]

    def test_case(self, oprt: Any, target: Target, case: Case) -> None:
        """The reference (or the learner's) kernel is right."""
        check(oprt, self.record, case, target)

    def test_technique(self, oprt: Any, target: Target, technique: str, case: Case) -> None:
        """Each technique is right wherever it does not refuse; it may not refuse level 1."""
        check(oprt, self.record, case, target, technique)

    def test_order(
        self, oprt: Any, target: Target, technique: str, order: str, case: Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The result does not hang on the order in which the emulator runs threads."""
        monkeypatch.setenv("CAMP_EMULATOR_ORDER", order)
        check(oprt, self.record, case, target, technique)

    def test_refused(self, oprt: Any, selected: Target, refused: Refused) -> None:
        """What no descriptor may be made for is refused with the right status and words."""
        try:
            run_refused(self.record, refused)
        except CaseError as failure:
            pytest.fail(str(failure), pytrace=False)

    @classmethod
    def parametrize(cls, metafunc: pytest.Metafunc, oprt: Any, targets: list[Target]) -> None:
        """Give a test function its targets and cases."""
        rows = list(getattr(cls, f"_rows_of_{metafunc.function.__name__}")(oprt, targets))
        names = [
            name
            for name in ("target", "selected", "technique", "order", "case", "refused")
            if name in metafunc.fixturenames
        ]
        ids = ["-".join(cls._id(part) for part in row) for row in rows]
        metafunc.parametrize(names, rows, ids=ids, indirect=[name for name in names if name == "selected"])

    @classmethod
    def _id(cls, part: object) -> str:
        if isinstance(part, Case):
            return cls.record.case_id(part)
        return part.id if isinstance(part, Refused) else str(part or "reference")

    @classmethod
    def _rows_of_test_case(cls, oprt: Any, targets: list[Target]) -> Any:
        return ((target, case) for target in targets for case in cls.record.ordered_cases())

    @classmethod
    def _rows_of_test_technique(cls, oprt: Any, targets: list[Target]) -> Any:
        for target in targets:
            for technique in oprt.techniques(cls.record.name, **target.where):
                yield from ((target, technique, case) for case in cls.record.ordered_cases() if suits_techniques(case))

    @classmethod
    def _rows_of_test_order(cls, oprt: Any, targets: list[Target]) -> Any:
        for target in targets:
            if not target.is_emulator:
                continue
            for technique in ("", *oprt.techniques(cls.record.name, **target.where)):
                for case in cls.record.ordered_cases():
                    if case.orders:
                        yield from ((target, technique, order, case) for order in ORDERS)

    @classmethod
    def _rows_of_test_refused(cls, oprt: Any, targets: list[Target]) -> Any:
        return ((target, refused) for target in targets for refused in cls.record.refused)


def suits_techniques(case: Case) -> bool:
    """Whether the techniques run a case too."""
    return case.orders or (case.techniques and case.level in TECHNIQUE_LEVELS and case.is_plain)


def check(oprt: Any, record: OperatorRecord, case: Case, target: Target, technique: str = "") -> None:
    """Run a case as a test: its report instead of a traceback; a refusal counts as a skip, except at level 1."""
    __tracebackhide__ = True
    try:
        run_case(oprt, record, case, target, technique)
    except CaseError as failure:
        pytest.fail(str(failure), pytrace=False)
    except TechniqueRefusedError as refusal:
        if case.level == 1:
            pytest.fail(f"{record.name} {technique} refuses a case of level 1: {refusal}", pytrace=False)
        pytest.skip(f"{record.name} {technique} on {target.backend} does not support this case")


def suite(op: str) -> type[OperatorSuite]:
    """The test class of an operator."""
    return type(f"Test_{op}", (OperatorSuite,), {"record": load_record(op)})
