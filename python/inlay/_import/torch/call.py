# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One framework call of the graph, with its arguments by the names of its schema."""

import functools

import torch

from ..._program.sizes import Size, Symbols


class Call:
    """An FX node that calls an operator.

    name: ATen name with overload, "add.Tensor"; the overload "default" is left out.
    origin: the call of the model that it is a part of, or itself, "aten::add.Tensor".
    args: schema name -> value, defaults filled in; a number that follows from the sizes of inputs is a Size.
    val: the result's fake tensor (or a tuple or list of them).
    """

    def __init__(self, node, symbols=None):
        """symbols: the function's Symbols, in which sizes are said that are known at a call alone."""
        self._symbols = Symbols() if symbols is None else symbols
        schema = node.target._schema
        self.node = node
        self.label = node.meta.get("label", node.name)
        self.schema = schema
        self.space, _, self.base = schema.name.partition("::")
        self.name = operator_name(node.target)
        self.origin = node.meta.get("call", f"{self.space}::{self.name}")
        self.val = node.meta.get("val")
        self.args = {}
        for position, argument in enumerate(schema.arguments):
            if position < len(node.args):
                value = node.args[position]
            else:
                value = node.kwargs.get(argument.name, argument.default_value)
            self.args[argument.name] = self._with_sizes(value)

    def _with_sizes(self, value):
        """`value` with ints and Sizes in place of nodes that are such numbers."""
        if isinstance(value, (list, tuple)):
            return type(value)(self._with_sizes(one) for one in value)
        number = value.meta.get("val") if isinstance(value, torch.fx.Node) else value
        return self._symbols.size(number) if self._symbols.can_express(number) else value

    def __getitem__(self, name):
        return self.args[name]

    def get(self, name, default=None):
        """The argument, or `default` if the schema has none of that name or it is None."""
        value = self.args.get(name)
        return default if value is None else value

    @property
    def operand_type(self):
        """The dtype that PyTorch computes a call of two or more tensors or numbers in, by its rules of promotion."""
        values = [value.meta["val"] if isinstance(value, torch.fx.Node) else value for value in self.args.values()]
        values = [1 if isinstance(value, Size) else value for value in values]
        values = [value for value in values if isinstance(value, (torch.Tensor, bool, int, float))]
        if len(values) == 1:
            return values[0].dtype
        return functools.reduce(torch.promote_types, (torch.result_type(values[0], value) for value in values[1:]))

    @property
    def shape(self):
        """Dims of the only (or first) result."""
        return self._symbols.dims(self._first())

    @property
    def shapes(self):
        """Dims of each result of a call with several."""
        return [self._symbols.dims(value) for value in self.val]

    @property
    def dtype(self):
        """dtype of the only (or first) result."""
        return self._first().dtype

    def _first(self):
        return self.val if isinstance(self.val, torch.Tensor) else self.val[0]


def operator_name(op):
    """An operator's name with overload, "add.Tensor"; the overload "default" is left out."""
    base = op._schema.name.partition("::")[2]
    return base if op._overloadname == "default" else f"{base}.{op._overloadname}"


def dim_list(value, rank):
    """Dims as a tuple in [0, rank); None and the empty list mean all."""
    if value is None or (isinstance(value, (list, tuple)) and not value):
        return tuple(range(rank))
    dims = value if isinstance(value, (list, tuple)) else [value]
    return tuple(dim % rank if rank else 0 for dim in dims)


def spread(value, count, default):
    """One number per spatial dim: a scalar or a list of one number stands for all; None or [] for `default`."""
    numbers = list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]
    if not numbers:
        return list(default)
    return numbers * count if len(numbers) == 1 else numbers
