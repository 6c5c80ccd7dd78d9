# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks at each call that the Python values that a model's forward read when it was exported are still the same."""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch

from ..errors import UnsupportedError

_MISSING = object()


class Place(NamedTuple):
    """A place of a value outside of the graph: an attribute of an object, or an entry of a dict.

    name: the name of the place for messages, such as "attribute 'encoder.scale'".
    """

    find: Callable[[Any, str], Any]  # getattr or operator.getitem
    owner: Any
    key: str
    name: str

    def read(self) -> Any:
        """Returns the current value, or a unique object if there is none."""
        try:
            return self.find(self.owner, self.key)
        except (AttributeError, KeyError, ValueError):
            return _MISSING


class Watch:
    """The values that forward read, and the tensors and submodules of the model.

    A check takes about 40 ns for each value. It compares identities first, and the contents of lists, dicts and sets.
    """

    def __init__(
        self, places: Iterable[Place], tensors: Iterable[Place] = (), hooks: Iterable[tuple[str, Any]] = ()
    ) -> None:
        """places: the places of values that must not change. tensors: the places of parameters, buffers and
        submodules. hooks: empty dicts, with the names of their modules, that must stay empty."""
        attributes: list[Place] = []
        entries: list[Place] = []
        for place in places:
            (attributes if place.find is getattr else entries).append(place)
        self._groups = [_Group(getattr, attributes), _Group(operator.getitem, entries)]
        self._tensors = _Group(operator.getitem, list(tensors), has_contents=False)
        self._hooks = [(name, held) for name, held in hooks if not held]
        self._held_hooks = [held for _, held in self._hooks]
        self._dtype = torch.get_default_dtype()

    def check(self) -> None:
        """Raises UnsupportedError if a value has changed."""
        if torch.get_default_dtype() is not self._dtype:
            raise UnsupportedError(
                f"the default dtype is {torch.get_default_dtype()}, but was {self._dtype} when the model was "
                "compiled: compile the model again, or set the default dtype back"
            )
        if any(self._held_hooks):
            name = next(name for name, held in self._hooks if held)
            raise UnsupportedError(
                f"{name} has got a hook since the model was compiled: remove it, or compile the model again"
            )
        for group in self._groups:
            if group.may_differ():
                group.explain("compile the model again, or set it back")
        if self._tensors.may_differ():
            self._tensors.explain(
                "pass the new tensors to load_state_dict of the compiled model, or compile the model again"
            )

    def accept_tensors(self) -> None:
        """Accepts the current tensors of the model. The compiled model has got others."""
        self._tensors.accept()


class _Group:
    """Places that are read in the same way, with their values."""

    def __init__(self, find: Callable[[Any, str], Any], places: list[Place], has_contents: bool = True) -> None:
        """has_contents: True if the contents of the values must not change either."""
        self._places = places
        self._find, self._owners, self._keys = find, [p.owner for p in places], [p.key for p in places]
        self._values = [place.read() for place in places]
        self._containers: list[Any] = []
        self._copies: list[Any] = []
        self._names: list[str] = []
        self._tensors: list[torch.Tensor] = []
        self._versions: list[int] = []
        self._tensor_names: list[str] = []
        if has_contents:
            for place, value in zip(places, self._values, strict=True):
                self._add_contents(place.name, value)

    def _add_contents(self, name: str, value: Any) -> None:
        """Notes the version of a tensor, or the contents of a list, dict or set and of the containers inside of it."""
        if isinstance(value, functools.partial):
            value = value.keywords
        if isinstance(value, torch.Tensor) and not value.is_inference():
            self._tensors.append(value)
            self._versions.append(value._version)
            self._tensor_names.append(name)
        if isinstance(value, tuple):
            for part in value:
                self._add_contents(name, part)
        if not isinstance(value, (list, dict, set)) or any(value is known for known in self._containers):
            return
        self._containers.append(value)
        self._copies.append(copy.copy(value))
        self._names.append(name)
        for part in value.values() if isinstance(value, dict) else value:
            self._add_contents(name, part)

    def may_differ(self) -> bool:
        """Returns true if a value is another object than before, or if a container has other contents."""
        try:
            found = map(self._find, self._owners, self._keys)
            if not all(map(operator.is_, found, self._values)) or self._containers != self._copies:
                return True
            return [tensor._version for tensor in self._tensors] != self._versions
        except Exception:  # a value is missing, or can't be compared
            return True

    def explain(self, advice: str) -> None:
        """Raises UnsupportedError with the first value that has changed. Returns if all are equal."""
        for number, place in enumerate(self._places):
            now, value = place.read(), self._values[number]
            if now is not value:
                if not _is_equal(now, value):
                    raise UnsupportedError(f"{place.name} {_describe_change(now, value)}: {advice}")
                self._values[number] = now
                self._add_contents(place.name, now)
        for name, container, content in zip(self._names, self._containers, self._copies, strict=True):
            if not _is_equal(container, content):
                raise UnsupportedError(f"{name} has other elements than when the model was compiled: {advice}")
        for name, tensor, version in zip(self._tensor_names, self._tensors, self._versions, strict=True):
            if tensor._version != version:
                raise UnsupportedError(f"{name} was written since the model was compiled: compile the model again")

    def accept(self) -> None:
        """Takes the current values as the expected ones."""
        self._values = [place.read() for place in self._places]


def _is_equal(value: Any, other: Any) -> bool:
    """Returns true if two values have the same type and are equal. Values that can't be compared are different."""
    if type(value) is not type(other) or isinstance(value, (torch.Tensor, torch.nn.Module)):
        return value is other
    try:
        return bool(value == other or (value != value and other != other))
    except Exception:  # comparisons of the user's classes may raise anything
        return False


def _describe_change(now: Any, value: Any) -> str:
    """Returns the end of a sentence about a value that has changed."""
    if now is _MISSING:
        return "is missing, but was there when the model was compiled"
    if isinstance(now, (bool, int, float, str, type(None), torch.dtype, torch.device)):
        return f"is {now!r}, but was {_shorten(value)} when the model was compiled"
    return "is another object than when the model was compiled"


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"a {type(value).__name__}"
