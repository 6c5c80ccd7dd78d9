# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model's segments on each target, against PyTorch."""

from __future__ import annotations

import contextlib
import pathlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch.utils import _pytree as pytree

from .._compile.driver import compile_imported
from .._compile.model import import_model
from .._compile.options import Options
from .._compile.types import CompileOptions
from .._graph.module import parse
from .._import.torch.export import split_inputs
from .._import.types import Inputs, Model
from .._paths import StrPath
from ..errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError
from .bisect import find_culprits
from .pieces import Piece, difference, is_off
from .reference import evaluate
from .reproducer import write_reproducer

if TYPE_CHECKING:
    from typing_extensions import Unpack

_DEVICES = ("vulkan", "host")  # targets that compile; what runs in PyTorch is right by definition


@dataclass
class SegmentComparison:
    """One segment, run by itself from right inputs.

    errors: target -> the largest difference from PyTorch as a share of the result's largest element, or the sentence
    that says why the target can't run it; culprits: target -> labels of the ops to blame, where the error is too large;
    reproducers: target -> path of a file that shows it.
    """

    id: int
    target: str
    labels: list[str]
    errors: dict[str, float | str] = field(default_factory=dict)
    culprits: dict[str, list[str]] = field(default_factory=dict)
    reproducers: dict[str, pathlib.Path] = field(default_factory=dict)


@dataclass
class Comparison:
    """What `compare` found. `is_right`: no segment is off, and neither is the whole; `str()` is a table."""

    segments: list[SegmentComparison]
    imported: float  # the graph as imported, computed op by op in PyTorch
    whole: float  # the compiled model

    is_right: bool = True

    def __str__(self) -> str:
        lines = [f"imported graph: {_share(self.imported)}; compiled model: {_share(self.whole)}"]
        targets = [name for name in _DEVICES if any(name in one.errors for one in self.segments)]
        rows = [["segment", "target", "ops", *targets, "holds"]]
        for one in self.segments:
            ends = one.labels if len(one.labels) < 3 else [one.labels[0], "...", one.labels[-1]]
            cells = [_share(one.errors[name]) if name in one.errors else "" for name in targets]
            rows.append([str(one.id), one.target, str(len(one.labels)), *cells, " ".join(ends)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
        for one in self.segments:
            for target, labels in one.culprits.items():
                lines.append(f"segment {one.id} on {target}: first wrong at {' ... '.join(labels)}")
                if target in one.reproducers:
                    lines.append(f"  python {one.reproducers[target]}")
            lines += [f"segment {one.id} not on {t}: {e}" for t, e in one.errors.items() if isinstance(e, str)]
        return "\n".join(lines)


def compare(
    model: Model,
    inputs: Inputs,
    *,
    tolerance: float | None = None,
    folder: StrPath | None = ".",
    **options: Unpack[CompileOptions],
) -> Comparison:
    """Runs a model whole and by segments, each segment on the host and on Vulkan from the inputs that PyTorch computes,
    and finds the op where a segment first goes wrong.

    model, inputs, options: as for `inlay.compile`, whose segments these are. tolerance: the largest difference that is
    right, as a share of a result's largest element; by default 1e-4 for f32, 1e-2 for f16 and bf16, 1e-9 for f64, and 0
    for integers. folder: where a reproducer is written for each segment that is off, None for nowhere.
    What the model writes stays as it was, and random numbers are the same in all runs.
    Raises as `inlay.compile` does, and UnsupportedError for a model some of whose sizes may differ from call to call,
    or with control flow.
    """
    options = Options.make(options)
    _check(tolerance, folder)
    imported = import_model(model, inputs, options.dynamic_shapes)
    program = imported.program
    if len(program.interface.symbols):
        names = ", ".join(repr(symbol.name) for symbol in program.interface.symbols)
        raise UnsupportedError(
            f"only models of fixed sizes can be compared part by part, but {names} may differ: give no dynamic_shapes"
        )
    args, kwargs = split_inputs(inputs)
    compiled = compile_imported(program, options, imported.convention)
    _refuse_control_flow(compiled.report["ops"])
    given = compiled.flatten(args, kwargs)
    with torch.no_grad():
        with _seeded():
            expected = _run_eager(imported, args, kwargs)
        with _seeded():
            graph = _Graph(program, compiled, given)
        with _seeded():
            whole = compiled.call_flat(*_copy(given))
        result = Comparison(
            [graph.compare_segment(segment, tolerance, folder) for segment in compiled.report["segments"]],
            imported=_worst(graph.results, expected),
            whole=_worst(whole, expected),
        )
    off = _is_any_off(whole, expected, tolerance)
    result.is_right = not off and not any(one.culprits for one in result.segments)
    return result


def _refuse_control_flow(ops):
    found = next((op for op in ops if op["name"].startswith("scf.")), None)
    if found is not None:
        raise UnsupportedError(
            f"only models without control flow can be compared part by part, but {found['label']!r} is "
            f"{found['name']}: compare what is inside of it as a model of its own"
        )


def _check(tolerance, folder):
    if tolerance is not None:
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)):
            raise ArgumentTypeError(f"expected tolerance to be a number, but got {tolerance!r}")
        if not tolerance >= 0:
            raise ArgumentValueError(f"expected a tolerance of at least 0, but got {tolerance!r}")
    if folder is not None and not pathlib.Path(folder).is_dir():
        raise ArgumentValueError(f"expected a folder for reproducers, but there is none at {str(folder)!r}")


@contextlib.contextmanager
def _seeded():
    """Meanwhile random numbers are those of one seed; afterwards they go on as before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def _run_eager(imported, args, kwargs):
    """The flat results of PyTorch, which writes copies of the arguments and of the buffers that the model writes."""
    eager, carried = imported.make_eager(), imported.program.interface.carried
    args, kwargs = _copy((args, kwargs))
    if not carried:
        return pytree.tree_leaves(eager(*args, **kwargs))
    held = {**dict(eager.named_parameters()), **dict(eager.named_buffers())}
    copies = {name: held[name].detach().clone() for name in carried}
    return pytree.tree_leaves(torch.func.functional_call(eager, copies, args, kwargs))


def _copy(values):
    return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), values)


class _Graph:
    """The imported graph with every value at a border of a segment, as PyTorch computes it."""

    def __init__(self, imported, compiled, given):
        self._weights = imported.weights
        module = parse(imported.text)
        self._layers = {layer.name: layer for layer in module.get_layers()}
        arguments, kept = compiled.program_arguments(given)
        self._values = dict(zip(module.get_inputs(), arguments, strict=True))
        borders = set(module.get_outputs())
        for segment in compiled.report["segments"]:
            borders.update(_outside(self._part(segment)))
        evaluate(list(self._layers.values()), self._values, self._weights, borders, kept)
        results = [self._values[tensor] for tensor in module.get_outputs()]
        self.results = compiled.assemble(given, results, kept)

    def compare_segment(self, segment, tolerance, folder):
        """The segment on each target that compiles."""
        row = SegmentComparison(segment["id"], segment["target"], list(segment["ops"]))
        layers = self._part(segment)
        if not layers or segment["target"] not in _DEVICES:
            return row
        piece = Piece.of(layers, self._weights)
        inputs = [self._values[tensor] for tensor in piece.arguments]
        expected = [self._values[tensor] for tensor in piece.results]
        for target in _DEVICES:
            try:
                got = piece.run(target, inputs)
            except Error as error:
                row.errors[target] = " ".join(str(error).strip().splitlines()[:2])  # what, and the first op's reason
                continue
            row.errors[target] = _worst(got, expected)
            if _is_any_off(got, expected, tolerance):
                self._blame(row, layers, target, tolerance, folder)
        return row

    def _blame(self, row, layers, target, tolerance, folder):
        values = dict(self._values)
        evaluate(layers, values, self._weights)
        culprits = find_culprits(layers, values, self._weights, target, tolerance)
        row.culprits[target] = [layer.name for layer in culprits]
        if folder is not None:
            piece = Piece.of(culprits, self._weights)
            what = f"{culprits[-1].op} differs from PyTorch on {target}: {culprits[-1].name}, {culprits[-1].location}"
            inputs = [values[tensor] for tensor in piece.arguments]
            row.reproducers[target] = write_reproducer(
                folder, f"{culprits[-1].name}_{target}", piece, inputs, target, tolerance, what
            )

    def _part(self, segment):
        """The layers of a segment and those copied into it, in the graph's order."""
        labels = {*segment["ops"], *segment.get("clones", ())}
        return [layer for label, layer in self._layers.items() if label in labels]


def _outside(layers):
    """The tensors that `layers` read from elsewhere or that others read of them."""
    inside = {tensor for layer in layers for tensor in layer.get_outputs()}
    read = {tensor for layer in layers for tensor in layer.get_inputs()} - inside
    members = set(layers)
    return read | {tensor for tensor in inside if tensor.is_output() or not members.issuperset(tensor.get_users())}


def _pairs(got, expected):
    """The tensors among results and what they should be."""
    return [(ours, theirs) for ours, theirs in zip(got, expected, strict=True) if isinstance(theirs, torch.Tensor)]


def _worst(got, expected):
    return max((difference(ours, theirs) for ours, theirs in _pairs(got, expected)), default=0.0)


def _is_any_off(got, expected, tolerance):
    return any(is_off(difference(ours, theirs), theirs.dtype, tolerance) for ours, theirs in _pairs(got, expected))


def _share(error):
    return f"{error:.1e}" if isinstance(error, float) else "-"
