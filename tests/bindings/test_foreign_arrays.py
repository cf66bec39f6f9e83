"""Arrays of other libraries: how they are read, and on which stream a call runs. No GPU and no other library is needed.

The arrays here are stand-ins that speak the protocols; test_gpu_libraries.py has the real ones.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target


class CudaArray:
    """A GPU array that speaks __cuda_array_interface__; its address is never used."""

    def __init__(self, **changes: Any) -> None:
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (2, 3),
            "typestr": "<f4",
            "data": (4096, False),
            "strides": None,
        } | changes


class HostTensor:
    """An array in host memory that speaks DLPack only."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


class HostInterface:
    """An array in host memory that speaks __array_interface__."""

    def __init__(self, values: Any) -> None:
        self.keep = values
        self.__array_interface__ = values.__array_interface__


def read(array: Any, code: int | None = None) -> Any:
    from operator_runtime import arrays

    return arrays.read(array, "relu", "x", code)


def test_host_arrays_count_as_numpy(oprt: Any, target: Target) -> None:
    values = np.array([[-1.0, 2.0]], np.float32)
    for kind in (HostTensor, HostInterface):
        result = oprt.relu(kind(values), **target.where)
        assert type(result) is np.ndarray
        assert result.tolist() == [[0, 2]]
    assert oprt.relu_(HostInterface(values), **target.where) is not None
    assert values.tolist() == [[0, 2]]


def test_cuda_arrays_are_read_in_place(oprt: Any) -> None:
    operand = read(CudaArray(strides=(-32, 8), stream=7))
    assert (operand.shape, operand.strides, operand.ready_on, operand.host) == ((2, 3), (-8, 2), 7, None)
    assert operand.place.device_name == "gpu"
    assert read(CudaArray()).strides == (3, 1)
    assert not read(CudaArray(data=(4096, True))).writable
    assert read(CudaArray(typestr="<u2"), code=1).code == 1


@pytest.mark.parametrize(
    ("changes", "piece"),
    [
        ({"mask": object()}, "mask"),
        ({"typestr": ">f4"}, "byte order"),
        ({"typestr": "<c24"}, "c24"),
        ({"strides": (6, 2)}, "aligned"),
    ],
)
def test_refused_cuda_arrays(oprt: Any, changes: dict[str, Any], piece: str) -> None:
    with pytest.raises((TypeError, ValueError), match=piece):
        read(CudaArray(**changes))


def test_gpu_memory_needs_a_gpu(oprt: Any) -> None:
    if any(device.startswith("gpu") for _, device in oprt.available()):
        pytest.skip("there is one")
    with pytest.raises(RuntimeError, match="gpu"):
        oprt.relu(CudaArray())


def test_gpu_memory_is_refused_by_the_emulator(oprt: Any, selected: Target) -> None:
    if selected.device != "emulator":
        pytest.skip("the device is a GPU")
    with oprt.empty((2, 3)) as y, pytest.raises(ValueError, match="relu: "):
        oprt.relu(CudaArray(), out=y, device="emulator")


class FakeTorchTensor:
    """The part of torch.Tensor that is read."""

    requires_grad = False
    layout = "strided"

    def __init__(self, values: Any, device: str = "cpu", dtype: str = "torch.float32") -> None:
        self.values, self.dtype, self.shape = values, dtype, values.shape
        self.device = SimpleNamespace(type=device, index=None if device == "cpu" else 1)

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.values.itemsize for step in self.values.strides)

    def element_size(self) -> int:
        return int(self.values.itemsize)

    def data_ptr(self) -> int:
        return int(self.values.ctypes.data)

    def is_conj(self) -> bool:
        return False

    is_neg = is_conj

    def numpy(self) -> Any:
        return self.values

    def view(self, dtype: Any) -> FakeTorchTensor:
        return FakeTorchTensor(self.values.view(dtype))


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that looks like torch, whose current stream is 4711."""
    module = ModuleType("torch")
    stream = SimpleNamespace(cuda_stream=4711)
    attributes = {
        "Tensor": FakeTorchTensor,
        "strided": "strided",
        "int16": np.int16,
        "cuda": SimpleNamespace(current_stream=lambda index: stream if index == 1 else None, Stream=SimpleNamespace),
    }
    for name, value in attributes.items():
        setattr(module, name, value)
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def test_torch_tensors_of_the_host(oprt: Any, target: Target, torch: ModuleType) -> None:
    result = oprt.relu(FakeTorchTensor(np.array([-1.0, 1.0], np.float32)), **target.where)
    assert type(result) is np.ndarray
    assert result.tolist() == [0, 1]
    bits = np.array([0xBF80, 0x3F80], np.uint16)
    result = oprt.relu(FakeTorchTensor(bits, dtype="torch.bfloat16"), **target.where)
    assert result.view(np.uint16).tolist() == [0, 0x3F80]
    with_gradient = FakeTorchTensor(bits)
    with_gradient.requires_grad = True
    with pytest.raises(TypeError, match=r"\.detach\(\)"):
        oprt.relu(with_gradient)
    with pytest.raises(TypeError, match="no backend"):
        oprt.relu(FakeTorchTensor(bits, "mps"))


def test_which_stream_a_call_runs_on(oprt: Any, target: Target, torch: ModuleType) -> None:
    from operator_runtime import arrays
    from operator_runtime.calls import stream_of_call
    from operator_runtime.selection import choose, resolve

    place = resolve(choose(target.backend, target.device))
    of_torch = read(FakeTorchTensor(np.zeros(2, np.float32), "cuda"))
    assert of_torch.place.device_name == "gpu:1"
    assert arrays.current_stream(of_torch) == 4711
    of_interface = read(CudaArray(stream=815))
    with oprt.Stream(**target.where) as stream, oprt.empty(2, **target.where) as own:
        ours = read(own)
        assert stream_of_call("relu", [ours], place, None).key == 0
        assert stream_of_call("relu", [ours, of_torch], place, None).key == 4711
        assert stream_of_call("relu", [of_torch], place, 99).key == 99
        assert stream_of_call("relu", [of_torch], place, 1).key == 0
        assert stream_of_call("relu", [of_torch], place, SimpleNamespace(cuda_stream=5)).key == 5
        assert stream_of_call("relu", [of_torch], place, SimpleNamespace(ptr=6)).key == 6
        assert stream_of_call("relu", [of_torch], place, stream).stream is stream
        assert stream_of_call("relu", [of_interface], place, None).key == 815
        with pytest.raises(TypeError, match="stream is a str"):
            stream_of_call("relu", [ours], place, "side")


def test_a_stream_of_another_place(oprt: Any, target: Target) -> None:
    others = [place for place in oprt.available() if place != (target.backend, target.device)]
    if not others:
        pytest.skip("only one place is there")
    backend, device = others[0]
    with oprt.Stream(backend=backend, device=device) as stream:
        with pytest.raises(ValueError, match=rf"stream is on {backend} {device}, the operator on {target.backend}"):
            oprt.relu(np.zeros(2, np.float32), stream=stream, **target.where)
        oprt.relu(np.zeros(2, np.float32), stream=stream)


def test_no_library_is_imported_for_bfloat16(oprt: Any) -> None:
    from operator_runtime import dtypes

    wanted = "bfloat16" if "ml_dtypes" in sys.modules else "uint16"
    assert dtypes.numpy_dtype(dtypes.BFLOAT16).name == wanted


def test_bfloat16_of_ml_dtypes(oprt: Any, target: Target) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([-1.0, 0.5, 3.0], ml_dtypes.bfloat16)
    y = oprt.vector_add(x, x, **target.where)
    assert y.dtype == ml_dtypes.bfloat16
    assert y.astype(float).tolist() == [-2, 1, 6]
    with oprt.from_numpy(x, **target.where) as there:
        assert there.dtype == "bfloat16"
        assert there[::-1].numpy().astype(float).tolist() == [3, 0.5, -1]
        from_dlpack = there.__dlpack__()
        assert "dltensor" in repr(from_dlpack)
    with oprt.empty(3, ml_dtypes.bfloat16, **target.where) as made:
        assert made.dtype == "bfloat16"
