# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps quantized weights packed, whose calls would read them as floats.

Codes with limits of 2 or 4 bits are packed. A product with codes that a cast makes floats reads a `dequantize` of them,
and so does a product of integers. An embedding dequantizes only the rows that it reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from ...._dialect.quantized import BITS
from ..call import Call
from ..constants import ConstantFolder
from ..decompose.common import CODES, SHORT_FLOATS
from .nodes import Inserter, fake_like, fake_of

aten = torch.ops.aten

_DEQUANTIZE = torch.ops.inlay.dequantize.default
# Calls that compute the same with a scale of float32 as with the same number of float64.
_READ_ANY_SCALE = (
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed.dequantize_per_token.default",
    "quantized_decomposed.quantize_per_tensor.tensor",
)
_EXACT = 2**24  # float32 holds all integers up to this


class PackedGraph:
    """Rewrites the calls of a graph that read quantized weights.

    substitutes: node -> the node that replaces it.
    """

    def __init__(self, graph: torch.fx.Graph, constants: ConstantFolder) -> None:
        self._constants = constants
        self._insert = Inserter(graph)
        self.substitutes = self._insert.substitutes

    def visit(self, node: torch.fx.Node) -> None:
        """Rewrites a product or an embedding."""
        if node.target is aten.mm.default:
            self._replace_product(node)
        elif node.target is aten._int_mm.default:
            self._replace_integer_product(node)
        elif node.target is aten.embedding.default:
            self._replace_embedding(node)

    # -- Codes ----------------------------------------------------------------------------------------------------

    def narrow(self, made: Iterable[torch.fx.Node], limits: tuple[int, int]) -> None:
        """Packs the constant codes of calls of `inlay::dequantize` if their limits have less than 8 bits.

        Codes that are out of the limits stay as they are, because PyTorch reads them as they are.
        """
        low, high = limits
        code = next((code for code in ("u2", "i2", "u4", "i4") if _least(code) <= low and high <= _most(code)), None)
        for node in made:
            if node.target is not _DEQUANTIZE or code is None:
                continue
            codes, scales, offsets, wide, block, size, minima, dtype = _arguments(node)
            assert isinstance(codes, torch.fx.Node)
            shape = codes.meta["val"].shape
            if not self._is_constant(codes) or 0 in shape or not self._is_within(codes, code):
                continue
            count, per_byte = shape[-1], 8 // BITS[code]
            fake = fake_like(codes.meta["val"][..., ::per_byte].contiguous(), torch.int8)
            name = codes.meta.get("label", codes.name)
            packed = self._insert.before(node, torch.ops.inlay.pack.default, (codes, code, name), fake)
            packed.meta["label"] = name
            if offsets is not None and code[0] != str(wide)[0]:
                offsets = self._as_floats(node, offsets)
            given = count if count % per_byte else size
            node.args = (packed, scales, offsets, code, block, given, minima, dtype)

    def _is_within(self, codes: torch.fx.Node, code: str) -> bool:
        """Returns true if all codes are in the range of a type. The program does not depend on their values: `pack`
        checks those of other weights."""
        values = self._constants[codes]
        return bool(values.amin() >= _least(code)) and bool(values.amax() <= _most(code))

    def _as_floats(self, node: torch.fx.Node, offsets: Any) -> torch.fx.Node:
        """Returns zero points of int8 as floats. Those of a `dequantize` have the sign of its codes."""
        value = offsets.meta["val"]
        if value.dtype != torch.int8:
            return offsets  # type: ignore[no-any-return]
        fake = fake_like(value, torch.float32)
        cast = aten._to_copy.default
        return self._insert.before(node, cast, (offsets,), fake, "offsets", dtype=torch.float32)  # type: ignore[no-any-return]

    def _is_constant(self, node: torch.fx.Node) -> bool:
        """Returns true if the value of a node is known."""
        if node in self._constants:
            return True
        if node.op != "call_function" or not all(map(self._is_constant, node.all_input_nodes)):
            return False
        return self._constants.fold(node)

    # -- Products -------------------------------------------------------------------------------------------------

    def _replace_product(self, node: torch.fx.Node) -> None:
        """Replaces a product with a constant matrix of int8 that a cast makes floats."""
        x, weight = node.args
        codes = _cast_of(weight)
        dtype = node.meta["val"].dtype
        if codes is None or dtype not in SHORT_FLOATS:
            return
        source = _transposed(codes) or codes
        if not self._is_constant(source) or 0 in source.meta["val"].shape:
            return
        self._multiply(node, x, codes, dtype)

    def _replace_integer_product(self, node: torch.fx.Node) -> None:
        """Replaces a product of integers by one of floats that hold them exactly."""
        lhs, rhs = (fake_of(operand) for operand in node.args)
        if lhs is None or rhs is None or lhs.dtype not in CODES or rhs.dtype not in CODES:
            return
        count = lhs.shape[1]
        if not isinstance(count, int) or any(size == 0 for size in (*lhs.shape, *rhs.shape) if isinstance(size, int)):
            return
        largest = count * (255 if lhs.dtype == torch.uint8 else 128) * (255 if rhs.dtype == torch.uint8 else 128)
        dtype = torch.float32 if largest <= _EXACT else torch.float64
        x, weight = node.args
        assert isinstance(weight, torch.fx.Node)
        made = self._multiply(node, self._dequantize(node, x, dtype), weight, dtype)
        # An integer that is too large for int32 keeps its lowest bits.
        for step in (torch.int64, torch.int32) if dtype == torch.float64 else (torch.int32,):
            fake = fake_like(node.meta["val"], step)
            made = self._insert.before(node, aten._to_copy.default, (made,), fake, dtype=step)
        self._insert.substitute(node, made)

    def _multiply(self, node: torch.fx.Node, x: Any, codes: torch.fx.Node, dtype: torch.dtype) -> torch.fx.Node:
        """Makes a product of `x` and codes in place of `node`."""
        source = _transposed(codes)
        weight = self._dequantize(node, source or codes, dtype)
        target = aten.linear.default if source else aten.mm.default
        made = self._insert.before(node, target, (x, weight), fake_like(node.meta["val"], dtype))
        if made.meta["val"].dtype == node.meta["val"].dtype:
            self._insert.substitute(node, made)
        return made  # type: ignore[no-any-return]

    def _dequantize(self, node: torch.fx.Node, codes: Any, dtype: torch.dtype) -> torch.fx.Node:
        """Returns the numbers of codes of 8 bits as floats."""
        value = codes.meta["val"]
        if value.dtype == torch.uint8:
            codes = self._insert.before(
                node, aten.view.dtype, (codes, torch.int8), fake_like(value, torch.int8), "bytes"
            )
        ones = self._insert.before(node, aten.full.default, ([1, 1], 1.0), None, "scale")
        with value.fake_mode:
            ones.meta["val"] = torch.ones(1, 1)
        arguments = (codes, ones, None, CODES[value.dtype], [-1, -1], None, False, dtype)
        label = "dequantize" if codes.op == "placeholder" else f"{codes.name}.dequantize"
        return self._insert.before(node, _DEQUANTIZE, arguments, fake_like(value, dtype), label)  # type: ignore[no-any-return]

    # -- Embeddings -----------------------------------------------------------------------------------------------

    def _replace_embedding(self, node: torch.fx.Node) -> None:
        """Replaces an embedding of a dequantized matrix with scales per row by a `dequantize` of the rows."""
        call = Call(node)
        weight, rows = call["weight"], call["indices"]
        if weight.target is not _DEQUANTIZE:
            return
        codes, scales, offsets, code, block, size, minima, dtype = _arguments(weight)
        if len(block) != 2 or block[0] != 1:
            return
        fake = node.meta["val"]

        def take(part: Any, name: str) -> Any:
            if part is None:
                return None
            value = part.meta["val"]
            with value.fake_mode:
                taken = torch.empty((*fake.shape[:-1], value.shape[-1]), dtype=value.dtype)
            return self._insert.before(node, aten.embedding.default, (part, rows), taken, name)

        parts = take(codes, "codes"), take(scales, "scales"), take(offsets, "offsets")
        blocks = [1] * (fake.dim() - 1) + [block[1]]
        made = self._insert.before(node, _DEQUANTIZE, (*parts, code, blocks, size, minima, dtype), fake)
        self._insert.substitute(node, made)


def _arguments(node: torch.fx.Node) -> list[Any]:
    """Returns the arguments of a call of `inlay::dequantize` in order, with the defaults that it leaves out."""
    return [*node.args, *(argument.default_value for argument in _DEQUANTIZE._schema.arguments[len(node.args) :])]


def _least(code: str) -> int:
    return -(1 << BITS[code] - 1) if code[0] == "i" else 0


def _most(code: str) -> int:
    return _least(code) + (1 << BITS[code]) - 1


def _cast_of(node: Any) -> torch.fx.Node | None:
    """Returns the tensor of int8 that a call casts; None for other calls."""
    if not isinstance(node, torch.fx.Node) or node.target not in (aten.to.dtype, aten._to_copy.default):
        return None
    source: Any = node.args[0]
    fake = fake_of(source)
    return source if fake is not None and fake.dtype == torch.int8 else None


def _transposed(node: torch.fx.Node) -> torch.fx.Node | None:
    """Returns the matrix that a call transposes; None for other calls."""
    if node.target is aten.t.default or (
        node.target is aten.transpose.int and set(node.args[1:]) in ({0, 1}, {-1, -2})
    ):
        source: Any = node.args[0]
        return source if node.meta["val"].dim() == 2 else None
    if node.target is aten.permute.default and list(node.args[1]) == [1, 0]:  # type: ignore[arg-type]
        return node.args[0]  # type: ignore[return-value]
    return None


# -- Calls that quantize ----------------------------------------------------------------------------------------------


def limits_of(node: torch.fx.Node) -> tuple[int, int] | None:
    """Returns the limits of the codes of a call; None if it has no integers as limits."""
    call = Call(node)
    low, high = call.get("quant_min"), call.get("quant_max")
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None


def declare_dtypes(node: torch.fx.Node) -> None:
    """Gives the results of `choose_qparams_per_token` the dtypes that PyTorch computes. It declares others."""
    if str(node.target) != "quantized_decomposed.choose_qparams_per_token.default":
        return
    source: Any = node.args[0]
    dtype = torch.float32 if source.meta["val"].dtype == torch.float16 else source.meta["val"].dtype
    node.meta["val"] = [fake_like(value, dtype) for value in node.meta["val"]]
    for item in node.users:
        number: Any = item.args[1]
        item.meta["val"] = node.meta["val"][number]


def narrow_scale(node: torch.fx.Node) -> None:
    """Makes a call read a scale before it is cast to float64. `quantize_per_token` rounds in the dtype of the scale."""
    scale: Any = node.args[1]
    if str(node.target) not in _READ_ANY_SCALE or not isinstance(scale, torch.fx.Node):
        return
    if scale.target is aten._to_copy.default and scale.meta["val"].dtype == torch.float64:
        source: Any = scale.args[0]
        if source.meta["val"].dtype == torch.float32:
            node.update_arg(1, source)
