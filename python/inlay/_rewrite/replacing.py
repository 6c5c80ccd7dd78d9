# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replacing modules of a PyTorch model, before there is a graph."""

from __future__ import annotations

import fnmatch
import inspect
from collections.abc import Callable
from typing import TypeVar

import torch

from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean

_Selected = TypeVar("_Selected", bound=torch.nn.Module)


def replace_modules(
    model: torch.nn.Module,
    selector: type[_Selected] | str | Callable[[torch.nn.Module], bool] | Callable[[torch.nn.Module, str], bool],
    function: Callable[[_Selected], torch.nn.Module | None] | Callable[[_Selected, str], torch.nn.Module | None],
) -> int:
    """Replaces modules inside of `model`, in place; returns how many.

    selector: a class, a glob of paths ("encoder.*.fc1") or class names ("Linear", "torch.nn.*.Linear"), or a predicate
        of a module, or of a module and its path.
    function: gets a module, or a module and its path, and returns what takes its place, or None to keep it.

    What holds a match goes before what is in it, and a replacement is left as it is. A module that stands at several
    places is replaced by one and the same. The model itself is no module inside of it.
    """
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(f"expected a torch.nn.Module, but got {type(model).__name__}")
    if not callable(function):
        raise ArgumentTypeError(f"expected a function that makes a module, but got {function!r}")
    fits = _make_predicate(selector)
    run = _Replacement(fits, _with_path(function))
    run.visit(model, "")
    if isinstance(selector, str) and not run.found:
        known = {path for path, _ in model.named_modules() if path} | {type(one).__name__ for one in model.modules()}
        raise ArgumentValueError(f"no module of the model fits '{selector}'{did_you_mean(selector, known)}")
    return run.count


class _Replacement:
    def __init__(self, fits, function):
        self._fits, self._function = fits, function
        self._done = {}  # id of a module -> (the module, what it became)
        self.count, self.found = 0, False

    def visit(self, parent, path):
        for name, child in list(parent._modules.items()):
            if child is None:
                continue
            place = f"{path}.{name}" if path else name
            if id(child) in self._done:
                parent._modules[name] = self._done[id(child)][1]
                continue
            replacement = self._replace(child, place)
            self._done[id(child)] = (child, replacement)
            if replacement is child:
                self.visit(child, place)
            else:
                parent._modules[name] = replacement
                self._done[id(replacement)] = (replacement, replacement)
                self.count += 1

    def _replace(self, module, path):
        if not self._fits(module, path):
            return module
        self.found = True
        replacement = self._function(module, path)
        if replacement is None:
            return module
        if not isinstance(replacement, torch.nn.Module):
            raise ArgumentTypeError(f"expected a torch.nn.Module in place of '{path}', but got {replacement!r:.80}")
        replacement.train(module.training)
        return replacement


def _make_predicate(selector):
    if isinstance(selector, type):
        if not issubclass(selector, torch.nn.Module):
            raise ArgumentTypeError(f"expected a class of modules, but got {selector.__name__}")
        return lambda module, path: isinstance(module, selector)
    if isinstance(selector, str):
        return lambda module, path: any(fnmatch.fnmatchcase(name, selector) for name in _names(path, module))
    if callable(selector):
        return _with_path(selector)
    raise ArgumentTypeError(f"expected a class, a glob or a predicate to select modules by, but got {selector!r}")


def _with_path(function):
    """The function as one of a module and its path."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # of the interpreter's own
        parameters = ()
    needed = [
        one
        for one in parameters
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    return function if len(needed) > 1 else lambda module, path: function(module)


def _names(path, module):
    kind = type(module)
    return path, kind.__name__, f"{kind.__module__}.{kind.__qualname__}"
