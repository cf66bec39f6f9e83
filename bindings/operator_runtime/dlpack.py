"""DLPack: GPU arrays of other libraries come in without a copy, and a Tensor goes out.

Imported only when it is needed, because ctypes, which reads and makes the structures, takes time to load.
Memory of the emulator goes out as a copy in host memory: nothing outside may touch emulated device memory.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from operator_runtime import dtypes, layout
from operator_runtime.errors import OperatorTypeError, Status, wrong_type
from operator_runtime.operand import Operand
from operator_runtime.selection import ANY_BACKEND, GPU, Place
from operator_runtime.stream import order
from operator_runtime.tensor import to_pointer

if TYPE_CHECKING:
    from operator_runtime.tensor import Tensor

# DLDeviceType and DLDataTypeCode of dlpack.h.
_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_TYPE_CODES = {"i": _INT, "u": _UINT, "f": _FLOAT, "c": _COMPLEX, "b": _BOOL}
_IS_COPIED = 2  # a flag of DLManagedTensorVersioned
_DEFAULT_STREAM, _NO_STREAM = 1, -1  # as the array API standard numbers them for CUDA


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_KINDS: dict[bytes, type[_Managed] | type[_Versioned]] = {b"dltensor_versioned": _Versioned, b"dltensor": _Managed}

# Capsules are passed as addresses, because their destructor runs when the object is no longer alive.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


def is_host(device: tuple[int, int]) -> bool:
    """Whether a DLPack device is memory that the host reads."""
    return device[0] in (_CPU, _CUDA_HOST)


def device_of(place: Place) -> tuple[int, int]:
    """The DLPack device of a place. MetaX's builds of other libraries call their devices CUDA too."""
    return (_CUDA, place.device_index) if place.kind == GPU else (_CPU, 0)


def read(array: Any, where: str) -> Operand:
    """The operand of a GPU array, ready on the default stream. It keeps the capsule, which keeps the memory."""
    device = array.__dlpack_device__()
    if device[0] not in (_CUDA, _CUDA_MANAGED):
        raise wrong_type(f"{where} is on a device of DLPack type {int(device[0])}, which no backend can reach")
    capsule = array.__dlpack__(stream=_DEFAULT_STREAM)
    for name, kind in _KINDS.items():
        if _is_valid(id(capsule), name):
            tensor = kind.from_address(_get_pointer(id(capsule), name)).tensor
            break
    else:
        raise wrong_type(f"{where} gives a DLPack capsule of an unknown kind")
    bits, code = tensor.dtype.bits * tensor.dtype.lanes, tensor.dtype.code
    type_name = {_FLOAT: f"float{bits}", _BFLOAT: f"bfloat{bits}"}.get(code, "")
    dtype = dtypes.code_of(type_name, bits // 8) if bits % 8 == 0 else -1
    if dtype < 0:
        raise OperatorTypeError(f"{where} has elements of {bits} bits", Status.UNSUPPORTED_DTYPE)
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else layout.contiguous_strides(shape)
    place = Place(ANY_BACKEND, GPU, tensor.device.index)
    pointer = to_pointer((tensor.data or 0) + tensor.byte_offset)
    library = type(array).__module__.partition(".")[0]
    numpy_dtype, keep = dtypes.numpy_dtype(dtype), (array, capsule)
    return Operand(keep, library, dtype, shape, strides, numpy_dtype, pointer, place, ready_on=_DEFAULT_STREAM)


# What each exported structure needs until its consumer is done, by the structure's address.
_exported: dict[int, object] = {}


def _delete(structure: int) -> None:
    _exported.pop(structure, None)


def _drop_capsule(capsule: int) -> None:
    """Nobody took the tensor out of the capsule: a consumer renames it when it does."""
    for name in _KINDS:
        if _is_valid(capsule, name):
            _exported.pop(_get_pointer(capsule, name), None)


_c_delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_delete)
_c_drop_capsule = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop_capsule)


def export(
    tensor: Tensor,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """The capsule that Tensor.__dlpack__ gives."""
    operand = tensor._operand
    place = tensor._memory.place
    wanted = device_of(place) if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    to_host = wanted == (_CPU, 0)
    if wanted not in (device_of(place), (_CPU, 0)) or (to_host and copy is False) or (copy and not to_host):
        how = "without a copy" if copy is False else "with a copy" if copy else "at all"
        raise BufferError(f"{tensor!r} cannot be given to DLPack device {wanted} {how}")
    keep: object
    if to_host:
        host = tensor.numpy()
        keep, address, strides = host, host.ctypes.data, layout.contiguous_strides(tensor.shape)
    else:
        keep, address, strides = tensor, tensor.data_ptr, tensor.strides
        if stream != _NO_STREAM:
            order(tensor._memory.last_stream, stream or _DEFAULT_STREAM, place)
    described = _Tensor(
        data=address if tensor.size else None,
        device=_Device(*wanted),
        ndim=tensor.ndim,
        dtype=_DataType(_type_code(operand), tensor.itemsize * 8, 1),
        shape=(ctypes.c_int64 * max(tensor.ndim, 1))(*tensor.shape),
        strides=(ctypes.c_int64 * max(tensor.ndim, 1))(*strides),
    )
    return _capsule(described, keep, versioned=max_version is not None and max_version[0] >= 1, copied=to_host)


def _type_code(operand: Operand) -> int:
    return _BFLOAT if operand.code == dtypes.BFLOAT16 else _TYPE_CODES.get(operand.numpy_dtype.kind, _UINT)


def _capsule(tensor: _Tensor, keep: object, *, versioned: bool, copied: bool) -> object:
    name, kind = (b"dltensor_versioned", _Versioned) if versioned else (b"dltensor", _Managed)
    structure = kind()
    structure.tensor = tensor
    structure.deleter = ctypes.cast(_c_delete, ctypes.c_void_p).value
    if isinstance(structure, _Versioned):
        structure.major, structure.minor, structure.flags = 1, 0, _IS_COPIED if copied else 0
    address = ctypes.addressof(structure)
    _exported[address] = (structure, tensor, keep)
    return _new_capsule(address, name, ctypes.cast(_c_drop_capsule, ctypes.c_void_p))
