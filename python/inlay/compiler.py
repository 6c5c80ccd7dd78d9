# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`compile` and `partition`: from a model to a compiled one, or to the report alone."""

from __future__ import annotations

import inspect
import sys
import threading
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch._dynamo.exc import UserError
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError
from torch.utils import _pytree as pytree

from .aliases import (
    CompileOptions,
    DynamicShapes,
    Inputs,
    Model,
    ModuleNames,
    OpNames,
    OutOfRange,
    Strategy,
    StrPath,
    Synonyms,
    Target,
)
from .arguments import Signature
from .attributes import restoring_attributes
from .caches import register_caches
from .calls import no_autocast
from .errors import ArgumentTypeError, ArgumentValueError, Error, InternalError, UnsupportedError
from .forking import note_device, refuse_lost_device
from .importer import ImportedProgram, import_program
from .module import CompiledModule, Fallback, LoadedModule, path_text
from .onnx import import_onnx, is_onnx
from .options import LOOP_ITERATIONS, TARGETS, Options
from .report import Report
from .rewrite.compiling import import_rewritten
from .rewrite.network import Module
from .saving import describe_plain, restore
from .shapes import Input, make_examples, split_shared_dims
from .text import with_number

if TYPE_CHECKING:
    from typing_extensions import Unpack

# torch.export and its decompositions change state of the whole process.
_EXPORT_LOCK = threading.RLock()


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
    exported, imported = _import(model_or_exported, inputs, options)
    signature = make_signature(model_or_exported, exported, imported)
    return compile_imported(imported, options, signature, exported.call_spec.out_spec, original)


def compilation_count() -> int:
    """How many graphs this process has compiled."""
    return _compilations.count


def _original(model, options):
    """The module that runs what is out of range; None for an error."""
    if options.out_of_range == "error":
        return None
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(f"out_of_range='torch' needs the torch.nn.Module itself, but got {_kind(model)}")
    return model


def compile_imported(
    imported: ImportedProgram,
    options: Options,
    signature: Signature | None = None,
    out_spec: Any = None,
    original: torch.nn.Module | None = None,
) -> CompiledModule:
    """A CompiledModule for an imported graph; without a signature only its `call_flat` can be used."""
    if "vulkan" in options.targets:
        refuse_lost_device()
    fallback = Fallback()
    extension = _extension()
    with _Progress() as progress:
        request = _request(extension, imported, options)
        request.set_fallback(fallback)
        request.set_progress(progress)
        compilation = extension.compile(request)
    _compilations.add()
    if compilation.device:
        note_device()
    if compilation.notice:
        print(f"inlay: {compilation.notice}", file=sys.stderr)
    report = Report.parse(compilation.report, _renderer(extension, imported, options))
    signature = signature or Signature(imported.inputs, None, None, symbols=imported.symbols)
    return CompiledModule(imported, compilation, fallback, report, signature, out_spec, original)


def partition(
    model_or_exported: Model | Module,
    inputs: Inputs | None = None,
    **options: Unpack[CompileOptions],
) -> Report:
    """What `compile` with the same arguments would run where, and why. Nothing is compiled."""
    options = Options.make(options)
    _, imported = _import(model_or_exported, inputs, options)
    extension = _extension()
    render = _renderer(extension, imported, options)
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
    compilation, metadata = _extension().load(path, device or "", fallback, refuse_lost_device, key)
    if compilation.device:
        note_device()
    try:
        metadata = metadata or describe_plain(*compilation.plain_signature)
        imported, signature, out_spec = restore(metadata, compilation.constant)
        _check_fits(imported, compilation)
        report = _saved_report(compilation.report)
    except ArgumentValueError as error:
        raise ArgumentValueError(f"'{path}': {error}") from error
    except Exception as error:  # whatever it is, the file is to blame
        raise ArgumentValueError(f"'{path}': malformed metadata: {type(error).__name__}: {error}") from error
    return LoadedModule(imported, compilation, fallback, report, signature, out_spec)


def _check_fits(imported, compilation):
    """Raises ArgumentValueError for metadata of another program."""
    _, inputs, outputs = compilation.plain_signature
    for what, have, wanted in (
        ("inputs", len(imported.arguments), len(inputs)),
        ("results", len(imported.results), len(outputs)),
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


def export_program(
    model: torch.nn.Module | torch.export.ExportedProgram,
    inputs: Inputs | None,
    dynamic_shapes: DynamicShapes | None = None,
) -> torch.export.ExportedProgram:
    """The ExportedProgram for a module and example arguments (as for `compile`), or the given one."""
    if isinstance(model, torch.export.ExportedProgram):
        if dynamic_shapes is not None:
            raise ArgumentValueError("dynamic_shapes says how to export, but the model is exported already")
        return model
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(
            f"expected a torch.nn.Module, a torch.export.ExportedProgram or an ONNX model, but got {_kind(model)}"
        )
    if inputs is None:
        raise ArgumentTypeError("missing inputs: a module is exported with example arguments, e.g. (torch.ones(1, 3),)")
    return _export(model, _examples(model, inputs, dynamic_shapes))[0]


def _examples(model, inputs, dynamic_shapes):
    register_caches()
    return make_examples(model, *split_inputs(inputs), dynamic_shapes)


def _export(model, examples, may_split_dims=False):
    """(ExportedProgram, the profiles that it needs).

    may_split_dims: whether dims that the user says are one may be several for torch.export, which the profiles tie together.
    """
    (args, kwargs), shapes = _part_repeated((examples.args, examples.kwargs)), examples.dynamic_shapes
    if torch.is_autocast_enabled("cpu"):
        raise UnsupportedError(
            "torch.autocast is on, but torch.export can't record what is on around a model: turn it on inside of the "
            "model's forward, or compile outside of it"
        )
    try:
        with _EXPORT_LOCK, restoring_attributes(model) as changes:
            exported = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
    except Exception as error:
        unproven = "Not all values of" in str(error) and "must always be equal" not in str(error)
        split_examples = split_shared_dims(model, examples) if may_split_dims and unproven else None
        if split_examples is not None:
            return _export(model, split_examples)
        raise _export_error(error)(
            f"torch.export can't export the model with these inputs: {type(error).__name__}: {_explain(error)}"
        ) from error
    _check_unchanged(changes)
    return exported, examples.profiles


def _part_repeated(examples):
    """The examples with copies of tensors that are there before: torch.export makes one input of those that are one."""
    seen = set()

    def part(leaf):
        if not isinstance(leaf, torch.Tensor) or id(leaf) not in seen:
            seen.add(id(leaf))
            return leaf
        return leaf.clone()

    return pytree.tree_map(part, examples)


def _check_unchanged(changes):
    """Says what torch.export doesn't record of what a model's forward sets; `changes`: see `restoring_attributes`."""
    if changes.buffers:
        raise UnsupportedError(f"{changes.buffers[0]}: the buffers of a compiled model keep their dims and dtypes")
    if changes.attributes:
        warnings.warn(
            f"inlay: the model's forward sets {', '.join(map(repr, changes.attributes))}: a compiled model keeps what "
            "these were when it was compiled; what is to change from call to call belongs in a buffer",
            stacklevel=6,
        )


def _explain(error):
    """The first line of an exception of torch.export's, and what it lists."""
    first, *rest = (str(error).strip() or "no message").splitlines()
    listed = [line.strip(" -") for line in rest if line.lstrip().startswith("- ")]
    return " ".join([first.partition(" For more information")[0], *listed])


def split_inputs(inputs: Inputs) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """(args, kwargs) of example arguments as `compile` takes them."""
    if isinstance(inputs, dict):
        return (), inputs
    if isinstance(inputs, (tuple, list)):
        return tuple(inputs), {}
    if isinstance(inputs, (torch.Tensor, Input)):
        return (inputs,), {}
    raise ArgumentTypeError(f"expected inputs to be a tuple, a list, a dict or a tensor, but got {_kind(inputs)}")


def _export_error(error):
    """Our exception that stands for one of torch.export's."""
    about_values = (ValueError, ConstraintViolationError)
    if isinstance(error, UserError):
        return ArgumentValueError
    for base, ours in ((TypeError, ArgumentTypeError), (about_values, ArgumentValueError)):
        if isinstance(error, base):
            return ours
    return Error


def _given(variables):
    skipped = ("model_or_exported", "inputs", "more")
    return {name: value for name, value in variables.items() if name not in skipped}


def _kind(value):
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def make_signature(model: object, exported: Any, imported: ImportedProgram) -> Signature:
    """What calls of a compiled model look like."""
    signature = exported.module_call_graph[0].signature if exported.module_call_graph else None
    names = getattr(signature, "forward_arg_names", None)
    defaults, spec = _defaults(model, names), exported.call_spec.in_spec
    return Signature(imported.inputs, spec, names, defaults, imported.symbols, imported.conditions)


def _defaults(model, names):
    """Name -> default of the arguments of a module that are not among `names`."""
    if not isinstance(model, torch.nn.Module):
        return {}
    parameters = inspect.signature(model.forward).parameters.items()
    known = set(names or ())
    return {name: one.default for name, one in parameters if name not in known and one.default is not one.empty}


def _import(model, inputs, options):
    if isinstance(model, Module):
        if inputs is not None or options.dynamic_shapes is not None:
            raise ArgumentTypeError("an inlay.Module says itself what its inputs are: give none")
        return import_rewritten(model)
    return import_model(model, inputs, options.dynamic_shapes, only_calls=options.targets == ("torch",))


def import_model(
    model: Model,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
    **options: Any,
) -> tuple[torch.export.ExportedProgram, ImportedProgram]:
    """(ExportedProgram, ImportedProgram) of a module and example arguments, an ExportedProgram, or an ONNX model.

    options: as for `inlay.importer.import_program`.
    """
    with _EXPORT_LOCK:
        if is_onnx(model):
            return import_onnx(model, inputs, dynamic_shapes, **options)
        if not isinstance(model, torch.nn.Module) or inputs is None:
            exported, profiles = export_program(model, inputs, dynamic_shapes), None
        else:
            examples = _examples(model, inputs, dynamic_shapes)
            exported, profiles = _export(model, examples, may_split_dims=True)
        with no_autocast():
            return exported, import_program(exported, profiles=profiles, **options)


def _extension():
    try:
        from . import _inlay
    except ImportError as error:
        raise InternalError(
            f"the extension inlay._inlay can't be loaded ({error}): build the target InlayPython"
        ) from error
    return _inlay


def _request(extension, imported, options):
    if imported.reasons and "torch" not in options.targets:
        raise UnsupportedError(f"only the target 'torch', which is not listed, can run this: {imported.reasons[0]}")
    request = extension.Request()
    request.text = imported.text
    if options.max_loop_iterations != LOOP_ITERATIONS:
        request.text = with_number(imported.text, "inlay.max_loop_iterations", options.max_loop_iterations)
    request.name = "forward"
    request.targets = list(options.targets)
    request.min_block_size = options.min_block_size
    request.recovery = options.recovery
    request.fallback_ops = list(options.torch_executed_ops)
    request.fallback_modules = list(options.torch_executed_modules)
    if options.torch_executed_modules and imported.unplaced:
        places = ", ".join(dict.fromkeys(imported.unplaced))
        warnings.warn(
            f"torch_executed_modules doesn't reach modules that are called inside of {places}: the exported graph "
            "doesn't say which they are, unless torch.export.export is given strict=True",
            stacklevel=2,
        )
    request.fallback_locations = list(options.torch_executed_locations)
    request.allow_ops = list(options.allow_ops)
    request.exempt_ops = list(options.exempt_ops)
    request.placement = options.placement
    request.save_placement = options.save_placement
    request.enabled = options.enabled
    request.require_full_compilation = options.require_full_compilation
    request.strategy = options.strategy
    request.cost_model = options.cost_model
    request.tuning = options.tuning
    request.host_cpus = list(options.host_cpu)
    for key, tensor in imported.weights.items():
        request.add_weight(key, tensor)
    return request


def _renderer(extension, imported, options):
    """A function that partitions once more and gives the report in a form; for `Report`."""

    def render(form, what_if=False, sweep=False):
        request = _request(extension, imported, options)
        request.what_if, request.sweep = what_if, sweep
        return extension.partition(request, form)

    return render


class _Counter:
    """Counts, whatever the thread."""

    def __init__(self):
        self.count, self._lock = 0, threading.Lock()

    def add(self):
        with self._lock:
            self.count += 1


_compilations = _Counter()


class _Progress:
    """A progress bar over the compiler's phases: on a terminal, once a compilation takes longer than a second."""

    def __init__(self):
        self._bar = None

    def __enter__(self):
        return self

    def __call__(self, phase, number, count):
        if self._bar is None:
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=count, disable=None, leave=False, delay=1, bar_format="{desc:12} {bar:30} {elapsed}")
        self._bar.set_description_str(phase, refresh=False)
        self._bar.update(max(0, number - self._bar.n))

    def __exit__(self, *failure):
        if self._bar is not None:
            self._bar.close()
