# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records the Python values that a model's forward reads during an export, because the graph depends on them.

These are attributes of modules and of the objects that they hold, and the globals and closures of their code.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import sys
import types
from collections.abc import Callable, Container, Iterator
from typing import Any, NamedTuple

import torch
from torch._dynamo.callback import callback_handler

from ...._program.watch import Members, Place, Setting, Watch
from ....errors import UnsupportedError

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), enum.Enum, torch.dtype, torch.device)
_CONTAINERS = (tuple, list, dict, set)
_PLAIN = (*_CONSTANTS, *_CONTAINERS)
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)
# The attributes that the machinery of modules reads.
OWN = (frozenset(vars(torch.nn.Module())) | {"_compiled_call_impl"}) - {"training"}
ABSENT = object()
_READ = "__getattribute__"
_MAX_FUNCTIONS = 500
# The functions of torch that return a setting of the process. That of gradients is left out: models are compiled with
# gradients and called without.
_SETTINGS = (
    "are_deterministic_algorithms_enabled",
    "get_float32_matmul_precision",
    "get_num_threads",
    "is_inference_mode_enabled",
)


class StateError(UnsupportedError):
    """The model's forward depends on Python values that it changes."""


class Reads:
    """The values that forward reads. They are complete after the model's forward."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._modules = {
            name: module
            for name, module in model.named_modules()
            if not isinstance(module, torch.jit.ScriptModule)  # has no Python code
        }
        # Names of modules and objects by their ids. The objects are kept, so that the ids stay valid.
        self._names = {id(module): _Name(path) for path, module in self._modules.items()}
        self._module_ids = set(self._names)
        self._kept: list[Any] = []
        self._places: dict[tuple[int, str], Place] = {}
        self._first: dict[tuple[int, str], Any] = {}  # the values that forward read first
        self._constants = {(id(place.owner), place.key): place for place in _find_constants(self._modules)}
        self._before = {key: place.read() for key, place in self._constants.items()}
        self._spied: list[tuple[Any, str, Any, Any]] = []  # (class or module, name, original or None, what records)
        self._settings: dict[str, Setting] = {}  # those that forward asked for
        self._is_recording = False
        self._has_traced = False  # True if PyTorch has traced branches or bodies, in which nothing is recorded

    def began_with(self, module: torch.nn.Module, name: str, value: Any) -> bool:
        """Returns true if forward read this value of an attribute of a module, or its absence, before it set it.

        value: the value before forward; ABSENT if there was none.
        """
        return self._first.get((id(module), name), self) is value

    def changed(self) -> list[str]:
        """Returns the names of attributes of objects, and of numbers in globals and closures, that forward changed."""
        found = [place.name for key, place in self._places.items() if self._is_changed(key, place)]
        for key, place in self._constants.items():
            value, before = place.read(), self._before[key]
            if type(before) in (int, float) and value is not before and value != before:
                found.append(place.name)
        return found

    def _is_changed(self, key: tuple[int, str], place: Place) -> bool:
        if key[0] in self._module_ids or isinstance(self._first[key], torch.Tensor):
            return False
        value = place.read()
        return value is not self._first[key] and bool(value != self._first[key])

    def watch(self, written: Container[str]) -> Watch:
        """Returns the check that the values stay the same. written: names of the tensors that the model writes."""
        members, hooks = [], []
        for path, module in self._modules.items():
            dicts = {"parameter": module._parameters, "buffer": module._buffers, "submodule": module._modules}
            for kind, held in dicts.items():
                own = frozenset(key for key in held if kind == "buffer" and _join(path, key) in written)
                members.append(Members(held, kind, path, own))
            title = f"module {path!r} of the model" if path else "the model"
            hooks += [(title, module._forward_hooks), (title, module._forward_pre_hooks)]
        places = {**self._places, **self._constants}
        if self._has_traced:
            for path, module in self._modules.items():
                for key in _named(module):
                    title = _Name(path).title(key)
                    places.setdefault((id(module), key), Place(vars(module), key, title))
        return Watch(places.values(), members, hooks, self._settings.values())

    def begin(self) -> None:
        """Starts to record.

        Recording stops for the time in which PyTorch traces a branch or a body of control flow, because it can't trace
        the method that records.
        """
        if self._is_recording:
            return
        self._is_recording = True
        callback_handler.register_start_callback(self._pause)
        callback_handler.register_end_callback(self._resume)
        self._spy_on(torch.nn.Module)
        for place in self._constants.values():
            self._spy_on_objects(place.read(), _Name("", place.name))
        for name in _SETTINGS:
            self._spy_on_setting(name)

    def end(self) -> None:
        """Stops recording, also if `begin` has raised."""
        self._pause()
        self._spied.clear()
        if self._is_recording:
            self._is_recording = False
            callback_handler.remove_start_callback(self._pause)
            callback_handler.remove_end_callback(self._resume)

    def _pause(self, compilation: object = None) -> None:
        """Stops recording. compilation: what PyTorch traces, if it is the reason."""
        self._has_traced |= compilation is not None
        for owner, name, original, _ in self._spied:
            if original is not None:
                setattr(owner, name, original)
            elif name in vars(owner):
                delattr(owner, name)

    def _resume(self, compilation: object) -> None:
        """Records again."""
        for owner, name, _, spy in self._spied:
            setattr(owner, name, spy)

    def _spy_on(self, cls: type) -> None:
        """Records reads of attributes of all objects of a class that have names."""
        if any(cls is known for known, _, _, _ in self._spied):
            return
        read: Callable[[Any, str], Any] = getattr(cls, _READ)

        own = vars(cls).get(_READ)

        @functools.wraps(read)
        def spy(owner: Any, name: str) -> Any:
            if id(owner) not in self._names or name in OWN or name.startswith("__"):
                return read(owner, name)
            try:
                value = read(owner, name)
            except AttributeError:
                self._first.setdefault((id(owner), name), ABSENT)
                raise
            self._record(owner, name, value)
            return value

        setattr(cls, _READ, spy)  # raises TypeError for a class that can't be changed
        self._spied.append((cls, _READ, own, spy))

    def _spy_on_objects(self, value: Any, name: _Name) -> None:
        """Records reads of attributes of a value, or of the objects that a container holds. name: its name."""
        for part in _objects_in(value):
            self._kept.append(part)
            self._names.setdefault(id(part), name)
            # The class of an extension can't be changed, and the metaclass of others may raise anything.
            with contextlib.suppress(Exception):
                self._spy_on(type(part))

    def _spy_on_setting(self, name: str) -> None:
        """Records that code outside of libraries asks for a setting of PyTorch."""
        ask = getattr(torch, name)
        setting = Setting(ask, (), ask())

        @functools.wraps(ask)
        def spy() -> Any:
            if not _is_library(sys._getframe(1).f_globals.get("__name__")):
                self._settings[name] = setting
            return ask()

        setattr(torch, name, spy)
        self._spied.append((torch, name, ask, spy))

    def _record(self, owner: Any, key: str, value: Any) -> None:
        """Records that forward read an attribute."""
        where = (id(owner), key)
        if where in self._first:
            return
        self._first[where] = value
        if not _is_stored(owner, key) or isinstance(value, torch.nn.Module):
            return
        known = self._names[id(owner)]
        path, title = _join(known.path, key), known.title(key)
        # A lookup in a dict is faster.
        self._places[where] = Place(vars(owner) if key in vars(owner) else owner, key, title)
        self._kept += [owner, value]
        self._spy_on_objects(value, _Name(path, known.root))


class _Name(NamedTuple):
    """The name of an object. root: what holds it; path: its path there, which is empty for the root itself."""

    path: str
    root: str = "the model"

    def title(self, key: str) -> str:
        """Returns the name of an attribute of the object."""
        return f"attribute {_join(self.path, key)!r} of {self.root}"


def _join(path: str, name: str) -> str:
    """Returns the path of an attribute."""
    return f"{path}.{name}" if path else name


def _is_stored(owner: object, key: str) -> bool:
    """Returns true if an attribute is a value in the object or its class, and not computed by a descriptor."""
    if key in vars(owner):
        return True
    for base in type(owner).__mro__:
        if key in vars(base):
            return isinstance(vars(base)[key], _CONSTANTS)
    return False


def _objects_in(value: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """Yields a value if it is an object with attributes, or such objects in a container.

    seen: ids of the containers around the value, or that were searched before it.
    """
    seen = set() if seen is None else seen
    if isinstance(value, _CONTAINERS):
        if id(value) in seen:
            return
        seen.add(id(value))
        for part in value.values() if isinstance(value, dict) else value:
            yield from _objects_in(part, seen)
    elif _is_object(value):
        yield value


def _is_object(value: object) -> bool:
    """Returns true for an object with attributes of a class that is not PyTorch's, such as a config."""
    plain = (*_PLAIN, *_CODE, torch.Tensor, torch.nn.Module)
    return hasattr(value, "__dict__") and not isinstance(value, plain) and not _is_library(type(value).__module__)


@contextlib.contextmanager
def recording_reads(model: torch.nn.Module) -> Iterator[Reads]:
    """Records what the model's forward reads, as long as the context is open."""
    reads = Reads(model)
    if isinstance(model, torch.jit.ScriptModule):  # torch.export refuses it
        yield reads
        return
    hooks = [
        model.register_forward_pre_hook(lambda *_: reads.begin(), prepend=True),
        model.register_forward_hook(lambda *_: reads.end(), prepend=True),
    ]
    try:
        yield reads
    finally:
        reads.end()
        for hook in hooks:
            hook.remove()


def _named(module: torch.nn.Module) -> set[str]:
    """Returns the names of the plain attributes of a module that occur in the code of its class."""
    methods = [
        method
        for base in type(module).__mro__
        if not _is_library(base.__module__)
        for method in vars(base).values()
        if isinstance(method, types.FunctionType)
    ]
    names: set[str] = set().union(*(_names_of(method.__code__) for method in methods))
    return {name for name in names & vars(module).keys() - OWN if isinstance(vars(module)[name], _PLAIN)}


# -- Globals and closures ---------------------------------------------------------------------------------------------


def _find_constants(modules: dict[str, torch.nn.Module]) -> Iterator[Place]:
    """Yields the places of globals and closures that the code of modules may read, and that are plain or objects."""
    pending: list[tuple[types.FunctionType, type | None]] = []
    for module in modules.values():
        for value in (type(module).forward, *vars(module).values()):
            value = value.func if isinstance(value, functools.partial) else getattr(value, "__func__", value)
            if isinstance(value, types.FunctionType):
                pending.append((value, type(module)))
    seen: set[int] = set()
    for function, cls in pending:
        if id(function.__code__) in seen or len(seen) >= _MAX_FUNCTIONS or _is_library(function.__module__):
            continue
        seen.add(id(function.__code__))
        yield from _closure_of(function)
        names = {name for name in _names_of(function.__code__) if not name.startswith("__")}
        for name in names:
            value = function.__globals__.get(name)
            if name in function.__globals__ and (isinstance(value, _PLAIN) or _is_object(value)):
                yield Place(function.__globals__, name, f"global {name!r} of {function.__module__}")
            elif isinstance(value, types.FunctionType):
                pending.append((value, None))
            elif isinstance(value, types.ModuleType) and not _is_library(value.__name__):
                yield from _entries_of(value, names)
            method = getattr(cls, name, None)
            if isinstance(method, types.FunctionType):
                pending.append((method, cls))


def _closure_of(function: types.FunctionType) -> Iterator[Place]:
    """Yields the places of the plain values and objects that a function captures."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # an empty cell
            if isinstance(cell.cell_contents, _PLAIN) or _is_object(cell.cell_contents):
                yield Place(cell, "cell_contents", f"variable {name!r} of {function.__qualname__}")


def _entries_of(module: types.ModuleType, names: set[str]) -> Iterator[Place]:
    """Yields the places of plain globals of a module."""
    for name in names & vars(module).keys():
        if isinstance(vars(module)[name], _CONSTANTS):
            yield Place(vars(module), name, f"global {name!r} of {module.__name__}")


def _names_of(code: types.CodeType) -> set[str]:
    """Returns the names of globals and attributes in the code of a function and of the functions inside of it."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(_names_of, inner))


def _is_library(name: str | None) -> bool:
    """Returns true for a module of PyTorch or of a library whose globals users do not change."""
    root = (name or "").partition(".")[0]
    return root in ("torch", "numpy") or root in sys.stdlib_module_names - {"__main__"}
