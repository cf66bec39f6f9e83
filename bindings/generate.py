"""Makes the Python extension from the public C headers: C source for cffi, type stubs for editors and mypy.

The headers stay the only description of the C API: what this file writes goes into a build folder and is never edited.
Compiling the result is left to CMakeLists.txt, finding and loading it to operator_runtime/native.py.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi
from pycparser import c_ast, c_parser

MODULE = "operator_runtime._native"
OPERATOR_MODULES = Path(__file__).resolve().parent / "operator_runtime" / "ops"

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_CPLUSPLUS = re.compile(
    r"^[ \t]*#[ \t]*ifdef[ \t]+__cplusplus\b.*?^[ \t]*#[ \t]*endif\b[^\n]*", re.DOTALL | re.MULTILINE
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
_INTEGER_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+\w+[ \t]+[-+]?(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*[ \t]*$")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
_DOCUMENTED = re.compile(r"/\*\*((?:(?!\*/).)*)\*/\s*([^;{(/#]*)[;{(]", re.DOTALL)


class HeaderError(Exception):
    """A header that cannot be used; the text names it."""


@dataclass(frozen=True)
class Header:
    """One public header: its name in an #include line, its text as written and as cffi reads it (same line numbers)."""

    name: str
    text: str
    declarations: str


def _blank(match: re.Match[str]) -> str:
    """Spaces in place of what was matched, line breaks kept, so that line numbers in messages stay right."""
    return re.sub(r"[^\n]", " ", match.group())


def _keep_integer_define(match: re.Match[str]) -> str:
    return match.group() if _INTEGER_DEFINE.fullmatch(match.group()) else _blank(match)


def _declarations(text: str) -> str:
    text = _COMMENT.sub(_blank, text)
    text = _CPLUSPLUS.sub(_blank, text)
    text = _DIRECTIVE.sub(_keep_integer_define, text)
    return re.sub(r"\bOPRT_API\b", _blank, text)


def read_headers(roots: list[Path]) -> list[Header]:
    """All headers operator_runtime/**.h under the include folders, each after those that it includes."""
    paths: dict[str, Path] = {}
    for root in roots:
        for path in sorted(root.glob("operator_runtime/**/*.h")):
            paths.setdefault(path.relative_to(root).as_posix(), path)
    if not paths:
        raise HeaderError(f"no operator_runtime/*.h under {', '.join(map(str, roots))}")
    ordered: dict[str, Header] = {}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            raise HeaderError(f"{name} includes itself through {' -> '.join((*trail, name))}")
        if name in ordered:
            return
        text = paths[name].read_text(encoding="utf-8")
        for included in _INCLUDE.findall(text):
            if included in paths:  # operator_runtime/ops.h may not be made yet; it declares nothing of its own
                visit(included, (*trail, name))
        ordered[name] = Header(name, text, _declarations(text))

    for name in paths:
        visit(name, ())
    return list(ordered.values())


def c_source(headers: list[Header]) -> str:
    """The C file of the extension, from cffi. A declaration outside cffi's grammar is reported with its header."""
    ffi = cffi.FFI()
    for header in headers:
        try:
            ffi.cdef(header.declarations)
        except Exception as error:  # cffi and pycparser raise several unrelated classes
            raise HeaderError(f"{header.name} is outside the grammar that cffi reads: {error}") from error
    prelude = "".join(f'#include "{header.name}"\n' for header in headers)
    ffi.set_source(MODULE, prelude)
    output = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()):  # cffi tells what it is doing
        ffi.emit_c_code(output)
    return "/* Made by bindings/generate.py from the public headers. */\n" + output.getvalue()


# What cffi gives beside the declarations, as far as this project uses it. cffi itself ships no types.
_STUB_HEAD = '''\
"""Types of the C API in Python. Made by bindings/generate.py from the public headers, which are the specification."""

from collections.abc import Callable
from typing import Any, final

@final
class CData:
    """A C value: a pointer, a struct or an array."""

    def __getitem__(self, index: int | slice) -> Any: ...
    def __setitem__(self, index: int | slice, value: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __add__(self, elements: int) -> CData: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...

@final
class CType:
    """A C type."""

    kind: str
    cname: str
    fields: list[tuple[str, Any]]
    elements: dict[int, str]
    relements: dict[str, int]

@final
class FFI:
    """Makes and converts C values; see the documentation of cffi."""

    NULL: CData
    error: type[Exception]
    def new(self, ctype: str | CType, initializer: Any = ..., /) -> CData: ...
    def cast(self, ctype: str | CType, value: Any, /) -> CData: ...
    def typeof(self, value: Any, /) -> CType: ...
    def sizeof(self, value: Any, /) -> int: ...
    def string(self, cdata: CData, maxlen: int = ..., /) -> bytes: ...
    def buffer(self, cdata: CData, size: int = ..., /) -> Any: ...
    def from_buffer(self, ctype: Any, python_buffer: Any = ..., require_writable: bool = ..., /) -> CData: ...
    def memmove(self, destination: Any, source: Any, size: int, /) -> None: ...
    def gc(self, cdata: CData, destructor: Callable[[CData], Any] | None, size: int = ..., /) -> CData: ...

@final
class Lib:
    """The functions and constants of the public headers."""

'''
_STUB_TAIL = "\nffi: FFI\nlib: Lib\n"

# pycparser knows no system header.
_C_TYPES = "".join(
    f"typedef {base} {name};\n"
    for name, base in [("size_t", "unsigned long"), ("uintptr_t", "unsigned long"), ("bool", "_Bool")]
    + [(f"{sign}int{bits}_t", "long") for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
_FLOATS = {"float", "double"}


def _type_names(tree: c_ast.FileAST) -> dict[str, c_ast.Node]:
    return {node.name: node.type for node in tree.ext if isinstance(node, c_ast.Typedef)}


def _python_type(node: c_ast.Node, typedefs: dict[str, c_ast.Node], *, parameter: bool) -> str:
    """The Python type of a C type: pointers and structs are CData, enums are int, a const char * also takes bytes."""
    if isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        inner = node.type
        text = isinstance(inner, c_ast.TypeDecl) and getattr(inner.type, "names", None) == ["char"]
        return "bytes | CData" if parameter and text else "CData"
    if isinstance(node, c_ast.TypeDecl):
        if isinstance(node.type, c_ast.Enum):
            return "int"
        if isinstance(node.type, c_ast.Struct):
            return "CData"
        names = node.type.names
        if names == ["void"]:
            return "None"
        if len(names) == 1 and names[0] in typedefs:
            return _python_type(typedefs[names[0]], typedefs, parameter=parameter)
        return "float" if _FLOATS & set(names) else "int"
    return "CData"


def _comments(headers: list[Header]) -> dict[str, str]:
    """The doc comment of each name that has one: the last /** */ before its declaration."""
    found = {}
    for header in headers:
        for comment, declaration in _DOCUMENTED.findall(header.text):
            names = re.findall(r"\w+", declaration)
            if names:
                lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment.strip().splitlines()]
                found[names[-1]] = "\n".join(lines).strip()
    return found


def _docstring(text: str, indent: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    body = textwrap.indent(text, indent).strip()
    return f'{indent}"""{body}"""\n' if "\n" not in body else f'{indent}"""{body}\n{indent}"""\n'


def _function(node: c_ast.Decl, typedefs: dict[str, c_ast.Node], comment: str) -> str:
    parameters = ["self"]
    declared = node.type.args.params if node.type.args else []
    for index, parameter in enumerate(declared):
        python_type = _python_type(parameter.type, typedefs, parameter=True)
        if python_type != "None":  # f(void)
            parameters.append(f"{parameter.name or f'argument{index}'}: {python_type}")
    result = _python_type(node.type.type, typedefs, parameter=False)
    head = f"    def {node.name}({', '.join(parameters)}, /) -> {result}:"
    return f"{head}\n{_docstring(comment, ' ' * 8)}        ...\n" if comment else f"{head} ...\n"


def stub(headers: list[Header]) -> str:
    """The text of _native.pyi: every function with its argument names and the comment of the header."""
    source = "".join(header.declarations for header in headers)
    defines = re.findall(r"#[ \t]*define[ \t]+(\w+)", source)
    tree = c_parser.CParser().parse(_C_TYPES + re.sub(r"#[^\n]*", "", source))
    typedefs, comments = _type_names(tree), _comments(headers)
    constants, functions = [f"    {name}: int\n" for name in defines], []
    for node in tree.ext:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            functions.append(_function(node, typedefs, comments.get(node.name, "")))
        elif isinstance(node, c_ast.Typedef) and isinstance(getattr(node.type, "type", None), c_ast.Enum):
            values = node.type.type.values
            constants += [f"    {value.name}: int\n" for value in (values.enumerators if values else [])]
    return _STUB_HEAD + "".join(constants) + "".join(functions) + _STUB_TAIL


def exported_names(module: Path) -> list[str]:
    """The literal __all__ of a Python file, read without running it."""
    for node in ast.parse(module.read_text(encoding="utf-8"), str(module)).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            names: list[str] = ast.literal_eval(node.value)
            return names
    raise HeaderError(f"{module} has no __all__; each operator module lists there what it exports")


def operators_stub(folder: Path) -> str:
    """The text of ops/__init__.pyi: type checkers need the names that the package finds when it is imported."""
    lines, names = [], []
    for module in sorted(folder.glob("[!_]*.py")):
        exported = exported_names(module)
        lines.append(f"from .{module.stem} import {', '.join(f'{name} as {name}' for name in exported)}\n")
        names += exported
    head = '"""The functions of all operators, for type checkers. Made by bindings/generate.py from ops/*.py."""\n\n'
    return head + "".join(lines) + "\n__all__ = [" + ", ".join(f'"{name}"' for name in names) + "]\n"


def write_if_changed(path: Path, text: str) -> None:
    """Leave a file with that text alone, so that nothing which depends on it is built again."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write what was asked for; 1 with one sentence when a header or an operator module cannot be used."""
    parser = argparse.ArgumentParser(prog="generate.py", description="Make the extension from the headers.")
    parser.add_argument("--include", type=Path, action="append", required=True, help="folder of operator_runtime/*.h")
    parser.add_argument("--out", type=Path, help="C source of the extension to write")
    parser.add_argument("--stub", type=Path, help="stub of the extension to write (_native.pyi)")
    parser.add_argument("--ops-stub", type=Path, help="stub of the operators' package to write (ops/__init__.pyi)")
    options = parser.parse_args(arguments)
    makers: list[tuple[Path | None, Any]] = [
        (options.out, lambda: c_source(read_headers(options.include))),
        (options.stub, lambda: stub(read_headers(options.include))),
        (options.ops_stub, lambda: operators_stub(OPERATOR_MODULES)),
    ]
    try:
        for path, make in makers:
            if path is not None:
                write_if_changed(path, make())
    except HeaderError as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
