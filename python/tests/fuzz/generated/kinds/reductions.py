# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, running sums, softmax and normalizations."""

import math

import torch

from ..draft import Refused
from ..graph import Precision


def _keepdim(draft):
    return draft.choose.choice(["", ", keepdim=True"])


def reduce_sums(draft):
    x = draft.float()
    name = draft.choose.choice(["sum", "sum", "mean", "std", "var", "logsumexp", "linalg.vector_norm"])
    precision = Precision.SUMMED if name in ("sum", "mean") else Precision.COMPUTED
    if draft.choose.random() < 0.15 and name != "logsumexp":
        draft.add(name, f"torch.{name}({{0}})", x, precision=precision)
        return
    draft.add(name, f"torch.{name}({{0}}, dim={draft.dims(x)}{_keepdim(draft)})", x, precision=precision)


def reduce_integers(draft):
    x = draft.integer(1)
    name = draft.choose.choice(["sum", "prod", "amax", "amin"])
    dims = draft.dim(x) if name == "prod" else draft.dims(x)
    draft.add(name, f"torch.{name}({{0}}, dim={dims}{_keepdim(draft)})", x)


def reduce_extremes(draft):
    x = draft.number(1)
    name = draft.choose.choice(["amax", "amin"])
    draft.add(name, f"torch.{name}({{0}}, dim={draft.dims(x)}{_keepdim(draft)})", x)


def extreme_with_index(draft):
    x = draft.number(1)
    name, dim = draft.choose.choice(["max", "min"]), draft.dim(x)
    draft.add(name, f"torch.{name}({{0}}, dim={dim}{_keepdim(draft)})[0]", x)
    draft.add(f"arg{name}", f"torch.arg{name}({{0}}, dim={dim}{_keepdim(draft)})", x)


def reduce_booleans(draft):
    x = draft.any(1)
    name = draft.choose.choice(["any", "all", "count_nonzero"])
    keepdim = "" if name == "count_nonzero" else _keepdim(draft)
    draft.add(name, f"torch.{name}({{0}}, dim={draft.dim(x)}{keepdim})", x)


def _refuse_overflow(tensor):
    """Refuses products that may overflow in another order: of neighbors, while the product of all is finite."""
    if tensor.is_floating_point() and tensor.numel():
        exponents = torch.where(tensor.isfinite() & (tensor != 0), tensor.abs().double(), 1).log2().abs()
        if float(exponents.sum()) >= math.log2(torch.finfo(tensor.dtype).max) - 2:
            raise Refused


def prod(draft):
    x = draft.float(1)
    _refuse_overflow(draft.values[x])
    draft.add("prod", f"torch.prod({{0}}, dim={draft.dim(x)})", x, precision=Precision.COMPUTED)


def running(draft):
    x = draft.number(1)
    name = draft.choose.choice(["cumsum", "cumsum", "cumprod"])
    values = draft.values[x]
    if values.is_floating_point():  # PyTorch's accumulators overflow, ours don't.
        wide = values.to(torch.float32 if values.element_size() == 2 else torch.float64)
        if name == "cumprod":
            _refuse_overflow(wide)
        elif not torch.where(wide.isfinite(), wide, 0).abs().sum().isfinite():
            raise Refused
    draft.add(name, f"torch.{name}({{0}}, dim={draft.dim(x)})", x, precision=Precision.SUMMED)


def softmax(draft):
    x = draft.float(1)
    name = draft.choose.choice(["softmax", "log_softmax", "softmin"])
    draft.add(name, f"F.{name}({{0}}, dim={draft.dim(x)})", x, precision=Precision.COMPUTED)


def layer_norm(draft):
    x = draft.float(1, 4)
    tensor = draft.values[x]
    shape = list(tensor.shape[draft.choose.randrange(tensor.dim()) :])
    weight = draft.input(shape, tensor.dtype)
    if draft.choose.random() < 0.4:
        draft.add("rms_norm", f"F.rms_norm({{0}}, {shape}, {{1}}, 1e-5)", x, weight, precision=Precision.COMPUTED)
    else:
        bias = draft.input(shape, tensor.dtype)
        text = f"F.layer_norm({{0}}, {shape}, {{1}}, {{2}})"
        draft.add("layer_norm", text, x, weight, bias, precision=Precision.COMPUTED)


def group_norm(draft):
    x = draft.float(2, 4)
    channels = draft.values[x].shape[1]
    groups = draft.choose.choice([g for g in range(1, channels + 1) if channels % g == 0] or [1])
    draft.add("group_norm", f"F.group_norm({{0}}, {groups})", x, precision=Precision.COMPUTED)


def batch_norm(draft):
    x = draft.float(2, 5)
    tensor = draft.values[x]
    channels = [tensor.shape[1]]
    if draft.choose.random() < 0.3:
        draft.add("batch_norm", "F.batch_norm({0}, None, None, training=True)", x, precision=Precision.COMPUTED)
        return
    mean, weight, bias = names = [draft.input(channels, tensor.dtype) for _ in range(3)]
    if not all(draft.values[name].isfinite().all() for name in names):
        raise Refused  # PyTorch folds the mean into the bias
    values = torch.rand(channels, generator=draft.generator).to(tensor.dtype) + 0.5
    variance = draft.input(channels, tensor.dtype, values)
    text = "F.batch_norm({0}, {1}, {2}, {3}, {4})"
    draft.add("batch_norm", text, x, mean, variance, weight, bias, precision=Precision.COMPUTED)


def instance_norm(draft):
    x = draft.float(3, 4)
    if 0 in draft.values[x].shape:
        raise Refused
    draft.add("instance_norm", "F.instance_norm({0})", x, precision=Precision.COMPUTED)


KINDS = [
    (reduce_sums, 4), (reduce_integers, 1), (reduce_extremes, 1), (extreme_with_index, 1), (reduce_booleans, 1),
    (prod, 1), (running, 1), (softmax, 2), (layer_norm, 2), (group_norm, 1), (batch_norm, 1), (instance_norm, 1),
]  # fmt: skip
