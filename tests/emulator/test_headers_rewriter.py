"""The rewriter of <<<>>> and extern __shared__: what it changes, what it leaves alone, that the result runs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.emulator.engine_programs import EMULATOR, Build, builds
from tests.emulator.header_programs import PROGRAMS, HeaderWorkshop, header_workshop

__all__ = ["header_workshop"]

REWRITER = EMULATOR / "rewrite.py"


def load_rewriter() -> ModuleType:
    specification = importlib.util.spec_from_file_location("rewrite", REWRITER)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["rewrite"] = module
    specification.loader.exec_module(module)
    return module


rewriter = load_rewriter()


def rewrite(text: str) -> str:
    """The rewritten text without the #line directive; every line must have kept its number."""
    head, _, result = rewriter.rewrite(text, "kernel.cu").partition("\n")
    assert head == '#line 1 "kernel.cu"'
    assert result.count("\n") == text.count("\n")
    return result


def launch(kernel: str, configuration: str, arguments: str) -> str:
    return f"::oprt_emulator::launch_of({kernel}).on({configuration})({arguments})"


@pytest.mark.parametrize(
    ("kernel", "configuration", "arguments"),
    [
        ("k", "1, 2", "x"),
        ("k", "grid, block, 4 * sizeof(float), stream", ""),
        ("k", "dim3((n + 255) / 256, 1), dim3(16, 16), 0", "a, b, c + f(1, 2)"),
        ("k<float>", "1, 2", "x"),
        ("k<float, 4>", "1, 2", "x"),
        ("k<std::pair<int, std::vector<int>>>", "1, 2", "x"),
        ("k<(3 > 2), sizeof(int)>", "1, 2", "x"),
        ("ns::k", "1, 2", "x"),
        ("::ns::inner::k<T>", "1, 2", "x"),
        ("S<int>::k", "1, 2", "x"),
        ("S<int>::template k<float>", "1, 2", "x"),
        ("table[i][j + 1]", "1, 2", "x"),
        ("(flag ? a : b)", "1, 2", "x"),
        ("(*pointer)", "1, 2", "x"),
        ("object.kernel", "1, 2", "x"),
        ("(&object)->kernel", "1, 2", "x"),
        ("pick(3)", "1, 2", "x"),
        ("ns::pick<int>(3)", "1, 2", "x"),
        ("objects[2].kernels[1]", "1, 2", "x"),
        ("k", "n >> 3, 1 << 5", "x"),
        ("k", "max<int>(1, 2), v<int>", "x"),
        ("k", "[&] { return 1; }(), 32", "x"),
    ],
)
@pytest.mark.parametrize(
    ("before", "after"), [("", ";"), ("  if (go) ", "; else return;"), ("do ", "; while (0);"), ("{ a = b; ", "; }")]
)
def test_launches(kernel: str, configuration: str, arguments: str, before: str, after: str) -> None:
    text = f"{before}{kernel}<<<{configuration}>>>({arguments}){after}\n"
    assert rewrite(text) == f"{before}{launch(kernel, configuration, arguments)}{after}\n"


def test_launch_over_several_lines() -> None:
    text = "k  // the kernel\n  <float>\n  <<<\n  grid, /* so\n many */ block\n  >>> (a,\n  b);\n"
    wanted = text.replace("<<<", ").on(").replace(">>>", ")")
    assert rewrite(text) == f"::oprt_emulator::launch_of({wanted}"


def test_launch_in_a_macro() -> None:
    text = "#define RUN(k, ...) \\\n    k<<<1, 32>>>(__VA_ARGS__)\nRUN(f, 1);\n"
    assert rewrite(text) == f"#define RUN(k, ...) \\\n    {launch('k', '1, 32', '__VA_ARGS__')}\nRUN(f, 1);\n"


def test_deduced_template_arguments() -> None:
    head = "template <typename T>\n__global__ void __launch_bounds__(256) k(T *p) {}\n"
    text = head + "void f() { k<<<1, 2>>>(p); k<int><<<1, 2>>>(p); }\n"
    deduced = "::oprt_emulator::launch_deduced([](auto... oprt_arguments) { k(oprt_arguments...); }).on(1, 2)(p);"
    assert rewrite(text).splitlines()[2] == f"void f() {{ {deduced} {launch('k<int>', '1, 2', 'p')}; }}"


@pytest.mark.parametrize(
    "text",
    [
        "// k<<<1, 2>>>(x); extern __shared__ float s[];\n",
        "// a comment that goes on \\\n k<<<1, 2>>>(x)\n",
        "/* k<<<1,\n 2>>>(x) */\n",
        'const char *s = "k<<<1, 2>>>(x) \\" extern __shared__ float s[];";\n',
        'const char *s = R"(k<<<1, 2>>>(x)\n" )";\n',
        'const char *s = u8R"end(k<<<1, 2>>>(x) )" )end";\n',
        "char c = '<', d = '\\'', e = '\"'; int n = 1'000'000;\n",
        "#include <a/b.h>\n#error k<<<1, 2>>>(x)\n#pragma unroll\n#if 0 // don't\n#endif\n",
        "static __shared__ float tile[32][33];\n__shared__ float4 row[8];\n",
        'extern float elsewhere[];\nextern "C" void f();\n',
        "bool b = a << 3 < c >> 2; std::vector<std::vector<std::vector<int>>> v; cout << x << y;\n",
        "",
        "no newline at the end",
        "windows line ends\r\nint x;\r\n",
    ],
)
def test_left_alone(text: str) -> None:
    assert rewrite(text) == text


def dynamic(target: str) -> str:
    return f"reinterpret_cast<{target}>(oprt_emulator_dynamic_shared())"


@pytest.mark.parametrize(
    ("declaration", "wanted"),
    [
        ("extern __shared__ float s[];", f"float *s = {dynamic('float *')};"),
        ("extern __shared__ __align__(16) unsigned char s[];", f"unsigned char *s = {dynamic('unsigned char *')};"),
        ("extern __shared__ alignas(16) float s[];", f"float *s = {dynamic('float *')};"),
        ("extern __align__(sizeof(T)) __shared__ T s[];", f"T *s = {dynamic('T *')};"),
        ("__shared__ extern float s[];", None),
        ("extern __shared__ float s[][32];", f"float (*s)[32] = {dynamic('float (*)[32]')};"),
        ("extern __shared__ double s[][N + 1][4];", f"double (*s)[N + 1][4] = {dynamic('double (*)[N + 1][4]')};"),
        ("extern __shared__ std::pair<int, float> s[];", None),
        ("extern volatile __shared__ float s[];", f"volatile float *s = {dynamic('float *')};"),
        ("extern __shared__ float4 s [ ] ;", f"float4 *s = {dynamic('float4 *')} ;"),
    ],
)
def test_dynamic_shared_memory(declaration: str, wanted: str | None) -> None:
    result = rewrite(f"__global__ void k() {{\n    {declaration}\n}}\n").splitlines()[1].strip()
    if wanted is not None:
        assert " ".join(result.split()) == " ".join(wanted.replace(" ;", ";").split()) or result == wanted
    else:
        assert "oprt_emulator_dynamic_shared()" in result
        assert "extern" not in result


def test_dynamic_shared_memory_at_namespace_scope() -> None:
    text = 'namespace a { extern "C" {\nextern __shared__ float s[];\n} struct S { int f() {\n'
    text += "extern __shared__ int t[]; } }; }\n"
    lines = rewrite(text).splitlines()
    assert lines[1] == "[[maybe_unused]] static const ::oprt_emulator::dynamic_shared_array<float> s{};"
    assert f"int *t = {dynamic('int *')};" in lines[3]


def test_noinline() -> None:
    text = "__noinline__ __device__ int f();\n__attribute__((__noinline__)) int g();\n"
    assert rewrite(text) == "__attribute__((noinline)) __device__ int f();\n__attribute__((__noinline__)) int g();\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("int x;\nk<<<1, 2;\n", 2, "the <<< that begins here has no >>>"),
        ("k<<<1, f(2>>>(x);\n", 1, "has no"),
        ("\n\nk<<<1>>>(x);\n", 3, "wants grid, block"),
        ("k<<<1, 2, 3, 4, 5>>>(x);\n", 1, "has 5 values"),
        ("k<<<1,\n2>>>;\n", 2, "the arguments of the kernel must follow"),
        ("void f() {\n  <<<1, 2>>>(x);\n}\n", 2, "no kernel stands before <<<"),
        ("int y; /* never\nends", 1, "the comment that begins here has no end"),
        ("__global__ void k() {\n extern __shared__ float s[3];\n}\n", 2, "open first extent"),
        ("__global__ void k() {\n extern __shared__ float s;\n}\n", 2, "expected `extern __shared__ TYPE NAME[];`"),
        ("__global__ void k() {\n extern __shared__ float s[], t[];\n}\n", 2, "declare one name"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    source = tmp_path / "broken.cu"
    source.write_text(text)
    done = subprocess.run(
        [sys.executable, str(REWRITER), str(source), str(tmp_path / "out.cc")], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{source}:{line}: error: ")
    assert words in done.stderr
    assert not (tmp_path / "out.cc").exists()


def test_command_line(tmp_path: Path) -> None:
    source = tmp_path / 'odd " name.cu'
    source.write_bytes(b"k<<<1, 2>>>(x); // caf\xe9\n")
    target = tmp_path / "out.cc"
    command = [sys.executable, "-S", "-E", str(REWRITER), str(source), str(target)]
    assert subprocess.run(command).returncode == 0
    first_line, rest = target.read_bytes().split(b"\n", 1)
    assert first_line.decode() == f'#line 1 "{tmp_path}/odd \\" name.cu"'
    assert rest == b"::oprt_emulator::launch_of(k).on(1, 2)(x); // caf\xe9\n"
    written = target.stat().st_mtime_ns
    assert subprocess.run(command).returncode == 0
    assert target.stat().st_mtime_ns == written
    missing = subprocess.run([*command[:-2], str(tmp_path / "none.cu"), str(target)], capture_output=True, text=True)
    assert missing.returncode == 1
    assert "No such file" in missing.stderr
    assert subprocess.run(command[:-1], capture_output=True).returncode == 2


@builds()
def test_a_rewritten_source_runs(header_workshop: HeaderWorkshop, build: Build, tmp_path: Path) -> None:
    source = PROGRAMS / "learner.cu"
    target = tmp_path / "learner.cc"
    assert rewriter.main([str(source), str(target)]) == 0
    program = header_workshop.linked(build, [target], "learner", "-Wno-unknown-pragmas")
    output = header_workshop.run(build, program)
    assert output.endswith("passed\n"), output
    assert f"{source}:" in output  # the kernel's assert names the learner's own file
