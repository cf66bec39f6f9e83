"""A checkout in small for tests of the build: the real CMake files, registry and module table over one operator and
a vendor's runtime whose calls do nothing. It builds in seconds; operators and emulator are left to other tests.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BACKENDS = ("nvidia", "metax")
_REAL = ["runtime/CMakeLists.txt", "runtime/cmake", "runtime/include", "operators/shared/layout.h"]
_REAL += [
    f"backends/{name}" for name in ("module.h", "probes.h", "launcher_registry.h", "launcher.cu.in", "technique.cu.in")
]
_REAL += [f"backends/{name}" for name in ("vendor_module.cc", "emulator/CMakeLists.txt", "emulator/rewrite.py")]
_REAL += [
    f"backends/{b}/{name}" for b in _BACKENDS for name in ("CMakeLists.txt", "backend.cmake", "include/oprt_vendor.h")
]

# prefix, runtime header, properties, pointer attributes, last parameters of GraphInstantiate
VENDORS = {
    "nvidia": ("cuda", "cuda_runtime.h", "cudaDeviceProp", "cudaPointerAttributes", "int"),
    "metax": ("mc", "mcr/mc_runtime.h", "mcDeviceProp_t", "mcPointerAttribute_t", "void *, char *, size_t"),
}
KERNEL = {"nvidia": "kernel.cuh", "metax": "tiny_metax.maca"}

_RUNTIME = """\
#pragma once
#include <cstddef>
{emulator}
enum {p}Error_t {{ {p}Success = 0, {p}ErrorInvalidValue = 1 }};
enum {p}MemcpyKind {{ {p}MemcpyDefault = 4 }};
enum {p}MemoryType {{ {p}MemoryTypeDevice = 2, {p}MemoryTypeManaged = 3 }};
enum {p}StreamCaptureMode {{ {p}StreamCaptureModeRelaxed = 2 }};
enum {{ {p}StreamNonBlocking = 1, {p}EventDefault = 0 }};
using {p}Stream_t = struct tiny_stream *;
using {p}Event_t = struct tiny_event *;
using {p}Graph_t = struct tiny_graph *;
using {p}GraphExec_t = struct tiny_graph_exec *;
struct {properties} {{
    char name[256];
    int warpSize, multiProcessorCount, maxThreadsPerBlock, major, minor, l2CacheSize;
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
}};
struct {attributes} {{ {p}MemoryType type; int device; }};
inline const char *{p}GetErrorName({p}Error_t) {{ return "{p}ErrorTiny"; }}
inline const char *{p}GetErrorString({p}Error_t) {{ return "a tiny error"; }}
"""
_CALLS = """\
GetLastError() PeekAtLastError() GetDeviceCount(int *) GetDevice(int *) SetDevice(int) DeviceSynchronize() DeviceReset()
Malloc(void **, size_t) Free(void *) MemcpyAsync(void *, const void *, size_t, {p}MemcpyKind, {p}Stream_t)
MemsetAsync(void *, int, size_t, {p}Stream_t) StreamCreateWithFlags({p}Stream_t *, unsigned) StreamDestroy({p}Stream_t)
StreamSynchronize({p}Stream_t) StreamQuery({p}Stream_t) StreamWaitEvent({p}Stream_t, {p}Event_t, unsigned)
EventCreateWithFlags({p}Event_t *, unsigned) EventDestroy({p}Event_t) EventRecord({p}Event_t, {p}Stream_t)
EventSynchronize({p}Event_t) EventQuery({p}Event_t) EventElapsedTime(float *, {p}Event_t, {p}Event_t)
StreamBeginCapture({p}Stream_t, {p}StreamCaptureMode) StreamEndCapture({p}Stream_t, {p}Graph_t *)
GraphDestroy({p}Graph_t)
GraphInstantiate({p}GraphExec_t *, {p}Graph_t, {instantiate}) GraphLaunch({p}GraphExec_t, {p}Stream_t)
GraphExecDestroy({p}GraphExec_t) GetDeviceProperties({properties} *, int)
PointerGetAttributes({attributes} *, const void *)
"""
_DEVICE = """\
#pragma once
#include <{header}>
#include "backends/launcher_registry.h"
namespace oprt {{
using stream_t = {p}Stream_t;
template <> struct element_type<OPRT_DTYPE_FLOAT32> {{ using type = float; }};
}}
"""
_PLAN = """\
#pragma once
#include "backends/module.h"
#include "shared/layout.h"
namespace oprt {
struct tiny_plan { using dtypes = dtype_list<OPRT_DTYPE_FLOAT32>; oprt_dtype_t dtype; };
template <typename T> struct tiny_buffers { T *y; explicit tiny_buffers(const operands &o) : y(o.output<T>(0)) {} };
// One for the whole process, if modules shared the statics of templates.
template <typename T> T &calls() { static T count = 0; return count; }
}
"""
_PROBES = """\
#include "backends/probes.h"
namespace oprt {
oprt_status_t probe_variant_count(int32_t *, oprt_probe_t, module_message &) { return OPRT_ERR_NOT_SUPPORTED; }
oprt_status_t run_probe(oprt_probe_t, int32_t, void *, const void *, size_t, oprt_stream_t, module_message &) {
    return OPRT_ERR_NOT_SUPPORTED;
}
oprt_status_t measure_launches(double *, int32_t, int32_t, oprt_stream_t, module_message &) {
    return OPRT_ERR_NOT_SUPPORTED;
}
}
"""
_REGISTRATION = '#include "backends/launcher_registry.h"\nOPRT_REGISTER_LAUNCHER(tiny, launch_tiny)\n'
_LIBRARY = '#include "operator_runtime/device.h"\nconst char *oprt_version(void) { return "tiny"; }\n'


def kernel(backend: str, value: int) -> str:
    """A kernel file whose launcher writes value + the number of calls of this module so far."""
    text = f"""\
#include <oprt_device.h>
#include "tiny/tiny.h"
namespace oprt {{
template <typename T> void launch_tiny(const tiny_plan &, const tiny_buffers<T> &buffers, stream_t) {{
    *buffers.y = {value} + calls<T>()++;
}}
}}
"""
    return text + (_REGISTRATION if backend == "metax" else "")


def technique(backend: str, name: str, value: int) -> str:
    return kernel(backend, value).removesuffix(_REGISTRATION).replace("launch_tiny(", f"launch_tiny_{name}(")


def vendor_header(backend: str, *, emulator: bool) -> str:
    prefix, _, properties, attributes, instantiate = VENDORS[backend]
    words = {"p": prefix, "properties": properties, "attributes": attributes, "instantiate": instantiate}
    text = _RUNTIME.format(**words, emulator="#define OPRT_EMULATOR 1" if emulator else "")
    for call in _CALLS.format(**words).replace(")\n", ") ").strip().split(") "):
        text += f"inline {prefix}Error_t {prefix}{call.rstrip(')')}) {{ return {prefix}Success; }}\n"
    return text


def tool(name: str) -> str:
    """cmake or ninja: beside the running Python, else on PATH."""
    found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    assert found, f"{name} is neither beside {sys.executable} nor on PATH"
    return found


@dataclass
class Launched:
    path: str
    sha256: str
    value: float


@dataclass
class TinyTree:
    """The checkout in root, its build folder root/build and the learner's folder root/workspace."""

    root: Path
    copies: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def build(self) -> Path:
        return self.root / "build"

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    def configure(self, *definitions: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = [tool("cmake"), "-S", str(self.root / "runtime"), "-B", str(self.build), "-G", "Ninja"]
        command += [f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", *definitions]
        return _run(command, check=check)

    def ninja(self, *targets: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return _run([tool("ninja"), "-C", str(self.build), *targets], check=check)

    def launchers(self, module: str, *, run: bool = True) -> dict[str, Launched]:
        """Load a fresh copy of a module and, with run, call each launcher once: technique to what it is and wrote."""
        copy = self.root / f"loaded-{next(self.copies)}.so"
        shutil.copy(self.build / module, copy)
        return launch_all(copy, run=run)


def make_tree(root: Path) -> TinyTree:
    for name in _REAL:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name)
        else:
            shutil.copy(ROOT / name, root / name)
    _write(root / "bindings/CMakeLists.txt", "# The tests of the bindings build the extension.\n")
    _write(root / "runtime/src/library.cc", _LIBRARY)
    _write(root / "backends/emulator/src/engine.cc", "// Nothing: the stand-in runtime has no engine.\n")
    _write(root / "backends/probes.cc", _PROBES)
    _write(root / "backends/device_limits.cc", "// Nothing: the tiny kernel asks for no limits.\n")
    _write(root / "operators/tiny/tiny.h", _PLAN)
    for backend, (prefix, header, *_) in VENDORS.items():
        _write(root / "backends/emulator/include" / header, vendor_header(backend, emulator=True))
        _write(root / f"backends/{backend}/include/oprt_device.h", _DEVICE.format(p=prefix, header=header))
        folder = root / "operators/tiny" / backend
        _write(folder / KERNEL[backend], kernel(backend, 100))
    _write(root / "operators/tiny/nvidia/tiny_cuda.cu", "#include OPRT_KERNEL_FILE\n" + _REGISTRATION)
    _write(root / "operators/tiny/nvidia/techniques/other.cuh", technique("nvidia", "other", 200))
    _write(root / "operators/tiny/metax/techniques/other.h", technique("metax", "other", 200))
    return TinyTree(root)


def launch_all(module: Path, *, run: bool) -> dict[str, Launched]:
    library = ctypes.CDLL(str(module), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    library.oprt_get_module.restype = ctypes.c_void_p
    table = library.oprt_get_module()
    size = ctypes.c_size_t.from_address(table).value
    pointer_size = ctypes.sizeof(ctypes.c_void_p)
    at = ctypes.c_void_p.from_address(table + size - pointer_size).value  # launcher_at, the last entry
    launcher_at = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32)(at)
    found = {}
    for index in itertools.count():
        entry = launcher_at(index)
        if not entry:
            return found
        _, name, _, path, sha256 = (ctypes.c_char_p.from_address(entry + i * pointer_size).value for i in range(5))
        address = ctypes.c_void_p.from_address(entry + 5 * pointer_size).value
        launch = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(address)
        found[name.decode()] = Launched(path.decode(), sha256.decode(), _launch(launch) if run else float("nan"))
    return found


def _launch(launch: object) -> float:
    y = ctypes.c_float(-1)
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(y))
    operands = (ctypes.c_void_p * 3)(ctypes.addressof(pointers), None, False)  # pointers, workspace, overlap
    plan = ctypes.c_int(2)  # float32
    message = ctypes.create_string_buffer(4096)
    status = launch(ctypes.addressof(plan), ctypes.addressof(operands), None, ctypes.addressof(message))
    assert status == 0, message.value.decode()
    return y.value


def _run(command: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
    output = subprocess.PIPE
    done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, text=True, check=False, timeout=300)
    assert not check or done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
