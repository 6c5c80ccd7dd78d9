# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax, and the one of attention, where a row without a single score is all zeros instead of NaN."""

import torch

# Calls that keep rows of scores rows of scores.
_CARRIERS = {
    "view",
    "_unsafe_view",
    "reshape",
    "permute",
    "transpose",
    "expand",
    "clone",
    "alias",
    "_to_copy",
    "unsqueeze",
    "squeeze",
    "contiguous",
    "mul",
    "div",
}
_PRODUCTS = {"mm", "bmm", "matmul", "baddbmm"}


def handlers():
    """ATen name -> handler."""
    return {"_softmax": _handle_softmax, "softmax.int": _handle_softmax, "_safe_softmax": _handle_safe_softmax}


def _handle_softmax(walker, call):
    x = walker.cast(walker.tensor(call["self"]), call.dtype)
    if not x.shape:
        return walker.splat(1, (), x.dtype)
    return walker.op("softmax", [x], {"dim": call["dim"] % len(x.shape)}, shape=x.shape, dtype=x.dtype)


def _handle_safe_softmax(walker, call):
    x = walker.cast(walker.tensor(call["self"]), call.dtype)
    dim = call["dim"] % len(x.shape)
    if dim == len(x.shape) - 1 and not _may_mask_a_row(walker, call["self"]):
        return walker.op("softmax", [x], {"dim": dim}, shape=x.shape, dtype=x.dtype)

    limits = torch.finfo(x.dtype)
    row = tuple(1 if i == dim else size for i, size in enumerate(x.shape))

    def step(name, operands, shape, suffix, attributes=None):
        return walker.op(name, operands, attributes, shape=shape, dtype=x.dtype, suffix=suffix)

    # In a row of minus infinities every exponential is 0, and so is their sum until it is bounded from below. In any
    # other row the largest exponential is 1, so the bounds change nothing.
    reduction = {"dims": [dim], "keepdim": True}
    largest = step(
        "maximum", [step("amax", [x], row, "amax", reduction), walker.scalar(limits.min, x.dtype)], row, "max"
    )
    powers = step("exp", [step("sub", [x, largest], x.shape, "sub")], x.shape, "exp")
    total = step(
        "maximum", [step("sum", [powers], row, "sum", reduction), walker.scalar(limits.tiny, x.dtype)], row, "total"
    )
    return step("div", [powers, total], x.shape, None)


def _may_mask_a_row(walker, node):
    """False if the scores are a product (scaled, reshaped), or one plus a known mask that leaves each row some."""
    while node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
        sources = [source for source in node.all_input_nodes if not walker.is_size(source)]
        base = node.target._schema.name.partition("::")[2]
        if base in _PRODUCTS:
            return False
        if base == "add" and len(sources) == 2:
            scores, mask = node.args[:2]
            if walker.is_constant(scores):
                scores, mask = mask, scores
            if not walker.is_constant(mask) or torch.isneginf(walker.constants.inspect(mask)).all(-1).any():
                return True
            node = scores
        elif base in _CARRIERS and len(sources) == 1:
            node = sources[0]
        else:
            return True
    return True
