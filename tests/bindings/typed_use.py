"""What type checkers have to see of the package: checked by bindings/check_types.py, never run.

The result of an operator is an array of the kind that went in; operators are seen although nothing lists them.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import operator_runtime as oprt
from operator_runtime._native import ffi, lib


def numpy_arrays(x: NDArray[np.float32]) -> None:
    assert_type(oprt.softmax(x, axis=-1, backend="nvidia"), NDArray[Any])
    assert_type(oprt.reduce_sum(x, axis=(0, 1), keepdims=True), NDArray[Any])
    assert_type(oprt.relu_(x, 0.1), NDArray[Any])
    oprt.softmax("x")  # type: ignore[type-var]
    oprt.softmax(x, axes=1)  # type: ignore[call-arg]


def tensors(x: oprt.Tensor) -> None:
    assert_type(oprt.copy(x), oprt.Tensor)
    assert_type(oprt.vector_add(x, x[1:].T, out=x), oprt.Tensor)
    assert_type(x.numpy(), NDArray[Any])


def prepared(x: oprt.Tensor, y: oprt.Tensor) -> None:
    with oprt.Stream() as stream, oprt.prepare_softmax(y, x, stream=stream) as softmax:
        softmax.run()


def errors(error: oprt.OperatorRuntimeError) -> bool:
    return error.status is oprt.Status.KERNEL_FAULT


def low_level() -> int:
    count = ffi.new("int32_t *")
    return lib.oprt_get_device_count(count, lib.OPRT_BACKEND_NVIDIA, lib.OPRT_DEVICE_GPU)
