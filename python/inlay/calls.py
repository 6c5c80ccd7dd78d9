# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Framework calls as text: what an `inlay.opaque` op's `call` holds, and how the framework makes the call.

`{"op": "aten::where", "overload": "self", "args": [{"operand": 0}, 1.5, ...], "kwargs": {...}}`. Numbers, booleans,
strings, null and lists stand for themselves; `{"operand": n}` is the n-th tensor operand; `{"dtype": "float32"}`,
`{"device": "cpu"}`, `{"layout": "strided"}`, `{"memory_format": "contiguous_format"}` and `{"float": "inf"}` name what
JSON can't hold. `"results": [0, 2]` are the numbers of the results that are wanted, of a call that gives several.
"""

import functools
import json
import math

import torch

from .errors import Error, UnsupportedError
from .text import tensor_text


def encode_call(op, args, kwargs, operand, used=None):
    """The call as JSON.

    operand(value): the number of a tensor operand, or None if `value` is not one; used: numbers of the results that are
    wanted, of a call that gives several.
    """

    def encode(value):
        number = operand(value)
        if number is not None:
            return {"operand": number}
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, (list, tuple)):
            return [encode(element) for element in value]
        for kind, cls in _NAMED.items():
            if isinstance(value, cls):
                return {kind: str(value).removeprefix("torch.")}
        raise UnsupportedError(
            f"{op} takes a {type(value).__name__} ({value}), which no call into PyTorch can pass yet"
        )

    call = {"op": op._schema.name, "overload": op._overloadname, "args": [encode(arg) for arg in args]}
    if kwargs:
        call["kwargs"] = {name: encode(value) for name, value in kwargs.items()}
    if used is not None:
        call["results"] = used
    return json.dumps(call)


def flatten_results(results):
    """The tensors among a call's results, in order: lists are flattened, None is left out."""
    if isinstance(results, (list, tuple)):
        return [tensor for result in results for tensor in flatten_results(result)]
    return [results] if isinstance(results, torch.Tensor) else []


def run_call(call, inputs, outputs):
    """Makes the call described by the JSON text `call` and copies its tensor results into `outputs`.

    inputs, outputs: torch tensors that may share memory with the program's buffers; inputs are not written.
    Raises Error if the results' number, dtypes or shapes are not those of `outputs`.
    """
    op, args, kwargs, used = _decode_call(call)
    with torch.no_grad():
        results = op(*_bind(args, inputs), **_bind(kwargs, inputs))
        results = flatten_results(results if used is None else [results[number] for number in used])
        if len(results) != len(outputs):
            raise Error(f"{op}: expected {len(outputs)} tensor results, but PyTorch gave {len(results)}")
        for number, (output, result) in enumerate(zip(outputs, results, strict=True)):
            if result.dtype != output.dtype or result.shape != output.shape:
                wanted, got = (tensor_text(t.dtype, t.shape) for t in (output, result))
                raise Error(f"{op}: expected result {number} to be {wanted}, but PyTorch gave {got}")
            output.copy_(result)


_NAMED = {
    "dtype": torch.dtype,
    "device": torch.device,
    "layout": torch.layout,
    "memory_format": torch.memory_format,
}


class _Operand(int):
    """Stands for the operand of that number."""


@functools.lru_cache(maxsize=4096)
def _decode_call(call):
    parsed = json.loads(call)
    namespace, _, name = parsed["op"].partition("::")
    packet = getattr(getattr(torch.ops, namespace), name, None)
    if packet is None:
        raise Error(f"PyTorch has no operator {parsed['op']}: import the module that registers it")
    op = getattr(packet, parsed["overload"] or "default")
    kwargs = {name: _decode(value) for name, value in parsed.get("kwargs", {}).items()}
    return op, _decode(parsed["args"]), kwargs, parsed.get("results")


def _decode(value):
    if isinstance(value, list):
        return [_decode(element) for element in value]
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    if kind == "operand":
        return _Operand(text)
    if kind == "float":
        return float(text)
    return torch.device(text) if kind == "device" else getattr(torch, text)


def _bind(value, inputs):
    if isinstance(value, _Operand):
        return inputs[value]
    if isinstance(value, list):
        return [_bind(element, inputs) for element in value]
    if isinstance(value, dict):
        return {name: _bind(element, inputs) for name, element in value.items()}
    return value
