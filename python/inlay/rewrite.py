# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Patterns that are written in Python and run in the compiler.

    @inlay.rewrite.pattern("fuse_linear_relu", benefit=2)
    def fuse(op, x, w, b):
        return op.relu(op.add(op.matmul(x, w), b))

    @fuse.to
    def _(op, x, w, b):
        return op("my.linear_relu", x, w, b)

    @fuse.where
    def _(m):
        m.x.dtype("f32", "f16")

    manager = inlay.rewrite.RewritePatternManager()
    manager.add("fuse", fuse)
    count = manager.rewrite(module)

Each function runs once, with symbols as arguments. The result is a pattern in PDL, `fuse.pdl`, which
`inlay-opt --inlay-rewrite` also reads.
"""

from typing import TYPE_CHECKING

from ._compile.modules import import_module
from ._graph.builder import OpFunction, constant, op
from ._graph.module import Layer, Module, Tensor, net_guard, parse
from ._graph.scope import insert_after, insert_before
from ._rewrite.classes import PatternAnalyzer, PatternRewriter
from ._rewrite.conditions import Conditions
from ._rewrite.interfaces import Interface
from ._rewrite.manager import AnalysisPatternManager, Explanation, Match, RewritePatternManager, Statistics
from ._rewrite.replacing import replace_modules
from ._rewrite.signature import FLayerInfo, FLayerInfoMemo, record_signature
from ._rewrite.tracing import Pattern, pattern
from ._rewrite.writing import Symbol, Writer

if TYPE_CHECKING:
    from ._inlay import Attribute

__all__ = [
    "AnalysisPatternManager",
    "Attribute",
    "Conditions",
    "Explanation",
    "FLayerInfo",
    "FLayerInfoMemo",
    "Interface",
    "Layer",
    "Match",
    "Module",
    "OpFunction",
    "Pattern",
    "PatternAnalyzer",
    "PatternRewriter",
    "RewritePatternManager",
    "Statistics",
    "Symbol",
    "Tensor",
    "Writer",
    "constant",
    "import_module",
    "insert_after",
    "insert_before",
    "net_guard",
    "op",
    "parse",
    "pattern",
    "record_signature",
    "replace_modules",
]


def __getattr__(name: str) -> object:
    if name != "Attribute":
        raise AttributeError(f"module 'inlay.rewrite' has no attribute '{name}'")
    from ._inlay import Attribute  # not at the top, since the extension is loaded when it is first needed

    return Attribute
