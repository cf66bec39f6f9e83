"""Device memory in Python: allocations, and Tensor, a strided view of one.

Views are made here and cost nothing; whether an operator takes a layout is for the C library to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from types import EllipsisType, TracebackType
from typing import Any, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from operator_runtime import dtypes, layout, recycling
from operator_runtime._native import CData, ffi, lib
from operator_runtime.errors import OperatorTypeError, Status, check, invalid
from operator_runtime.layout import Shape
from operator_runtime.operand import Operand
from operator_runtime.owner import Owner
from operator_runtime.selection import GPU, Place, choose, resolve, selected
from operator_runtime.stream import Stream

_VOID_POINTER = ffi.typeof("void *")
_INTEGER_POINTER = ffi.typeof("uintptr_t")


def to_pointer(address: int) -> CData:
    """A C pointer of an address."""
    return ffi.cast(_VOID_POINTER, address)


class Memory(Owner):
    """One allocation of device memory. Its contents are undefined; the emulator fills it with 0xFF.

    only_stream: the key of the stream (StreamOfCall) on which the first work with it is queued, where that is known.
    """

    def __init__(self, size_bytes: int, place: Place, *, warns: bool, only_stream: int | None = None) -> None:
        self.size_bytes = size_bytes
        self.place = resolve(place)
        self._warns = warns
        # The stream on which this package last queued work for it; 0 is the default stream.
        self.last_stream: Stream | int = 0
        # Becomes None for good when another stream, library, graph or prepared operator may use it, too.
        self.only_stream = only_stream
        kept = None if only_stream is None else recycling.take(self.place, only_stream, size_bytes)
        self.pointer: CData = _allocate(self.place, size_bytes) if kept is None else kept
        self.address = int(ffi.cast(_INTEGER_POINTER, self.pointer))
        self._open = True

    def _release(self) -> None:
        stream_key = self.only_stream
        if stream_key is None or not recycling.keep(self.place, stream_key, self.size_bytes, self.pointer):
            check(lib.oprt_free_memory(self.pointer))

    def __repr__(self) -> str:
        return f"<{self.size_bytes} bytes of memory on {self.place}>"


def _allocate(place: Place, size_bytes: int) -> CData:
    pointer = ffi.new("void **")
    try:
        with selected(place):
            status = lib.oprt_allocate_memory(pointer, size_bytes)
            if status == Status.OUT_OF_MEMORY and recycling.release_all():
                status = lib.oprt_allocate_memory(pointer, size_bytes)
            check(status)
    except OverflowError as error:
        raise invalid(f"cannot allocate {size_bytes} bytes: {error}") from error
    allocated: CData = pointer[0]
    return allocated


def host_pointer(array: NDArray[Any]) -> CData:
    """A C pointer of the array's element [0, ..., 0]."""
    return to_pointer(array.ctypes.data)


def wait(place: Place) -> None:
    """Wait for all work of a device."""
    with selected(place):
        check(lib.oprt_synchronize_device())


def _copy(place: Place, destination: CData, source: CData, size_bytes: int) -> None:
    """Copy after all work of the device, and wait."""
    if size_bytes:
        with selected(place):
            check(lib.oprt_synchronize_device())
            check(lib.oprt_copy_memory(destination, source, size_bytes, ffi.NULL))
            check(lib.oprt_synchronize_stream(ffi.NULL))


class Tensor:
    """An array in the memory of a device, emulated or not.

    Made by `empty`, `from_numpy` and by every operator that gets one. Indexing with integers and slices, `T`,
    `transpose`, `broadcast_to` and `as_strided` give views of the same memory, which keep it alive.

    Notes
    -----
    The memory is freed by `close`, by leaving a with statement, or when the last view is gone; the last way gives a
    ResourceWarning when the memory was made by `empty` or `from_numpy`. Closing a view frees nothing.
    Reading and writing through this class (`numpy`, `copy_from`, `fill_bytes`) waits for all work of the device.

    Examples
    --------
    >>> with oprt.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3)) as x:
    ...     x.T[1:].numpy()
    array([[1., 4.],
           [2., 5.]], dtype=float32)
    """

    __slots__ = ("__weakref__", "_memory", "_offset", "_operand", "_owns")

    def __init__(
        self,
        memory: Memory,
        element: dtypes.Element,
        shape: Shape,
        strides: Shape,
        *,
        offset_bytes: int = 0,
        owns: bool = False,
    ) -> None:
        pointer = memory.pointer if not offset_bytes else to_pointer(memory.address + offset_bytes)
        self._memory = memory
        self._offset = offset_bytes
        self._owns = owns
        self._operand = Operand(None, __package__, element.code, shape, strides, element.numpy, pointer, memory.place)

    @property
    def shape(self) -> Shape:
        """Elements along each dimension."""
        return self._operand.shape

    @property
    def strides(self) -> Shape:
        """Elements from one index to the next along each dimension."""
        return self._operand.strides

    @property
    def dtype(self) -> str:
        """Name of the element type; "bits32" and the like for types that only `copy` takes."""
        return dtypes.NAMES[self._operand.code]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._operand.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self._operand.shape)

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return dtypes.SIZES_BYTES[self._operand.code]

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def data_ptr(self) -> int:
        """Address of element [0, ..., 0] in device memory."""
        memory = self._open_memory()
        memory.only_stream = None  # whoever has the address may use it anywhere
        return memory.address + self._offset

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._memory.place.backend_name

    @property
    def device(self) -> str:
        """Name of the device: "emulator", "gpu", "gpu:1"."""
        return self._memory.place.device_name

    @property
    def closed(self) -> bool:
        """Whether the memory was freed."""
        return self._memory.closed

    def close(self) -> None:
        """Free the memory, if it was made by this object and not yet freed. A view frees nothing."""
        if self._owns:
            self._memory.close()

    def __enter__(self) -> Tensor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        place = f"backend={self.backend!r}, device={self.device!r}{', closed' if self.closed else ''}"
        return f"Tensor(shape={self.shape}, dtype={self.dtype!r}, {place})"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a Tensor without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return (self[index] for index in range(len(self)))

    def __array__(self, *arguments: object, **options: object) -> NoReturn:
        raise TypeError("a Tensor is device memory; take its values to the host with .numpy()")

    def _open_memory(self) -> Memory:
        if self._memory.closed:
            raise invalid(f"{self!r} cannot be used any more")
        return self._memory

    @property
    def _element(self) -> dtypes.Element:
        return dtypes.Element(self._operand.code, self._operand.numpy_dtype)

    def _view(self, shape: Shape, strides: Shape, offset: int = 0) -> Tensor:
        """The same memory and dtype from another element on; a view within this one."""
        start = self._offset + offset * self.itemsize
        return Tensor(self._open_memory(), self._element, shape, strides, offset_bytes=start)

    def __getitem__(self, index: SupportsIndex | slice | EllipsisType | tuple[Any, ...] | None) -> Tensor:
        parts = index if isinstance(index, tuple) else (index,)
        named = sum(part is not None and part is not ... for part in parts)
        if parts.count(...) > 1 or named > self.ndim:
            raise IndexError(f"index {index!r} has too many parts for {self.ndim} dimensions")
        if ... not in parts:
            parts = (*parts, ...)
        dimensions = iter(zip(self.shape, self.strides, strict=True))
        shape: list[int] = []
        strides: list[int] = []
        offset = 0
        for part in parts:
            if part is None:
                shape.append(1)
                strides.append(0)
            elif part is ...:
                for _ in range(self.ndim - named):
                    extent, stride = next(dimensions)
                    shape.append(extent)
                    strides.append(stride)
            elif isinstance(part, slice):
                extent, stride = next(dimensions)
                start, stop, step = part.indices(extent)
                shape.append(len(range(start, stop, step)))
                strides.append(stride * step)
                offset += start * stride if shape[-1] else 0
            else:
                extent, stride = next(dimensions)
                offset += range(extent)[part] * stride  # raises IndexError and TypeError as a list does
        return self._view(tuple(shape), tuple(strides), offset)

    @property
    def T(self) -> Tensor:  # noqa: N802 - NumPy's name
        """The view with all dimensions in reverse order."""
        return self.transpose()

    def transpose(self, *axes: int | Sequence[int]) -> Tensor:
        """The view with dimensions in another order.

        Parameters
        ----------
        *axes : int, or one sequence of int
            The dimension of this tensor that comes first, second, ...; none reverses them.

        Raises
        ------
        ValueError
            The axes are not a permutation.
        """
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], Sequence) else axes or range(self.ndim)[::-1]
        chosen = [axis + self.ndim if isinstance(axis, int) and axis < 0 else axis for axis in order]
        if sorted(chosen) != list(range(self.ndim)):  # type: ignore[type-var]
            raise invalid(f"transpose: {tuple(order)} is no permutation of the {self.ndim} dimensions")
        return self._view(tuple(self.shape[axis] for axis in chosen), tuple(self.strides[axis] for axis in chosen))  # type: ignore[index]

    def broadcast_to(self, shape: Sequence[int]) -> Tensor:
        """The view in which dimensions of extent 1, and missing ones, are repeated by stride 0, as in NumPy.

        Raises
        ------
        ValueError
            The shape cannot be reached.
        """
        wanted = tuple(shape)
        missing = len(wanted) - self.ndim
        if missing < 0 or any(have not in (1, want) for have, want in zip(self.shape, wanted[missing:], strict=True)):
            raise invalid(f"broadcast_to: shape {self.shape} does not broadcast to {wanted}")
        kept = zip(self.shape, self.strides, wanted[missing:], strict=True)
        return self._view(wanted, (0,) * missing + tuple(stride if have == want else 0 for have, stride, want in kept))

    def as_strided(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0, dtype: object = None) -> Tensor:
        """Any view of the same memory, of another dtype too.

        Parameters
        ----------
        shape, strides : sequences of int
            Of the view. Strides count elements of the view's dtype.
        offset : int
            Where the view's element [0, ..., 0] lies, in elements of its dtype from this tensor's.
        dtype : dtype-like, optional
            Reads the bytes as that type; nothing is converted.

        Raises
        ------
        ValueError
            The view would leave the memory.

        Examples
        --------
        >>> with oprt.from_numpy(np.arange(4, dtype=np.float32)) as x:
        ...     x.as_strided((2, 2), (1, 1), offset=1).numpy()
        array([[1., 2.],
               [2., 3.]], dtype=float32)
        """
        element = self._element if dtype is None else dtypes.parse(dtype)
        size = dtypes.SIZES_BYTES[element.code]
        if len(shape) != len(strides) or any(extent < 0 for extent in shape):
            raise invalid(f"as_strided: shape {tuple(shape)} and strides {tuple(strides)} do not go together")
        memory = self._open_memory()
        start = self._offset + offset * size
        low, high = layout.element_span(shape, strides)
        if low != high and not 0 <= start + low * size <= start + high * size <= memory.size_bytes:
            span = f"bytes {start + low * size} to {start + high * size}"
            raise invalid(f"as_strided: the view spans {span} of a memory of {memory.size_bytes}")
        return Tensor(memory, element, tuple(shape), tuple(strides), offset_bytes=start)

    def numpy(self) -> NDArray[Any]:
        """A copy of the values on the host, in C order.

        Returns
        -------
        numpy.ndarray
            bfloat16 comes as ml_dtypes' type if the program has imported that, else as uint16 with its bits.

        Raises
        ------
        RuntimeError
            A kernel broke on this device before; the message is its report.
        """
        memory = self._open_memory()
        if not self.size:
            return np.empty(self.shape, self._operand.numpy_dtype)
        if layout.is_sparse(self.shape, self.strides):
            with empty_like(self) as dense:
                dense.copy_from(self)
                return dense.numpy()
        low, high = layout.element_span(self.shape, self.strides)
        raw = np.empty((high - low) * self.itemsize, np.uint8)
        source = to_pointer(memory.address + self._offset + low * self.itemsize)
        _copy(memory.place, host_pointer(raw), source, raw.nbytes)
        strides = [stride * self.itemsize for stride in self.strides]
        values = np.ndarray(self.shape, self._operand.numpy_dtype, raw.data, -low * self.itemsize, strides)
        return values if layout.is_contiguous(self.shape, self.strides) else values.copy()

    def copy_from(self, source: Any) -> None:
        """Write the values of another array of the same shape and dtype.

        Parameters
        ----------
        source : numpy.ndarray, Tensor, or an array of another library

        Raises
        ------
        ValueError, TypeError
            Another shape, or another dtype.
        """
        from operator_runtime.arrays import read  # here, because arrays and operators know Tensor
        from operator_runtime.ops.copy import copy

        memory = self._open_memory()
        operand = read(source, "copy_from", "source")
        if operand.host is None:
            wait(memory.place)
            copy(source, out=self)
            wait(memory.place)
            return
        bits = self._operand.code == dtypes.BFLOAT16 and operand.numpy_dtype == np.uint16
        if operand.code != self._operand.code and not bits:
            raise OperatorTypeError(
                f"copy_from: source holds {operand.numpy_dtype}, wanted {self.dtype}", Status.UNSUPPORTED_DTYPE
            )
        if operand.shape != self.shape:
            raise invalid(f"copy_from: source has shape {operand.shape}, wanted {self.shape}")
        if layout.is_contiguous(self.shape, self.strides):
            values = np.ascontiguousarray(operand.host)
            _copy(memory.place, to_pointer(self.data_ptr), host_pointer(values), self.nbytes)
            return
        with empty_like(self) as dense:
            dense.copy_from(source)
            self.copy_from(dense)

    def fill_bytes(self, value: int) -> None:
        """Set every byte of the elements to one value, 0 to 255.

        Raises
        ------
        ValueError
            The view has gaps or repeats between its elements, or the value is out of range.
        """
        memory = self._open_memory()
        if not layout.is_one_piece(self.shape, self.strides):
            raise invalid(f"fill_bytes: the elements of {self!r} are not one piece of memory")
        if self.size:
            low, _ = layout.element_span(self.shape, self.strides)
            with selected(memory.place):
                check(lib.oprt_synchronize_device())
                start = to_pointer(memory.address + self._offset + low * self.itemsize)
                check(lib.oprt_fill_memory(start, value, self.nbytes, ffi.NULL))
                check(lib.oprt_synchronize_stream(ffi.NULL))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For other libraries' GPU arrays. Memory of the emulator has none."""
        memory = self._open_memory()
        if memory.place.kind != GPU:
            raise AttributeError(f"memory on {memory.place} has no __cuda_array_interface__")
        memory.only_stream = None
        last = memory.last_stream
        handle = last if isinstance(last, int) else 0 if last.closed else last.handle
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self._operand.numpy_dtype.str,
            "data": (self.data_ptr if self.size else 0, False),
            "strides": tuple(stride * self.itemsize for stride in self.strides),
            "stream": handle or 1,  # 1 is the default stream there, 0 is not allowed
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        from operator_runtime import dlpack

        return dlpack.device_of(self._memory.place)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        from operator_runtime import dlpack

        self._open_memory().only_stream = None
        return dlpack.export(self, stream, max_version, dl_device, copy)


def new_tensor(
    shape: Shape, element: dtypes.Element, place: Place, *, warns: bool, only_stream: int | None = None
) -> Tensor:
    """A tensor of its own memory, in C order."""
    size_bytes = math.prod(shape) * dtypes.SIZES_BYTES[element.code]
    memory = Memory(size_bytes, place, warns=warns, only_stream=only_stream)
    return Tensor(memory, element, shape, layout.contiguous_strides(shape), owns=True)


def empty_like(tensor: Tensor) -> Tensor:
    """A tensor of the same shape, dtype and device in C order."""
    operand = tensor._operand
    assert operand.place is not None
    return new_tensor(operand.shape, dtypes.Element(operand.code, operand.numpy_dtype), operand.place, warns=True)


def empty(
    shape: int | Sequence[int], dtype: object = "float32", *, backend: str | None = None, device: str | None = None
) -> Tensor:
    """A tensor in device memory with undefined contents.

    Parameters
    ----------
    shape : int or sequence of int
        Elements along each dimension.
    dtype : dtype-like
        "float16", "bfloat16", "float32", "float64", "bits8" to "bits128", or any NumPy dtype of 1, 2, 4, 8 or 16 bytes.
    backend, device : str, optional
        Where; the thread's default if not given.

    Returns
    -------
    Tensor
        In C order, aligned to 256 bytes. The emulator fills it with the byte 0xFF.

    Raises
    ------
    MemoryError
        It does not fit.
    ValueError, TypeError
        A negative extent; an unknown backend, device or dtype.

    Examples
    --------
    >>> with oprt.empty((2, 3), "float16") as y:
    ...     y.shape, y.strides, y.dtype
    ((2, 3), (3, 1), 'float16')
    """
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(extent < 0 for extent in extents):
        raise invalid(f"empty: shape {extents} has a negative extent")
    return new_tensor(extents, dtypes.parse(dtype), choose(backend, device), warns=True)


def from_numpy(array: Any, *, dtype: object = None, backend: str | None = None, device: str | None = None) -> Tensor:
    """A copy of an array in device memory.

    Parameters
    ----------
    array : numpy.ndarray or an array of another library in host memory
        Any layout; the copy is in C order.
    dtype : dtype-like, optional
        What the bits are, for an array of integers that holds another type: uint16 with "bfloat16".
    backend, device : str, optional
        Where; the thread's default if not given.

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        Not an array in host memory, or a dtype without counterpart.
    MemoryError
        It does not fit.

    Examples
    --------
    >>> with oprt.from_numpy(np.ones((2, 2), np.float32)) as x:
    ...     oprt.reduce_sum(x).numpy()
    array(4., dtype=float32)
    """
    from operator_runtime.arrays import read

    operand = read(array, "from_numpy", "array", None if dtype is None else dtypes.parse(dtype).code)
    if operand.host is None:
        raise OperatorTypeError("from_numpy: array is in device memory already", Status.INVALID_ARGUMENT)
    element = dtypes.Element(operand.code, operand.numpy_dtype)
    tensor = new_tensor(operand.shape, element, choose(backend, device), warns=True)
    tensor.copy_from(operand.host)
    return tensor
