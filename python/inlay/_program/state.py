# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parameters and buffers of a compiled model, which the user may replace and the model may write."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from .._dialect.calls import no_autocast
from .._dialect.text import has_no_shape, tensor_text
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError, did_you_mean
from .forking import ForkLock
from .imported import ModelState, in_order

_Replace: TypeAlias = Callable[[Sequence[tuple[str, torch.Tensor]]], None]


class IncompatibleKeys(NamedTuple):
    """The names that `load_state_dict` expected but did not get, and the names that it got but did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class State:
    """The tensors by name. The constants of the program are kept equal to the values that are computed from them.

    The tensors are those of the original model until they are replaced. Buffers that the model writes are copies.
    """

    def __init__(self, model: ModelState, carried: Iterable[str], replace: _Replace) -> None:
        """carried: names of the buffers that the model writes. replace: replaces the data of weights by key."""
        self._model, self._carried, self._replace = model, list(carried), replace
        self._tensors = {name: tensor.detach() for name, tensor in model.tensors.items()}
        for name in self._carried:
            self._tensors[name] = _copy(self._tensors[name])
        self.kept = dict(model.kept)
        self._groups = list(_tied(model.tensors))
        self._decided = {name: self._tensors[name].clone() for name in model.decisive}
        # Held while the tensors change, and while they are read together.
        self.lock = ForkLock()
        self._watched: list[torch.Tensor] = []
        self._versions: list[int] = []
        self._watch()

    def __getitem__(self, name: str) -> torch.Tensor:
        return self._tensors[name]

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The tensors by name."""
        return self._tensors

    def carry(self) -> list[torch.Tensor]:
        """Returns the buffers that the model writes, in the order of the last arguments of the program."""
        return [self._tensors[name] for name in self._carried]

    def write(self, buffers: Mapping[str, torch.Tensor]) -> None:
        """Replaces buffers by the values that the model wrote, at once: a forked process has all or none of them."""
        self._tensors.update(buffers)

    def follow(self, may_replace: bool = True) -> None:
        """Updates the program if PyTorch wrote to the weights since the last call of this method.

        may_replace: False inside of a call of the program. Then a write since the last call raises UnsupportedError.
        """
        if [tensor._version for tensor in self._watched] == self._versions and not self.lock.was_interrupted:
            return
        if not may_replace:
            raise UnsupportedError(
                "the weights were written inside of a call of the model, which can't be called with them before that "
                "call ends"
            )
        with self.lock:
            self.lock.was_interrupted = False
            versions = [tensor._version for tensor in self._watched]
            self._apply(self._tensors)
            self._versions = versions

    def state_dict(self) -> OrderedDict[str, torch.Tensor]:
        """Returns the tensors of the model's state_dict by name. Buffers that the model writes are copied."""
        written = set(self._carried)
        return OrderedDict(
            (name, self._tensors[name].clone() if name in written else self._tensors[name])
            for name in self._model.persistent
        )

    def load(self, given: Mapping[str, torch.Tensor], strict: bool, assign: bool) -> IncompatibleKeys:
        """Replaces tensors by name. See `CompiledModule.load_state_dict`."""
        known = self._model.persistent
        if not hasattr(given, "keys"):
            raise ArgumentTypeError(f"expected a dict of tensors by name, but got {type(given).__name__}")
        unexpected = [name for name in given if name not in self._tensors]
        missing = [name for name in known if name not in given]
        if strict and (unexpected or missing):
            raise ArgumentValueError(_explain_names(missing, unexpected, known))
        wanted = {name: given[name] for name in self._tensors if name in given}
        for name, tensor in wanted.items():
            self._check(name, tensor)
        new = dict(self._tensors)
        for names in self._groups:
            self._replace_tied(names, wanted, new, assign)
        with self.lock:
            self._apply(new)
            self._tensors = new
            self._watch()
        return IncompatibleKeys(missing, unexpected)

    def _check(self, name: str, tensor: object) -> None:
        """Raises ArgumentTypeError or ArgumentValueError if a tensor can't replace the one of that name."""
        old = self._tensors[name]
        wanted = tensor_text(old.dtype, old.shape)
        if not isinstance(tensor, torch.Tensor):
            raise ArgumentTypeError(f"{name!r}: expected a tensor {wanted}, but got {type(tensor).__name__}")
        if has_no_shape(tensor):
            raise ArgumentTypeError(f"{name!r}: expected a tensor {wanted}, but got a nested tensor")
        got = tensor_text(tensor.dtype, tensor.shape)
        if tensor.layout != old.layout:
            raise ArgumentTypeError(f"{name!r}: expected layout {old.layout}, but got {tensor.layout}")
        if tensor.device.type != "cpu":
            raise ArgumentValueError(f"{name!r}: expected a tensor on the CPU, but got one on {tensor.device}")
        if tensor.dtype != old.dtype:
            raise ArgumentTypeError(f"{name!r}: expected dtype {wanted}, but got {got}")
        if tensor.shape != old.shape:
            raise ArgumentValueError(f"{name!r}: expected {wanted}, but got {got}")
        if is_traceable_wrapper_subclass(old) or is_traceable_wrapper_subclass(tensor):
            self._check_parts(name, tensor, old)

    def _check_parts(self, name: str, tensor: torch.Tensor, old: torch.Tensor) -> None:
        """Raises ArgumentTypeError or ArgumentValueError unless both tensors are of one class with the same
        attributes, and have parts of the same dtypes and dims."""
        kinds = [type(value).__name__ for value in (old, tensor)]
        if kinds[0] != kinds[1]:
            raise ArgumentTypeError(f"{name!r}: expected the class {kinds[0]}, but got {kinds[1]}")
        wanted, got = _Parts.of(old), _Parts.of(tensor)
        if wanted.attributes != got.attributes:
            raise ArgumentValueError(
                f"{name!r}: expected a {kinds[0]} with {wanted.attributes}, but got one with {got.attributes}"
            )
        for part in sorted({*wanted.tensors, *got.tensors}):
            texts = [
                "none" if value is None else tensor_text(value.dtype, value.shape)
                for value in (wanted.tensors.get(part), got.tensors.get(part))
            ]
            if texts[0] != texts[1]:
                raise ArgumentValueError(f"{name!r}, part {part!r}: expected {texts[0]}, but got {texts[1]}")

    def _replace_tied(
        self, names: Sequence[str], wanted: Mapping[str, torch.Tensor], new: dict[str, torch.Tensor], assign: bool
    ) -> None:
        """Replaces the tensor that has these names, in `new`, if `wanted` has one of the names."""
        given = [name for name in names if name in wanted]
        if not given:
            return
        first = wanted[given[0]]
        for other in given[1:]:
            if wanted[other] is not first and not all(map(torch.equal, _parts(wanted[other]), _parts(first))):
                raise ArgumentValueError(
                    f"{given[0]!r} and {other!r} are the same tensor in the model, but got two different tensors"
                )
        is_written = any(name in self._carried for name in names)
        with torch.no_grad():
            tensor = first.detach() if assign and not is_written else _copy(first)
        new.update(dict.fromkeys(names, tensor))

    def _apply(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Computes the weights of the program from these tensors and replaces them.

        Raises UnsupportedError if a tensor that the graph depends on has other values.
        """
        for name, value in self._decided.items():
            if not torch.equal(tensors[name], value):
                raise UnsupportedError(
                    f"the graph depends on the values of {name!r}, so they can't change: compile the model again"
                )
        with no_autocast():
            ready = [(key, compute(tensors)) for key, compute in self._model.sources.items()]
            kept = {name: compute(tensors) for name, compute in self._model.kept_sources.items()}
        self._replace([(key, in_order(tensor)) for key, tensor in ready])
        self.kept.update(kept)

    def _watch(self) -> None:
        """Notes the tensors that PyTorch may write, and their current versions."""
        carried = set(self._carried)
        kept = [tensor for name, tensor in self._tensors.items() if name not in carried]
        shared = {id(tensor): tensor for tensor in (part for whole in kept for part in _parts(whole))}
        self._watched = [tensor for tensor in shared.values() if not tensor.is_inference()]
        self._versions = [tensor._version for tensor in self._watched]


def _tied(tensors: Mapping[str, torch.Tensor]) -> Collection[list[str]]:
    """Returns lists of the names that stand for the same tensor."""
    groups: dict[Any, list[str]] = {}
    for name, tensor in tensors.items():
        memory: Any = name
        if tensor.layout == torch.strided and tensor.numel():
            memory = tuple((part.data_ptr(), part.shape, part.stride(), part.dtype) for part in _parts(tensor))
        groups.setdefault(memory, []).append(name)
    return groups.values()


class _Parts(NamedTuple):
    """The tensors of which a tensor of a subclass consists, by name, and its other attributes."""

    tensors: dict[str, torch.Tensor]
    attributes: Any

    @staticmethod
    def of(tensor: Any) -> _Parts:
        names, attributes = tensor.__tensor_flatten__()
        return _Parts({name: getattr(tensor, name) for name in names}, attributes)


def _parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Returns the tensors that have the memory of a tensor: the tensor itself, or those of a quantized one."""
    if not is_traceable_wrapper_subclass(tensor):
        return [tensor]
    return [part for inner in _Parts.of(tensor).tensors.values() for part in _parts(inner)]


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a contiguous copy that can be used inside and outside inference mode."""
    with torch.inference_mode(False), torch.no_grad():
        return tensor.detach().clone(memory_format=torch.contiguous_format)


def _explain_names(missing: Sequence[str], unexpected: Sequence[str], known: Iterable[str]) -> str:
    parts = []
    if missing:
        parts.append("missing " + ", ".join(repr(name) for name in missing))
    if unexpected:
        hints = [f"{name!r}{did_you_mean(name, known)}" for name in unexpected]
        parts.append("unexpected " + ", ".join(hints))
    return f"expected the names of the model's parameters and buffers, but got others: {'; '.join(parts)}"
