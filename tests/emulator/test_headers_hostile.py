"""The stand-in headers among others: each alone, in any order with the standard library's, twice in one program."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from tests.emulator.engine_programs import EMULATOR, Build, builds
from tests.emulator.header_programs import HeaderWorkshop, header_workshop

__all__ = ["header_workshop"]

INCLUDE = EMULATOR / "include"
CUDA_HEADERS = [
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "vector_types.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
    "math_constants.h",
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
]
MACA_HEADERS = [
    "mcr/mc_runtime.h",
    "mcr/mc_runtime_api.h",
    "mc_runtime.h",
    "mc_runtime_api.h",
    "common/maca_fp16.h",
    "common/maca_bfloat16.h",
    "maca_fp16.h",
    "maca_bfloat16.h",
]
STANDARD_TEXT = """
    algorithm any array atomic bitset cassert cctype cerrno cfenv cfloat charconv chrono climits cmath complex
    condition_variable csetjmp csignal cstdint cstdio cstdlib cstring ctime deque exception filesystem fstream
    functional future initializer_list iomanip iostream iterator limits list locale map memory mutex new numeric
    optional ostream queue random ratio regex set shared_mutex sstream stack stdexcept string string_view
    system_error thread tuple type_traits typeindex unordered_map unordered_set utility valarray variant vector
    math.h stdlib.h string.h pthread.h unistd.h sys/mman.h sys/types.h
"""
STANDARD_HEADERS = STANDARD_TEXT.split()
STANDARDS = ["c++17", "c++20"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def headers_of(build: Build) -> list[str]:
    """What a source may include: MACA's own headers, and CUDA's as its bridge spells them; CUDA's alone at 32 lanes."""
    return CUDA_HEADERS + (MACA_HEADERS if build.warp_size == 64 else [])


def syntax(build: Build, text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [
        build.compiler,
        "-x",
        "c++",
        "-fsyntax-only",
        f"-DOPRT_EMULATOR_WARP_SIZE={build.warp_size}",
        f"-I{INCLUDE}",
        *WARNINGS,
        *flags,
        "-",
    ]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def compiles(build: Build, text: str, *flags: str) -> None:
    done = syntax(build, text, *flags)
    assert done.returncode == 0, done.stderr


def include(headers: list[str]) -> str:
    return "".join(f"#include <{header}>\n" for header in headers)


@builds(Build("g++", 64), Build("clang++", 32))
def test_every_header_alone_and_twice(build: Build) -> None:
    for header in headers_of(build):
        compiles(build, include([header, header]), "-std=c++17")


@builds(Build("g++", 64), Build("clang++", 32))
@pytest.mark.parametrize("standard", STANDARDS)
def test_before_and_after_the_standard_library(build: Build, standard: str) -> None:
    body = "using namespace std;\nint main() { return (int)max(1.0f, min(2.0, 3.0)) + (int)std::max(1, 2); }\n"
    mine = include(headers_of(build))
    standard_library = include(STANDARD_HEADERS)
    compiles(build, mine + standard_library + body, f"-std={standard}")
    compiles(build, standard_library + mine + body, f"-std={standard}")
    compiles(build, "#define NDEBUG\n" + mine + "#undef NDEBUG\n#include <cassert>\n" + body, f"-std={standard}")


@builds(Build("g++", 32), Build("clang++", 64))
def test_in_any_order(build: Build) -> None:
    first = headers_of(build)[:6] if build.warp_size == 32 else MACA_HEADERS[:2] + MACA_HEADERS[4:6] + CUDA_HEADERS[:1]
    for order in itertools.islice(itertools.permutations(first), 0, None, 149 if build.warp_size == 32 else 37):
        compiles(build, include(list(order)), "-std=c++17")


@builds(Build("g++", 32), Build("clang++", 32))
def test_maca_headers_are_refused_at_32_lanes(build: Build) -> None:
    done = syntax(build, "#include <mcr/mc_runtime.h>\n", "-std=c++17")
    assert done.returncode != 0
    assert "belong to the metax backend" in done.stderr


@builds(Build("g++", 32), Build("clang++", 64))
def test_what_a_device_compiler_refuses(build: Build) -> None:
    runtime = "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n"
    kernel = "__global__ void k(float *) {}\n"
    for body, words in [
        ("void f() { (void)min(size_t(1), 2); }", "ambiguous"),
        ("half f(half h) { return h + 1.0f; }", "ambiguous"),
        ("int values[warpSize];", ""),
        ("long long v; void f() { atomicAdd(&v, 1ll); }", ""),
        (
            "void f(void **p) { cudaLaunchKernel((const void *)k, 1, 1, p, 0, 0); }",
            "the emulator needs the kernel's type",
        ),
        (
            "auto f() { return cooperative_groups::tiled_partition<128>(cooperative_groups::this_thread_block()); }",
            "wider",
        ),
    ]:
        done = syntax(build, runtime + kernel + body, "-std=c++17")
        assert done.returncode != 0, body
        assert words in done.stderr, done.stderr


@builds()
def test_two_sources_of_one_program(header_workshop: HeaderWorkshop, build: Build, tmp_path: Path) -> None:
    """Nothing of the headers is defined twice; a template with a shared array is the same in both sources."""
    common = include(headers_of(build)) + (
        "template <typename T> __global__ void fill(T *out, T value) {\n"
        "    __shared__ T tile[64];\n"
        "    tile[threadIdx.x] = value;\n"
        "    __syncthreads();\n"
        "    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];\n"
        "}\n"
    )
    first = tmp_path / "first.cc"
    first.write_text(
        common + "void run(int *out) { oprt_emulator::launch(fill<int>, dim3(1), dim3(64), 0, nullptr, out, 4); }\n"
    )
    second = tmp_path / "second.cc"
    second.write_text(
        common
        + "void run(int *out);\n"
        + "int main() {\n"
        + "    int *out, host[64];\n"
        + "    if (cudaMalloc(&out, sizeof host) != cudaSuccess) return 1;\n"
        + "    run(out);\n"
        + "    oprt_emulator::launch(fill<int>, dim3(1), dim3(32), 0, nullptr, out, 5);\n"
        + "    if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDefault) != cudaSuccess) return 2;\n"
        + "    return host[0] == 5 && host[31] == 5 && host[32] == 4 && host[63] == 4 ? 0 : 3;\n"
        + "}\n"
    )
    program = header_workshop.linked(build, [first, second], "two_sources")
    assert header_workshop.run(build, program) == ""
