# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled and loaded modules."""

from __future__ import annotations

import contextlib
import functools
import json
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import torch
from torch.utils import _pytree as pytree

from .._dialect.calls import describe_call
from .._paths import StrPath, path_text
from ..errors import ArgumentTypeError, Error, InternalError, SizesError, UnsupportedError
from .conditions import can_express
from .fallback import Fallback, raise_failure
from .figures import Memory, Profile
from .forking import ForkLock, refuse_lost_device
from .imported import ImportedProgram, program_dtype
from .metadata.saving import describe
from .objects import change_objects
from .outputs import CallValues, ResultOutput
from .report import Report
from .session import Session
from .signature import Signature
from .sizes import UNBOUNDED
from .state import IncompatibleKeys, State
from .watch import Watch

if TYPE_CHECKING:
    from .._inlay import Compilation
    from .._inlay import Session as Handle

_Made = TypeVar("_Made")


class CompiledModule:
    """The callable that `inlay.compile` returns. It is called like the model.

        compiled = inlay.compile(model, (x,))
        y = compiled(x)

    The arguments are tensors on the CPU with any strides and with the dtypes and dims of the example inputs. A dim that
    is a symbol may have any size in its range. The results are new tensors in the structure that the model returns.
    They can't be resized beyond their memory. A device that shares memory with the host reads large arguments and
    writes large results in place. Autograd records nothing.

    Several threads may call at the same time. A call releases the interpreter lock. Calls of a model that writes
    buffers run one after the other.

    The weights are the tensors of the model, not copies. If PyTorch writes to them, the next call uses the new values.
    `load_state_dict` replaces them. Buffers that the model writes are copied when the model is compiled.
    """

    def __init__(
        self,
        imported: ImportedProgram,
        compilation: Compilation,
        fallback: Fallback,
        report: Report,
        signature: Signature,
        original: torch.nn.Module | None = None,
        watch: Watch | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """original: the module that runs calls with sizes out of range. None if such calls are errors.

        watch: the check that the model is the same as at the import. None if nothing can change it.
        more: values of JSON that `save` adds to the metadata of a file, by key.
        """
        self._more = dict(more or {})
        self._watch = watch
        self._original = original
        self._compilation, self._fallback, self._signature = compilation, fallback, signature
        self._interface = imported.interface
        self._state = State(imported.state, self._interface.carried, compilation.replace_weights)
        # Held during a call of a model that writes buffers.
        self._turn: contextlib.AbstractContextManager[Any] = (
            ForkLock() if self._interface.carried else contextlib.nullcontext()
        )
        self._report = report
        self._has_device = bool(compilation.device)

    def __reduce__(self) -> NoReturn:
        raise UnsupportedError(
            "a compiled model can't be copied or pickled: write it to a file (save) and read the file (inlay.load)"
        )

    @property
    def report(self) -> Report:
        """The partition report: the target of each op and the reason."""
        return self._report

    @property
    def symbols(self) -> dict[str, tuple[int, int | None]]:
        """The (minimum, maximum) of the sizes that may differ from call to call, by name.

        A maximum is None if the size is unbounded.
        """
        return {
            symbol.name: (symbol.min, None if symbol.max == UNBOUNDED else symbol.max)
            for symbol in self._interface.symbols
        }

    @property
    def device(self) -> str:
        """The name of the device that runs segments. Empty if there is none."""
        return self._compilation.device

    @property
    def notice(self) -> str:
        """A line of text for the user, such as a note that no device was found. May be empty."""
        return self._compilation.notice

    @torch._disable_dynamo  # type: ignore[attr-defined]  # torch.compiler.disable would import torch._dynamo here
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model and returns its result. If the model has states, call a session instead.

        `torch.compile` does not trace this call. If the model was compiled with out_of_range="torch", PyTorch runs
        calls with sizes out of range.

        Raises ArgumentTypeError or ArgumentValueError for a wrong argument; the message names the argument, its place
        and what was expected. Raises SizesError for sizes out of range, DeviceError for a lost device, and Error if a
        call of PyTorch failed, with its exception as the cause.
        """
        return self._call(args, kwargs)

    def new_session(self) -> Session:
        """Returns a session with states of its own, for a model that was compiled with `states`."""
        if not self._interface.states:
            raise UnsupportedError("the model has no states: compile it with states=, or call it without a session")
        return Session(self._call, self._profile, self._compilation.make_session(), self._interface.states)

    def _call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], session: Handle | None = None) -> Any:
        """Runs the model on the states of a session and returns its result."""
        self._require_session(session)
        if self._watch is not None:
            self._watch.check()
        given = self._signature.flatten(args, kwargs)
        if torch.is_grad_enabled():
            self._signature.refuse_gradients(given)
        try:
            results = self.call_flat(*given, session=session)
        except SizesError:
            if self._original is None:
                raise
            return self._call_original(self._original, args, kwargs)
        convention = self._signature.convention
        assert convention is not None, "torch.compile calls call_flat"
        if convention.changed.paths:
            return change_objects(convention, self._signature.arrange(args, kwargs), results)
        return results[0] if convention.out_spec.is_leaf() else pytree.tree_unflatten(results, convention.out_spec)

    def call_flat(self, *given: Any, session: Handle | None = None) -> list[Any]:
        """Runs the model with flat arguments and returns its flat results."""
        leaves = self._signature.check(given)
        sizes = self._signature.measure(given)
        self._check_written(given)
        with self._turn:
            made, kept = self._run(functools.partial(self._compilation.call, session=session), leaves)
            with torch.inference_mode(False):
                results = self._restore(made.tensors())
            for check in self._interface.checks:
                if not results[check.number].item():
                    raise Error(check.message)
            values = CallValues(given, leaves, results, kept, sizes, self._state)
            outputs = [output.read(values) for output in self._interface.outputs]
            self._write(values)
        return outputs

    def _call_original(self, original: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Runs a call in PyTorch with the weights and buffers of the compiled model."""
        with self._turn, torch.no_grad():
            # Tied tensors are given under all their names.
            return torch.func.functional_call(original, self._state.tensors, args, dict(kwargs), tie_weights=False)

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Returns the flat arguments of a call."""
        return self._signature.flatten(args, kwargs)

    def program_arguments(self, given: Sequence[Any]) -> tuple[list[torch.Tensor], dict[str, Any]]:
        """Returns (arguments of the program, by name the values that it does not take) for flat arguments."""
        return self._split(self._signature.check(given))

    def assemble(self, given: Sequence[Any], results: Sequence[torch.Tensor], kept: Mapping[str, Any]) -> list[Any]:
        """Returns the flat results of the model. results: those of the program. kept: the values beside it."""
        leaves, sizes = self._signature.check(given), self._signature.measure(given)
        values = CallValues(given, leaves, self._restore(results), kept, sizes, self._state)
        return [output.read(values) for output in self._interface.outputs]

    def profile(self, *args: Any, trace: StrPath | None = None, **kwargs: Any) -> Profile:
        """Runs the model once, step by step, and returns the time of each step in seconds.

        Buffers and arguments that the model writes keep their values.

        args, kwargs: the arguments of the model. An argument called `trace` must be positional.
        trace: a JSON file for a timeline with the kernels of the accelerator, which ui.perfetto.dev and
            chrome://tracing can show (default: no file).
        Raises the same errors as a call, and OSError if the file can't be written.
        """
        return self._profile(args, kwargs, trace)

    def _profile(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], trace: StrPath | None, session: Handle | None = None
    ) -> Profile:
        """Profiles a call on the states of a session."""
        self._require_session(session)
        given = self._signature.flatten(args, kwargs)
        leaves = self._signature.check(given)
        self._signature.measure(given)

        def run(inputs: list[torch.Tensor]) -> tuple[list[tuple[str, str, float]], str, str, str]:
            return self._compilation.profile(inputs, trace is not None, session)

        with self._turn:
            (steps, report, table, events), _ = self._run(run, leaves)
        if trace is not None:
            pathlib.Path(trace).write_text(events, encoding="utf-8")
        return Profile(steps, self._report.replaced(report), table)

    def memory(self, *args: Any, **kwargs: Any) -> Memory:
        """Returns the memory in bytes that a call needs besides its arguments and results. Nothing is run.

        args, kwargs: the arguments of the model. Only their dtypes and dims matter.
        Raises ArgumentTypeError or ArgumentValueError for a wrong argument.
        """
        leaves = self._signature.check(self._signature.flatten(args, kwargs))
        tensors, _ = self._split(leaves)
        figures, table = self._compilation.memory([list(tensor.shape) for tensor in tensors])
        return Memory(json.loads(figures), table)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Returns the parameters and buffers by their names in the model. Buffers that the model writes are copies."""
        return self._state.state_dict()

    def load_state_dict(
        self, state_dict: Mapping[str, torch.Tensor], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Replaces parameters and buffers by name. The model is not compiled again. Waits until no call runs.

        state_dict: tensors by name.
        strict: require that the names are those of `state_dict()` (default: True).
        assign: use the memory of the given tensors instead of copies (default: False). The memory must stay valid.
        Returns the names that were missing and the unexpected names, as (missing_keys, unexpected_keys).
        Raises ArgumentTypeError or ArgumentValueError for other names, dtypes or dims than those of the model, and for
        different tensors in place of tied weights. Raises UnsupportedError for new values of a weight that the graph
        depends on, and inside of a call of the model. After an error nothing is replaced.
        """
        self._refuse_inside_call("load_state_dict")
        with self._turn:
            keys = self._state.load(state_dict, strict, assign)
        if self._watch is not None:
            self._watch.accept_tensors()
        return keys

    def save(
        self,
        path: StrPath,
        weights_file: str | None = None,
        allow_framework: bool = False,
        replace_weights: bool = False,
    ) -> None:
        """Writes the program to a file with its current weights and buffers. `inlay.load` and inlay-run read the file.

        path: the file.
        weights_file: the name of a safetensors file in the same folder for the weights (default: they are written to
            `path`). An existing file with the same contents is kept.
        allow_framework: save a model with segments that run in PyTorch (default: False). Only Python can load it.
        replace_weights: replace an existing weights file with other contents (default: False, which is an error then).
            Programs that were saved with the old file can't be loaded any more.
        Waits while another thread replaces weights. Raises UnsupportedError for a model that runs segments in PyTorch
        or that has parts that a file can't hold, and inside of a call of the model. Raises ArgumentTypeError or
        ArgumentValueError for a wrong path, and Error if a file can't be written.
        """
        self.save_with({}, path, weights_file, allow_framework, replace_weights)

    def save_with(
        self,
        more: Mapping[str, Any],
        path: StrPath,
        weights_file: str | None = None,
        allow_framework: bool = False,
        replace_weights: bool = False,
    ) -> None:
        """Does the same as `save`, and adds values of JSON to the metadata of the file.

        more: the values by key. A loaded model keeps those of its file.
        """
        file = path_text(path, "path")
        weights = "" if weights_file is None else path_text(weights_file, "weights_file")
        convention = self._signature.convention
        if convention is None:
            raise UnsupportedError(
                "a graph that torch.compile made of a part of a model can't be saved: use inlay.compile"
            )
        self._check_savable(allow_framework)
        self._refuse_inside_call("save")
        with self._turn, self._state.lock:
            self._state.follow()
            metadata, tensors = describe(self._interface, convention, self._state, {**self._more, **more})
            self._compilation.save(
                file, metadata, list(tensors.items()), weights, bool(allow_framework), bool(replace_weights)
            )

    def _require_session(self, session: Handle | None) -> None:
        """Raises ArgumentTypeError for a call without a session if the model has states."""
        if self._interface.states and session is None:
            raise ArgumentTypeError(
                f"the model keeps states ({self._interface.states[0].name!r}, ...) between calls: make a session with "
                "new_session() and call it"
            )

    def _refuse_inside_call(self, method: str) -> None:
        """Raises UnsupportedError inside of a call of this model, which the method would wait for."""
        if self._fallback.is_running:
            raise UnsupportedError(f"{method} can't be called inside of a call of the same model: call it afterwards")

    def _check_savable(self, allow_framework: bool) -> None:
        """Raises UnsupportedError if the program has calls of PyTorch that can't be saved."""
        calls = self._compilation.framework_calls
        if calls and not allow_framework:
            listed = ", ".join(f"segment {segment} ({describe_call(call)})" for segment, call in calls)
            raise UnsupportedError(
                f"{len(calls)} of the program's steps run in PyTorch, which a file can't hold: {listed}. "
                "allow_framework=True saves the program for use with PyTorch"
            )
        if self._interface.checks and not allow_framework:
            raise UnsupportedError(
                f"the model checks values at each call ({self._interface.checks[0].message.partition(' failed')[0]}), "
                "which only Python does. allow_framework=True saves the program for use with PyTorch"
            )
        symbols = self._interface.symbols
        for condition in self._interface.conditions:
            if not can_express(condition, symbols):
                raise UnsupportedError(
                    f"the model needs sizes for which {symbols.spell(condition)}, which no file can hold"
                )
        if calls and self._state.kept:
            raise UnsupportedError(
                "calls of PyTorch take values beside the program, which can't be saved: "
                + ", ".join(map(repr, self._state.kept))
            )

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} ops on {target}" for target, count in self.report.ops_by_target().items())
        return f"<inlay.CompiledModule: {counts}>"

    def _run(
        self, function: Callable[[list[torch.Tensor]], _Made], leaves: Sequence[torch.Tensor | None]
    ) -> tuple[_Made, dict[str, Any]]:
        """Calls `function` with the arguments of the program. Returns its result and the values beside the program."""
        if self._has_device:
            refuse_lost_device()
        is_nested = self._fallback.is_running
        if is_nested and self._interface.carried:
            raise UnsupportedError("a model that writes buffers can't be called inside of a call of itself")
        self._state.follow(may_replace=not is_nested)
        tensors, kept = self._split(leaves)
        state = self._fallback.begin(kept)
        try:
            made = function(tensors)
        except InternalError:
            raise_failure(state.failure)
            raise
        except TypeError as error:
            raise ArgumentTypeError(
                "expected tensors with memory, but got others: a compiled model can't be traced, and can't be called "
                "under the transforms of torch.func (vmap, grad, jvp)"
            ) from error
        finally:
            self._fallback.end()
        return made, kept

    def _split(self, leaves: Sequence[torch.Tensor | None]) -> tuple[list[torch.Tensor], dict[str, Any]]:
        """Returns the arguments of the program and the values beside it for checked flat arguments."""
        tensors: list[torch.Tensor] = []
        kept = dict(self._state.kept)
        for leaf, argument in zip(leaves, self._interface.inputs, strict=True):
            if argument.is_kept:
                kept[argument.name] = leaf
            elif leaf is not None:
                tensors.append(leaf if leaf.dtype != torch.uint8 else leaf.view(program_dtype(leaf.dtype)))
        return tensors + self._state.carry(), kept

    def _restore(self, results: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Returns the results of the program with the dtypes of the model's."""
        wanted = self._interface.results
        return [
            result if result.dtype == type.dtype else result.view(type.dtype)
            for result, type in zip(results, wanted, strict=True)
        ]

    def _write(self, values: CallValues) -> None:
        """Writes the buffers and arguments that the model writes."""
        returned = {output.index for output in self._interface.outputs if isinstance(output, ResultOutput)}
        new = []
        for write in self._interface.writes:
            output, value = write.value, write.value.read(values)
            # A result can become the buffer unless the caller gets it too. An argument is written by a copy anyway.
            is_new = isinstance(output, ResultOutput) and (
                isinstance(write.target, int) or output.index not in returned
            )
            new.append(value if is_new or output.copied else value.clone())
        buffers: dict[str, torch.Tensor] = {}
        for write, value in zip(self._interface.writes, new, strict=True):
            if isinstance(write.target, int):
                with torch.no_grad():
                    values.given[write.target].copy_(value)
            else:
                buffers[write.target] = value
        self._state.write(buffers)

    def _check_written(self, given: Sequence[Any]) -> None:
        """Raises ArgumentValueError if an argument that the model writes shares memory or must not be written."""
        for write in self._interface.writes:
            if isinstance(write.target, int):
                self._signature.check_written(write.target, given)


class LoadedModule(CompiledModule):
    """The callable that `inlay.load` returns. It is called like the compiled module that was saved.

    Its weights have no names, so they can't be replaced. A call with sizes out of range is always an error.
    """

    def state_dict(self) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError("the weights of a loaded model have no names")

    def load_state_dict(self, state_dict: object, strict: bool = True, assign: bool = False) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError(
            "the weights of a loaded model can't be replaced: compile the model with other weights and save it"
        )
