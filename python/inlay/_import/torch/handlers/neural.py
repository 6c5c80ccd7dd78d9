# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports convolution, pooling, batch normalization and matrix products."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F

from ...._program.imported import Dims
from ...._program.sizes import Size
from ..call import Call, dim_list, spread
from ..graph import Value
from ..walker import Handler, HandlerResult, Walker


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    return {
        **dict.fromkeys(("convolution", "conv1d", "conv2d", "conv3d"), _handle_convolution),
        "max_pool2d": _handle_max_pool,
        "max_pool2d_with_indices": _handle_max_pool,
        "max_pool1d": _handle_max_pool,
        "avg_pool2d": _handle_avg_pool,
        "max_pool3d": _handle_max_pool,
        "max_pool3d_with_indices": _handle_max_pool,
        "avg_pool1d": _handle_avg_pool,
        "avg_pool3d": _handle_avg_pool,
        "adaptive_avg_pool1d": _handle_adaptive_avg_pool,
        "_adaptive_avg_pool2d": _handle_adaptive_avg_pool,
        "adaptive_avg_pool2d": _handle_adaptive_avg_pool,
        "_adaptive_avg_pool3d": _handle_adaptive_avg_pool,
        "adaptive_avg_pool3d": _handle_adaptive_avg_pool,
        "adaptive_max_pool2d": _handle_adaptive_max_pool,
        "adaptive_max_pool3d": _handle_adaptive_max_pool,
        "_native_batch_norm_legit_no_training": _handle_batch_norm,
        "batch_norm": _handle_batch_norm,
        "mm": _handle_matmul,
        "bmm": _handle_matmul,
        "matmul": _handle_matmul,
        "mv": _handle_matmul,
        "dot": _handle_matmul,
        "linear": _handle_linear,
        "addmm": _handle_addmm,
        "_grouped_mm": _handle_grouped_matmul,
        "transformers::grouped_mm_fallback": _handle_grouped_matmul,
    }


# -- Convolution, pooling ---------------------------------------------------------------------------------------------


def _handle_convolution(walker: Walker, call: Call) -> HandlerResult:
    x, weight = walker.tensor(call["input"]), walker.tensor(call["weight"])
    bias = call["bias"] and walker.tensor(call["bias"])
    if len(x.shape) != len(weight.shape):  # the input has no batch dim
        return None
    if x.shape[1] == 0:  # PyTorch then gives the result no channels, whatever the weight has
        return None
    spatial = len(x.shape) - 2
    attributes = {
        "stride": spread(call["stride"], spatial, ()),
        "padding": spread(call["padding"], spatial, ()),
        "dilation": spread(call["dilation"], spatial, ()),
        "groups": call["groups"],
    }
    if call.get("transposed"):
        attributes["output_padding"] = spread(call["output_padding"], spatial, ())
        return walker.op("conv_transpose", [x, weight, bias], attributes, shape=call.shape, dtype=call.dtype)
    return walker.op("conv", [x, weight, bias], attributes, shape=call.shape, dtype=call.dtype)


def _pool(walker: Walker, call: Call, name: str, attributes: Mapping[str, Any]) -> Value:
    """Writes the pooling op `name`. An input without a batch dim gets one of size 1."""
    x = walker.tensor(call["self"])
    if len(x.shape) == len(attributes["kernel"]) + 1:
        batched = walker.reshape(x, (1, *x.shape), "batch")
        result = walker.op(name, [batched], attributes, shape=(1, *call.shape), dtype=call.dtype)
        return walker.reshape(result, call.shape, "reshape")
    return walker.op(name, [x], attributes, shape=call.shape, dtype=call.dtype)


def _spatial(call: Call) -> int:
    """Returns the number of spatial dims, which the call's name contains: 2 for "max_pool2d"."""
    found = re.search(r"(\d)d", call.base)
    assert found is not None
    return int(found[1])


def _handle_max_pool(walker: Walker, call: Call) -> HandlerResult:
    indices = call.base.endswith("_with_indices")
    if indices and any(user.args[1] != 0 for user in call.node.users):
        return None
    count = _spatial(call)
    kernel = spread(call["kernel_size"], count, ())
    attributes = {
        "kernel": kernel,
        "stride": spread(call["stride"], count, kernel),
        "padding": spread(call["padding"], count, [0] * count),
        "dilation": spread(call["dilation"], count, [1] * count),
        "ceil_mode": call["ceil_mode"],
    }
    result = _pool(walker, call, "max_pool", attributes)
    return [result, None] if indices else result


def _handle_avg_pool(walker: Walker, call: Call) -> HandlerResult:
    if call.get("divisor_override") is not None or not call.dtype.is_floating_point:
        return None
    count = _spatial(call)
    kernel = spread(call["kernel_size"], count, ())
    stride, padding = spread(call["stride"], count, kernel), spread(call["padding"], count, [0] * count)
    sizes = walker.tensor(call["self"]).shape[-count:]
    # With ceil_mode, a window may be larger than the padded input. The elements outside don't count.
    kernel = [
        min(width, size + 2 * both) if isinstance(size, int) else width
        for width, size, both in zip(kernel, sizes, padding, strict=True)
    ]
    attributes = {
        "kernel": kernel,
        "stride": stride,
        "padding": padding,
        "ceil_mode": call["ceil_mode"],
        "count_include_pad": call["count_include_pad"],
    }
    return _pool(walker, call, "avg_pool", attributes)


def _equal_windows(walker: Walker, call: Call) -> list[int | Size] | None:
    """Returns the size of equal windows that cover the input side by side; None if the windows differ in size."""
    count = _spatial(call)
    sizes, wanted = walker.tensor(call["self"]).shape[-count:], call.shape[-count:]
    if any(size % want for size, want in zip(sizes, wanted, strict=True)):
        return None
    return [size // want for size, want in zip(sizes, wanted, strict=True)]


def _handle_adaptive_avg_pool(walker: Walker, call: Call) -> HandlerResult:
    if not call.dtype.is_floating_point:
        return None
    count = _spatial(call)
    if set(call.shape[-count:]) == {1}:
        dims = list(range(len(call.shape) - count, len(call.shape)))
        x = walker.tensor(call["self"])
        return walker.op("mean", [x], {"dims": dims, "keepdim": True}, shape=call.shape, dtype=call.dtype)
    kernel = _equal_windows(walker, call)
    if kernel is None:
        return _average_unequal(walker, call)
    attributes = {"kernel": kernel, "stride": kernel, "padding": [0] * len(kernel)}
    return _pool(walker, call, "avg_pool", {**attributes, "ceil_mode": False, "count_include_pad": True})


def _average_unequal(walker: Walker, call: Call) -> Value:
    """Returns the means of windows of several sizes.

    Indices that are known at import read the windows' elements. Smaller windows read a zero behind the input instead.
    """
    x, count = walker.tensor(call["self"]), _spatial(call)
    first = len(x.shape) - count
    high = [0] * first + [1] * count
    padded = walker.op(
        "pad",
        [x, walker.scalar(0, x.dtype)],
        {"low": [0] * len(high), "high": high},
        shape=tuple(size + more for size, more in zip(x.shape, high, strict=True)),
        dtype=x.dtype,
        suffix="pad",
    )
    indices, counts, shape = [], torch.ones(()), [*x.shape[:first]]
    for dim, (size, want) in enumerate(zip(map(int, x.shape[first:]), map(int, call.shape[first:]), strict=True)):
        windows = [torch.arange(i * size // want, -(-(i + 1) * size // want)) for i in range(want)]
        widest = max(len(window) for window in windows)
        table = torch.stack([F.pad(window, (0, widest - len(window)), value=size) for window in windows])
        indices.append(walker.constant(table.reshape(want, widest, *[1] * (2 * (count - 1 - dim))), f"index{dim}"))
        counts = counts.unsqueeze(-1) * torch.tensor([float(len(window)) for window in windows])
        shape += table.shape
    attributes: dict[str, Any] = {"dims": list(range(first, first + count))}
    parts = walker.op("index", [padded, indices], attributes, shape=tuple(shape), dtype=x.dtype, suffix="windows")
    attributes = {"dims": [first + 1 + 2 * dim for dim in range(count)], "keepdim": False}
    sums = walker.op("sum", [parts], attributes, shape=call.shape, dtype=x.dtype, suffix="sum")
    return walker.op("div", [sums, walker.constant(counts.to(x.dtype), "count")], shape=call.shape, dtype=x.dtype)


def _handle_adaptive_max_pool(walker: Walker, call: Call) -> HandlerResult:
    kernel = _equal_windows(walker, call)
    if kernel is None or any(user.args[1] != 0 for user in call.node.users):
        return None
    attributes = {"kernel": kernel, "stride": kernel, "padding": [0] * len(kernel), "dilation": [1] * len(kernel)}
    return [_pool(walker, call, "max_pool", {**attributes, "ceil_mode": False}), None]


# -- Normalization ----------------------------------------------------------------------------------------------------


def _vector(walker: Walker, node: torch.fx.Node | None, number: float, shape: Dims, dtype: torch.dtype) -> Value:
    """Returns the Value of `node`, or a vector filled with `number` if it is None."""
    return walker.splat(number, shape, dtype) if node is None else walker.tensor(node)


def _handle_batch_norm(walker: Walker, call: Call) -> HandlerResult:
    if call.get("training") or call["running_mean"] is None:
        return None
    x = walker.tensor(call["input"])
    mean, variance = walker.tensor(call["running_mean"]), walker.tensor(call["running_var"])
    vectors = [
        _vector(walker, call["weight"], 1, mean.shape, x.dtype),
        _vector(walker, call["bias"], 0, mean.shape, x.dtype),
        mean,
        variance,
    ]
    if any(vector.dtype != x.dtype for vector in vectors):
        return None
    result = walker.op("batch_norm", [x, *vectors], {"eps": call["eps"]}, shape=x.shape, dtype=x.dtype)
    if call.base == "batch_norm":
        return result
    # The statistics of the input have no elements, because only training computes them.
    used = {user.args[1] for user in call.node.users}
    empty = [walker.splat(0.0, call.val[n].shape, call.val[n].dtype) if n in used else None for n in (1, 2)]
    return [result, *empty]


# -- Products ---------------------------------------------------------------------------------------------------------


def _handle_matmul(walker: Walker, call: Call) -> HandlerResult:
    lhs, rhs = (walker.tensor(node) for node in list(call.args.values())[:2])
    # A vector becomes a row on the left or a column on the right. The last reshape removes its dim of size 1.
    left = walker.reshape(lhs, (1, *lhs.shape), "row") if len(lhs.shape) == 1 else lhs
    right = walker.reshape(rhs, (*rhs.shape, 1), "column") if len(rhs.shape) == 1 else rhs
    leading = walker.broadcast(left.shape[:-2], right.shape[:-2])
    shape = (*leading, left.shape[-2], right.shape[-1])
    result = walker.op("matmul", [left, right], shape=shape, dtype=call.dtype)
    return walker.reshape(result, call.shape, "reshape")


def _handle_linear(walker: Walker, call: Call) -> HandlerResult:
    x, weight = walker.tensor(call["input"]), walker.tensor(call["weight"])
    bias = call["bias"] and walker.tensor(call["bias"])
    if len(weight.shape) != 2 or (bias and len(bias.shape) != 1):
        return None
    return walker.op("linear", [x, weight, bias], shape=call.shape, dtype=call.dtype)


def _handle_addmm(walker: Walker, call: Call) -> HandlerResult:
    beta, alpha = call["beta"], call["alpha"]
    bias, weight = walker.tensor(call["self"]), _transposed(walker, call["mat2"])
    outputs = call.shape[-1]
    if (beta, alpha) == (1, 1) and bias.shape == (outputs,):
        return walker.op("linear", [walker.tensor(call["mat1"]), weight, bias], shape=call.shape, dtype=call.dtype)
    product = walker.op(
        "linear", [walker.tensor(call["mat1"]), weight, None], shape=call.shape, dtype=call.dtype, suffix="product"
    )
    product = _scaled(walker, product, alpha, "alpha")
    if beta == 0:  # the bias is not read, so its NaNs and infinities must not reach the result
        return product
    return walker.op("add", [product, _scaled(walker, bias, beta, "beta")], shape=call.shape, dtype=call.dtype)


def _scaled(walker: Walker, value: Value, factor: float, suffix: str) -> Value:
    """Returns `value` times `factor`."""
    if factor == 1:
        return value
    scalar = walker.scalar(factor, value.dtype)
    return walker.op("mul", [value, scalar], shape=value.shape, dtype=value.dtype, suffix=suffix)


def _transposed(walker: Walker, node: torch.fx.Node) -> Value:
    """Returns the transpose of a matrix. If `node` is itself a transposition, that is the operand of `node`."""
    if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
        arguments: tuple[Any, ...] = node.args
        name, source = node.target._schema.name, arguments[0]
        swapped = name == "aten::t" or (name == "aten::transpose" and set(dim_list(arguments[1:3], 2)) == {0, 1})
        swapped = swapped or (name == "aten::permute" and dim_list(arguments[1], 2) == (1, 0))
        if swapped and len(source.meta["val"].shape) == 2:
            return walker.tensor(source)
    value = walker.tensor(node)
    return walker.op(
        "permute", [value], {"dims": [1, 0]}, shape=value.shape[::-1], dtype=value.dtype, suffix="transpose"
    )


def _handle_grouped_matmul(walker: Walker, call: Call) -> HandlerResult:
    if call.base == "_grouped_mm":
        operands, plain = (call["self"], call["mat2"], call["offs"]), call["bias"] is None and call["offs"] is not None
    else:
        operands, plain = (call["input"], call["weight"], call["offs"]), True
    if not plain:
        return None
    values = [walker.tensor(node) for node in operands]
    if len(values[0].shape) != 2 or len(values[1].shape) != 3 or call.dtype != values[0].dtype:
        return None
    return walker.op("grouped_matmul", values, shape=call.shape, dtype=call.dtype)
