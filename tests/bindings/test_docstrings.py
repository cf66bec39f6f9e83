"""Every example in the documentation of the package runs, and every public function is documented to the end."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target


def modules(oprt: Any) -> list[ModuleType]:
    found = [
        info.name for info in pkgutil.walk_packages(oprt.__path__, "operator_runtime.") if "__main__" not in info.name
    ]
    return [oprt, *map(importlib.import_module, found)]


def test_examples(oprt: Any, selected: Target) -> None:
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    available = {backend for backend, device in oprt.available() if device == "emulator"}
    for module in modules(oprt):
        for example in finder.find(module, module.__name__, extraglobs={"oprt": oprt, "np": np}):
            if available.issuperset(name for name in oprt.backends() if f'"{name}"' in (example.docstring or "")):
                runner.run(example)
    results = runner.summarize(verbose=False)
    assert results.attempted > 20
    assert results.failed == 0


def public_functions(oprt: Any) -> list[str]:
    return [name for name in oprt.__all__ if inspect.isfunction(inspect.unwrap(getattr(oprt, name)))]


def test_functions_are_documented(oprt: Any) -> None:
    for name in public_functions(oprt):
        function = inspect.unwrap(getattr(oprt, name))
        text = inspect.getdoc(function) or ""
        signature = inspect.signature(function)
        first = text.split("\n", 1)[0]
        assert first.endswith("."), f"{name} does not begin with one sentence"
        if hasattr(oprt.ops, name):
            for section in ("Parameters", "Returns", "Raises", "Examples"):
                assert f"{section}\n---" in text, f"{name} has no {section}"
        for parameter in signature.parameters if "Parameters\n---" in text else ():
            assert parameter in text, f"{name} does not explain {parameter}"


def test_operators_are_found_in_their_modules(oprt: Any) -> None:
    for operator in oprt.operators():
        assert {operator, f"prepare_{operator}"} <= set(oprt.ops.__all__), operator
    assert set(oprt.ops.__all__) <= set(oprt.__all__) <= set(dir(oprt))


@pytest.mark.parametrize("name", ["DeviceProperties", "KernelInfo"])
def test_structures_have_the_fields_of_c(oprt: Any, name: str) -> None:
    from operator_runtime._native import ffi

    c_name = {"DeviceProperties": "oprt_device_properties_t", "KernelInfo": "oprt_kernel_info_t"}[name]
    declared = [field for field, _ in ffi.typeof(c_name).fields]
    assert declared == ["struct_size", *getattr(oprt, name).__dataclass_fields__]


def test_status_has_the_values_of_c(oprt: Any) -> None:
    from operator_runtime._native import ffi

    declared = {value: name.removeprefix("OPRT_") for value, name in ffi.typeof("oprt_status_t").elements.items()}
    assert {status.value: status.name for status in oprt.Status} == {
        value: name.removeprefix("ERR_") for value, name in declared.items()
    }
