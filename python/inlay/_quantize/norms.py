# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folds batch norms into convolutions, so that a quantized convolution can compute the activation behind the norm."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from .calibration import Example
from .layers import has_hooks
from .static import STATIC_CLASSES

_CONVOLUTIONS = ("conv1d", "conv2d", "conv3d")
_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def fold_batch_norms(model: nn.Module, example: Example) -> list[str]:
    """Folds each batch norm that is the only user of a convolution. Returns notes about what it did.

    Nothing else may read the parameters and buffers of the two, because they change or vanish. A graph of PyTorch tells
    the users. If PyTorch cannot make one, the batch norms stay.
    """
    if not any(type(module) in _NORMS for module in model.modules()):
        return []
    try:
        inputs = example.copy()
        with torch.no_grad():
            graph = torch.export.export(model, inputs.args, inputs.kwargs).graph
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        return [f"batch norms are not folded, because torch.export fails: {reason}"]
    count = 0
    for convolution, norm in _pairs(graph):
        if _fold(model, convolution, norm):
            count += 1
    return [f"{count} batch norms are folded into convolutions"]


def _pairs(graph: torch.fx.Graph) -> list[tuple[str, str]]:
    """Returns the paths of convolutions and of the batch norms that are their only users. Each is called once."""
    calls = Counter(path for node in graph.nodes if (path := _path(node)) is not None and _is_layer(node))
    pairs = []
    for node in graph.nodes:
        if _name(node) not in _CONVOLUTIONS or len(node.users) != 1:
            continue
        (user,) = node.users
        convolution, norm = _path(node), _path(user)
        if _name(user) != "batch_norm" or user.args[0] is not node or convolution is None or norm is None:
            continue
        if calls[convolution] == calls[norm] == 1 and _owns_tensors(node) and _owns_tensors(user):
            pairs.append((convolution, norm))
    return pairs


def _owns_tensors(node: torch.fx.Node) -> bool:
    """Returns true if no other call reads the parameters and buffers that a convolution or batch norm reads."""
    tensors = [argument for argument in node.args[1:] if isinstance(argument, torch.fx.Node)]
    return all(tensor.op == "placeholder" and len(tensor.users) == 1 for tensor in tensors)


def _is_layer(node: torch.fx.Node) -> bool:
    return _name(node) in (*_CONVOLUTIONS, "batch_norm")


def _name(node: torch.fx.Node) -> str:
    """Returns the name of an ATen operator without its overload."""
    target = node.target
    return target._schema.name.removeprefix("aten::") if isinstance(target, torch._ops.OpOverload) else ""


def _path(node: torch.fx.Node) -> str | None:
    """Returns the path of the module whose `forward` made a call."""
    stack = node.meta.get("nn_module_stack")
    path: str | None = next(reversed(stack.values()))[0] if stack else None
    return path


def _fold(model: nn.Module, convolution_path: str, norm_path: str) -> bool:
    """Folds a batch norm, if its module and that of the convolution are of PyTorch. Returns true if it did."""
    modules = dict(model.named_modules())
    convolution: Any = modules.get(convolution_path)
    norm: Any = modules.get(norm_path)
    if type(convolution) not in STATIC_CLASSES or type(norm) not in _NORMS or has_hooks(convolution, norm):
        return False
    if norm.running_mean is None:
        return False
    model.set_submodule(convolution_path, fuse_conv_bn_eval(convolution, norm))
    model.set_submodule(norm_path, nn.Identity())
    return True
