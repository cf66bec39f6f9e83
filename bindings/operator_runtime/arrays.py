"""Reads the arrays of every library into operands: Tensor, NumPy, torch, CuPy and all that speak a protocol.

Nothing of another library is imported: a library that made an array is in sys.modules already. What is refused here is
what C cannot see: the kind of object, byte order, alignment, a tensor that was closed.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from operator_runtime import dtypes, layout
from operator_runtime.errors import OperatorTypeError, Status, invalid, wrong_type
from operator_runtime.layout import Shape
from operator_runtime.operand import Operand
from operator_runtime.selection import ANY_BACKEND, GPU, Place
from operator_runtime.tensor import Tensor, new_tensor, to_pointer


class SupportsDlpack(Protocol):
    """An array of another library (array API standard)."""

    def __dlpack__(self, *arguments: Any, **options: Any) -> Any: ...


class SupportsCudaArray(Protocol):
    """A GPU array of another library."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


# The result of an operator is an array of the library that made its first input.
ArrayT = TypeVar("ArrayT", Tensor, NDArray[Any], SupportsDlpack, SupportsCudaArray)


class Where(NamedTuple):
    """Which argument of which operator is being read; the beginning of every message."""

    operator: str
    argument: str

    def __str__(self) -> str:
        return f"{self.operator}: {self.argument}"


_OWN = __package__
_Reader = Callable[[Any, Where], Operand]


def read(array: object, operator: str, argument: str, code: int | None = None) -> Operand:
    """The operand of an array. code, when given, says what its bits are."""
    return read_at(array, Where(operator, argument), code)


def read_at(array: object, where: Where, code: int | None = None) -> Operand:
    """The same, for who reads the same argument again and again."""
    reader = _readers.get(type(array)) or _find_reader(array, where)
    operand = reader(array, where)
    return operand if code is None or code == operand.code else _reinterpreted(operand, code, where)


def _reinterpreted(operand: Operand, code: int, where: Where) -> Operand:
    if not dtypes.is_opaque(operand.code) or dtypes.SIZES_BYTES[operand.code] != dtypes.SIZES_BYTES[code]:
        raise OperatorTypeError(
            f"{where} holds {operand.numpy_dtype}, dtype says {dtypes.NAMES[code]}; arrays are not converted, and only"
            " integers of the same size are read as another type",
            Status.UNSUPPORTED_DTYPE,
        )
    return dataclasses.replace(operand, code=code)


def _find_reader(array: object, where: Where) -> _Reader:
    """The reader for a type, by its base classes and protocols; remembered."""
    kind = type(array)
    torch = sys.modules.get("torch")
    reader: _Reader
    if isinstance(array, np.ma.MaskedArray):
        raise wrong_type(f"{where} is a masked array; its mask would be lost")
    if isinstance(array, (np.ndarray, np.generic)):
        reader = _read_numpy
    elif torch is not None and isinstance(array, getattr(torch, "Tensor", ())):
        reader = _read_torch
    elif hasattr(array, "__cuda_array_interface__"):
        reader = _read_cuda_array
    elif hasattr(array, "__array_interface__"):
        reader = _read_numpy
    elif hasattr(array, "__dlpack__"):
        reader = _read_dlpack
    else:
        raise wrong_type(
            f"{where} is {_a(kind.__name__)}, wanted a numpy array, an operator_runtime.Tensor or an array of another"
            " library with __dlpack__ or __cuda_array_interface__"
        )
    _readers[kind] = reader
    return reader


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _read_tensor(array: Tensor, where: Where) -> Operand:
    if not array._memory._open:  # not the property: this runs for every operand of every call
        raise invalid(f"{where} was closed")
    return array._operand


def _read_numpy(array: Any, where: Where) -> Operand:
    return _host_operand(array, np.asarray(array), "numpy", where)


def _host_operand(array: object, host: NDArray[Any], library: str, where: Where, code: int | None = None) -> Operand:
    dtype = host.dtype
    element = dtypes.element_of(dtype)
    if element is None:
        raise _no_counterpart(dtype, where)
    size = dtype.itemsize
    if host.size and (not host.flags.aligned or any(stride % size for stride in host.strides)):
        raise invalid(f"{where} is not aligned to its elements of {size} bytes; pass a copy")
    strides = tuple(stride // size for stride in host.strides) if host.size else layout.contiguous_strides(host.shape)
    writable = host.flags.writeable and not isinstance(array, np.generic)
    code = element.code if code is None else code
    return Operand(array, library, code, host.shape, strides, dtype, host=host, writable=writable)


def _no_counterpart(dtype: np.dtype[Any], where: Where) -> OperatorTypeError:
    if not dtype.isnative:
        reason = f"holds {dtype.name} in the other byte order; convert it with astype"
    elif dtype.hasobject:
        reason = "holds Python objects"
    else:
        reason = f"has elements of {dtype.itemsize} bytes"
    return OperatorTypeError(f"{where} {reason}", Status.UNSUPPORTED_DTYPE)


def _read_torch(array: Any, where: Where) -> Operand:
    torch = sys.modules["torch"]
    if array.requires_grad:
        raise wrong_type(f"{where} is a torch tensor that requires grad; operators have no gradient, pass .detach()")
    if array.layout is not torch.strided or array.is_conj() or array.is_neg():
        raise wrong_type(f"{where} is a sparse, conjugated or negated torch tensor; pass a plain one")
    code = dtypes.code_of(str(array.dtype).removeprefix("torch."), array.element_size())
    if code < 0:
        raise OperatorTypeError(f"{where} holds {array.dtype}", Status.UNSUPPORTED_DTYPE)
    device = array.device
    if device.type == "cpu":
        bits = array.view(torch.int16) if code == dtypes.BFLOAT16 else array  # NumPy has no bfloat16
        operand = _host_operand(array, bits.numpy(), "torch", where, code)
        if code == dtypes.BFLOAT16:
            dtype = dtypes.numpy_dtype(code)
            operand = dataclasses.replace(operand, numpy_dtype=dtype, host=bits.numpy().view(dtype))
        return operand
    if device.type != "cuda":
        raise wrong_type(f"{where} is a torch tensor on {device}, which no backend can reach")
    place = Place(ANY_BACKEND, GPU, device.index or 0)
    shape, strides = tuple(array.shape), tuple(array.stride())
    pointer = to_pointer(array.data_ptr())
    return Operand(array, "torch", code, shape, strides, dtypes.numpy_dtype(code), pointer, place)


def _read_cuda_array(array: Any, where: Where) -> Operand:
    interface = array.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise wrong_type(f"{where} has a mask, which would be lost")
    library = type(array).__module__.partition(".")[0]
    dtype = np.dtype(interface["typestr"])
    own_name = getattr(getattr(array, "dtype", None), "name", dtype.name)  # bfloat16 has no typestr of its own
    code = dtypes.code_of(own_name, dtype.itemsize) if dtype.isnative else -1
    if code < 0:
        raise _no_counterpart(dtype, where)
    shape = tuple(interface["shape"])
    steps = interface.get("strides")
    if steps is not None and any(step % dtype.itemsize for step in steps):
        raise invalid(f"{where} is not aligned to its elements of {dtype.itemsize} bytes; pass a copy")
    strides = layout.contiguous_strides(shape) if steps is None else tuple(step // dtype.itemsize for step in steps)
    address, read_only = interface["data"]
    numpy_dtype = dtypes.numpy_dtype(code) if own_name != dtype.name else dtype
    place = Place(ANY_BACKEND, GPU, array.device.id if library == "cupy" else 0)
    pointer, stream = to_pointer(address or 0), interface.get("stream")
    return Operand(
        array, library, code, shape, strides, numpy_dtype, pointer, place, writable=not read_only, ready_on=stream
    )


def _read_dlpack(array: Any, where: Where) -> Operand:
    from operator_runtime import dlpack  # rarely needed, and it brings ctypes

    if dlpack.is_host(array.__dlpack_device__()):
        return _host_operand(array, np.from_dlpack(array), type(array).__module__, where)
    return dlpack.read(array, str(where))


_readers: dict[type, _Reader] = {Tensor: _read_tensor, np.ndarray: _read_numpy}


def current_stream(operand: Operand) -> int | None:
    """The stream on which an operand's library works now, or the one that its interface names; else None."""
    if operand.library == _OWN:
        return None
    if operand.library == "torch" and operand.place is not None:
        stream: int = sys.modules["torch"].cuda.current_stream(operand.place.device_index).cuda_stream
        return stream
    if operand.library == "cupy":
        pointer: int = sys.modules["cupy"].cuda.get_current_stream().ptr
        return pointer
    return operand.ready_on


def new_result(operand: Operand, shape: Shape, place: Place, only_stream: int | None = None) -> Any:
    """An array for a result, of the operand's library, dtype and device; host memory comes as NumPy's.

    only_stream: see Memory.
    """
    if operand.host is not None:
        return np.empty(shape, operand.numpy_dtype)
    if operand.library == "torch":
        return sys.modules["torch"].empty(shape, dtype=operand.array.dtype, device=operand.array.device)
    if operand.library == "cupy":
        with operand.array.device:
            return sys.modules["cupy"].empty(shape, operand.array.dtype)
    return new_tensor(
        shape, dtypes.Element(operand.code, operand.numpy_dtype), place, warns=False, only_stream=only_stream
    )
