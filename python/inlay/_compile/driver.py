# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`compile` and `partition`: from a model to a compiled one, or to the report alone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import torch

from .._graph.module import Module
from .._import.torch.export import kind_of
from .._import.types import DynamicShapes, Inputs, Model
from .._paths import StrPath, path_text
from .._program.compiled import CompiledModule, LoadedModule
from .._program.fallback import Fallback
from .._program.forking import note_device, refuse_lost_device
from .._program.imported import CallConvention, ImportedModel, ImportedProgram
from .._program.report import Report
from .._program.restoring import restore
from .._program.saving import describe_plain
from .._program.signature import Signature
from ..errors import ArgumentTypeError, ArgumentValueError
from .model import import_model
from .modules import import_rewritten
from .options import LOOP_ITERATIONS, TARGETS, Options
from .request import Progress, load_extension, make_renderer, make_request
from .types import CompileOptions, ModuleNames, OpNames, OutOfRange, Strategy, Synonyms, Target

if TYPE_CHECKING:
    from typing_extensions import Unpack


def compile(
    model_or_exported: Model | Module,
    inputs: Inputs | None = None,
    *,
    targets: Target | Sequence[Target] = TARGETS,
    enabled: bool = True,
    min_block_size: int = 1,
    torch_executed_ops: OpNames = (),
    torch_executed_modules: ModuleNames = (),
    torch_executed_locations: str | Iterable[str] = (),
    allow_ops: OpNames = (),
    exempt_ops: OpNames = (),
    require_full_compilation: bool = False,
    strategy: Strategy = "levels",
    cost_model: StrPath | None = None,
    tuning: StrPath | None = None,
    host_cpu: str | Iterable[str] = (),
    dynamic_shapes: DynamicShapes | None = None,
    out_of_range: OutOfRange = "error",
    max_loop_iterations: int = LOOP_ITERATIONS,
    recovery: bool = True,
    placement: StrPath | None = None,
    save_placement: StrPath | None = None,
    cache: object = None,
    **more: Unpack[Synonyms],
) -> CompiledModule:
    """Compiles a model so that each target, in order of preference, runs what it can.

    model_or_exported: a module in evaluation mode, an ExportedProgram, an ONNX model (its path or an onnx.ModelProto),
        or an inlay.Module, which is called as the model that it was imported from, or with the inputs of its function.
    inputs: example arguments for a module: a tuple or list of positional ones, one tensor, or a dict of keyword ones.
        Their dims and dtypes are fixed in the compiled model, but for dynamic_shapes. An inlay.Input in place of a
        tensor gives a range of sizes. An ONNX model needs them if it has symbolic dims.
    targets: best first.
    enabled: whether the graph is partitioned at all; if False, the first target runs it as one segment, or an error
        lists every op that can't be in that.
    min_block_size: accelerated segments of fewer ops go to the next target.
    torch_executed_ops: ops forced to the last of the targets that can run them, PyTorch if it is listed: names
        ("aten::relu", "aten.relu", "aten.relu.default") or operators (torch.ops.aten.relu); forced_fallback_ops is a
        synonym.
    torch_executed_modules: modules forced likewise: instance paths or class names (globs), or classes.
    torch_executed_locations: single ops forced likewise: labels as in the report (globs), or "file.py:line".
    allow_ops: the only ops that accelerators may run, on any ("aten::relu") or on one ("aten::relu@vulkan").
    exempt_ops: ops that are worth a segment of fewer than min_block_size ops.
    require_full_compilation: the graph is partitioned as ever, and then an error lists every op that isn't on the first
        target.
    placement: a file that save_placement wrote for the same graph: segments are formed as it has them.
    save_placement: a file to write what went where to.
    strategy: how segments are formed: "levels", the fewest; "cost", each op where compute, transfers and launches take
        the least time together; to compare with, "in-order" and "torch-tensorrt".
    cost_model: file that says what work costs on each target (inlay-bench --calibrate measures one), or "default" for
        round figures, which "cost" takes if there is none; the report then has the times of segments.
    tuning: file of what the Vulkan device's instructions cost (inlay-bench --tune measures it), which decides how its
        kernels are cut.
    host_cpu: processors to make host code for, by LLVM's names ("x86-64-v3"), or "native", the default: the one that
        compiles. A saved program holds code for each and uses the best that fits where it is loaded.
    dynamic_shapes: which dims may differ from call to call, as for torch.export.
    out_of_range: what a call with other sizes does: "error", or "torch" to run the module itself.
    max_loop_iterations: rounds after which a loop of the model is taken for one without an end, which is an error.
    recovery: compile what runs on a device for the host too, to run there when the device fails.
    cache: not supported yet.

    Raises ArgumentTypeError or ArgumentValueError for a wrong option (with "did you mean"), UnsupportedError for a
    model with parts that Inlay can't import, CompileError with the compiler's diagnostics.
    """
    options = Options.make({**_given(locals()), **more})
    original = _original(model_or_exported, options)
    imported = _import(model_or_exported, inputs, options)
    return compile_imported(imported.program, options, imported.convention, original)


def compilation_count() -> int:
    """How many graphs this process has compiled."""
    return _compilations.count


def _original(model, options):
    """The module that runs what is out of range; None for an error."""
    if options.out_of_range == "error":
        return None
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(f"out_of_range='torch' needs the torch.nn.Module itself, but got {kind_of(model)}")
    return model


def compile_imported(
    imported: ImportedProgram,
    options: Options,
    convention: CallConvention | None = None,
    original: torch.nn.Module | None = None,
) -> CompiledModule:
    """A CompiledModule for an imported graph; without a convention only its `call_flat` can be used."""
    if "vulkan" in options.targets:
        refuse_lost_device()
    fallback = Fallback()
    extension = load_extension()
    with Progress() as progress:
        request = make_request(extension, imported, options)
        request.set_fallback(fallback)
        request.set_progress(progress)
        compilation = extension.compile(request)
    _compilations.add()
    if compilation.device:
        note_device()
    if compilation.notice:
        print(f"inlay: {compilation.notice}", file=sys.stderr)
    report = Report.parse(compilation.report, make_renderer(extension, imported, options))
    signature = Signature(imported.interface, convention)
    return CompiledModule(imported, compilation, fallback, report, signature, original)


def partition(
    model_or_exported: Model | Module,
    inputs: Inputs | None = None,
    **options: Unpack[CompileOptions],
) -> Report:
    """What `compile` with the same arguments would run where, and why. Nothing is compiled."""
    options = Options.make(options)
    imported = _import(model_or_exported, inputs, options).program
    extension = load_extension()
    render = make_renderer(extension, imported, options)
    return Report.parse(render("json"), render)


def load(path: StrPath, *, device: str | None = None, public_key: StrPath | None = None) -> LoadedModule:
    """A model that `CompiledModule.save` wrote, ready to be called. Nothing is compiled.

    What inlay-compile wrote takes the inputs of its function by their places, and gives its result or a tuple of them.

    The file holds native code: load it from those alone whom you trust.

    device: selector of a Vulkan device, if the model needs one; default: INLAY_DEVICE or the best device.
    public_key: PEM file of an Ed25519 key by which the file must be signed (PATH.sig); default: INLAY_PUBLIC_KEY.
    Raises ArgumentValueError for a file that is damaged, of another version or for another processor, DeviceError
    without the device that it needs, Error if it can't be opened.
    """
    fallback, path = Fallback(), path_text(path, "path")
    key = "" if public_key is None else path_text(public_key, "public_key")
    if public_key is not None and not key:
        raise ArgumentValueError("expected public_key to be the name of a PEM file, but got an empty one")
    compilation, metadata = load_extension().load(path, device or "", fallback, refuse_lost_device, key)
    if compilation.device:
        note_device()
    try:
        metadata = metadata or describe_plain(*compilation.plain_signature)
        imported, signature = restore(metadata, compilation.constant)
        _check_fits(imported, compilation)
        report = _saved_report(compilation.report)
    except ArgumentValueError as error:
        raise ArgumentValueError(f"'{path}': {error}") from error
    except Exception as error:  # whatever it is, the file is to blame
        raise ArgumentValueError(f"'{path}': malformed metadata: {type(error).__name__}: {error}") from error
    return LoadedModule(imported, compilation, fallback, report, signature)


def _check_fits(imported, compilation):
    """Raises ArgumentValueError for metadata of another program."""
    _, inputs, outputs = compilation.plain_signature
    for what, have, wanted in (
        ("inputs", len(imported.arguments), len(inputs)),
        ("results", len(imported.interface.results), len(outputs)),
    ):
        if have != wanted:
            raise ArgumentValueError(f"malformed metadata: {what!r}: expected {wanted} of the program, but got {have}")


def _saved_report(text):
    """The Report of a file. Raises ArgumentValueError for one that can't be shown."""
    try:
        report = Report.parse(text)
        str(report)
    except Exception as error:
        raise ArgumentValueError(f"malformed report: {type(error).__name__}: {error}") from error
    return report


def _given(variables):
    skipped = ("model_or_exported", "inputs", "more")
    return {name: value for name, value in variables.items() if name not in skipped}


def _import(model, inputs, options) -> ImportedModel:
    if isinstance(model, Module):
        if inputs is not None or options.dynamic_shapes is not None:
            raise ArgumentTypeError("an inlay.Module says itself what its inputs are: give none")
        return import_rewritten(model)
    return import_model(model, inputs, options.dynamic_shapes, only_calls=options.targets == ("torch",))


class _Counter:
    """Counts, whatever the thread."""

    def __init__(self):
        self.count, self._lock = 0, threading.Lock()

    def add(self):
        with self._lock:
            self.count += 1


_compilations = _Counter()
