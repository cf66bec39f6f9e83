"""Operator Runtime: GPU operators on NVIDIA and MetaX, and on any CPU in an emulator.

Arrays of NumPy go in and come out; arrays of other libraries in GPU memory, and `Tensor`, are used where they are.
Operators come in three forms: `softmax(x)`, `softmax_(x)` in place, and `prepare_softmax(out, x)` for calling again and
again. Where a call runs is said by backend= and device=, else by its arrays, else by `set_backend` and `set_device`.

Examples
--------
>>> oprt.softmax(np.zeros((2, 4), np.float32), axis=-1, backend="nvidia", device="emulator")
array([[0.25, 0.25, 0.25, 0.25],
       [0.25, 0.25, 0.25, 0.25]], dtype=float32)
"""

from __future__ import annotations

from operator_runtime import native as native  # first: everything else needs what it loads
from operator_runtime import ops
from operator_runtime.errors import OperatorRuntimeError, Status
from operator_runtime.graph import Graph, capture
from operator_runtime.information import (
    DeviceProperties,
    KernelInfo,
    available,
    build_information,
    device_properties,
    device_reset,
    kernels,
    module_path,
    operators,
    synchronize,
    techniques,
)
from operator_runtime.ops import *  # noqa: F403 - the operators are found, not listed
from operator_runtime.prepared import Prepared
from operator_runtime.probe import measure_launches, probe_variants, run_probe
from operator_runtime.selection import (
    backends,
    get_backend,
    get_device,
    launch_overlap,
    set_backend,
    set_device,
    technique,
)
from operator_runtime.stream import Event, Stream
from operator_runtime.tensor import Tensor, empty, from_numpy

__version__: str = native.VERSION

__all__ = [
    "DeviceProperties",
    "Event",
    "Graph",
    "KernelInfo",
    "OperatorRuntimeError",
    "Prepared",
    "Status",
    "Stream",
    "Tensor",
    "available",
    "backends",
    "build_information",
    "capture",
    "device_properties",
    "device_reset",
    "empty",
    "from_numpy",
    "get_backend",
    "get_device",
    "kernels",
    "launch_overlap",
    "measure_launches",
    "module_path",
    "operators",
    "probe_variants",
    "run_probe",
    "set_backend",
    "set_device",
    "synchronize",
    "technique",
    "techniques",
]
__all__ += ops.__all__
