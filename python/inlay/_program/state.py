# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parameters and buffers of a compiled model: what may be replaced, and what the model itself writes."""

import threading
from collections import OrderedDict
from typing import NamedTuple

import torch

from .._dialect.calls import no_autocast
from .._dialect.text import tensor_text
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError, did_you_mean


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` did not find, and what it was given besides."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class State:
    """Holds the tensors by name and keeps the program's constants equal to what is computed from them.

    Tensors are the original model's until they are replaced; buffers that the model writes are the state's own.
    """

    def __init__(self, model, carried, replace):
        """model: a ModelState; carried: names of the buffers that the model writes; replace([(key, tensor)]): gives
        weights of the program other bytes."""
        self._model, self._carried, self._replace = model, list(carried), replace
        self._tensors = {name: tensor.detach() for name, tensor in model.tensors.items()}
        for name in carried:
            self._tensors[name] = _settle(self._tensors[name])
        self.kept = dict(model.kept)
        self._groups = list(_tied(model.tensors))
        self._decided = {name: self._tensors[name].clone() for name in model.decisive}
        self._lock = threading.Lock()
        self._watched = self._watch()

    def __getitem__(self, name):
        return self._tensors[name]

    @property
    def tensors(self):
        """name -> tensor."""
        return self._tensors

    def carry(self):
        """The buffers that the model writes, in the order of the program's last arguments."""
        return [self._tensors[name] for name in self._carried]

    def write(self, name, value):
        """Makes `value` the buffer that the model wrote."""
        self._tensors[name] = value

    def follow(self):
        """Takes over what somebody else wrote into the weights since they were last looked at."""
        if [tensor._version for tensor in self._watched] == self._versions:
            return
        with self._lock:
            versions = [tensor._version for tensor in self._watched]
            self._apply(self._tensors)
            self._versions = versions

    def state_dict(self):
        """The tensors that the model's own state_dict has, by the same names; those it writes are copies."""
        written = set(self._carried)
        return OrderedDict(
            (name, self._tensors[name].clone() if name in written else self._tensors[name])
            for name in self._model.persistent
        )

    def load(self, given, strict, assign):
        """Replaces tensors by name; see `CompiledModule.load_state_dict`."""
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
        with self._lock:
            self._apply(new)
            self._tensors = new
            self._watched = self._watch()
        return IncompatibleKeys(missing, unexpected)

    def _check(self, name, tensor):
        old = self._tensors[name]
        wanted = tensor_text(old.dtype, old.shape)
        if not isinstance(tensor, torch.Tensor):
            raise ArgumentTypeError(f"{name!r}: expected a tensor {wanted}, but got {type(tensor).__name__}")
        got = tensor_text(tensor.dtype, tensor.shape)
        if tensor.layout != old.layout:
            raise ArgumentTypeError(f"{name!r}: expected layout {old.layout}, but got {tensor.layout}")
        if tensor.device.type != "cpu":
            raise ArgumentValueError(f"{name!r}: expected a tensor on the CPU, but got one on {tensor.device}")
        if tensor.dtype != old.dtype:
            raise ArgumentTypeError(f"{name!r}: expected dtype {wanted}, but got {got}")
        if tensor.shape != old.shape:
            raise ArgumentValueError(f"{name!r}: expected {wanted}, but got {got}")

    def _replace_tied(self, names, wanted, new, assign):
        given = [name for name in names if name in wanted]
        if not given:
            return
        first = wanted[given[0]]
        for other in given[1:]:
            if wanted[other] is not first and not torch.equal(wanted[other], first):
                raise ArgumentValueError(
                    f"{given[0]!r} and {other!r} are one tensor in the model, but got two that differ"
                )
        is_written = any(name in self._carried for name in names)
        with torch.no_grad():
            tensor = first.detach() if assign and not is_written else _settle(first)
        new.update(dict.fromkeys(names, tensor))

    def _apply(self, tensors):
        """Computes what the program takes from these tensors and hands it over."""
        for name, value in self._decided.items():
            if not torch.equal(tensors[name], value):
                raise UnsupportedError(
                    f"{name!r} decided how the graph was compiled, so its values can't change: compile the model again"
                )
        with no_autocast():
            ready = [(key, compute(tensors)) for key, compute in self._model.sources.items()]
            kept = {name: compute(tensors) for name, compute in self._model.kept_sources.items()}
        self._replace([(key, tensor.detach().resolve_neg().contiguous()) for key, tensor in ready])
        self.kept.update(kept)

    def _watch(self):
        """The tensors that somebody else may write, and how often they were."""
        carried = set(self._carried)
        shared = {id(tensor): tensor for name, tensor in self._tensors.items() if name not in carried}
        watched = [tensor for tensor in shared.values() if not tensor.is_inference()]
        self._versions = [tensor._version for tensor in watched]
        return watched


def _tied(tensors):
    """Names that stand for one tensor, together."""
    groups = {}
    for name, tensor in tensors.items():
        memory = name
        if tensor.layout == torch.strided and tensor.numel():
            memory = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        groups.setdefault(memory, []).append(name)
    return groups.values()


def _settle(tensor):
    """A copy of its own, usable in and out of inference mode."""
    with torch.inference_mode(False), torch.no_grad():
        return tensor.detach().clone(memory_format=torch.contiguous_format)


def _explain_names(missing, unexpected, known):
    parts = []
    if missing:
        parts.append("missing " + ", ".join(repr(name) for name in missing))
    if unexpected:
        hints = [f"{name!r}{did_you_mean(name, known)}" for name in unexpected]
        parts.append("unexpected " + ", ".join(hints))
    return f"the names are not those of the model: {'; '.join(parts)}"
