# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the options of `inlay.compile` and `inlay.partition`.

`types.py` has their types, and include/inlay/Support/Options.td the table of the options of all interfaces.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

import torch

from .._import.types import DynamicShapes
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError, did_you_mean
from .types import OutOfRange, Strategy, Target

TARGETS: tuple[Target, ...] = get_args(Target)
_FORCED = ("torch_executed_ops", "torch_executed_modules", "torch_executed_locations")
_LOCATION = "the label of an op (or a glob) or 'file:line'"
_MAX_INT = 2**63 - 1
LOOP_ITERATIONS = 2**24  # the same as kDefaultMaxLoopIterations in InlayDialect.td
# Options that the compiler does not have.
PYTHON_ONLY = ("dynamic_shapes", "states", "out_of_range", "cache")
# Keywords of Torch-TensorRT that correspond to `inputs`.
_INPUTS = ("arg_inputs", "kwarg_inputs")
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
OUT_OF_RANGE: tuple[OutOfRange, ...] = get_args(OutOfRange)


@dataclass(frozen=True)
class Options:
    """The checked options. They have the names and defaults of the keywords of `inlay.compile`."""

    targets: tuple[Target, ...] = TARGETS
    enabled: bool = True
    min_block_size: int = 1
    torch_executed_ops: tuple[str, ...] = ()
    torch_executed_modules: tuple[str, ...] = ()
    torch_executed_locations: tuple[str, ...] = ()
    allow_ops: tuple[str, ...] = ()
    exempt_ops: tuple[str, ...] = ()
    placement: str | None = None
    save_placement: str | None = None
    require_full_compilation: bool = False
    strategy: Strategy = "levels"
    cost_model: str | None = None
    tuning: str | None = None
    host_cpu: tuple[str, ...] = ()
    dynamic_shapes: DynamicShapes | None = None
    states: tuple[str, ...] = ()
    out_of_range: OutOfRange = "error"
    max_loop_iterations: int = LOOP_ITERATIONS
    recovery: bool = True
    cache: object = None

    @classmethod
    def make(cls, given: Mapping[str, Any]) -> Options:
        """Returns the options for keywords of `inlay.compile`.

        Raises ArgumentTypeError for an unknown option or a wrong type, ArgumentValueError for a wrong value or a
        contradiction, and UnsupportedError for an option that is not supported yet.
        """
        if not isinstance(given, Mapping):
            raise ArgumentTypeError(f"expected options to be a dict, but got {given!r}")
        given = dict(given)
        if "forced_fallback_ops" in given:
            if given.get("torch_executed_ops"):
                raise ArgumentTypeError("forced_fallback_ops is a synonym of torch_executed_ops: give one of them")
            given["torch_executed_ops"] = given.pop("forced_fallback_ops")
        known = [field.name for field in fields(cls)]
        for name in given:
            if name in _INPUTS:
                raise ArgumentTypeError(
                    f"unknown option {name!r}: give the example arguments as inputs, which is a tuple of positional "
                    "arguments or a dict of keyword arguments"
                )
            if name not in known:
                raise ArgumentTypeError(f"unknown option {name!r}{did_you_mean(name, [*known, 'forced_fallback_ops'])}")
        options = cls(**given)
        _check_flags(options)
        if options.cache is not None:
            raise UnsupportedError("the option cache is not supported yet: leave it out")
        normal: dict[str, Any] = {
            "strategy": _choice("strategy", options.strategy, STRATEGIES),
            "cost_model": _path("cost_model", options.cost_model, 'a path, "default" or None'),
            "tuning": _path("tuning", options.tuning),
            "host_cpu": tuple(_text(name, "host_cpu to be names of processors") for name in _as_list(options.host_cpu)),
            "states": tuple(_text(name, "states to be names of arguments") for name in _as_list(options.states)),
            "out_of_range": _choice("out_of_range", options.out_of_range, OUT_OF_RANGE),
            "targets": _targets(options.targets),
            "torch_executed_ops": tuple(_op_name(op) for op in _as_list(options.torch_executed_ops)),
            "torch_executed_modules": tuple(_module_name(m) for m in _as_list(options.torch_executed_modules)),
            "torch_executed_locations": tuple(
                _text(at, _LOCATION) for at in _as_list(options.torch_executed_locations)
            ),
            "allow_ops": tuple(_op_name(op) for op in _as_list(options.allow_ops)),
            "exempt_ops": tuple(_op_name(op) for op in _as_list(options.exempt_ops)),
            "placement": _path("placement", options.placement),
            "save_placement": _path("save_placement", options.save_placement),
        }
        options = cls(**{**vars(options), **normal})
        _check_contradictions(options)
        return options

    @property
    def is_full(self) -> bool:
        """True if nothing may fall back: the whole graph must run on the first target."""
        return self.require_full_compilation or not self.enabled

    @property
    def has_files(self) -> bool:
        """True if an option names a file or a processor, which the compiler checks."""
        return any((self.placement, self.save_placement, self.cost_model, self.tuning, self.host_cpu))


def _text(value: object, expected: str) -> str:
    """Returns a string. Raises ArgumentTypeError for another value. expected: what the message says was expected."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"expected {expected}, but got {value!r}")
    return value


def _check_contradictions(options: Options) -> None:
    """Raises ArgumentValueError for options that exclude each other."""
    forced = [name for name in _FORCED if getattr(options, name)]
    if options.is_full and forced:
        raise ArgumentValueError(
            "the whole graph can't be on one target (require_full_compilation=True or enabled=False) if "
            f"{forced[0]} forces a part of it to another target"
        )
    if options.states and options.out_of_range == "torch":
        raise ArgumentValueError("PyTorch can't run calls of a model with states: leave out out_of_range='torch'")
    besides = [*forced, *(name for name in ("allow_ops", "exempt_ops") if getattr(options, name))]
    besides += ["min_block_size"] * (options.min_block_size != 1)
    besides += ["strategy"] * (options.strategy != "levels")
    besides += ["require_full_compilation=True or enabled=False"] * options.is_full
    if options.placement and besides:
        raise ArgumentValueError(f"a placement determines the target of every op: leave out {besides[0]}")


def _check_flags(options: Options) -> None:
    """Raises ArgumentTypeError or ArgumentValueError for wrong bools and ints."""
    for name in ("enabled", "require_full_compilation", "recovery"):
        value = getattr(options, name)
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"expected {name} to be a bool, but got {value!r}")
    for name in ("min_block_size", "max_loop_iterations"):
        number = getattr(options, name)
        if isinstance(number, bool) or not isinstance(number, int):
            raise ArgumentTypeError(f"expected {name} to be an int, but got {number!r}")
        if number < 1:
            raise ArgumentValueError(f"expected {name} to be at least 1, but got {number}")
        if number > _MAX_INT:
            raise ArgumentValueError(f"expected {name} to be at most {_MAX_INT}, but got {number}")


def _path(name: str, value: Any, expected: str = "a path") -> str:
    """Returns the path as text, which is empty for None. expected: the expected values, for messages."""
    if value is None:
        return ""
    try:
        path = os.fspath(value)
    except TypeError:
        path = None
    if not isinstance(path, str) or not path:
        raise ArgumentTypeError(f"expected {name} to be {expected}, but got {value!r}")
    return path


def _as_list(value: Any) -> list[Any]:
    """Returns a list of names or ops. A single name or op becomes a list."""
    if isinstance(value, (str, type, torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return [value]
    try:
        return list(value)
    except TypeError:
        raise ArgumentTypeError(f"expected a list of names, but got {value!r}") from None


def _targets(value: str | Iterable[Any]) -> tuple[Target, ...]:
    targets = tuple(_as_list(value))
    if not targets:
        raise ArgumentValueError("expected at least one target, but got none")
    for target in targets:
        if target not in TARGETS:
            hint = did_you_mean(str(target), TARGETS)
            raise ArgumentValueError(f"unknown target {target!r}{hint or f': expected one of {TARGETS}'}")
        if targets.count(target) > 1:
            raise ArgumentValueError(f"expected each target once, but got {target!r} {targets.count(target)} times")
    return targets


def _choice(name: str, value: object, known: Sequence[str]) -> str:
    if not isinstance(value, str):
        raise ArgumentTypeError(f"expected {name} to be a string, but got {value!r}")
    if value not in known:
        raise ArgumentValueError(
            f"unknown {name} {value!r}{did_you_mean(value, known) or f': expected one of {known}'}"
        )
    return value


def _op_name(op: object) -> str:
    """Returns the name of an operator of torch.ops, such as `aten.relu.default`, or a string as it is."""
    if isinstance(op, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return str(op)
    if not isinstance(op, str):
        raise ArgumentTypeError(f"expected the name of an op or an operator of torch.ops, but got {op!r}")
    return op


def _module_name(module: object) -> str:
    """Returns the qualified name of a class, or a string (path, class name or glob) as it is."""
    if isinstance(module, type):
        return f"{module.__module__}.{module.__qualname__}"
    if not isinstance(module, str):
        raise ArgumentTypeError(f"expected the path, class name or class of a module, but got {module!r}")
    return module
