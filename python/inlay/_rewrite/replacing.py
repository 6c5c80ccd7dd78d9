# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces modules of a PyTorch model before it is imported."""

from __future__ import annotations

import fnmatch
import inspect
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import torch

from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean

_Predicate: TypeAlias = Callable[[Any, str], object]  # of a module and its path
_Replace: TypeAlias = Callable[[Any, str], object]  # likewise; returns a module or None
_Selected = TypeVar("_Selected", bound=torch.nn.Module)


def replace_modules(
    model: torch.nn.Module,
    selector: type[_Selected] | str | Callable[[torch.nn.Module], bool] | Callable[[torch.nn.Module, str], bool],
    function: Callable[[_Selected], torch.nn.Module | None] | Callable[[_Selected, str], torch.nn.Module | None],
) -> int:
    """Replaces modules inside `model` in place and returns the number of replaced modules.

    model: the model, which itself is not replaced.
    selector: a class, a glob of paths ("encoder.*.fc1") or of class names ("Linear", "torch.nn.*.Linear"), or a
        predicate of a module, or of a module and its path.
    function: takes a module, or a module and its path, and returns its replacement, or None to keep the module.

    Outer modules are replaced before the modules in them. The modules in a replacement are not replaced. A module that
    is at several places is replaced by the same module everywhere.

    Raises ArgumentTypeError for an argument of the wrong type, and ArgumentValueError if a glob selects no module.

        inlay.replace_modules(model, torch.nn.Linear, lambda linear: QuantizedLinear(linear))
    """
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(f"expected a torch.nn.Module, but got {type(model).__name__}")
    if not callable(function):
        raise ArgumentTypeError(f"expected a function that makes a module, but got {function!r}")
    fits = _make_predicate(selector)
    run = _Replacements(fits, _with_path(function))
    run.visit(model, "")
    if isinstance(selector, str) and not run.found:
        known = {path for path, _ in model.named_modules() if path}
        known |= {type(module).__name__ for module in model.modules()}
        raise ArgumentValueError(f"no module of the model fits '{selector}'{did_you_mean(selector, known)}")
    return run.count


class _Replacements:
    """Replaces modules. `count` is the number of replaced modules. `found` is true if a module was selected."""

    def __init__(self, fits: _Predicate, function: _Replace) -> None:
        self._fits, self._function = fits, function
        # id of a module -> (the module, its replacement). The module is kept alive so that its id stays unique.
        self._done: dict[int, tuple[torch.nn.Module, torch.nn.Module]] = {}
        self.count, self.found = 0, False

    def visit(self, parent: torch.nn.Module, path: str) -> None:
        """Replaces the modules inside `parent`, whose path in the model is `path`."""
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

    def _replace(self, module: torch.nn.Module, path: str) -> torch.nn.Module:
        """Returns the replacement of a module, or the module if it is kept."""
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


def _make_predicate(selector: Any) -> _Predicate:
    """Returns the predicate of a module and its path for a selector."""
    if isinstance(selector, type):
        if not issubclass(selector, torch.nn.Module):
            raise ArgumentTypeError(f"expected a class of modules, but got {selector.__name__}")
        return lambda module, path: isinstance(module, selector)
    if isinstance(selector, str):
        return lambda module, path: any(fnmatch.fnmatchcase(name, selector) for name in _names(path, module))
    if callable(selector):
        return _with_path(selector)
    raise ArgumentTypeError(f"expected a class, a glob or a predicate to select modules, but got {selector!r}")


def _with_path(function: Callable[..., object]) -> Callable[[Any, str], object]:
    """Returns a function of a module and its path for a function that may take only the module."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # built-in functions may have no signature
        parameters = []
    needed = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return function if len(needed) > 1 else lambda module, path: function(module)


def _names(path: str, module: torch.nn.Module) -> tuple[str, str, str]:
    """Returns the names that a glob may match: the path, the name of the class and its qualified name."""
    kind = type(module)
    return path, kind.__name__, f"{kind.__module__}.{kind.__qualname__}"
