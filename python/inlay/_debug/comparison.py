# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the segments of a model on each target with PyTorch.

`pieces.py` measures the error, and `bisect.py` finds the layers that cause it.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import torch
from torch.utils import _pytree as pytree

from .._compile.imported import compile_imported
from .._compile.model import import_model
from .._compile.options import Options
from .._compile.types import CompileOptions
from .._graph.module import Layer, Tensor, parse
from .._import.torch.export import split_inputs
from .._import.types import Inputs, Model
from .._paths import StrPath
from .._program.compiled import CompiledModule
from .._program.imported import ImportedModel, ImportedProgram
from .._program.objects import flatten_results
from ..errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError
from .bisect import find_culprits
from .pieces import Piece, Target, difference, is_off
from .reference import evaluate
from .reproducer import write_reproducer

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TARGETS: tuple[Target, ...] = get_args(Target)


@dataclass
class SegmentComparison:
    """The comparison of a segment that ran alone on inputs from PyTorch. The keys of the dicts are targets."""

    id: int  # number of the segment in the report
    target: str  # target of the segment in the compiled model
    labels: list[str]  # ops of the segment
    # The largest difference from PyTorch relative to the largest element of the result, or the reason why the target
    # can't run the segment.
    errors: dict[str, float | str] = field(default_factory=dict)
    culprits: dict[str, list[str]] = field(
        default_factory=dict
    )  # labels of the ops at fault, if the error is too large
    reproducers: dict[str, pathlib.Path] = field(default_factory=dict)  # files that reproduce the wrong result


@dataclass
class Comparison:
    """The result of `compare`. `str(comparison)` is a table."""

    segments: list[SegmentComparison]
    imported: float  # largest relative error of the imported graph, computed op by op in PyTorch
    whole: float  # largest relative error of the compiled model
    is_right: bool = True  # True if the errors of all segments and of the compiled model are within the tolerance

    def __str__(self) -> str:
        lines = [f"imported graph: {_share(self.imported)}; compiled model: {_share(self.whole)}"]
        targets = [name for name in _TARGETS if any(name in segment.errors for segment in self.segments)]
        rows = [["segment", "target", "ops", *targets, "holds"]]
        for segment in self.segments:
            labels = segment.labels
            ends = labels if len(labels) < 3 else [labels[0], "...", labels[-1]]
            cells = [_share(segment.errors[name]) if name in segment.errors else "" for name in targets]
            rows.append([str(segment.id), segment.target, str(len(labels)), *cells, " ".join(ends)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
        for segment in self.segments:
            for target, culprits in segment.culprits.items():
                lines.append(f"segment {segment.id} on {target}: first wrong at {' ... '.join(culprits)}")
                if target in segment.reproducers:
                    lines.append(f"  python {segment.reproducers[target]}")
            lines += [f"segment {segment.id} not on {t}: {e}" for t, e in segment.errors.items() if isinstance(e, str)]
        return "\n".join(lines)


def compare(
    model: Model,
    inputs: Inputs,
    *,
    tolerance: float | None = None,
    folder: StrPath | None = ".",
    **options: Unpack[CompileOptions],
) -> Comparison:
    """Compares a model with PyTorch: the compiled model, and each of its segments on Vulkan and on the host.

    Each segment runs alone with the inputs that PyTorch computes. If its result is wrong, the first op with a wrong
    result is found. Buffers and arguments that the model writes keep their values. Random numbers are the same in all
    runs.

        comparison = inlay.debug.compare(model, (x,))
        print(comparison)
        assert comparison.is_right

    model, inputs, options: as for `inlay.compile`.
    tolerance: the largest difference of a correct result, relative to its largest element (default: 1e-4 for f32, 1e-2
        for f16 and bf16, 1e-9 for f64, and 0 for integers).
    folder: the folder for a reproducer of each wrong segment (default: the current folder). None for no files.
    Raises the errors of `inlay.compile`, ArgumentTypeError or ArgumentValueError for a wrong tolerance or folder, and
    UnsupportedError for a model with control flow or with sizes that may differ from call to call.
    """
    checked = Options.make(options)
    _check(tolerance, folder)
    imported = import_model(model, inputs, checked.dynamic_shapes)
    program = imported.program
    if len(program.interface.symbols):
        names = ", ".join(repr(symbol.name) for symbol in program.interface.symbols)
        raise UnsupportedError(
            f"only models of fixed sizes can be compared part by part, but {names} may differ: leave out dynamic_shapes"
        )
    args, kwargs = split_inputs(inputs)
    compiled = compile_imported(program, checked, imported.convention)
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
    result.is_right = not off and not any(segment.culprits for segment in result.segments)
    return result


def _refuse_control_flow(ops: Iterable[Mapping[str, Any]]) -> None:
    """Raises UnsupportedError if an op of the report is control flow."""
    found = next((op for op in ops if op["name"].startswith("scf.")), None)
    if found is not None:
        raise UnsupportedError(
            f"only models without control flow can be compared part by part, but {found['label']!r} is "
            f"{found['name']}: compare its contents as a separate model"
        )


def _check(tolerance: Any, folder: StrPath | None) -> None:
    if tolerance is not None:
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)):
            raise ArgumentTypeError(f"expected tolerance to be a number, but got {tolerance!r}")
        if not tolerance >= 0:
            raise ArgumentValueError(f"expected a tolerance of at least 0, but got {tolerance!r}")
    if folder is not None and not pathlib.Path(folder).is_dir():
        raise ArgumentValueError(f"expected a folder for reproducers, but there is none at {str(folder)!r}")


@contextlib.contextmanager
def _seeded() -> Iterator[None]:
    """Seeds the random numbers of PyTorch in this context and restores their state afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def _run_eager(imported: ImportedModel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Returns the flat results of PyTorch, which runs with copies of the arguments and of the written buffers."""
    assert imported.make_eager is not None, "import_model sets it"
    eager: Any = imported.make_eager()
    carried = imported.program.interface.carried
    args, kwargs = _copy((args, kwargs))
    if not carried:
        return flatten_results(imported.convention, (args, kwargs), eager(*args, **kwargs))
    held = {**dict(eager.named_parameters()), **dict(eager.named_buffers())}
    copies = {name: held[name].detach().clone() for name in carried}
    result = torch.func.functional_call(eager, copies, args, kwargs)
    return flatten_results(imported.convention, (args, kwargs), result)


def _copy(values: Any) -> Any:
    return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), values)


class _Graph:
    """The imported graph with the values that PyTorch computes for the borders of segments."""

    def __init__(self, imported: ImportedProgram, compiled: CompiledModule, given: Sequence[Any]) -> None:
        """given: the flat arguments of the model."""
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

    def compare_segment(
        self, segment: Mapping[str, Any], tolerance: float | None, folder: StrPath | None
    ) -> SegmentComparison:
        """Compares a segment of the report on each target."""
        row = SegmentComparison(segment["id"], segment["target"], list(segment["ops"]))
        layers = self._part(segment)
        if not layers or segment["target"] not in _TARGETS:
            return row
        piece = Piece.of(layers, self._weights)
        inputs = [self._values[tensor] for tensor in piece.arguments]
        expected = [self._values[tensor] for tensor in piece.results]
        for target in _TARGETS:
            try:
                got = piece.run(target, inputs)
            except Error as error:
                # The first two lines are the error and the reason for the first op.
                row.errors[target] = " ".join(str(error).strip().splitlines()[:2])
                continue
            row.errors[target] = _worst(got, expected)
            if _is_any_off(got, expected, tolerance):
                self._blame(row, layers, target, tolerance, folder)
        return row

    def _blame(
        self,
        row: SegmentComparison,
        layers: Sequence[Layer],
        target: Target,
        tolerance: float | None,
        folder: StrPath | None,
    ) -> None:
        """Finds the culprits of a segment and writes a reproducer."""
        values = dict(self._values)
        evaluate(layers, values, self._weights)
        culprits = find_culprits(layers, values, self._weights, target, tolerance)
        row.culprits[target] = [layer.name for layer in culprits]
        if folder is not None:
            piece = Piece.of(culprits, self._weights)
            last = culprits[-1]
            summary = f"{last.op} differs from PyTorch on {target}: {last.name}, {last.location}"
            inputs = [values[tensor] for tensor in piece.arguments]
            row.reproducers[target] = write_reproducer(
                folder, f"{last.name}_{target}", piece, inputs, target, tolerance, summary
            )

    def _part(self, segment: Mapping[str, Any]) -> list[Layer]:
        """Returns the layers of a segment and its clones, in the order of the graph."""
        labels = {*segment["ops"], *segment.get("clones", ())}
        return [layer for label, layer in self._layers.items() if label in labels]


def _outside(layers: Collection[Layer]) -> set[Tensor]:
    """Returns the tensors that enter or leave `layers`."""
    inside = {tensor for layer in layers for tensor in layer.get_outputs()}
    read = {tensor for layer in layers for tensor in layer.get_inputs()} - inside
    members = set(layers)
    return read | {tensor for tensor in inside if tensor.is_output() or not members.issuperset(tensor.get_users())}


def _pairs(got: Iterable[Any], expected: Iterable[Any]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Returns the pairs of results that are tensors."""
    return [(ours, theirs) for ours, theirs in zip(got, expected, strict=True) if isinstance(theirs, torch.Tensor)]


def _worst(got: Iterable[Any], expected: Iterable[Any]) -> float:
    """Returns the largest difference of all pairs."""
    return max((difference(ours, theirs) for ours, theirs in _pairs(got, expected)), default=0.0)


def _is_any_off(got: Iterable[Any], expected: Iterable[Any], tolerance: float | None) -> bool:
    return any(is_off(difference(ours, theirs), theirs.dtype, tolerance) for ours, theirs in _pairs(got, expected))


def _share(error: float | str) -> str:
    return f"{error:.1e}" if isinstance(error, float) else "-"
