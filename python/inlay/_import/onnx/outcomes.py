# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Infers the types of the results of nodes that run at a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
import torch
from onnx import helper, numpy_helper, shape_inference

from .call import NodeCall
from .tensors import DTYPES, ValueType
from .values import Outcome, ResultType, Unknown, Value

_MAX_ELEMENTS = 1024  # of a constant whose elements shape inference may need
_NUMBERS = {dtype: number for number, dtype in DTYPES.items()}


def find_outcomes(
    call: NodeCall, types: Mapping[str, ValueType], known: Sequence[Outcome] | None = None
) -> list[Outcome]:
    """Returns the types of a node's results.

    types: the types that the file declares or that follow from it, by name. A call checks them when it runs. known: the
    types of the results as far as the node's handler knows them. None: ONNX's shape inference is used.
    """
    outcomes: list[Outcome] = []
    for name, outcome in zip(call.proto.output, infer_outcomes(call) if known is None else known, strict=False):
        if name in types and types[name].dims is not None and isinstance(outcome, Unknown):
            dims = tuple(dim if isinstance(dim, int) else None for dim in types[name].dims or ())
            outcome = ResultType(types[name].dtype, dims)
        outcomes.append(outcome)
    return outcomes


def infer_outcomes(call: NodeCall) -> list[Outcome]:
    """Returns the types of a node's results as ONNX's shape inference finds them."""
    sizes: dict[str, Any] = {}  # text of a size -> size
    try:
        protos = _infer(call, sizes)
    except Exception:  # of shape inference, for which too little is known
        protos = {}
    return [read_outcome(protos.get(name), sizes) for name in call.proto.output]


def _infer(call: NodeCall, sizes: dict[str, Any]) -> Mapping[str, onnx.TypeProto]:
    """Returns the types of results as ONNX's shape inference finds them. Adds to `sizes`."""
    node = call.proto
    schema = onnx.defs.get_schema(node.op_type, call.version, node.domain)
    types: dict[str, onnx.TypeProto] = {}
    data: dict[str, onnx.TensorProto] = {}
    for name, value in zip(node.input, call.given, strict=True):
        found = _type_proto(value, sizes)
        if name and found is not None:
            types[name] = found
        if isinstance(value, torch.fx.Node) and call.is_constant(value) and value.meta["val"].numel() <= _MAX_ELEMENTS:
            tensor = call.inspect(value)
            if tensor.dtype in (torch.int64, torch.int32, torch.float32):
                data[name] = numpy_helper.from_array(tensor.numpy(), name)
    found_types: Mapping[str, onnx.TypeProto] = shape_inference.infer_node_outputs(
        schema, node, types, data, opset_imports=[helper.make_opsetid(node.domain, call.version)], ir_version=10
    )
    return found_types


def _type_proto(value: Value, sizes: dict[str, Any]) -> onnx.TypeProto | None:
    """Returns the type of a value for shape inference. Adds to `sizes`."""
    if isinstance(value, list):
        first = _type_proto(value[0], sizes) if value else None
        return None if first is None else helper.make_sequence_type_proto(first)
    if value is None:
        return None
    fake = value.meta["val"]
    if isinstance(fake, Unknown):
        return fake.type
    if fake.dtype not in _NUMBERS:
        return None
    dims = [size if isinstance(size, int) else str(size) for size in fake.shape]
    sizes.update((str(size), size) for size in fake.shape if not isinstance(size, int))
    return helper.make_tensor_type_proto(_NUMBERS[fake.dtype], dims)


def read_outcome(proto: onnx.TypeProto | None, sizes: Mapping[str, Any] | None = None) -> Outcome:
    """Returns the type of a result. sizes: text of a size -> size."""
    if proto is None or not proto.HasField("tensor_type"):
        return Unknown(proto)
    tensor = proto.tensor_type
    if tensor.elem_type not in DTYPES or not tensor.HasField("shape"):
        return Unknown(proto)
    dims = [
        dim.dim_value if dim.HasField("dim_value") else (sizes or {}).get(dim.dim_param) for dim in tensor.shape.dim
    ]
    return ResultType(DTYPES[tensor.elem_type], tuple(dims))


def merge(*outcomes: Outcome) -> Outcome:
    """Returns the type of a value that has one of several types."""
    first, *others = outcomes
    for other in others:
        if isinstance(first, Unknown) or isinstance(other, Unknown):
            first = first if first == other else Unknown()
        elif first.dtype != other.dtype or len(first.dims) != len(other.dims):
            first = Unknown(_rankless(first.dtype) if first.dtype == other.dtype else None)
        else:
            dims = [one if is_same_size(one, two) else None for one, two in zip(first.dims, other.dims, strict=True)]
            first = ResultType(first.dtype, tuple(dims))
    return first


def is_same_size(one: Any, two: Any) -> bool:
    """Returns true if two sizes are equal for all inputs. Adds no guard."""
    if one is None or two is None:
        return False
    if isinstance(one, int) and isinstance(two, int):
        return one == two
    return isinstance(one, torch.SymInt) and isinstance(two, torch.SymInt) and bool(one.node.expr == two.node.expr)


def are_same(one: Sequence[Outcome], two: Sequence[Outcome]) -> bool:
    """Returns true if values have the same types. Adds no guard."""
    return all(
        isinstance(a, ResultType)
        and isinstance(b, ResultType)
        and a.dtype == b.dtype
        and len(a.dims) == len(b.dims)
        and all((x is None and y is None) or is_same_size(x, y) for x, y in zip(a.dims, b.dims, strict=True))
        for a, b in zip(one, two, strict=True)
    )


def outcome_of(value: Value) -> Outcome:
    """Returns the type of a value."""
    if not isinstance(value, torch.fx.Node):
        return Unknown(_type_proto(value, {}))
    fake = value.meta["val"]
    return fake if isinstance(fake, Unknown) else ResultType(fake.dtype, tuple(fake.shape))


def _rankless(dtype: torch.dtype) -> onnx.TypeProto | None:
    """Returns the type of tensors of unknown rank."""
    return helper.make_tensor_type_proto(_NUMBERS[dtype], None) if dtype in _NUMBERS else None


def expectations(outcomes: Sequence[Outcome]) -> list[Any]:
    """Returns, for each result of a node, the name of its dtype and its dims with None for unknown ones.

    None: the type of the result is unknown.
    """
    return [
        None
        if isinstance(outcome, Unknown)
        else [
            str(outcome.dtype).removeprefix("torch."),
            [dim if isinstance(dim, int) else None for dim in outcome.dims],
        ]
        for outcome in outcomes
    ]
