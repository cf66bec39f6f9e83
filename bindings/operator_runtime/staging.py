"""Host arrays on the way to the device and back, so that an operator finds them as they lie in host memory.

Overlapping arrays share one piece of device memory: what may alias is decided by the C library, as for device memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from operator_runtime import layout
from operator_runtime._native import CData, ffi, lib
from operator_runtime.errors import OperatorRuntimeError, check
from operator_runtime.layout import Shape
from operator_runtime.operand import Operand, Signature
from operator_runtime.selection import Place, selected
from operator_runtime.tensor import Memory, host_pointer, to_pointer


@dataclass
class _Piece:
    """One range of host addresses and its copy on the device."""

    low: int
    high: int
    is_read: bool
    memory: Memory = field(init=False)


class _HostArray:
    """A host array as it is brought over: as it is, or, when that would move mostly gaps, its elements only."""

    def __init__(self, operand: Operand) -> None:
        assert operand.host is not None
        self.original: NDArray[Any] = operand.host
        self.code = operand.code
        self.compact: NDArray[Any] | None = None

    @property
    def array(self) -> NDArray[Any]:
        return self.original if self.compact is None else self.compact

    @property
    def strides(self) -> Shape:
        """In elements. Those of an empty array mean nothing to NumPy and may be odd."""
        array = self.array
        if not array.size:
            return layout.contiguous_strides(array.shape)
        return tuple(stride // array.itemsize for stride in array.strides)

    @property
    def address(self) -> int:
        return int(self.array.ctypes.data)

    @property
    def addresses(self) -> tuple[int, int]:
        """The lowest byte and one past the highest; equal when there are no elements."""
        low, high = layout.element_span(self.array.shape, self.strides)
        return self.address + low * self.array.itemsize, self.address + high * self.array.itemsize

    def is_view_of(self, other: _HostArray) -> bool:
        """Whether both are the very same elements in the same order."""
        return (self.address, self.array.shape, self.strides) == (other.address, other.array.shape, other.strides)

    def overlaps(self, other: _HostArray) -> bool:
        (low, high), (other_low, other_high) = self.addresses, other.addresses
        return low < other_high and other_low < high


class Staging:
    """Device memory for the host arrays of one operator; the output is the first."""

    def __init__(self, operands: Sequence[Operand]) -> None:
        self._arrays = [_HostArray(operand) for operand in operands]
        self._output = self._arrays[0]
        self._pieces: list[_Piece] = []
        self._place: Place | None = None
        self._compact_sparse()

    def _compact_sparse(self) -> None:
        """Sparse arrays go as their elements, except where they overlap another: there the layout is for C to judge."""
        for array in self._arrays:
            if not layout.is_sparse(array.array.shape, array.strides):
                continue
            if all(other.is_view_of(array) or not other.overlaps(array) for other in self._arrays):
                same = [other for other in self._arrays if other.is_view_of(array)]
                compact = np.empty(array.original.shape, array.original.dtype)
                for other in same:
                    other.compact = compact

    @property
    def signatures(self) -> list[Signature]:
        """dtype, shape and strides of the operands as they will lie on the device."""
        return [Signature.of(array.code, array.array.shape, array.strides) for array in self._arrays]

    def allocate(self, place: Place) -> list[CData]:
        """Make the device memory; the pointers of the operands."""
        self._place = place
        pieces: list[_Piece] = []
        inputs = self._arrays[1:]
        spans = sorted((*array.addresses, array in inputs) for array in self._arrays if array.array.size)
        for low, high, is_read in spans:
            if pieces and low < pieces[-1].high:
                pieces[-1].high = max(pieces[-1].high, high)
                pieces[-1].is_read |= is_read
            else:
                pieces.append(_Piece(low, high, is_read))
        for piece in pieces:
            piece.memory = Memory(piece.high - piece.low, place, warns=False)
            self._pieces.append(piece)
        return [self._device_pointer(array.address) if array.array.size else ffi.NULL for array in self._arrays]

    def _piece_of(self, address: int) -> _Piece:
        return next(piece for piece in self._pieces if piece.low <= address < piece.high)

    def _device_pointer(self, address: int) -> CData:
        piece = self._piece_of(address)
        return to_pointer(piece.memory.address + address - piece.low)

    def bring_in(self, stream: CData) -> None:
        """Queue the copies to the device."""
        assert self._place is not None
        for array in self._arrays[1:]:
            if array.compact is not None:
                array.compact[...] = array.original
        with selected(self._place):
            for piece in self._pieces:
                if piece.is_read:
                    size_bytes = piece.high - piece.low
                    check(lib.oprt_copy_memory(piece.memory.pointer, to_pointer(piece.low), size_bytes, stream))

    def bring_back(self, stream: CData) -> None:
        """Copy the output into its host array, and wait for the stream. Bytes between its elements are not written."""
        assert self._place is not None
        output = self._output
        array, (low, high) = output.array, output.addresses
        is_dense = high - low == array.nbytes
        target = array if is_dense else np.empty(high - low, np.uint8)
        start = to_pointer(low) if is_dense else host_pointer(target)
        with selected(self._place):
            if array.size:
                check(lib.oprt_copy_memory(start, self._device_pointer(low), high - low, stream))
            check(lib.oprt_synchronize_stream(stream))
        if not is_dense:
            array[...] = np.ndarray(array.shape, array.dtype, target.data, output.address - low, array.strides)
        if output.compact is not None:
            output.original[...] = output.compact

    def close(self) -> None:
        """Free the device memory, after the work that uses it: all that can be; then the first error is raised."""
        pieces, self._pieces = self._pieces, []
        errors = []
        for piece in pieces:
            try:
                piece.memory.close()
            except OperatorRuntimeError as error:
                errors.append(error)
                self._pieces.append(piece)
        if errors:
            raise errors[0]
