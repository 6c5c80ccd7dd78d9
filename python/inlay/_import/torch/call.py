# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One framework call of a graph, with its arguments by the names of its schema.

`_import/onnx/call.py` is a node of an ONNX graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch

from ..._program.imported import Dims
from ..._program.sizes import Size, Symbols

Overload: TypeAlias = "torch._ops.OpOverload[..., Any]"


class Call:
    """An FX node that calls an operator.

    name: ATen name with overload, "add.Tensor"; the overload "default" is left out.
    origin: the call of the model that this call was made from, or the call itself, "aten::add.Tensor".
    args: schema name -> value, with defaults filled in. A number that follows from the sizes of inputs is an int or
    Size.
    val: the fake tensor of the result, or a tuple or list of them.
    """

    def __init__(
        self,
        node: torch.fx.Node,
        symbols: Symbols | None = None,
        resolve: Callable[[torch.fx.Node], Any] = lambda node: node,
    ) -> None:
        """symbols: the Symbols of the function, in which sizes that are known only at a call are expressed.
        resolve: returns the value of a node that is a constant number, and other nodes themselves."""
        self._symbols = Symbols() if symbols is None else symbols
        self._resolve = resolve
        operator = overload_of(node)
        schema = operator._schema
        self.node = node
        self.label: str = node.meta.get("label", node.name)
        self.schema = schema
        self.space, _, self.base = schema.name.partition("::")
        self.name = operator_name(operator)
        self.origin: str = node.meta.get("call", f"{self.space}::{self.name}")
        self.val: Any = node.meta.get("val")
        self.args: dict[str, Any] = {}
        for position, argument in enumerate(schema.arguments):
            if position < len(node.args):
                value: Any = node.args[position]
            else:
                value = node.kwargs.get(argument.name, argument.default_value)
            self.args[argument.name] = self._with_sizes(value)

    def _with_sizes(self, value: Any) -> Any:
        """Returns `value` with ints and Sizes in place of nodes whose values follow from the sizes of inputs."""
        if isinstance(value, (list, tuple)):
            return type(value)(self._with_sizes(element) for element in value)
        if isinstance(value, torch.fx.Node):
            value = self._resolve(value)
        number: Any = value.meta.get("val") if isinstance(value, torch.fx.Node) else value
        return self._symbols.size(number) if self._symbols.can_express(number) else value

    def __getitem__(self, name: str) -> Any:
        return self.args[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Returns the argument, or `default` if the argument is None or the schema has none of that name."""
        value = self.args.get(name)
        return default if value is None else value

    @property
    def operand_type(self) -> torch.dtype:
        """The dtype in which PyTorch computes the call, by its rules of type promotion for tensors and numbers."""
        values = [value.meta["val"] if isinstance(value, torch.fx.Node) else value for value in self.args.values()]
        values = [1 if isinstance(value, Size) else value for value in values]
        values = [value for value in values if isinstance(value, (torch.Tensor, bool, int, float))]
        if len(values) == 1:
            dtype: torch.dtype = values[0].dtype
            return dtype
        return functools.reduce(torch.promote_types, (torch.result_type(values[0], value) for value in values[1:]))

    @property
    def shape(self) -> Dims:
        """The dims of the only result, or of the first one."""
        return self._symbols.dims(self._first())

    @property
    def shapes(self) -> list[Dims]:
        """The dims of each result of a call with several results."""
        return [self._symbols.dims(value) for value in self.val]

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the only result, or of the first one."""
        return self._first().dtype

    def _first(self) -> torch.Tensor:
        """Returns the fake tensor of the only result, or of the first one."""
        first: torch.Tensor = self.val if isinstance(self.val, torch.Tensor) else self.val[0]
        return first


def overload_of(node: torch.fx.Node) -> Overload:
    """Returns the operator that an FX node calls. The node must call one."""
    operator = node.target
    assert isinstance(operator, torch._ops.OpOverload)
    return operator


def operator_name(op: Overload) -> str:
    """Returns the name of an operator with its overload, "add.Tensor". The overload "default" is left out."""
    base = op._schema.name.partition("::")[2]
    return base if op._overloadname == "default" else f"{base}.{op._overloadname}"


def dim_list(value: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Returns dims in [0, rank). None and the empty list mean all dims."""
    if value is None or (isinstance(value, (list, tuple)) and not value):
        return tuple(range(rank))
    dims = [value] if isinstance(value, int) else value
    return tuple(dim % rank if rank else 0 for dim in dims)


def spread(value: Any, count: int, default: Sequence[Any]) -> list[Any]:
    """Returns one number per spatial dim.

    value: a list of `count` numbers; a number, or a list of one, that is used for all dims; None or [] for `default`.
    """
    numbers = list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]
    if not numbers:
        return list(default)
    return numbers * count if len(numbers) == 1 else numbers
