"""Handles and buffers at the C boundary: what a C program can get wrong, for every operator.

Shapes that no descriptor may have are refused cases of the records (cases/).
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness.c_api import Library
from tests.harness.formats import FORMATS
from tests.harness.record import View, load_record, operator_names
from tests.harness.targets import Target

OPERATORS = operator_names()
INVALID_HANDLE = "OPRT_ERR_INVALID_HANDLE"
INVALID_ARGUMENT = "OPRT_ERR_INVALID_ARGUMENT"
every_operator = pytest.mark.parametrize("op", OPERATORS)


@pytest.fixture
def library() -> Library:
    return Library()


def execute(
    library: Library, op: str, handle: Any, pointers: list[Any], workspace: Any = None, size_bytes: int = 0
) -> Any:
    null = library.ffi.NULL
    return library.call(f"execute_{op}", handle, null if workspace is None else workspace, size_bytes, *pointers, null)


def moved(library: Library, pointer: Any, offset_bytes: int) -> Any:
    return library.ffi.cast("void *", library.ffi.cast("char *", pointer) + offset_bytes)


def test_every_operator_has_a_record(oprt: Any) -> None:
    assert sorted(oprt.operators()) == OPERATORS


@every_operator
def test_valid_call_succeeds(selected: Target, library: Library, op: str) -> None:
    views = load_record(op).valid_views
    with library.descriptor(op) as handle, library.operands(views) as pointers:
        size_bytes = library.workspace_size(op, handle)
        with library.memory(size_bytes) as workspace:
            assert execute(library, op, handle, pointers, workspace, size_bytes).ok
        library.must("synchronize_device")


@every_operator
def test_null_arguments_are_refused(selected: Target, library: Library, op: str) -> None:
    null, views = library.ffi.NULL, load_record(op).valid_views
    tensors = [library.tensor(view) for view in views]
    arguments = load_record(op).descriptor_arguments(library.ffi, load_record(op).valid_parameters)
    answer = library.call(f"create_{op}_descriptor", null, *tensors, *arguments)
    assert answer.status == INVALID_ARGUMENT and op in answer.message
    for position in range(len(tensors)):
        handle = library.ffi.new("oprt_descriptor_t *", library.ffi.cast("oprt_descriptor_t", 1))
        given = [null if index == position else tensor for index, tensor in enumerate(tensors)]
        answer = library.call(f"create_{op}_descriptor", handle, *given, *arguments)
        assert answer.status == INVALID_ARGUMENT and op in answer.message
        assert handle[0] == null
    with library.descriptor(op) as handle:
        assert library.call(f"get_{op}_workspace_size", handle, null).status == INVALID_ARGUMENT


@every_operator
def test_null_handle(selected: Target, library: Library, op: str) -> None:
    null, views = library.ffi.NULL, load_record(op).valid_views
    size = library.ffi.new("size_t *", 7)
    assert library.call(f"get_{op}_workspace_size", null, size).status == INVALID_HANDLE
    assert size[0] == 0
    assert execute(library, op, null, [null] * len(views)).status == INVALID_HANDLE
    assert library.call(f"destroy_{op}_descriptor", null).ok


@every_operator
def test_destroyed_handle(selected: Target, library: Library, op: str) -> None:
    views = load_record(op).valid_views
    with library.descriptor(op) as handle, library.operands(views) as pointers:
        pass
    answers = [
        library.call(f"destroy_{op}_descriptor", handle),
        execute(library, op, handle, pointers),
        library.call(f"get_{op}_workspace_size", handle, library.ffi.new("size_t *")),
    ]
    assert [answer.status for answer in answers] == [INVALID_HANDLE] * 3
    assert all(op in answer.message for answer in answers)


@every_operator
def test_handle_of_the_past_is_not_taken_for_a_new_one(selected: Target, library: Library, op: str) -> None:
    with library.descriptor(op) as old:
        pass
    with library.descriptor(op) as new:
        assert new != old
        assert library.call(f"destroy_{op}_descriptor", old).status == INVALID_HANDLE


@every_operator
@pytest.mark.parametrize("value", [1, 0xDEADBEEF, 2**63 - 8, 2**64 - 1])
def test_any_value_as_a_handle(selected: Target, library: Library, op: str, value: int) -> None:
    handle = library.ffi.cast("oprt_descriptor_t", value)
    assert library.call(f"destroy_{op}_descriptor", handle).status == INVALID_HANDLE


@every_operator
def test_handle_of_another_operator(selected: Target, library: Library, op: str) -> None:
    other = OPERATORS[OPERATORS.index(op) - 1]
    views = load_record(op).valid_views
    with library.descriptor(other) as handle, library.operands(views) as pointers:
        answers = [
            execute(library, op, handle, pointers),
            library.call(f"get_{op}_workspace_size", handle, library.ffi.new("size_t *")),
            library.call(f"destroy_{op}_descriptor", handle),
        ]
    assert [answer.status for answer in answers] == [INVALID_HANDLE] * 3
    assert all(op in answer.message and other in answer.message for answer in answers)


@every_operator
def test_null_pointers_are_refused(selected: Target, library: Library, op: str) -> None:
    views = load_record(op).valid_views
    with library.descriptor(op) as handle, library.operands(views) as pointers:
        size_bytes = library.workspace_size(op, handle)
        with library.memory(size_bytes) as workspace:
            for position in range(len(pointers)):
                given = [library.ffi.NULL if index == position else pointer for index, pointer in enumerate(pointers)]
                answer = execute(library, op, handle, given, workspace, size_bytes)
                assert answer.status == INVALID_ARGUMENT and op in answer.message


@every_operator
def test_empty_tensors_need_no_pointer(selected: Target, library: Library, op: str) -> None:
    views = [View((0, *view.shape[1:])) for view in load_record(op).valid_views]
    parameters = {**load_record(op).valid_parameters, **({"axis": ()} if op == "reduce_sum" else {})}
    if op == "reduce_sum":
        views = [views[1], views[1]]
    with library.descriptor(op, views, parameters) as handle:
        assert execute(library, op, handle, [library.ffi.NULL] * len(views)).ok


@every_operator
def test_misaligned_pointers_are_refused(selected: Target, library: Library, op: str) -> None:
    views = load_record(op).valid_views
    with library.descriptor(op) as handle, library.operands([View((8, 64))] * len(views)) as pointers:
        size_bytes = library.workspace_size(op, handle)
        with library.memory(size_bytes) as workspace:
            for position in range(len(pointers)):
                given = [
                    moved(library, pointer, 2) if index == position else pointer
                    for index, pointer in enumerate(pointers)
                ]
                answer = execute(library, op, handle, given, workspace, size_bytes)
                assert answer.status == INVALID_ARGUMENT and "align" in answer.message


@every_operator
@pytest.mark.parametrize("shift", [4, 64, -4])
def test_overlap_of_output_and_input_is_refused(selected: Target, library: Library, op: str, shift: int) -> None:
    views = load_record(op).valid_views
    with library.descriptor(op) as handle, library.operands([View((16, 64))] * len(views)) as pointers:
        size_bytes = library.workspace_size(op, handle)
        with library.memory(size_bytes) as workspace:
            for position in range(1, len(pointers)):
                middle = moved(library, pointers[position], 1024)
                given = [moved(library, middle, shift), *pointers[1:]]
                given[position] = middle
                answer = execute(library, op, handle, given, workspace, size_bytes)
                assert answer.status == INVALID_ARGUMENT and "overlap" in answer.message


def test_interleaved_views_count_as_overlapping(selected: Target, library: Library) -> None:
    view = View((64,), strides=(2,))
    with library.descriptor("copy", (view, view)) as handle, library.memory(1024) as pointer:
        answer = execute(library, "copy", handle, [moved(library, pointer, 4), pointer])
    assert answer.status == INVALID_ARGUMENT and "overlap" in answer.message


@pytest.mark.parametrize("op", ["copy", "relu", "softmax", "vector_add"])
def test_same_memory_with_other_strides_is_refused(selected: Target, library: Library, op: str) -> None:
    square, turned = View((8, 8)), View((8, 8), strides=(1, 8))
    views = (square, turned, square)[: len(load_record(op).valid_views)]
    with library.descriptor(op, views) as handle, library.memory(256) as pointer, library.memory(256) as other:
        answer = execute(library, op, handle, [pointer, pointer, other][: len(views)])
    assert answer.status == INVALID_ARGUMENT and "overlap" in answer.message


def test_reduce_sum_in_place_is_refused(selected: Target, library: Library) -> None:
    with (
        library.descriptor("reduce_sum", (View((8,)), View((8,))), {"axis": ()}) as handle,
        library.memory(256) as pointer,
    ):
        answer = execute(library, "reduce_sum", handle, [pointer, pointer])
    assert answer.status == INVALID_ARGUMENT and "overlap" in answer.message


@every_operator
def test_host_memory_is_refused(selected: Target, library: Library, op: str) -> None:
    views = load_record(op).valid_views
    host = library.ffi.new("float[]", 1024)
    with library.descriptor(op) as handle, library.operands(views) as pointers:
        size_bytes = library.workspace_size(op, handle)
        with library.memory(size_bytes) as workspace:
            answer = execute(
                library, op, handle, [library.ffi.cast("void *", host), *pointers[1:]], workspace, size_bytes
            )
    assert answer.status == INVALID_ARGUMENT and op in answer.message


def needing_workspace(library: Library) -> tuple[str, list[View], dict[str, Any]] | None:
    """An operator and shapes that need a workspace on this target."""
    many = [
        ("reduce_sum", [View(()), View((1 << 22,))], {"axis": None}),
        ("reduce_sum", [View((2,)), View((2, 1 << 21))], {"axis": 1}),
        ("softmax", [View((1, 1 << 21))] * 2, {"axis": -1}),
    ]
    for op, views, parameters in many:
        with library.descriptor(op, views, parameters) as handle:
            if library.workspace_size(op, handle):
                return op, views, parameters
    return None


def test_workspace_is_checked(selected: Target, library: Library) -> None:
    found = needing_workspace(library)
    if found is None:
        pytest.skip(f"no operator needs a workspace on {selected}")
    op, views, parameters = found
    too_small, null = "OPRT_ERR_INSUFFICIENT_WORKSPACE", library.ffi.NULL
    with library.descriptor(op, views, parameters) as handle, library.memory(64) as y, library.memory(1 << 24) as x:
        size_bytes = library.workspace_size(op, handle)
        with library.memory(size_bytes + 512) as workspace:
            assert execute(library, op, handle, [y, x], workspace, size_bytes - 1).status == too_small
            assert execute(library, op, handle, [y, x], null, size_bytes).status == too_small
            assert execute(library, op, handle, [y, x], null, 0).status == too_small
            assert (
                execute(library, op, handle, [y, x], moved(library, workspace, 4), size_bytes).status
                == INVALID_ARGUMENT
            )
            assert execute(library, op, handle, [y, x], x, size_bytes).status == INVALID_ARGUMENT
            assert execute(library, op, handle, [y, x], workspace, size_bytes).ok
        library.must("synchronize_device")


@every_operator
def test_message_says_what_came_and_what_was_wanted(selected: Target, library: Library, op: str) -> None:
    views = list(load_record(op).valid_views)
    views[0] = View((4, 65))
    answer, _ = library.create(load_record(op), views, load_record(op).valid_parameters)
    assert answer.status == INVALID_ARGUMENT
    for piece in (op, "y", "[4, 65]"):
        assert piece in answer.message


def test_success_leaves_the_message(selected: Target, library: Library) -> None:
    assert not library.call("destroy_copy_descriptor", library.ffi.cast("oprt_descriptor_t", 1)).ok
    before = library.ffi.string(library.lib.oprt_last_error_message())
    library.must("destroy_copy_descriptor", library.ffi.NULL)
    assert library.ffi.string(library.lib.oprt_last_error_message()) == before


def test_null_outputs_of_device_functions(selected: Target, library: Library) -> None:
    null = library.ffi.NULL
    functions = (
        "get_device",
        "create_stream",
        "create_event",
        "get_device_properties",
        "get_kernel_count",
        "get_module_path",
    )
    for function in functions:
        arguments = (null, null) if function == "get_device" else (null,)
        assert library.call(function, *arguments).status == INVALID_ARGUMENT, function
    assert library.call("allocate_memory", null, 16).status == INVALID_ARGUMENT


def test_wrong_values_of_device_functions(selected: Target, library: Library) -> None:
    ffi, lib = library.ffi, library.lib
    size = ffi.new("size_t *")
    assert library.call("dtype_size", size, ffi.cast("oprt_dtype_t", 99)).status == "OPRT_ERR_UNSUPPORTED_DTYPE"
    assert library.call("set_backend", ffi.cast("oprt_backend_t", 99)).status == INVALID_ARGUMENT
    assert library.call("set_device", ffi.cast("oprt_device_kind_t", 99), 0).status == INVALID_ARGUMENT
    assert library.call("set_device", lib.OPRT_DEVICE_EMULATOR, 1).status == INVALID_ARGUMENT
    assert library.call("free_memory", ffi.cast("void *", 4096)).status == INVALID_ARGUMENT
    count = ffi.new("int32_t *")
    assert (
        library.call("get_device_count", count, lib.OPRT_BACKEND_NVIDIA, lib.OPRT_DEVICE_AUTO).status
        == INVALID_ARGUMENT
    )
    info = ffi.new("oprt_kernel_info_t *")
    info.struct_size = ffi.sizeof("oprt_kernel_info_t")
    assert library.call("get_kernel_info", info, -1).status == INVALID_ARGUMENT
    assert library.call("get_kernel_info", info, 10**6).status == INVALID_ARGUMENT


@pytest.mark.parametrize("dtype", FORMATS)
def test_dtype_sizes_and_names(library: Library, dtype: str) -> None:
    value = getattr(library.lib, f"OPRT_DTYPE_{dtype.upper()}")
    size = library.ffi.new("size_t *")
    library.must("dtype_size", size, value)
    assert size[0] == FORMATS[dtype].size_bytes
    assert library.ffi.string(library.lib.oprt_dtype_name(value)).decode() == dtype


def test_unknown_values_have_names(library: Library) -> None:
    ffi, lib = library.ffi, library.lib
    assert ffi.string(lib.oprt_status_name(ffi.cast("oprt_status_t", 99))) == b"OPRT_STATUS_UNKNOWN"
    assert ffi.string(lib.oprt_backend_name(ffi.cast("oprt_backend_t", 99))) == b"unknown"
    assert ffi.string(lib.oprt_dtype_name(ffi.cast("oprt_dtype_t", 99))) == b"unknown"
