"""Whatever can be timed, behind one interface: an operator's kernels, a probe, another library (peer_subjects.py)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from tests.benchmark.operands import Arena, OperandSets
from tests.harness.formats import Bits
from tests.harness.record import Case, OperatorRecord
from tests.harness.targets import Target


class Graph(Protocol):
    """Launches that were captured."""

    def launch(self, stream: Any = None) -> None:
        """Queue them all."""

    def close(self) -> None:
        """Free the graph."""


class Subject(Protocol):
    """Something that works on operand sets and can be timed."""

    name: str
    kind: str  # technique, peer, probe or self
    note: str  # for the row's timer text

    def launch(self, index: int) -> None:
        """Queue one launch on a set."""

    def capture(self) -> AbstractContextManager[Graph]:
        """A context whose launches go into the graph that it gives; the graph can be launched after it."""

    def outputs(self, index: int) -> Bits:
        """The output of a set, on the host."""

    def close(self) -> None:
        """Free what is not shared."""


class TechniqueSubject:
    """The kernels of one technique, prepared for every operand set."""

    note = ""

    def __init__(
        self,
        oprt: Any,
        record: OperatorRecord,
        case: Case,
        target: Target,
        stream: Any,
        sets: OperandSets,
        technique: str = "",
        *,
        overlap: bool = False,
        kind: str = "technique",
    ) -> None:
        self.name, self.kind = technique or "reference", kind
        self.launch_mode = "overlap" if overlap else "ordinary"
        self._oprt, self._stream, self._sets = oprt, stream, sets
        self._prepared: list[Any] = []
        prepare = getattr(oprt, f"prepare_{record.name}")
        try:
            with oprt.technique(technique or None), oprt.launch_overlap(overlap):
                for each in sets:
                    self._prepared.append(
                        prepare(each.output, *each.inputs, **case.parameters, **target.where, stream=stream)
                    )
        except BaseException:
            self.close()
            raise

    def launch(self, index: int) -> None:
        """Queue one launch on a set."""
        self._prepared[index].run()

    def capture(self) -> Any:
        """A context whose launches go into the graph that it gives."""
        return self._oprt.capture(self._stream)

    def outputs(self, index: int) -> Bits:
        """The output of a set, on the host."""
        return self._sets.outputs(index)

    def close(self) -> None:
        """Free the prepared operators."""
        for prepared in self._prepared:
            prepared.close()
        self._prepared = []


class ProbeSubject:
    """A kernel that shows what the device can do, on buffers of its own: place 0 is the source, 1 the destination."""

    kind = "probe"
    note = ""

    def __init__(self, oprt: Any, probe: str, variant: int, stream: Any, arena: Arena | None) -> None:
        self.name, self.probe, self.variant = f"{probe} {variant}", probe, variant
        self._oprt, self._stream = oprt, stream
        self.size_bytes = arena.sizes_bytes[0] if arena else 0
        self._buffers = [(arena.buffer(i, 1), arena.buffer(i, 0)) for i in range(arena.count)] if arena else []

    def launch(self, index: int) -> None:
        """Queue one launch on a pair of buffers."""
        if not self._buffers:
            where = {"backend": self._stream.backend, "device": self._stream.device}
            self._oprt.run_probe(self.probe, self.variant, stream=self._stream, **where)
            return
        self._oprt.run_probe(self.probe, self.variant, *self._buffers[index], stream=self._stream)

    def capture(self) -> Any:
        """A context whose launches go into the graph that it gives."""
        return self._oprt.capture(self._stream)

    def outputs(self, index: int) -> Bits:
        """The destination of a pair of buffers, on the host."""
        found: Bits = self._buffers[index][0].numpy()
        return found

    def close(self) -> None:
        """Nothing: the buffers are the arena's."""
