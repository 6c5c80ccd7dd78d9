# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces complex tensors by pairs of real ones: the real parts and the imaginary parts.

Complex values that calls pass to each other are replaced together, if all the calls that make or read them have such a
form. That is so for rotary embeddings by complex products. Otherwise PyTorch makes these calls, for example around a
Fourier transform.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container
from typing import Any, NamedTuple

import networkx
import torch

from ..effects import is_checked_already
from .nodes import Inserter, fake_of

aten = torch.ops.aten

# Calls that only move elements of their first operand.
_MOVES_TEXT = """
    _unsafe_view alias cat clone contiguous detach expand flatten flip gather index index_select narrow permute repeat
    reshape resolve_conj roll select slice split split_with_sizes squeeze stack t transpose unbind unflatten unsqueeze
    view
"""
_MOVES = set(_MOVES_TEXT.split())


class _Pair(NamedTuple):
    real: Any
    imag: Any


class PairGraph:
    """Replaces complex tensors in a graph. substitutes: real node -> the node that replaces it."""

    def __init__(self, graph: torch.fx.Graph, constants: Container[torch.fx.Node]) -> None:
        """constants: nodes whose values are known at import."""
        self._constants = constants
        self._insert = Inserter(graph)
        self.substitutes = self._insert.substitutes
        self._pairs: dict[torch.fx.Node, _Pair] = {}
        self._lists: dict[torch.fx.Node, _Pair] = {}  # calls with several results
        nodes = [node for node in graph.nodes if not is_checked_already(node)]
        if not any(_is_complex(node) for node in nodes):
            return
        kept = self._kept_by_pytorch(nodes)
        for node in nodes:
            if node.op == "call_function" and node not in kept and _touches(node):
                self._replace(node)

    def _kept_by_pytorch(self, nodes: list[torch.fx.Node]) -> set[torch.fx.Node]:
        """Returns the complex nodes, and the calls that read them, that are not replaced."""
        groups = networkx.utils.UnionFind()
        kept = []
        for node in nodes:
            if not _touches(node):
                continue
            groups.union(node, *(source for source in node.all_input_nodes if _is_complex(source)))
            if not self._can_replace(node):
                kept.append(node)
        roots = {groups[node] for node in kept}
        return {node for node in groups if groups[node] in roots}

    def _can_replace(self, node: torch.fx.Node) -> bool:
        if node.op != "call_function":
            return node in self._constants and node.op != "output"
        if node.target is operator.getitem:
            return _is_complex(node.args[0]) or _is_complex(node)
        name = _base(node)
        if _dtype(node) == torch.complex32:
            return False
        if name in _MOVES:
            tensors = [source for source in node.all_input_nodes if fake_of(source) is not None]
            return name not in ("cat", "stack") or all(map(_is_complex, tensors))
        if name in ("add", "sub", "mul"):
            return self._can_combine(node, name)
        if name in ("to", "_to_copy"):
            return all(map(_is_complex, (node, node.args[0])))
        return name in _FORMS

    @staticmethod
    def _can_combine(node: torch.fx.Node, name: str) -> bool:
        left, right = node.args[:2]
        if any(isinstance(operand, complex) for operand in (left, right)) or node.kwargs.get("alpha", 1) != 1:
            return False
        if any(_is_complex(operand) and _dtype(operand) != _dtype(node) for operand in (left, right)):
            # Real products are promoted alike, unless a tensor without dims takes no part in the promotion.
            fakes = [fake_of(operand) for operand in (left, right)]
            return name == "mul" and all(fake is not None and fake.dim() > 0 for fake in fakes)
        if name == "mul":
            return True
        shapes = [fake_of(operand) for operand in (left, right) if _is_complex(operand)]
        return all(fake is not None and fake.shape == node.meta["val"].shape for fake in shapes)

    # -- Replacement ----------------------------------------------------------------------------------------------

    def _replace(self, node: torch.fx.Node) -> None:
        if node.target is operator.getitem:
            source, number = node.args
            real, imag = self._lists[source]  # type: ignore[index]
            made = _Pair(*(self._call(node, operator.getitem, part, number) for part in (real, imag)))
            self._pairs[node] = made
            return
        name = _base(node)
        form = _FORMS.get(name, _move if name in _MOVES else None)
        assert form is not None
        result = form(self, node)
        if not isinstance(result, _Pair):
            result.meta["label"] = node.meta.get("label", node.name)
            self._insert.substitute(node, result)
        elif isinstance(node.meta["val"], (list, tuple)):
            self._lists[node] = result
        else:
            self._pairs[node] = result

    def parts(self, node: Any) -> _Pair:
        """Returns the pair for an operand: a complex node, a real node or a number.

        As in PyTorch, the imaginary part of a real operand is 0, which decides NaNs and signs of zeros.
        """
        if not _is_complex(node):
            return _Pair(node, 0.0)
        if node not in self._pairs:  # a constant
            place = _after_inputs(node)
            parts = self._call(place, aten.view_as_real.default, node)
            self._pairs[node] = _Pair(*(self._call(place, aten.select.int, parts, -1, number) for number in (0, 1)))
        return self._pairs[node]

    def call(self, node: torch.fx.Node, target: Any, *args: Any, **kwargs: Any) -> torch.fx.Node:
        """Inserts a call of `target` for `node`."""
        return self._call(node, target, *args, **kwargs)

    def _call(self, node: torch.fx.Node, target: Any, *args: Any, **kwargs: Any) -> torch.fx.Node:
        fakes = torch.fx.node.map_arg((args, kwargs), lambda source: source.meta["val"])
        mode = next((fake.fake_mode for source in _nodes(args) if (fake := _fake_in(source)) is not None), None)
        assert mode is not None
        with mode:
            value = target(*fakes[0], **fakes[1])
        name = getattr(getattr(target, "_schema", None), "name", "item").rpartition(":")[2]
        made: torch.fx.Node = self._insert.before(node, target, args, value, f"{name}{len(node.graph.nodes)}", **kwargs)
        return made


def _nodes(args: Any) -> list[torch.fx.Node]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(args) if isinstance(leaf, torch.fx.Node)]


def _fake_in(node: torch.fx.Node) -> Any:
    """Returns a fake tensor among the results of a node."""
    values = torch.utils._pytree.tree_leaves(node.meta.get("val"))
    return next((value for value in values if hasattr(value, "fake_mode")), None)


def _after_inputs(node: torch.fx.Node) -> torch.fx.Node:
    while node.op in ("placeholder", "get_attr"):
        node = node.next
    return node


def _base(node: torch.fx.Node) -> str:
    if not isinstance(node.target, torch._ops.OpOverload) or node.target.namespace != "aten":
        return ""
    return node.target._schema.name.partition("::")[2]


def _dtype(node: Any) -> torch.dtype | None:
    fake = fake_of(node)
    return None if fake is None else fake.dtype


def _is_complex(value: Any) -> bool:
    """Returns true for a node that is a complex tensor or a list of them."""
    if not isinstance(value, torch.fx.Node):
        return False
    fake = value.meta.get("val")
    elements = fake if isinstance(fake, (list, tuple)) else [fake]
    return any(isinstance(element, torch.Tensor) and element.is_complex() for element in elements)


def _touches(node: torch.fx.Node) -> bool:
    return _is_complex(node) or any(map(_is_complex, node.all_input_nodes))


# -- Forms of calls ---------------------------------------------------------------------------------------------------


def _move(graph: PairGraph, node: torch.fx.Node) -> _Pair:
    if _base(node) == "resolve_conj":
        return graph.parts(node.args[0])

    def half(number: int) -> torch.fx.Node:
        args, kwargs = torch.fx.node.map_arg(
            (node.args, node.kwargs), lambda source: graph.parts(source)[number] if _is_complex(source) else source
        )
        return graph.call(node, node.target, *args, **kwargs)

    return _Pair(half(0), half(1))


def _view_as_complex(graph: PairGraph, node: torch.fx.Node) -> _Pair:
    return _Pair(*(graph.call(node, aten.select.int, node.args[0], -1, number) for number in (0, 1)))


def _complex(graph: PairGraph, node: torch.fx.Node) -> _Pair:
    return _Pair(*node.args[:2])


def _polar(graph: PairGraph, node: torch.fx.Node) -> _Pair:
    size, angle = node.args[:2]
    halves = (graph.call(node, function, angle) for function in (aten.cos.default, aten.sin.default))
    return _Pair(*(graph.call(node, aten.mul.Tensor, size, half) for half in halves))


def _view_as_real(graph: PairGraph, node: torch.fx.Node) -> torch.fx.Node:
    return graph.call(node, aten.stack.default, list(graph.parts(node.args[0])), -1)


def _part(number: int) -> Callable[[PairGraph, torch.fx.Node], Any]:
    return lambda graph, node: graph.call(node, aten.alias.default, graph.parts(node.args[0])[number])


def _cast(graph: PairGraph, node: torch.fx.Node) -> _Pair:
    dtype = node.meta["val"].dtype.to_real()
    parts = graph.parts(node.args[0])
    return _Pair(*(graph.call(node, aten._to_copy.default, part, dtype=dtype) for part in parts))


def _abs(graph: PairGraph, node: torch.fx.Node) -> torch.fx.Node:
    # Scaled by the larger part, so that the squares do not overflow.
    real, imag = (graph.call(node, aten.abs.default, part) for part in graph.parts(node.args[0]))
    large, small = (graph.call(node, function, real, imag) for function in (aten.maximum.default, aten.minimum.default))
    share = graph.call(node, aten.div.Tensor, small, large)
    square = graph.call(node, aten.add.Tensor, graph.call(node, aten.mul.Tensor, share, share), 1)
    size = graph.call(node, aten.mul.Tensor, large, graph.call(node, aten.sqrt.default, square))
    size = graph.call(node, aten.where.self, graph.call(node, aten.eq.Scalar, large, 0), large, size)
    # Infinite even if the other part is NaN.
    endless = (graph.call(node, aten.isinf.default, part) for part in (real, imag))
    return graph.call(
        node, aten.where.ScalarSelf, graph.call(node, aten.logical_or.default, *endless), float("inf"), size
    )


def _angle(graph: PairGraph, node: torch.fx.Node) -> torch.fx.Node:
    real, imag = graph.parts(node.args[0])
    return graph.call(node, aten.atan2.default, imag, real)


def _conjugate(graph: PairGraph, node: torch.fx.Node) -> _Pair:
    real, imag = graph.parts(node.args[0])
    return _Pair(real, graph.call(node, aten.neg.default, imag))


def _negate(graph: PairGraph, node: torch.fx.Node) -> _Pair:
    return _Pair(*(graph.call(node, aten.neg.default, part) for part in graph.parts(node.args[0])))


def _multiply(graph: PairGraph, node: torch.fx.Node) -> _Pair:
    (a, b), (c, d) = (graph.parts(operand) for operand in node.args[:2])

    def times(left: Any, right: Any) -> torch.fx.Node:
        left, right = (right, left) if not isinstance(left, torch.fx.Node) else (left, right)
        return graph.call(node, aten.mul.Tensor, left, right)

    real = graph.call(node, aten.sub.Tensor, times(a, c), times(b, d))
    return _Pair(real, graph.call(node, aten.add.Tensor, times(a, d), times(b, c)))


def _add(graph: PairGraph, node: torch.fx.Node) -> _Pair:
    target = aten.add.Tensor if _base(node) == "add" else aten.sub.Tensor
    left, right = (graph.parts(operand) for operand in node.args[:2])
    return _Pair(*(_combine(graph, node, target, *pair) for pair in zip(left, right, strict=True)))


def _combine(graph: PairGraph, node: torch.fx.Node, target: Any, left: Any, right: Any) -> torch.fx.Node:
    if isinstance(left, torch.fx.Node):
        return graph.call(node, target, left, right)
    if target is aten.sub.Tensor:
        return graph.call(node, aten.rsub.Scalar, right, left)
    return graph.call(node, target, right, left)


_FORMS: dict[str, Callable[[PairGraph, torch.fx.Node], Any]] = {
    "_conj": _conjugate,
    "_conj_physical": _conjugate,
    "_to_copy": _cast,
    "abs": _abs,
    "add": _add,
    "angle": _angle,
    "complex": _complex,
    "conj": _conjugate,
    "conj_physical": _conjugate,
    "imag": _part(1),
    "mul": _multiply,
    "neg": _negate,
    "polar": _polar,
    "real": _part(0),
    "sub": _add,
    "to": _cast,
    "view_as_complex": _view_as_complex,
    "view_as_real": _view_as_real,
}
