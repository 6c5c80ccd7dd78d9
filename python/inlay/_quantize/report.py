# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says what was quantized, with the errors, the bytes and the reasons for layers that stay wide."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from .._program.report import format_bytes
from .recipes import Form, Recipe


class WideReason(enum.Enum):
    """Why a weight stays wide."""

    REQUEST = "request"  # keep_wide names it
    BUDGET = "budget"  # its error is more than the budget allows
    BLOCK = "block"  # the size of blocks does not divide its rows
    CLASS = "class"  # the recipe has no form for the class of its module
    SHARED = "shared"  # a module that stays wide reads it too
    UNSEEN = "unseen"  # no calibration data reaches it
    RANGE = "range"  # the floats of its codes overflow
    SIZE = "size"  # its codes and scales take as much memory


@dataclass(frozen=True)
class Wide:
    """The reason for a weight that stays wide, with a sentence."""

    reason: WideReason
    text: str


@dataclass
class LayerReport:
    """A weight and the layers that use it.

    names: the paths of the modules. kind: their class. form: None if it stays wide. code: the type of the codes.
    block: the elements of a row that share a scale; None for a whole row. bytes_before, bytes_after: of the weight.
    weight_error: the error of the weight. error: that of the results of the layer for its inputs in the float model;
    None without data. effect: the error of the results of the model if only this layer is quantized; None without a
    budget. All errors are relative: the norm of the difference divided by the norm of the floats.
    """

    names: tuple[str, ...]
    kind: str
    bytes_before: int
    bytes_after: int
    form: Form | None = None
    code: str | None = None
    block: int | None = None
    weight_error: float | None = None
    error: float | None = None
    effect: float | None = None
    wide: Wide | None = None


@dataclass
class QuantizationReport:
    """Says what `inlay.quantize` did. `print` shows it as text.

    error: the relative error of the results of the model for the calibration data; None without data. other_bytes:
    those of parameters that belong to no layer of the report. notes: other facts.
    """

    recipe: Recipe
    budget: float | None
    error: float | None = None
    layers: list[LayerReport] = field(default_factory=list)
    other_bytes: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def bytes_before(self) -> int:
        """The bytes of all parameters of the float model."""
        return self.other_bytes + sum(layer.bytes_before for layer in self.layers)

    @property
    def bytes_after(self) -> int:
        """The bytes of the weights in a program that is compiled for the quantized model."""
        return self.other_bytes + sum(layer.bytes_after for layer in self.layers)

    @property
    def wide(self) -> dict[str, Wide]:
        """The layers that stay wide, by name."""
        return {name: layer.wide for layer in self.layers if layer.wide for name in layer.names}

    def __str__(self) -> str:
        quantized = sum(layer.wide is None for layer in self.layers)
        lines = [
            f"{self.recipe.value}: {quantized} of {len(self.layers)} weights are quantized",
            f"bytes of parameters: {format_bytes(self.bytes_before)} before, {format_bytes(self.bytes_after)} after",
        ]
        if self.error is not None:
            budget = "" if self.budget is None else f" (budget: {self.budget:.3g})"
            lines.append(f"error of the results: {self.error:.3g}{budget}")
        lines += self.notes
        rows = [_row(layer) for layer in self.layers if layer.wide is None]
        lines += ["", *_table(rows)] if rows else []
        wide = [layer for layer in self.layers if layer.wide]
        if wide:
            lines += ["", "wide:"]
            lines += [
                f"  {', '.join(layer.names)} ({layer.kind}, {format_bytes(layer.bytes_before)}): "
                f"{layer.wide.reason.value}: {layer.wide.text}"
                for layer in wide
                if layer.wide
            ]
        return "\n".join(lines)


_TITLES = ("layer", "class", "codes", "block", "bytes", "weight error", "error", "effect")


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Returns the lines of a table without the columns that are empty."""
    columns = [(title, *cells) for title, *cells in zip(_TITLES, *rows, strict=True) if any(cells)]
    widths = [max(map(len, column)) for column in columns]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns, strict=True)]


def _row(layer: LayerReport) -> tuple[str, ...]:
    codes = layer.code or ""
    if layer.form in (Form.DYNAMIC, Form.STATIC):
        codes += f", {layer.form.value}"
    block = "row" if layer.block is None else str(layer.block)
    sizes = f"{format_bytes(layer.bytes_before)} -> {format_bytes(layer.bytes_after)}"
    errors = (layer.weight_error, layer.error, layer.effect)
    return (", ".join(layer.names), layer.kind, codes, block, sizes, *map(_format_error, errors))


def _format_error(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
