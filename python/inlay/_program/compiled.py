# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled model."""

from __future__ import annotations

import contextlib
import json
import pathlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import torch
from torch.utils import _pytree as pytree

from .._dialect.calls import describe_call
from .._paths import StrPath, path_text
from ..errors import ArgumentTypeError, InternalError, SizesError, UnsupportedError
from .fallback import Fallback, raise_failure
from .figures import Memory, Profile
from .forking import refuse_lost_device
from .imported import ImportedProgram
from .outputs import CallValues, ResultOutput
from .report import Report
from .saving import describe
from .signature import Signature
from .sizes import UNBOUNDED
from .state import IncompatibleKeys, State

if TYPE_CHECKING:
    from .._inlay import Compilation


class CompiledModule:
    """A model compiled by `inlay.compile`: call it as the model itself.

    Arguments are tensors on the CPU of the dtypes and dims of the export (any strides), where dims that are symbols may
    be any in their range; results are new tensors in the structure that the model returns, of which none can be resized
    beyond its memory. A device that shares memory with the host reads large arguments and writes large results where
    they are. Nothing is recorded for autograd. Several threads may call at a time; the interpreter lock is free
    meanwhile. Calls of a model that writes buffers run one after the other.

    Weights are the model's own tensors, not copies, until `load_state_dict` replaces them: what PyTorch writes into
    them is seen by the next call. Buffers that the model writes are the compiled model's own, copied from the model's
    when it was compiled.
    """

    def __init__(
        self,
        imported: ImportedProgram,
        compilation: Compilation,
        fallback: Fallback,
        report: Report,
        signature: Signature,
        original: Callable[..., Any] | None = None,
    ) -> None:
        """original: the module to call with sizes that the compiled model was not made for; None for an error."""
        self._original = original
        self._compilation, self._fallback, self._signature = compilation, fallback, signature
        self._interface = imported.interface
        self._state = State(imported.state, self._interface.carried, compilation.replace_weights)
        self._turn = threading.RLock() if self._interface.carried else contextlib.nullcontext()
        self._report = report
        self._has_device = bool(compilation.device)

    def __reduce__(self) -> NoReturn:
        raise UnsupportedError(
            "a compiled model can't be copied or pickled: save it (save) and load it (inlay.load) where it is needed"
        )

    @property
    def report(self) -> Report:
        """What runs where and why."""
        return self._report

    @property
    def symbols(self) -> dict[str, tuple[int, int | None]]:
        """The sizes that may differ from call to call: name -> (least, largest) value, None for one without an end."""
        table = self._interface.symbols
        return {one.name: (one.min, None if one.max == UNBOUNDED else one.max) for one in table}

    @property
    def device(self) -> str:
        """Name of the device that runs the accelerated segments; empty if none does."""
        return self._compilation.device

    @property
    def notice(self) -> str:
        """One line that the user should know, e.g. that no device was found; may be empty."""
        return self._compilation.notice

    @torch._disable_dynamo
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model. Sizes out of range are an error, or run in PyTorch if the model was compiled so.
        `torch.compile` doesn't look inside.

        Raises ArgumentTypeError or ArgumentValueError, naming the argument, its place and what was expected;
        DeviceError for a lost device; Error if a call into PyTorch failed (its exception is the cause).
        """
        given = self._signature.flatten(args, kwargs)
        if torch.is_grad_enabled():
            self._signature.refuse_gradients(given)
        try:
            results = self.call_flat(*given)
        except SizesError:
            if self._original is None:
                raise
            return self._call_original(args, kwargs)
        out_spec = self._signature.convention.out_spec
        return results[0] if out_spec.is_leaf() else pytree.tree_unflatten(results, out_spec)

    def call_flat(self, *given: Any) -> list[Any]:
        """Runs the model on its flat arguments; its flat results."""
        leaves = self._signature.check(given)
        sizes = self._signature.measure(given)
        self._check_written(given)
        with self._turn:
            made, kept = self._run(self._compilation.call, leaves)
            with torch.inference_mode(False):
                results = made.tensors()
            values = CallValues(given, leaves, results, kept, sizes, self._state)
            outputs = [output.read(values) for output in self._interface.outputs]
            self._write(values)
        return outputs

    def _call_original(self, args, kwargs):
        """What PyTorch makes of a call, with the compiled model's weights and buffers."""
        with self._turn, torch.no_grad():
            return torch.func.functional_call(self._original, self._state.tensors, args, dict(kwargs))

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The flat arguments of a call."""
        return self._signature.flatten(args, kwargs)

    def program_arguments(self, given: Sequence[Any]) -> tuple[list[torch.Tensor], dict[str, Any]]:
        """What the program takes in a call with these flat arguments, and what goes beside it, by name."""
        return self._split(self._signature.check(given))

    def assemble(self, given: Sequence[Any], results: Sequence[torch.Tensor], kept: Mapping[str, Any]) -> list[Any]:
        """The model's flat results from those of the program and from what went beside it."""
        leaves, sizes = self._signature.check(given), self._signature.measure(given)
        values = CallValues(given, leaves, results, kept, sizes, self._state)
        return [output.read(values) for output in self._interface.outputs]

    def profile(self, *args: Any, trace: StrPath | None = None, **kwargs: Any) -> Profile:
        """Runs the model once, step by step. What the model writes stays as it was.

        trace: a file for what ran when, kernels of the accelerator included, which ui.perfetto.dev and chrome://tracing
            show. An argument of the model of that name is given by its place.
        """
        given = self._signature.flatten(args, kwargs)
        leaves = self._signature.check(given)
        self._signature.measure(given)

        def run(inputs):
            return self._compilation.profile(inputs, trace is not None)

        with self._turn:
            (steps, report, table, events), _ = self._run(run, leaves)
        if trace is not None:
            pathlib.Path(trace).write_text(events, encoding="utf-8")
        return Profile(steps, self._report.replaced(report), table)

    def memory(self, *args: Any, **kwargs: Any) -> Memory:
        """The memory that a call with these arguments needs beside them and its results. Nothing is run."""
        leaves = self._signature.check(self._signature.flatten(args, kwargs))
        tensors, _ = self._split(leaves)
        figures, table = self._compilation.memory([list(tensor.shape) for tensor in tensors])
        return Memory(json.loads(figures), table)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The parameters and buffers by the names that they have in the model; those that it writes are copies."""
        return self._state.state_dict()

    def load_state_dict(
        self, state_dict: Mapping[str, torch.Tensor], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Replaces parameters and buffers by name, without compiling again.

        strict: the names must be all those of `state_dict()`, and no others. assign: share the given tensors' memory,
        which must not be freed by others, instead of copying them.
        Waits until no call runs. Returns (missing_keys, unexpected_keys).
        Raises ArgumentTypeError or ArgumentValueError for names, dtypes and dims other than the model's and for tied
        weights that differ, and UnsupportedError for a weight whose values decided how the graph was compiled; then
        nothing is replaced.
        """
        with self._turn:
            return self._state.load(state_dict, strict, assign)

    def save(
        self,
        path: StrPath,
        weights_file: str | None = None,
        allow_framework: bool = False,
        replace_weights: bool = False,
    ) -> None:
        """Writes the program to one file, which `inlay.load` and inlay-run take: nothing is compiled there.

        What is saved is the model as it is now, with the weights that it has and the buffers that it wrote.

        weights_file: name of a safetensors file, in the same folder, for the weights; else they are in the file itself.
            One that is there with the same contents is kept.
        allow_framework: save a model with segments that run in PyTorch, which can be loaded in Python alone.
        replace_weights: replace a weights file that is there with other contents, an error else: programs that were
            saved with it can't be loaded any more.
        Raises UnsupportedError for a model with such segments, listing them, and for what can't be said in a file.
        """
        path = path_text(path, "path")
        weights_file = "" if weights_file is None else path_text(weights_file, "weights_file")
        self._check_savable(allow_framework)
        with self._turn:
            self._state.follow()
            metadata, tensors = describe(self._interface, self._signature.convention, self._state)
            self._compilation.save(
                path, metadata, list(tensors.items()), weights_file, bool(allow_framework), bool(replace_weights)
            )

    def _check_savable(self, allow_framework):
        if self._signature.convention is None:
            raise UnsupportedError(
                "a graph that torch.compile made a part of a model can't be saved: use inlay.compile"
            )
        calls = self._compilation.framework_calls
        if calls and not allow_framework:
            listed = ", ".join(f"segment {segment} ({describe_call(call)})" for segment, call in calls)
            raise UnsupportedError(
                f"{len(calls)} of the program's steps run in PyTorch, which a file can't hold: {listed}. "
                "allow_framework=True saves them all the same, for those who load the file with PyTorch"
            )
        if calls and self._state.kept:
            raise UnsupportedError(
                "PyTorch's calls take values beside the program, which can't be saved: "
                + ", ".join(map(repr, self._state.kept))
            )

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} ops on {target}" for target, count in self._report.ops_by_target().items())
        return f"<inlay.CompiledModule: {counts}>"

    def _run(self, function, leaves):
        """(what the function makes of the program's arguments, kept values)."""
        if self._has_device:
            refuse_lost_device()
        self._state.follow()
        tensors, kept = self._split(leaves)
        self._fallback.begin(kept)
        try:
            made = function(tensors)
        except InternalError:
            raise_failure(self._fallback.end())
            raise
        except TypeError as error:
            raise ArgumentTypeError(
                "expected tensors with memory of their own, but got others: a compiled model can't be traced, nor be "
                "called under the transforms of torch.func (vmap, grad, jvp)"
            ) from error
        self._fallback.end()
        return made, kept

    def _split(self, leaves):
        """(the program's arguments, kept values) for checked flat arguments."""
        tensors, kept = [], dict(self._state.kept)
        for leaf, argument in zip(leaves, self._interface.inputs, strict=True):
            if argument.is_kept:
                kept[argument.name] = leaf
            elif leaf is not None:
                tensors.append(leaf)
        return tensors + self._state.carry(), kept

    def _write(self, values):
        """Writes back what the model writes: its buffers, its arguments."""
        returned = {output.index for output in self._interface.outputs if isinstance(output, ResultOutput)}
        new = []
        for write in self._interface.writes:
            output, value = write.value, write.value.read(values)
            is_result = isinstance(output, ResultOutput)
            is_own = is_result and (isinstance(write.target, int) or output.index not in returned)
            new.append(value if is_own or output.copied else value.clone())
        for write, value in zip(self._interface.writes, new, strict=True):
            if isinstance(write.target, int):
                with torch.no_grad():
                    values.given[write.target].copy_(value)
            else:
                self._state.write(write.target, value)

    def _check_written(self, given):
        """Raises if an argument that the model writes shares memory, or may not be written."""
        for write in self._interface.writes:
            if isinstance(write.target, int):
                self._signature.check_written(write.target, given)


class LoadedModule(CompiledModule):
    """A model that `inlay.load` read: called like the compiled one that was saved, of which it has all but the weights
    by name. Sizes out of range are an error."""

    def state_dict(self) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError("a loaded model's weights are in its program: it has no names for them")

    def load_state_dict(self, state_dict: object, strict: bool = True, assign: bool = False) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError("a loaded model's weights can't be replaced: compile the model with others and save it")
