# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A call's arguments: brought into the order of the export, checked against it."""

import torch
from torch.utils import _pytree as pytree

from .errors import ArgumentTypeError, ArgumentValueError, did_you_mean
from .text import tensor_text


class Signature:
    """What a compiled model's call looks like."""

    def __init__(self, inputs, in_spec, argument_names):
        """inputs: importer.Input per leaf; in_spec: the TreeSpec of (args, kwargs).

        argument_names: the model's names of its arguments, positional ones first, or None.
        """
        self._inputs, self._spec = inputs, in_spec
        self._positional, self._keywords, self._is_flat = [], [], False
        if in_spec is not None:
            positional, keyword = in_spec.children()
            count = positional.num_children
            names = list(argument_names or [])
            self._positional = names[:count] if len(names) >= count else [f"argument{i}" for i in range(count)]
            self._keywords = list(keyword.context) if keyword.num_children else []
            self._is_flat = all(spec.is_leaf() for spec in (*positional.children(), *keyword.children()))

    def flatten(self, args, kwargs):
        """The call's arguments in flat order, positional or by name; ArgumentTypeError if they don't fit the model."""
        if len(args) != len(self._positional) or list(kwargs) != self._keywords:
            args, kwargs = self._reorder(args, kwargs)
        if self._is_flat:
            return [*args, *kwargs.values()]
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._spec:
            raise ArgumentTypeError(f"expected arguments nested like {self._spec}, but got {spec}")
        return leaves

    def check(self, leaves):
        """The flat arguments ready to be read: on the CPU, contiguous, detached; None for one that is no tensor.

        Raises ArgumentTypeError (no tensor, dtype) or ArgumentValueError (rank, sizes, device, empty, another value
        than at export); the message names the argument and its place.
        """
        return [self._prepare(number, leaf) for number, leaf in enumerate(leaves)]

    def _reorder(self, args, kwargs):
        """Moves each argument to where the export has it."""
        names = self._positional + self._keywords
        if len(args) > len(names):
            raise ArgumentTypeError(f"expected {len(names)} arguments ({', '.join(names)}), but got {len(args)}")
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise ArgumentTypeError(f"unknown argument {name!r}{did_you_mean(name, names)}")
            if name in values:
                raise ArgumentTypeError(
                    f"argument {name!r} was given twice, in place {names.index(name) + 1} and by name"
                )
            values[name] = value
        for place, name in enumerate(names):
            if name not in values:
                raise ArgumentTypeError(f"missing argument {name!r} (place {place + 1}): expected {self._wanted(name)}")
        return tuple(values[name] for name in self._positional), {name: values[name] for name in self._keywords}

    def _wanted(self, name):
        for leaf in self._inputs:
            if leaf.name == name:
                return tensor_text(leaf.dtype, leaf.shape) if leaf.is_tensor else repr(leaf.value)
        return "what the model was exported with"

    def _prepare(self, number, leaf):
        wanted = self._inputs[number]
        if not wanted.is_tensor:
            if type(leaf) is not type(wanted.value) or leaf != wanted.value:
                raise ArgumentValueError(
                    f"{self._place(number)} is fixed at {wanted.value!r} since export, but got {leaf!r}"
                )
            return None
        fits = isinstance(leaf, torch.Tensor) and leaf.dtype == wanted.dtype and leaf.shape == wanted.shape
        if not fits or leaf.device.type != "cpu" or leaf.layout != torch.strided:
            raise self._mismatch(number, leaf)
        return leaf.detach().resolve_neg().contiguous()

    def _place(self, number):
        name = self._inputs[number].name
        return f"argument {name!r} (place {number + 1})"

    def _mismatch(self, number, leaf):
        wanted, place = self._inputs[number], self._place(number)
        text = tensor_text(wanted.dtype, wanted.shape)
        if not isinstance(leaf, torch.Tensor):
            return ArgumentTypeError(f"{place}: expected a tensor {text}, but got {type(leaf).__name__}")
        got = tensor_text(leaf.dtype, leaf.shape)
        if leaf.layout != torch.strided:
            return ArgumentTypeError(f"{place}: expected a dense tensor {text}, but got one of layout {leaf.layout}")
        if leaf.device.type != "cpu":
            return ArgumentValueError(f"{place}: expected a tensor {text} on the CPU, but got one on {leaf.device}")
        if leaf.dtype != wanted.dtype:
            return ArgumentTypeError(f"{place}: expected dtype {text}, but got {got}")
        if leaf.dim() != len(wanted.shape):
            return ArgumentValueError(
                f"{place}: expected rank {len(wanted.shape)}, {text}, but got rank {leaf.dim()}, {got}"
            )
        if leaf.numel() == 0:
            return ArgumentValueError(f"{place}: expected {text}, but got an empty tensor, {got}")
        dims = [i for i, (have, want) in enumerate(zip(leaf.shape, wanted.shape, strict=True)) if have != want]
        return ArgumentValueError(f"{place}: expected {text}, but got {got}: dim {', '.join(map(str, dims))} differs")
