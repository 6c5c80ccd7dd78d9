# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces tensors of uint8, which the dialect lacks, by tensors of int8 with the same bits.

Calls that only move elements move the int8 elements. Arithmetic, comparisons and reductions compute with the values as
int16, and results that were uint8 keep the low 8 bits. Views of int8 as uint8 and back disappear. All other calls get
the elements as uint8 again, and PyTorch makes them.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable
from typing import Any

import torch

from ...._program.outputs import KeptOutput, Output, ValueOutput, WeightsOutput
from .nodes import Inserter, fake_like, fake_of, replace_arguments

aten = torch.ops.aten

_MOVES_TEXT = """
    _unsafe_index _unsafe_view alias as_strided cat clone contiguous copy detach diagonal embedding expand flatten
    flip gather index index_select lift_fresh_copy movedim narrow permute pixel_shuffle pixel_unshuffle repeat reshape
    roll select select_scatter slice slice_scatter split split_with_sizes squeeze stack t tile transpose unbind
    unflatten unfold unsqueeze upsample_nearest1d upsample_nearest2d upsample_nearest3d view where
"""
_MOVES = set(_MOVES_TEXT.split())
_COMPUTES_TEXT = """
    __and__ __lshift__ __or__ __rshift__ __xor__ abs add all amax amin any argmax argmin argsort bitwise_and
    bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min
    constant_pad_nd cos cumprod cumsum div eq exp floor floor_divide fmod ge gt le log logical_and logical_not
    logical_or logical_xor lt masked_fill max maximum mean min minimum mul ne neg pad pow prod relu remainder round
    rsqrt rsub sigmoid sign sin sort sqrt square sub sum tanh topk trunc where
"""
_COMPUTES = set(_COMPUTES_TEXT.split())
_CASTS = {"_to_copy", "to"}


class ByteGraph:
    """Replaces the tensors of uint8 in a graph.

    stand_ins: uint8 node -> int8 node with the same bits. inputs: the same for the inputs that the program takes.
    substitutes: node of another dtype -> the node that replaces it.
    """

    def __init__(self, graph: torch.fx.Graph, inputs: Iterable[torch.fx.Node]) -> None:
        """inputs: the placeholders that the program takes."""
        self.stand_ins: dict[torch.fx.Node, torch.fx.Node] = {}
        self.inputs: dict[torch.fx.Node, torch.fx.Node] = {}
        self._insert = Inserter(graph)
        self.substitutes = self._insert.substitutes
        self._wide: dict[torch.fx.Node, torch.fx.Node] = {}  # int8 node -> int16 node with the values of the bytes
        self._whole: dict[torch.fx.Node, torch.fx.Node] = {}  # int8 node -> uint8 node
        self._lists: dict[torch.fx.Node, torch.fx.Node] = {}  # call with several results -> the call that replaces it
        nodes = list(graph.nodes)
        if not any(_is_bytes(node) or _holds_bytes(node) for node in nodes):
            return
        given = set(inputs)
        first = next(node for node in nodes if node.op != "placeholder")
        for node in nodes:
            if node.op == "placeholder" and _is_bytes(node) and node in given:
                fake = fake_like(node.meta["val"], torch.int8)
                self.stand_ins[node] = self._insert.before(first, aten.view.dtype, (node, torch.int8), fake)
                self.stand_ins[node].meta["label"] = node.name
        for node in nodes:
            if node.op == "call_function":
                self._replace(node)
        for node in given & set(self.stand_ins):
            self._settle_input(graph, node)

    def _settle_input(self, graph: torch.fx.Graph, node: torch.fx.Node) -> None:
        """Makes an input an argument of the program, unless only PyTorch reads it."""
        stand_in = self.stand_ins[node]
        if not stand_in.users:
            graph.erase_node(stand_in)
            del self.stand_ins[node]
            return
        self.inputs[node] = stand_in
        for user in list(node.users):
            if user is not stand_in and user.op != "output":
                user.replace_input_with(node, self._bytes(node))

    def stand_in(self, node: torch.fx.Node) -> torch.fx.Node:
        """Returns the int8 node for a uint8 node. If PyTorch makes the tensor, that is a view of it."""
        if node not in self.stand_ins:
            fake = fake_like(node.meta["val"], torch.int8)
            place = node.next if node.op == "call_function" else self._first_call(node)
            made = self._insert.before(place, aten.view.dtype, (node, torch.int8), fake)
            made.meta["label"] = f"{node.meta.get('label', node.name)}.bytes"
            made.meta["call"] = "aten::view.dtype"
            self.stand_ins[node] = made
        return self.stand_ins[node]

    def is_computed(self, node: Any) -> bool:
        """Returns true if the int8 node for `node` is no view of a tensor that PyTorch makes."""
        stand_in = self.stand_ins.get(node) if isinstance(node, torch.fx.Node) else None
        return stand_in is not None and stand_in.target is not aten.view.dtype

    @staticmethod
    def _first_call(node: torch.fx.Node) -> torch.fx.Node:
        while node.op in ("placeholder", "get_attr"):
            node = node.next
        return node

    def _replace(self, node: torch.fx.Node) -> None:
        if node.target is operator.getitem:
            self._replace_item(node)
            return
        sources = [source for source in node.all_input_nodes if _is_bytes(source)]
        if not sources and not _is_bytes(node):
            return
        name = _base(node)
        if node.target is aten.view.dtype:
            self._replace_view(node)
        elif name in _CASTS and len(node.all_input_nodes) == 1:
            self._cast(node)
        elif name in _MOVES and self._can_move(node):
            self._remake(node, self.stand_in, torch.int8)
        elif name in _COMPUTES and sources and self._can_compute(node):
            # Of uint8 alone, these two return uint8.
            self._remake(node, self._value, torch.bool if name in ("all", "any") else torch.int16)
        else:
            for source in sources:
                if source in self.stand_ins and self.is_computed(source):
                    node.replace_input_with(source, self._bytes(source))

    def _remake(self, node: torch.fx.Node, operand: Any, dtype: torch.dtype) -> None:
        """Makes a call with other operands in place of the uint8 ones. dtype: of the results that were uint8."""
        args, kwargs = replace_arguments(node, lambda source: operand(source) if _is_bytes(source) else source)
        value = node.meta["val"]
        if isinstance(value, (list, tuple)):
            value = [_with_dtype(element, dtype) for element in value]
            self._lists[node] = self._insert.before(node, node.target, args, value, **kwargs)
            return
        made = self._insert.before(node, node.target, args, _with_dtype(value, dtype), **kwargs)
        if _is_bytes(node):
            self.stand_ins[node] = self._narrow(node, made)
        else:
            self._insert.substitute(node, made)

    def _replace_view(self, node: torch.fx.Node) -> None:
        """Replaces a view of int8 as uint8 and a view of uint8 as int8."""
        source: Any = node.args[0]
        if _is_bytes(node) and _is_dtype(source.meta.get("val"), torch.int8):
            self.stand_ins[node] = source
        elif _is_bytes(source) and _is_dtype(node.meta.get("val"), torch.int8):
            self._insert.substitute(node, self.stand_in(source))
        elif source in self.stand_ins and self.is_computed(source):
            node.replace_input_with(source, self._bytes(source))

    def _replace_item(self, node: torch.fx.Node) -> None:
        args: tuple[Any, ...] = node.args
        source, number = args
        if source not in self._lists:
            return
        made = self._lists[source]
        item = self._insert.before(node, operator.getitem, (made, number), made.meta["val"][number])
        if _is_bytes(node):
            self.stand_ins[node] = self._narrow(node, item)
        else:
            self._insert.substitute(node, item)

    def _cast(self, node: torch.fx.Node) -> None:
        source, wanted = node.all_input_nodes[0], node.meta["val"].dtype
        if _is_bytes(source):
            read = self.stand_in(source) if wanted in (torch.uint8, torch.bool) else self._value(source)
        else:
            read = source
            if fake_of(source) is None or source.meta["val"].is_complex():
                return
            if source.meta["val"].is_floating_point():  # PyTorch converts floats to int64 first
                fake = fake_like(node.meta["val"], torch.int64)
                read = self._insert.before(node, aten._to_copy.default, (source,), fake, "whole", dtype=torch.int64)
        dtype = torch.int8 if wanted == torch.uint8 else wanted
        fake = fake_like(node.meta["val"], dtype)
        made = self._insert.before(node, aten._to_copy.default, (read,), fake, dtype=dtype)
        if wanted == torch.uint8:
            self.stand_ins[node] = made
        else:
            self._insert.substitute(node, made)

    def _narrow(self, node: torch.fx.Node, made: torch.fx.Node) -> torch.fx.Node:
        """Returns the low 8 bits of `made`."""
        if made.meta["val"].dtype == torch.int8:
            return made
        made.meta["label"] += ".wide"
        fake = fake_like(node.meta["val"], torch.int8)
        return self._insert.before(node, aten._to_copy.default, (made,), fake, dtype=torch.int8)  # type: ignore[no-any-return]

    def _value(self, node: torch.fx.Node) -> torch.fx.Node:
        """Returns the int16 node with the values of a uint8 node."""
        stand_in = self.stand_in(node)
        if stand_in not in self._wide:
            fake = fake_like(node.meta["val"], torch.int16)
            mask = self._insert.after(stand_in, aten.bitwise_and.Scalar, (), fake, "value")
            wide = self._insert.before(mask, aten._to_copy.default, (stand_in,), fake, dtype=torch.int16)
            label = stand_in.meta.get("label", stand_in.name)
            wide.meta["label"], mask.meta["label"] = f"{label}.wide", f"{label}.value"
            mask.args = (wide, 255)
            self._wide[stand_in] = mask
        return self._wide[stand_in]

    def _bytes(self, node: torch.fx.Node) -> torch.fx.Node:
        """Returns a uint8 node with the elements of a replaced one."""
        stand_in = self.stand_ins[node]
        if stand_in not in self._whole:
            fake = fake_like(node.meta["val"], torch.uint8)
            self._whole[stand_in] = self._insert.after(
                stand_in, aten.view.dtype, (stand_in, torch.uint8), fake, "uint8"
            )
        return self._whole[stand_in]

    @staticmethod
    def _can_move(node: torch.fx.Node) -> bool:
        """Returns true if all results are uint8, and all operands that the result may contain."""
        values = node.meta["val"] if isinstance(node.meta["val"], (list, tuple)) else [node.meta["val"]]
        if not all(isinstance(value, torch.Tensor) and value.dtype == torch.uint8 for value in values):
            return False
        if _base(node) == "where" and len(node.all_input_nodes) != 3:
            return False
        allowed: tuple[torch.dtype, ...] = (torch.uint8, torch.int64, torch.int32, torch.bool)
        fakes = [source.meta.get("val") for source in node.all_input_nodes]
        masks = _base(node) in ("index", "_unsafe_index")  # PyTorch also reads uint8 as a mask
        if masks and any(fake is not None for fake in fakes[1:] if _is_dtype(fake, torch.uint8)):
            return False
        if _base(node) in ("cat", "stack", "where", "copy", "slice_scatter", "select_scatter"):
            allowed = (torch.uint8, torch.bool) if _base(node) == "where" else (torch.uint8,)
        return all(fake.dtype in allowed for fake in fakes if isinstance(fake, torch.Tensor))

    @staticmethod
    def _can_compute(node: torch.fx.Node) -> bool:
        """Returns true if the call gives the same values for int16 as for uint8."""
        target = node.target
        assert isinstance(target, torch._ops.OpOverload)
        names = [argument.name for argument in target._schema.arguments]
        given: dict[str, Any] = {**dict.fromkeys(names), **dict(zip(names, node.args, strict=False)), **node.kwargs}
        if given.get("dtype") == torch.uint8:
            return False
        scalars = [
            given[argument.name] for argument in target._schema.arguments if "number" in str(argument.type).lower()
        ]
        return all(
            value is None or (isinstance(value, (int, float)) and (isinstance(value, float) or 0 <= value <= 255))
            for value in scalars
        )


def _base(node: torch.fx.Node) -> str:
    """Returns the name of the called operator of ATen, such as "add"; "" for other calls."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return ""
    namespace, _, base = node.target._schema.name.partition("::")
    return base if namespace == "aten" else ""


def _is_dtype(value: Any, dtype: torch.dtype) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == dtype


def _is_bytes(value: Any) -> bool:
    fake = fake_of(value)
    return fake is not None and fake.dtype == torch.uint8


def _holds_bytes(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, (list, tuple)) and any(_is_dtype(element, torch.uint8) for element in value)


def _with_dtype(value: Any, dtype: torch.dtype) -> Any:
    """Returns a fake tensor of `dtype` in place of one of uint8."""
    return fake_like(value, dtype) if _is_dtype(value, torch.uint8) else value


def as_bytes(output: Output) -> Output:
    """Returns the output of a model for a tensor of uint8. output: that for the int8 tensor that replaces it.

    Results of the program and copies of inputs get their dtype when they are read.
    """
    if isinstance(output, ValueOutput):
        return dataclasses.replace(output, value=output.value.view(torch.uint8))
    if isinstance(output, KeptOutput):
        return dataclasses.replace(output, is_bytes=True)
    if isinstance(output, WeightsOutput):
        compute = output.compute
        return dataclasses.replace(output, compute=lambda weights: compute(weights).view(torch.uint8))
    return output
