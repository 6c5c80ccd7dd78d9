# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions `compile`, `partition` and `load`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .._graph.module import Module
from .._import.torch.export import kind_of
from .._import.types import DynamicShapes, Inputs, Model
from .._paths import StrPath, path_text, plain_text
from .._program.compiled import CompiledModule, LoadedModule
from .._program.fallback import Fallback
from .._program.forking import note_device, refuse_lost_device
from .._program.imported import ImportedModel, ImportedProgram
from .._program.metadata.restoring import restore
from .._program.metadata.saving import describe_plain
from .._program.report import Report
from ..errors import ArgumentTypeError, ArgumentValueError, Error
from .imported import compile_imported
from .model import import_model
from .modules import import_rewritten
from .options import LOOP_ITERATIONS, TARGETS, Options
from .request import load_extension, make_renderer
from .types import CompileOptions, ModuleNames, OpNames, OutOfRange, Strategy, Synonyms, Target

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._inlay import Compilation


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
    states: str | Iterable[str] = (),
    out_of_range: OutOfRange = "error",
    max_loop_iterations: int = LOOP_ITERATIONS,
    recovery: bool = True,
    placement: StrPath | None = None,
    save_placement: StrPath | None = None,
    cache: object = None,
    **more: Unpack[Synonyms],
) -> CompiledModule:
    """Compiles a model and returns a CompiledModule, which is called like the model.

    Each op runs on the first target that can run it, unless the options say otherwise.

    If torch.export can't capture a PyTorch module as one graph, the module is compiled in parts with a warning. Python
    runs the code between the parts. This needs the target "torch", and options that do not ask for one graph.

        compiled = inlay.compile(model, (x,))
        y = compiled(x)

    model_or_exported: a PyTorch module in evaluation mode, an ExportedProgram, an ONNX model (a path or an
        onnx.ModelProto), or an inlay.Module. An inlay.Module is called like the model that it was imported from. It is
        called like its function if there is no such model, or if a rewrite changed the types of the inputs or the
        number of outputs.
    inputs: example arguments for a PyTorch module: a tuple or list of positional arguments, a tensor, or a dict of
        keyword arguments. The compiled module needs arguments of the same dtypes and dims; see dynamic_shapes for other
        dims. An inlay.Input in place of a tensor gives a range of sizes. An ONNX model needs inputs if it has symbolic
        dims (default: None).
    targets: the targets in order of preference (default: "vulkan", "host", "torch").
    enabled: partition the graph (default: True). If False, the first target runs the whole graph as one segment. An
        error lists the ops that it can't run.
    min_block_size: the fewest ops of an accelerator segment (default: 1). Smaller segments move to the next target.
    torch_executed_ops: ops that must run on the last target that can run them, which is PyTorch if it is a target:
        names ("aten::relu", "aten.relu", "aten.relu.default") or operators (torch.ops.aten.relu). Default: none.
        forced_fallback_ops is a synonym.
    torch_executed_modules: modules whose ops are forced in the same way: paths or class names (globs), or classes
        (default: none).
    torch_executed_locations: single ops that are forced in the same way: labels of the report (globs) or
        "file.py:line" (default: none).
    allow_ops: the only ops that accelerators may run: on all accelerators ("aten::relu") or on one
        ("aten::relu@vulkan"). Default: all ops.
    exempt_ops: ops whose segments may have fewer than min_block_size ops (default: none).
    require_full_compilation: partition the graph, and raise an error that lists all ops that are not on the first
        target (default: False).
    placement: a file that save_placement wrote for the same graph. It determines the segments (default: None).
    save_placement: a file to which the segments are written (default: None).
    strategy: the partitioning algorithm: "levels" (default) forms the fewest segments, and "cost" minimizes the modeled
        time of computation, transfers and launches. "in-order" and "torch-tensorrt" exist for comparisons.
    cost_model: a file with the costs of work on each target, which inlay-bench --calibrate measures, or "default" for
        approximate costs. With a cost model the report has times of segments. Default: None; the strategy "cost" then
        uses the approximate costs.
    tuning: a file with the costs of instructions of the Vulkan device, which inlay-bench --tune measures. It determines
        the tiles of kernels (default: None for the costs of the kind of device).
    host_cpu: the processors that host code is compiled for: LLVM's names ("x86-64-v3"), or "native" for the processor
        of this machine (default: "native"). A saved program has code for each of them and uses the best code that the
        loading machine can run.
    dynamic_shapes: the dims that may differ from call to call, in the form of torch.export (default: None).
    states: arguments that the model writes and the program keeps between calls, by name (default: none). They are
        zeros at first. Call a session, which `new_session` makes, without these arguments.
    out_of_range: the behavior of a call with sizes out of range: "error" (default), or "torch" to run the PyTorch
        module.
    max_loop_iterations: the number of iterations after which a loop of the model fails as endless (default: 2**24).
    recovery: also compile device segments for the host, so that they run there if the device fails (default: True).
    cache: not supported yet.

    Raises ArgumentTypeError or ArgumentValueError for a wrong option or input, UnsupportedError for a model that Inlay
    can't import, CompileError with the diagnostics of the compiler, and DeviceError if the device can't be used.
    """
    options = Options.make({**_given(locals()), **more})
    original = _original(model_or_exported, options)
    try:
        imported = _import(model_or_exported, inputs, options)
    except Error as error:
        from .parts import compile_in_parts  # imports much of PyTorch, and is needed rarely

        partial = compile_in_parts(model_or_exported, inputs, options, error)
        if partial is None:
            raise
        return partial
    return compile_imported(imported.program, options, imported.convention, original, imported.watch)


def _original(model: object, options: Options) -> torch.nn.Module | None:
    """Returns the module that runs calls with sizes out of range, or None if they are errors."""
    if options.out_of_range == "error":
        return None
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(f"expected a torch.nn.Module with out_of_range='torch', but got {kind_of(model)}")
    return model


def partition(
    model_or_exported: Model | Module,
    inputs: Inputs | None = None,
    **options: Unpack[CompileOptions],
) -> Report:
    """Returns the partition report of a model without compiling it: the target of each op and the reason.

        print(inlay.partition(model, (x,)))

    model_or_exported, inputs, options: as for `inlay.compile`. Raises the same errors.
    """
    checked = Options.make(options)
    imported = _import(model_or_exported, inputs, checked).program
    render = make_renderer(load_extension(), imported, checked)
    return Report.parse(render("json"), render)


def load(path: StrPath, *, device: str | None = None, public_key: StrPath | None = None) -> LoadedModule:
    """Loads a program that `CompiledModule.save` or inlay-compile wrote. Nothing is compiled.

        program = inlay.load("model.inlay")
        y = program(x)

    A program of inlay-compile takes positional tensors and returns its result or a tuple of results. The file has
    native code: only load files from sources that you trust.

    path: the file.
    device: the Vulkan device: a number or a part of its name (default: INLAY_DEVICE, or the best device).
    public_key: a PEM file with the Ed25519 key that must verify the signature of the file, PATH.sig (default:
        INLAY_PUBLIC_KEY; without either the signature is not checked).
    Raises ArgumentTypeError or ArgumentValueError for a wrong argument. Raises ArgumentValueError for a file that is
    damaged, has another version or was compiled for another processor. Raises DeviceError if the program needs a device
    that is missing, and Error if the file can't be read or its signature is wrong.
    """
    fallback, file = Fallback(), path_text(path, "path")
    key = "" if public_key is None else path_text(public_key, "public_key")
    selector = "" if device is None else plain_text(device, "device")
    if public_key is not None and not key:
        raise ArgumentValueError("expected public_key to be the name of a PEM file, but got ''")
    compilation: Compilation
    metadata: str
    compilation, metadata = load_extension().load(file, selector, fallback, refuse_lost_device, key)
    if compilation.device:
        note_device()
    try:
        metadata = metadata or describe_plain(*compilation.plain_signature, compilation.states)
        imported, signature, more = restore(metadata, compilation.constant)
        _check_fits(imported, compilation)
        report = _saved_report(compilation.report)
    except ArgumentValueError as error:
        raise ArgumentValueError(f"'{file}': {error}") from error
    except Exception as error:  # any exception means that the file is malformed
        raise ArgumentValueError(f"'{file}': malformed metadata: {type(error).__name__}: {error}") from error
    return LoadedModule(imported, compilation, fallback, report, signature, more=more)


def _check_fits(imported: ImportedProgram, compilation: Compilation) -> None:
    """Raises ArgumentValueError for metadata of another program."""
    _, inputs, outputs = compilation.plain_signature
    states, types = imported.interface.states, [dtype for _, dtype, _ in compilation.states]
    for part, have, wanted in (
        ("inputs", len(imported.arguments), len(inputs)),
        ("results", len(imported.interface.results), len(outputs)),
        ("states", len(states), len(types)),
    ):
        if have != wanted:
            raise ArgumentValueError(f"malformed metadata: {part!r}: expected {wanted} of the program, but got {have}")
    for state, dtype in zip(states, types, strict=True):
        if state.dtype is not getattr(torch, dtype):
            raise ArgumentValueError(
                f"malformed metadata: 'states': expected {state.name!r} to be {dtype}, but got {state.dtype}"
            )


def _saved_report(text: str) -> Report:
    """Returns the report of a file. Raises ArgumentValueError if it is malformed."""
    try:
        report = Report.parse(text)
        str(report)
    except Exception as error:
        raise ArgumentValueError(f"malformed report: {type(error).__name__}: {error}") from error
    return report


def _given(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options among the local variables of `compile`."""
    skipped = ("model_or_exported", "inputs", "more")
    return {name: value for name, value in variables.items() if name not in skipped}


def _import(model: Model | Module, inputs: Inputs | None, options: Options) -> ImportedModel:
    if isinstance(model, Module):
        if inputs is not None or options.dynamic_shapes is not None or options.states:
            raise ArgumentTypeError(
                "an inlay.Module determines its inputs: leave out inputs, dynamic_shapes and states"
            )
        return import_rewritten(model)
    only_calls = options.targets == ("torch",)
    return import_model(
        model,
        inputs,
        options.dynamic_shapes,
        max_loop_iterations=options.max_loop_iterations,
        states=options.states,
        only_calls=only_calls,
    )
