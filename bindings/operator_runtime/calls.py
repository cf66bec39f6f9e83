"""How an operator is called from Python, the same for all of them: arrays to operands, a descriptor, a launch.

An operator's own module (ops/<op>.py) says what its inputs and parameters are; all checks of values are C's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from operator_runtime import arrays, dtypes, graph, layout
from operator_runtime._native import ffi
from operator_runtime.descriptors import Descriptor, Functions, cached, find
from operator_runtime.errors import OperatorRuntimeError, Status, invalid, wrong_type
from operator_runtime.layout import Shape
from operator_runtime.operand import Operand, Signature
from operator_runtime.prepared import Prepared
from operator_runtime.selection import ANY_BACKEND, Place, choose, defaults, resolve
from operator_runtime.staging import Staging
from operator_runtime.stream import DEFAULT_STREAM, Stream, StreamOfCall, order, stream_of_argument
from operator_runtime.tensor import Tensor

Parameters = tuple[Any, ...]


def broadcast(shapes: Sequence[Shape], parameters: Parameters) -> Shape:
    """The result's shape of an operator that works element by element."""
    return layout.broadcast_shape(*shapes)


def as_given(parameters: Parameters) -> Sequence[Any]:
    """C arguments that are the parameters themselves."""
    return parameters


class Operator:
    """One operator of the C library.

    Parameters
    ----------
    name : str
        As in `oprt_create_<name>_descriptor`.
    inputs : names of its inputs, in C's order
    result_shape : function of the inputs' shapes and the parameters
        Need not check anything: a shape that cannot be right is refused by C.
    c_arguments : function of the parameters
        What the create function takes after the tensors. Called once a descriptor.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[str],
        *,
        result_shape: Callable[[Sequence[Shape], Parameters], Shape] = broadcast,
        c_arguments: Callable[[Parameters], Sequence[Any]] = as_given,
    ) -> None:
        self.name = name
        self._input_names = tuple(inputs)
        self._inputs_at = [arrays.Where(name, each) for each in inputs]
        self._output_at = arrays.Where(name, "out")
        self._result_shape = result_shape
        self._c_arguments = c_arguments
        self._functions: Functions | None = None

    def call(
        self,
        arguments: Sequence[Any],
        parameters: Parameters = (),
        *,
        out: Any = None,
        dtype: object = None,
        backend: str | None = None,
        device: str | None = None,
        stream: object = None,
    ) -> Any:
        """Run the operator and return its result: out if given, else a new array of the first input's library.

        parameters have to be hashable and to differ, as dictionary keys, wherever the operator differs.
        """
        is_usual = type(out) is Tensor and dtype is None and backend is None and device is None
        if is_usual and self._run_again(out, arguments, parameters, stream):
            return out
        inputs, code = self._read_inputs(arguments, dtype)
        output = None if out is None else self._read_output(out, code)
        place = self._place(inputs, output, backend, device, stream)
        if inputs[0].host is not None:
            return self._call_on_host(inputs, output, parameters, place, stream)
        if output is None:
            shape = self._result_shape([operand.shape for operand in inputs], parameters)
            wanted = Signature.of(inputs[0].code, shape, layout.contiguous_strides(shape))
        else:
            wanted = output.signature
        descriptor = self._descriptor(place, [wanted, *(operand.signature for operand in inputs)], parameters, inputs)
        queue = stream_of_call(self.name, inputs if output is None else [*inputs, output], place, stream)
        if output is None:
            # A captured call runs later, on any stream; the keys of other libraries' streams may come again.
            may_be_kept = graph.current.graph is None and queue.key <= 0
            out = arrays.new_result(inputs[0], wanted.shape, place, queue.key if may_be_kept else None)
            output = arrays.read_at(out, self._output_at, wanted.code)
            _wait_until_ready([output], queue, place)
        descriptor.run([output.pointer, *(operand.pointer for operand in inputs)], queue.cdata, queue.key)
        note_use([out, *arguments], queue, descriptor)
        return out

    def _run_again(self, out: Tensor, arguments: Sequence[Any], parameters: Parameters, stream: object) -> bool:
        """The usual call, made short: open tensors of one place, for whose layouts this thread has a descriptor.

        Whatever else a call may be is left, by answering False, to the long way, which says what is wrong with it.
        """
        if graph.current.graph is not None or not out._memory._open:
            return False
        output, memories = out._operand, [out._memory]
        place, pointers = output.place, [output.pointer]
        key = [self.name, place, defaults.kernels, parameters, output.signature]
        for array in arguments:
            if type(array) is not Tensor or array._operand.place is not place or not array._memory._open:
                return False
            operand = array._operand
            key.append(operand.signature)
            pointers.append(operand.pointer)
            memories.append(array._memory)
        queue, stream_key = ffi.NULL, 0
        last_stream: Stream | int = 0
        if stream is not None:
            if type(stream) is not Stream or not stream._open or stream.place is not place:
                return False
            queue, stream_key, last_stream = stream._cdata, -stream.serial, stream
        descriptor = find(tuple(key))
        if descriptor is None:
            return False
        descriptor.run(pointers, queue, stream_key)
        for memory in memories:
            memory.last_stream = last_stream
            if memory.only_stream != stream_key:
                memory.only_stream = None
        return True

    def prepare(
        self,
        out: Any,
        arguments: Sequence[Any],
        parameters: Parameters = (),
        *,
        dtype: object = None,
        backend: str | None = None,
        device: str | None = None,
        stream: object = None,
    ) -> Prepared:
        """Bind the operator to its arrays."""
        inputs, code = self._read_inputs(arguments, dtype)
        output = self._read_output(out, code)
        operands = [output, *inputs]
        place = self._place(inputs, output, backend, device, stream)
        queue = stream_of_call(self.name, operands, place, stream)
        borrowed = [out, *arguments]
        if output.host is None:
            descriptor = self._new_descriptor(place, [operand.signature for operand in operands], parameters, operands)
            note_use(borrowed, queue, descriptor)
            _note_that_more_follows(borrowed)
            pointers = [operand.pointer for operand in operands]
            return Prepared(self.name, descriptor, pointers, queue, borrowed, None)
        staging = self._staging(operands, parameters, place)
        descriptor = self._new_descriptor(place, staging.signatures, parameters, operands)
        return Prepared(self.name, descriptor, staging.allocate(place), queue, borrowed, staging)

    def _read_inputs(self, arguments: Sequence[Any], dtype: object) -> tuple[list[Operand], int | None]:
        code = None if dtype is None else dtypes.parse(dtype).code
        placed = zip(arguments, self._inputs_at, strict=True)
        return [arrays.read_at(array, where, code) for array, where in placed], code

    def _read_output(self, out: Any, code: int | None) -> Operand:
        output = arrays.read_at(out, self._output_at, code)
        if not output.writable:
            raise invalid(f"{self.name}: out is read-only")
        return output

    def _place(
        self, inputs: Sequence[Operand], output: Operand | None, backend: str | None, device: str | None, stream: object
    ) -> Place:
        operands = inputs if output is None else [*inputs, output]
        on_host = operands[0].place is None
        for operand in operands:
            if (operand.place is None) is not on_host:
                raise self._mixed(operands)
        return place_of_call(operands, backend, device, stream)

    def _mixed(self, operands: Sequence[Operand]) -> OperatorRuntimeError:
        memories = ("host memory" if operand.place is None else "device memory" for operand in operands)
        there = ", ".join(map(" is in ".join, zip([*self._input_names, "out"], memories, strict=False)))
        return wrong_type(f"{self.name}: {there}; move one with from_numpy() or .numpy()")

    def _descriptor(
        self, place: Place, signatures: Sequence[Signature], parameters: Parameters, operands: Sequence[Operand]
    ) -> Descriptor:
        key = (self.name, place, defaults.kernels, parameters, *signatures)
        return cached(key, lambda: self._new_descriptor(place, signatures, parameters, operands))

    def _new_descriptor(
        self, place: Place, signatures: Sequence[Signature], parameters: Parameters, operands: Sequence[Operand]
    ) -> Descriptor:
        if self._functions is None:
            self._functions = Functions.of(self.name)
        try:
            return Descriptor(self.name, self._functions, place, signatures, self._c_arguments(parameters))
        except OperatorRuntimeError as error:
            opaque = {str(operand.numpy_dtype) for operand in operands if dtypes.is_opaque(operand.code)}
            if error.status != Status.UNSUPPORTED_DTYPE or not opaque:
                raise
            # C knows only the size of a dtype that it has no name for.
            raise type(error)(f"{error} (an array holds {', '.join(sorted(opaque))})", error.status) from None

    def _staging(self, operands: Sequence[Operand], parameters: Parameters, place: Place) -> Staging:
        """The way to the device, after C has judged the arrays as they lie on the host."""
        self._descriptor(place, [operand.signature for operand in operands], parameters, operands)
        return Staging(operands)

    def _call_on_host(
        self, inputs: list[Operand], output: Operand | None, parameters: Parameters, place: Place, stream: object
    ) -> Any:
        if graph.current.graph is not None:
            raise invalid(f"{self.name}: host arrays cannot be captured in a graph; use tensors in device memory")
        if output is None:
            shape = self._result_shape([operand.shape for operand in inputs], parameters)
            wanted = Signature.of(inputs[0].code, shape, layout.contiguous_strides(shape))
            self._descriptor(place, [wanted, *(operand.signature for operand in inputs)], parameters, inputs)
            output = arrays.read_at(arrays.new_result(inputs[0], shape, place), self._output_at, inputs[0].code)
        queue = stream_of_call(self.name, inputs, place, stream)
        staging = self._staging([output, *inputs], parameters, place)
        descriptor = self._descriptor(place, staging.signatures, parameters, inputs)
        try:
            pointers = staging.allocate(place)
            staging.bring_in(queue.cdata)
            descriptor.run(pointers, queue.cdata, queue.key)
            staging.bring_back(queue.cdata)
        finally:
            staging.close()
        return output.array


def place_of_call(operands: Sequence[Operand], backend: str | None, device: str | None, stream: object) -> Place:
    """Where a call runs: what was named, else where its operands or its stream are, else the thread's default."""
    first = operands[0].place
    if first is not None and backend is None and device is None and first.backend != ANY_BACKEND:
        return first  # the usual call, spared the choice
    stream_place = stream.place if isinstance(stream, Stream) else None
    return resolve(choose(backend, device, *(operand.place for operand in operands), stream_place))


def stream_of_call(operator: str, operands: Sequence[Operand], place: Place, stream: object) -> StreamOfCall:
    """The argument, else the current stream of the library that made an array, else what its interface names."""
    if stream is not None:
        queue = stream_of_argument(stream, place, operator)
    else:
        queue = DEFAULT_STREAM
        for operand in operands:
            handle = arrays.current_stream(operand)
            if handle is not None:
                queue = StreamOfCall.of(handle)
                break
    _wait_until_ready(operands, queue, place)
    return queue


def _wait_until_ready(operands: Sequence[Operand], queue: StreamOfCall, place: Place) -> None:
    """Let the call's stream wait for those that its arrays' interfaces name."""
    for operand in operands:
        if operand.ready_on is not None and operand.host is None:
            order(operand.ready_on, queue.stream, place)


def _note_that_more_follows(used: Sequence[Any]) -> None:
    """Work with these arrays will be queued again, nobody knows on which stream."""
    for array in used:
        if type(array) is Tensor:
            array._memory.only_stream = None


def note_use(used: Sequence[Any], stream: StreamOfCall, *kept: object) -> None:
    """Remember what other libraries, and a graph that is being captured, have to know about a call."""
    for array in used:
        if type(array) is Tensor:
            memory = array._memory
            memory.last_stream = stream.stream
            if memory.only_stream != stream.key:
                memory.only_stream = None
    if graph.current.graph is not None:
        _note_that_more_follows(used)
        graph.current.graph.keep(*kept, *used)
