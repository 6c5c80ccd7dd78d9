# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks at each call that the Python values that a model's forward read when it was exported are still the same."""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch

from .. import _inlay
from ..errors import UnsupportedError

_MISSING = object()
_CONTAINERS = (list, dict, set, collections.deque)


class Place(NamedTuple):
    """A place of a value outside of the graph: an entry of a dict, or an attribute of another object.

    name: the name of the place for messages, such as "attribute 'encoder.scale'".
    """

    owner: Any
    key: str
    name: str

    def read(self) -> Any:
        """Returns the current value, or a unique object if there is none."""
        try:
            return self.owner[self.key] if isinstance(self.owner, dict) else getattr(self.owner, self.key)
        except (AttributeError, KeyError, ValueError):
            return _MISSING


class Members(NamedTuple):
    """The parameters, the buffers or the submodules of a module.

    held: the dict in which the module holds them. kind: "parameter", "buffer" or "submodule". path: the path of the
    module in the model. written: the names of the buffers that the model writes, which may change.
    """

    held: dict[str, Any]
    kind: str
    path: str
    written: frozenset[str] = frozenset()

    def entries(self) -> tuple[Any, ...]:
        """Returns the names and members in turn, with an Ellipsis for each member that may change."""
        return tuple(
            itertools.chain(*((name, ... if name in self.written else held) for name, held in self.held.items()))
        )

    def title(self, name: str) -> str:
        """Returns the name of a member for messages."""
        path = f"{self.path}.{name}" if self.path else name
        return f"{self.kind} {path!r} of the model"


class Setting(NamedTuple):
    """A setting of PyTorch that forward asked for, such as torch.get_float32_matmul_precision().

    ask: the function that returns it. value: what it returned to forward.
    """

    ask: Callable[..., Any]
    args: tuple[Any, ...]
    value: Any


class _Tensors(NamedTuple):
    """The parameters, buffers and submodules at one time.

    entries: see `Members.entries`, for each of them. dicts: the dicts that are not empty. contents: their entries.
    empty: the dicts that must stay empty.
    """

    entries: list[tuple[Any, ...]]
    dicts: tuple[dict[str, Any], ...]
    contents: tuple[tuple[Any, ...], ...]
    empty: tuple[Any, ...]


class Watch:
    """The values that forward read, and the tensors and submodules of the model.

    The extension compares the identities of values and of the elements of containers, which takes about 10 ns for each
    of them. Values with other identities are compared in Python.
    """

    def __init__(
        self,
        places: Iterable[Place],
        members: Iterable[Members] = (),
        hooks: Iterable[tuple[str, Any]] = (),
        settings: Iterable[Setting] = (),
    ) -> None:
        """places: the places of values that must not change. members: the parameters, buffers and submodules of all
        modules. hooks: empty dicts, with the names of their modules, that must stay empty. settings: those that must
        stay the same."""
        self._values = _Group(places)
        self._members = list(members)
        self._hooks = [(name, held) for name, held in hooks if not held]
        self.accept_tensors()
        self._settings = [Setting(torch.get_default_dtype, (), torch.get_default_dtype()), *settings]

    def check(self) -> None:
        """Raises UnsupportedError if a value has changed."""
        for ask, args, value in self._settings:
            if (now := ask(*args)) != value:
                call = f"torch.{ask.__name__}({', '.join(map(repr, args))})"
                raise UnsupportedError(
                    f"{call} is {now!r}, but was {value!r} when the model was compiled: compile the model again, or "
                    "set it back"
                )
        tensors = self._tensors  # another thread may replace it
        if not _inlay.are_empty(tensors.empty):
            self._explain_hooks()
            self._explain_members(tensors)
        self._values.check("compile the model again, or set it back")
        if not _inlay.has_same_contents(tensors.dicts, tensors.contents):
            self._explain_members(tensors)

    def accept_tensors(self) -> None:
        """Accepts the current tensors of the model. The compiled model has got others."""
        entries = [one.entries() for one in self._members]
        # Most of these dicts are empty, and that is quicker to check.
        filled = [(one.held, held) for one, held in zip(self._members, entries, strict=True) if held]
        others = (one.held for one, held in zip(self._members, entries, strict=True) if not held)
        self._tensors = _Tensors(
            entries,
            dicts=tuple(held for held, _ in filled),
            contents=tuple(contents for _, contents in filled),
            empty=(*(held for _, held in self._hooks), *others),
        )

    def _explain_hooks(self) -> None:
        """Raises UnsupportedError if a module has got a hook."""
        for name, held in self._hooks:
            if held:
                raise UnsupportedError(
                    f"{name} has got a hook since the model was compiled: remove it, or compile the model again"
                )

    def _explain_members(self, tensors: _Tensors) -> None:
        """Raises UnsupportedError with the first parameter, buffer or submodule that is new, missing or another."""
        for members, entries in zip(self._members, tensors.entries, strict=True):
            before = dict(zip(entries[::2], entries[1::2], strict=True))
            for name in {**before, **members.held}:
                now, value = members.held.get(name, _MISSING), before.get(name, _MISSING)
                if value is _MISSING:
                    raise UnsupportedError(
                        f"{members.title(name)} is new since the model was compiled: compile the model again"
                    )
                if now is _MISSING or (now is not value and value is not ...):
                    raise UnsupportedError(
                        f"{members.title(name)} {_describe_change(now, value)}: pass the new tensors to "
                        "load_state_dict of the compiled model, or compile the model again"
                    )
            if list(before) != list(members.held):
                raise UnsupportedError(
                    f"the {members.kind}s of {members.path or 'the model'} are in another order than when the model "
                    "was compiled: compile the model again"
                )


class _Contents:
    """The values of places at one time, with the elements of containers and the versions of tensors. Never changes."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.values = tuple(place.read() for place in places)
        self.names: list[str] = []  # of the containers
        self.tensor_names: list[str] = []
        self.tensors: list[torch.Tensor] = []
        containers: list[Any] = []
        elements: list[tuple[Any, ...]] = []
        known: set[int] = set()

        def add(name: str, value: Any) -> None:
            """Adds a tensor, or the elements of a container and of the containers inside of it."""
            if isinstance(value, functools.partial):
                value = value.keywords
            if isinstance(value, torch.Tensor) and not value.is_inference():
                self.tensors.append(value)
                self.tensor_names.append(name)
            if isinstance(value, tuple):
                for part in value:
                    add(name, part)
            if not isinstance(value, _CONTAINERS) or id(value) in known:
                return
            known.add(id(value))
            parts = tuple(itertools.chain(*value.items())) if isinstance(value, dict) else tuple(value)
            containers.append(value)
            elements.append(parts)
            self.names.append(name)
            for part in parts:
                add(name, part)

        for place, value in zip(places, self.values, strict=True):
            add(place.name, value)
        self.containers, self.elements = tuple(containers), tuple(elements)
        self.versions = [tensor._version for tensor in self.tensors]


class _Group:
    """Places with their values and the contents of these. Several threads may check it at the same time."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = list(places)
        self._owners, self._keys = tuple(p.owner for p in self._places), tuple(p.key for p in self._places)
        self._contents = _Contents(self._places)

    def check(self, advice: str) -> None:
        """Raises UnsupportedError if a value has changed, with the name of the first one."""
        contents = self._contents  # another thread may replace it
        if (
            not _inlay.has_same_values(self._owners, self._keys, contents.values)
            or not _inlay.has_same_contents(contents.containers, contents.elements)
            or [tensor._version for tensor in contents.tensors] != contents.versions
        ):
            self._explain(contents, advice)

    def _explain(self, contents: _Contents, advice: str) -> None:
        """Raises UnsupportedError with the first value that has changed. If all are equal, accepts the new objects."""
        for place, value in zip(self._places, contents.values, strict=True):
            now = place.read()
            if not _is_equal(now, value):
                raise UnsupportedError(f"{place.name} {_describe_change(now, value)}: {advice}")
        for name, container, elements in zip(contents.names, contents.containers, contents.elements, strict=True):
            if not _has_equal_elements(container, elements):
                raise UnsupportedError(f"{name} has other elements than when the model was compiled: {advice}")
        for name, tensor, version in zip(contents.tensor_names, contents.tensors, contents.versions, strict=True):
            if tensor._version != version:
                raise UnsupportedError(f"{name} was written since the model was compiled: compile the model again")
        self._contents = _Contents(self._places)


def _is_equal(value: Any, other: Any) -> bool:
    """Returns true if two values have the same type and are equal, with all of their elements. Values that can't be
    compared are different."""
    if value is other:
        return True
    if type(value) is not type(other) or isinstance(value, (torch.Tensor, torch.nn.Module)):
        return False
    if isinstance(value, (*_CONTAINERS, tuple)):
        elements = tuple(itertools.chain(*other.items())) if isinstance(other, dict) else tuple(other)
        try:
            return _has_equal_elements(value, elements)
        except RecursionError:  # a container contains itself
            return False
    try:
        return bool(value == other or (value != value and other != other))
    except Exception:  # comparisons of the user's classes may raise anything
        return False


def _has_equal_elements(container: Any, elements: tuple[Any, ...]) -> bool:
    """Returns true if a container has elements of the same types that are equal. See `_Contents.elements`."""
    if isinstance(container, set):
        return {(type(value), value) for value in container} == {(type(value), value) for value in elements}
    now = tuple(itertools.chain(*container.items())) if isinstance(container, dict) else tuple(container)
    return len(now) == len(elements) and all(map(_is_equal, now, elements))


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
