"""The session `new-operator`: write every file of a new operator by renaming those of one that works.

The result builds and computes what its model computes; what it shall compute is then edited in by hand.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
import typing
from collections.abc import Callable, Iterator
from pathlib import Path

from .arguments import Options
from .project import ROOT, Failure, Operator, operators

if typing.TYPE_CHECKING:
    import nox

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Code that every operator uses: its names are not the model's, even where they contain the model's name.
SHARED = (
    "runtime/include/operator_runtime/*.h",
    "runtime/src/*.h",
    "backends/*.h",
    "backends/*/include/**/*.h",
    "operators/shared/*.h",
    "operators/elementwise/*.h",
    "bindings/operator_runtime/*.py",
    "tests/harness/*.py",
    "tests/bench/__init__.py",
)
C_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
RESERVED = re.compile(  # words of C++ that are none of Python, and the folders of operators/ that are no operators
    "alignas|auto|bool|case|catch|char|const|default|delete|do|double|enum|explicit|export|extern|false|float|friend|"
    "goto|inline|int|long|mutable|namespace|new|operator|private|protected|public|register|short|signed|sizeof|static|"
    "struct|switch|template|this|throw|true|typedef|typename|union|unsigned|using|virtual|void|volatile|"
    "shared|elementwise"
)


def new_operator(session: nox.Session, options: Options, root: Path = ROOT) -> None:
    name = options.name
    if not name:
        raise Failure("name the operator: nox -s new-operator -- --name gelu --like relu")
    known = operators(root)
    model = known[options.like]
    _check_name(name, set(known))
    files = {path: target(path, model.name, name) for path in model_files(model, root)}
    there = [path for path in files.values() if (root / path).exists()]
    if there:
        raise Failure(f"nothing was written, because {there[0]} is there already")
    foreign = foreign_words(root)
    for source, path in files.items():
        text = rename((root / source).read_text(), model.name, name, foreign, python=source.suffix == ".py")
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with (root / path).open("x") as file:
            file.write(text)
        session.log(f"wrote {path}")
    for line in _what_to_edit(model, name, root):
        session.log(line)


def _check_name(name: str, known: set[str]) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise Failure(
            f"{name!r} is no name for an operator: small letters, digits and single underscores, such as reduce_max"
        )
    if keyword.iskeyword(name) or RESERVED.fullmatch(name):
        raise Failure(f"{name!r} is a word of C++ or Python or of this project: choose another")
    if name in known:
        raise Failure(f"there is an operator {name} already")


def model_files(model: Operator, root: Path = ROOT) -> Iterator[Path]:
    """Every file that belongs to one operator, relative to the root."""
    for path in sorted(model.folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root)
    for path in (
        f"runtime/include/operator_runtime/ops/{model.name}.h",
        f"bindings/operator_runtime/ops/{model.name}.py",
        f"tests/cases/{model.name}.py",
        f"tests/op_tests/test_{model.name}.py",
        f"tests/bench/{model.name}.py",
    ):
        if (root / path).is_file():
            yield Path(path)


def target(path: Path, model: str, name: str) -> Path:
    """Where the new operator's counterpart of a file lies."""
    return Path(*(WORD.sub(lambda word: _renamed(word[0], model, name), part) for part in path.parts))


def rename(text: str, model: str, name: str, foreign: frozenset[str] = frozenset(), *, python: bool = False) -> str:
    """The text with the model's name replaced where it is a whole part of a word: relu, relu_plan, RELU."""

    def replace(match: re.Match[str]) -> str:
        word = match[0]
        before, after = text[: match.start()], text[match.end() :]
        if word == model:
            # x.copy(), table->copy, std::copy and copy=True are not the operator; oprt.copy is.
            member = re.search(r"(\w*)(?:\.|->|::)$", before)
            if member and member[1] not in ("oprt", "operator_runtime", "ops", "cases"):
                return word
            return word if python and re.match(r"=[^=\s]", after) else name
        return word if word in foreign else _renamed(word, model, name)

    renamed = WORD.sub(replace, text)
    if "_" in model:  # prose: "vector add", "vector-add"
        spaced = re.compile(rf"\b{model.replace('_', '[ -]')}\b")
        renamed = spaced.sub(name.replace("_", " "), renamed)
    return renamed


def _renamed(word: str, model: str, name: str) -> str:
    """One word: snake case and capitals between underscores, CamelCase between capitals."""
    for old, new in ((model, name), (model.upper(), name.upper())):
        word = re.sub(rf"(?<![A-Za-z0-9]){old}(?![A-Za-z0-9])", new, word)
    return re.sub(rf"(?<![A-Z]){_camel(model)}(?![a-z])", _camel(name), word)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def foreign_words(root: Path) -> frozenset[str]:
    """Words in the code (not the comments) that all operators share, and the names of its files."""
    words: set[str] = set()
    for pattern in SHARED:
        for path in root.glob(pattern):
            read: Callable[[str], set[str]] = _python_words if path.suffix == ".py" else _c_words
            words |= {path.stem, *read(path.read_text())}
    return frozenset(words)


def _c_words(text: str) -> set[str]:
    return set(WORD.findall(C_NOISE.sub(" ", text)))


def _python_words(text: str) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def _what_to_edit(model: Operator, name: str, root: Path) -> list[str]:
    folder = target(model.folder.relative_to(root), model.name, name)
    kernels = (
        [f"{folder}/{name}_function.h or the functor in {folder}/nvidia and {folder}/metax: what one element becomes"]
        if model.elementwise
        else [
            f"{folder}/nvidia/kernel.cuh, {folder}/metax/{name}_metax.maca, techniques/: the kernels; delete "
            "the techniques that do not fit"
        ]
    )
    return [
        f"{name} computes what {model.name} computes now; nox -s test -- --op {name} passes as it is. Edit, "
        "in this order:",
        f"1. runtime/include/operator_runtime/ops/{name}.h: what it computes, its parameters, its errors",
        f"2. tests/cases/{name}.py: the reference in float64, the cases, the tolerance",
        f"3. {folder}/{name}.h and {folder}/{name}.cc: the plan and the checks",
        *(f"4. {line}" for line in kernels),
        f"5. bindings/operator_runtime/ops/{name}.py and tests/bench/{name}.py: the Python call and the "
        "shapes that are timed",
        "6. the operator table of README.md; nox -s lint -- --fix puts the formatting right",
    ]
