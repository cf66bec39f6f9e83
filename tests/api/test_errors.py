"""What a Python user sees when a call is wrong: the exception, its status, and a message that says what to change.

Descriptors that C refuses are refused cases of the records; here it is the way from the call to the exception.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target

MATRIX = np.zeros((4, 8), np.float32)


def refused(oprt: Any, kind: type[Exception], status: str, *pieces: str) -> Any:
    """Expect an error of the package that is also the builtin kind, with a status and pieces of the message."""

    class Expectation:
        def __enter__(self) -> None:
            self.raises = pytest.raises(oprt.OperatorRuntimeError)
            self.info = self.raises.__enter__()

        def __exit__(self, *error: Any) -> Any:
            result = self.raises.__exit__(*error)
            assert isinstance(self.info.value, kind)
            assert self.info.value.status.name == status
            missing = [piece for piece in pieces if piece not in str(self.info.value)]
            assert not missing, f"the message lacks {missing}: {self.info.value}"
            return result

    return Expectation()


def test_axis_out_of_range(oprt: Any, target: Target) -> None:
    with refused(oprt, ValueError, "INVALID_ARGUMENT", "softmax", "axis", "5", "-2", "1"):
        oprt.softmax(MATRIX, axis=5, **target.where)
    with refused(oprt, ValueError, "INVALID_ARGUMENT", "reduce_sum", "axis", "-3"):
        oprt.reduce_sum(MATRIX, axis=-3, **target.where)
    with refused(oprt, ValueError, "INVALID_ARGUMENT", "reduce_sum", "twice"):
        oprt.reduce_sum(MATRIX, axis=(0, 0), **target.where)


def test_shapes(oprt: Any, target: Target) -> None:
    with refused(oprt, ValueError, "INVALID_ARGUMENT", "vector_add", "[4, 8]", "[4, 7]"):
        oprt.vector_add(MATRIX, np.zeros((4, 7), np.float32), **target.where)
    with refused(oprt, ValueError, "INVALID_ARGUMENT", "copy", "[4, 7]"):
        oprt.copy(MATRIX, out=np.zeros((4, 7), np.float32), **target.where)
    with refused(oprt, ValueError, "INVALID_ARGUMENT", "9"):
        oprt.copy(np.zeros((1,) * 9, np.float32), **target.where)


def test_dtypes(oprt: Any, target: Target) -> None:
    with refused(oprt, TypeError, "UNSUPPORTED_DTYPE", "softmax"):
        oprt.softmax(np.zeros(4, np.int32), **target.where)
    with refused(oprt, TypeError, "UNSUPPORTED_DTYPE", "vector_add", "float32", "float16"):
        oprt.vector_add(MATRIX, MATRIX.astype(np.float16), **target.where)
    with refused(oprt, TypeError, "UNSUPPORTED_DTYPE"):
        oprt.copy(np.array([object()]), **target.where)
    with refused(oprt, TypeError, "UNSUPPORTED_DTYPE", "float33"):
        oprt.empty((4,), "float33", **target.where)


def test_objects_that_are_no_arrays(oprt: Any, target: Target) -> None:
    with refused(oprt, TypeError, "INVALID_ARGUMENT", "str"):
        oprt.copy("text", **target.where)
    with refused(oprt, TypeError, "INVALID_ARGUMENT"):
        oprt.copy(None, **target.where)


def test_read_only_output(oprt: Any, target: Target) -> None:
    out = np.zeros((4, 8), np.float32)
    out.flags.writeable = False
    with refused(oprt, ValueError, "INVALID_ARGUMENT", "read-only"):
        oprt.copy(MATRIX, out=out, **target.where)


def test_overlapping_output(oprt: Any, target: Target) -> None:
    with oprt.from_numpy(np.zeros(64, np.float32), **target.where) as tensor:
        with refused(oprt, ValueError, "INVALID_ARGUMENT", "copy", "overlap"):
            oprt.copy(tensor[:32], out=tensor[1:33])
        with refused(oprt, ValueError, "INVALID_ARGUMENT", "copy", "overlap"):
            oprt.copy(tensor[0:64:2], out=tensor[1:64:2])
        with refused(oprt, ValueError, "INVALID_ARGUMENT"):
            oprt.copy(tensor[:8], out=tensor[8:9].broadcast_to((8,)))


def test_names(oprt: Any, target: Target) -> None:
    with refused(oprt, ValueError, "INVALID_ARGUMENT", "amd", "nvidia", "metax"):
        oprt.copy(MATRIX, backend="amd")
    with refused(oprt, ValueError, "INVALID_ARGUMENT", "tpu", "emulator", "gpu"):
        oprt.copy(MATRIX, backend=target.backend, device="tpu")
    with refused(oprt, NotImplementedError, "NOT_SUPPORTED", "softmax", "magic"), oprt.technique("magic"):
        oprt.softmax(MATRIX, **target.where)
    with pytest.raises(AttributeError, match="softmaks"):
        oprt.softmaks(MATRIX)


def test_memory_that_does_not_fit(oprt: Any, target: Target) -> None:
    with refused(oprt, MemoryError, "OUT_OF_MEMORY"):
        oprt.empty((2**46,), "uint8", **target.where)


def test_gpu_index_that_is_not_there(oprt: Any) -> None:
    for backend in oprt.backends():
        with pytest.raises(oprt.OperatorRuntimeError) as info:
            oprt.copy(MATRIX, backend=backend, device="gpu:77")
        assert info.value.status.name in ("DEVICE_UNAVAILABLE", "BACKEND_UNAVAILABLE")
        assert backend in str(info.value)


def test_closed_owners(oprt: Any, target: Target) -> None:
    tensor = oprt.from_numpy(MATRIX, **target.where)
    tensor.close()
    tensor.close()
    with pytest.raises(oprt.OperatorRuntimeError, match="closed"):
        oprt.copy(tensor)
    stream = oprt.Stream(**target.where)
    stream.close()
    stream.close()
    with pytest.raises(oprt.OperatorRuntimeError, match="closed"):
        oprt.copy(MATRIX, **target.where, stream=stream)


def test_memory_of_another_backend(oprt: Any, target: Target) -> None:
    others = [backend for backend, _ in oprt.available() if backend != target.backend]
    if not others:
        pytest.skip(f"only {target.backend} is built")
    with (
        oprt.from_numpy(MATRIX, **target.where) as tensor,
        refused(oprt, ValueError, "INVALID_ARGUMENT", target.backend, others[0]),
    ):
        oprt.copy(tensor, backend=others[0])


def test_errors_reach_other_processes(oprt: Any, target: Target) -> None:
    with pytest.raises(oprt.OperatorRuntimeError) as info:
        oprt.softmax(MATRIX, axis=5, **target.where)
    again = pickle.loads(pickle.dumps(info.value))
    assert (type(again), str(again), again.status) == (type(info.value), str(info.value), info.value.status)


def test_every_status_has_an_exception(oprt: Any) -> None:
    from operator_runtime._native import ffi

    codes = {name.removeprefix("OPRT_").removeprefix("ERR_") for name in ffi.typeof("oprt_status_t").relements}
    assert codes == {status.name for status in oprt.Status}
