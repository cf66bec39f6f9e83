"""GPU arrays of torch and CuPy, where they are installed and a GPU is there: used in place, on the right stream.

CuPy is also handed over through DLPack, and our tensors to both libraries.
"""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target

LIBRARIES = ("torch", "cupy")
BUSY_BYTES = 1 << 28  # enough work that a result read too early is wrong


class Library:
    """What the tests need of a library, under one name each."""

    def __init__(self, name: str, device: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.module: Any = importlib.import_module(name)
        self.is_torch = name == "torch"
        index = int(device.partition(":")[2] or 0)
        self.module.cuda.set_device(index) if self.is_torch else self.module.cuda.Device(index).use()

    def array(self, values: Any) -> Any:
        return self.module.from_numpy(values).cuda() if self.is_torch else self.module.asarray(values)

    def host(self, array: Any) -> Any:
        return array.cpu().numpy() if self.is_torch else self.module.asnumpy(array)

    def address(self, array: Any) -> int:
        return int(array.data_ptr() if self.is_torch else array.data.ptr)

    def side_stream(self) -> Any:
        return self.module.cuda.Stream() if self.is_torch else self.module.cuda.Stream(non_blocking=True)

    def use(self, stream: Any) -> Any:
        return self.module.cuda.stream(stream) if self.is_torch else stream

    def from_dlpack(self, array: Any) -> Any:
        return self.module.from_dlpack(array)


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, oprt: Any, target: Target) -> Library:
    if target.is_emulator:
        pytest.skip("the device is no GPU")
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return Library(request.param, target.device)


@pytest.fixture
def values() -> Any:
    return np.random.default_rng(1).standard_normal((33, 129), dtype=np.float32)


def softmax(values: Any) -> Any:
    powers = np.exp(values.astype(np.float64) - values.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_arrays_are_used_in_place(oprt: Any, library: Library, values: Any) -> None:
    x = library.array(values)
    y = oprt.softmax(x)
    assert type(y) is type(x)
    np.testing.assert_allclose(library.host(y), softmax(values), rtol=1e-5)
    view = x[::2, 1:]
    np.testing.assert_allclose(library.host(oprt.softmax(view)), softmax(values[::2, 1:]), rtol=1e-5)
    before = library.address(x)
    assert oprt.relu_(x) is x
    assert library.address(x) == before
    np.testing.assert_array_equal(library.host(x), np.maximum(values, 0))


def test_arrays_and_tensors_mix(oprt: Any, target: Target, library: Library, values: Any) -> None:
    with oprt.from_numpy(values, **target.where) as ours:
        theirs = library.array(values)
        total = oprt.vector_add(ours, theirs)
        assert isinstance(total, oprt.Tensor)
        np.testing.assert_array_equal(total.numpy(), values + values)
        oprt.vector_add(ours, ours, out=theirs)
        np.testing.assert_array_equal(library.host(theirs), values + values)


def test_the_current_stream_is_used(oprt: Any, library: Library) -> None:
    stream = library.side_stream()
    x = library.array(np.zeros(BUSY_BYTES // 4, np.float32))
    library.module.cuda.synchronize() if library.is_torch else library.module.cuda.Device().synchronize()
    with library.use(stream):
        for _ in range(20):
            x += 1
        y = oprt.vector_add(x, x)
        assert float(y[-1]) == 40
        with oprt.prepare_copy(y, x) as prepared:
            x += 1
            prepared.run()
            assert prepared.stream == (stream.cuda_stream if library.is_torch else stream.ptr)
            assert float(y[-1]) == 21


def test_a_stream_of_the_library_as_argument(oprt: Any, library: Library, values: Any) -> None:
    stream = library.side_stream()
    x = library.array(values)
    library.module.cuda.synchronize() if library.is_torch else library.module.cuda.Device().synchronize()
    y = oprt.relu(x, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(library.host(y), np.maximum(values, 0))


def test_tensors_go_to_other_libraries(oprt: Any, target: Target, library: Library, values: Any) -> None:
    with oprt.Stream(**target.where) as stream, oprt.from_numpy(values, **target.where) as x:
        y = oprt.relu(x, stream=stream)
        taken = library.from_dlpack(y)
        assert library.address(taken) == y.data_ptr
        np.testing.assert_array_equal(library.host(taken), np.maximum(values, 0))
        np.testing.assert_array_equal(library.host(library.from_dlpack(y[::2].T)), np.maximum(values, 0)[::2].T)
        by_interface = library.module.as_tensor(y, device="cuda") if library.is_torch else library.module.asarray(y)
        assert library.address(by_interface) == y.data_ptr


class DlpackOnly:
    """An array that hides everything but DLPack."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def test_arrays_that_speak_dlpack_only(oprt: Any, library: Library, values: Any) -> None:
    result = oprt.relu(DlpackOnly(library.array(values)))
    assert isinstance(result, oprt.Tensor)
    np.testing.assert_array_equal(result.numpy(), np.maximum(values, 0))


def test_bfloat16_of_torch(oprt: Any, library: Library) -> None:
    if not library.is_torch:
        pytest.skip("CuPy has no bfloat16 of its own")
    torch = library.module
    x = torch.tensor([-1.0, 0.5, 3.0], dtype=torch.bfloat16, device="cuda")
    y = oprt.vector_add(x, x)
    assert y.dtype == torch.bfloat16 and y.tolist() == [-2, 1, 6]
    assert oprt.relu(x.cpu()).view(np.uint16).tolist() == [0, 0x3F00, 0x4040]
    with pytest.raises(TypeError, match="detach"):
        oprt.relu(torch.zeros(3, device="cuda", requires_grad=True))


def test_emulators_refuse_gpu_memory(oprt: Any, target: Target, library: Library, values: Any) -> None:
    emulated = [backend for backend, device in oprt.available() if device == "emulator"]
    if not emulated:
        pytest.skip("no emulator is built")
    with pytest.raises(ValueError, match="relu"):
        oprt.relu(library.array(values), backend=emulated[0], device="emulator")
