# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Patterns as Python classes: for what a traced pattern can't say. They are called for each layer of their kinds."""

from __future__ import annotations

import contextlib
import logging
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from .._dialect import ops
from .._graph.module import Layer
from .._graph.values import check_flag
from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean
from .interfaces import Interface

_LOG = logging.getLogger("inlay.rewrite")
_NEAR = 0.7  # how alike names of arguments must be for one to be meant by the other
_local = threading.local()  # the arguments of each thread's runs, by pattern

Root: TypeAlias = str | Interface  # a function that makes ops is its name
ArgKinds: TypeAlias = Mapping[str, type | tuple[type, ...]]


class Args(dict[str, Any]):
    """The arguments of a run; one that isn't given is an error that says so."""

    def __init__(self, pattern: str, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self._pattern = pattern

    def __missing__(self, name: str) -> NoReturn:
        raise ArgumentValueError(
            f"pattern '{self._pattern}' needs argument '{name}', which isn't given"
            f"{did_you_mean(str(name), self, _NEAR)}"
        )


def _given():
    if not hasattr(_local, "args"):
        _local.args = {}
    return _local.args


class Roots(NamedTuple):
    """The layers that a pattern is tried on: names of ops, and of interfaces."""

    ops: list[str]
    interfaces: list[str]


class ClassFunctions(NamedTuple):
    """The functions of a pattern that the extension calls with handles."""

    match: Callable[[Any], bool | str | list[Any]] | None = None
    rewrite: Callable[[Any], bool] | None = None
    match_and_rewrite: Callable[[Any], bool] | None = None
    analyze: Callable[[list[Any]], None] | None = None


class _ClassPattern:
    """Common to rewriters and analyzers.

    name: what it is called in messages.
    root_layer: which layers it is tried on: ops by name ("inlay.relu", "relu", "my.op"), functions that make them
        (inlay.ops.relu), and interfaces and traits (see `inlay.rewrite.Interface`); all if None.
    args: the types of the run's arguments that it needs, by name.
    """

    name: str
    root_layer: Roots | None

    def __init__(
        self, name: str, root_layer: Root | Iterable[Root] | None = None, *, args: ArgKinds | None = None
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ArgumentTypeError(f"expected a name for the pattern, but got {name!r}")
        self.name = name
        self.root_layer = None if root_layer is None else _roots(name, root_layer)
        self._last_args = None
        self._wanted = _check_kinds(name, args)
        self._reason = None

    @property
    def args(self) -> Any:
        """The Args of the run that this thread is in, else of the last one; None before the first."""
        return _given().get(id(self), self._last_args)

    @args.setter
    def args(self, args: Any) -> None:
        if id(self) in _given():
            _given()[id(self)] = args
        self._last_args = args

    def fail(self, reason: object) -> Literal[False]:
        """Returned from `match`: why the layer doesn't match, for `explain`."""
        self._reason = str(reason)
        return False

    def log_info(self, text: str) -> None:
        _LOG.info("%s: %s", self.name, text)

    def log_warn(self, text: str) -> None:
        _LOG.warning("%s: %s", self.name, text)

    def log_error(self, text: str) -> None:
        _LOG.error("%s: %s", self.name, text)

    def _check_args(self, values):
        for name, kind in self._wanted.items():
            if name not in values:
                Args(self.name, values)[name]
            elif not isinstance(values[name], kind) or (isinstance(values[name], bool) and kind is int):
                raise ArgumentTypeError(
                    f"expected argument '{name}' of pattern '{self.name}' to be {_kinds(kind)}, "
                    f"but got {values[name]!r}"
                )

    @contextlib.contextmanager
    def _taking(self, values: Mapping[str, Any]) -> Iterator[None]:
        """Gives the pattern a run's arguments, in this thread."""
        given, key, outer = _given(), id(self), self.args
        is_inner = key in given
        given[key] = self._last_args = Args(self.name, values)
        try:
            yield
        finally:
            del given[key]
            if is_inner:
                given[key] = self._last_args = outer

    def _matcher(self):
        return lambda handle: self._asked("match", self.match(Layer(handle)))

    def _asked(self, method, result):
        if result is True or result is False:
            reason, self._reason = self._reason, None
            return reason if reason is not None and not result else result
        raise ArgumentTypeError(f"expected '{method}' of pattern '{self.name}' to return True or False, got {result!r}")


class PatternRewriter(_ClassPattern):
    """A pattern that changes the graph: override `match_and_rewrite`, or with separate_match_rewrite `match`, which
    only looks, and `rewrite`.

    New layers go before the one that is rewritten. What raises, or returns False after changes, is undone.
    """

    separate_match_rewrite: bool

    def __init__(
        self,
        name: str,
        root_layer: Root | Iterable[Root] | None = None,
        separate_match_rewrite: bool = False,
        *,
        args: ArgKinds | None = None,
    ) -> None:
        super().__init__(name, root_layer, args=args)
        self.separate_match_rewrite = check_flag(f"separate_match_rewrite of pattern '{name}'", separate_match_rewrite)

    def match(self, layer: Layer) -> bool:
        """Whether `rewrite` shall be called for the layer."""
        raise NotImplementedError

    def rewrite(self, layer: Layer) -> None:
        """Replaces what matched."""
        raise NotImplementedError

    def match_and_rewrite(self, layer: Layer) -> bool:
        """Both in one; returns whether it changed the graph."""
        raise NotImplementedError

    def _functions(self) -> ClassFunctions:
        if self.separate_match_rewrite:
            self._need("match", "rewrite")
            return ClassFunctions(match=self._matcher(), rewrite=self._rewrite)
        self._need("match_and_rewrite")
        both = lambda handle: bool(self._asked("match_and_rewrite", self.match_and_rewrite(Layer(handle))) is True)  # noqa: E731
        return ClassFunctions(match_and_rewrite=both)

    def _rewrite(self, handle):
        self.rewrite(Layer(handle))
        return True

    def _need(self, *methods):
        for method in methods:
            if getattr(type(self), method) is getattr(PatternRewriter, method):
                raise ArgumentTypeError(
                    f"expected pattern '{self.name}' to have a method '{method}'"
                    f" (separate_match_rewrite={self.separate_match_rewrite})"
                )


class PatternAnalyzer(_ClassPattern):
    """A pattern that only looks: override `match`, and `analyze` to collect what it finds."""

    def match(self, layer: Layer) -> bool | list[Layer] | tuple[Layer, ...]:
        """Whether the layer matches, or the layers that make up what was found."""
        raise NotImplementedError

    def analyze(self, layers: list[Layer]) -> None:
        """Called once for each match, with its layers."""

    def _functions(self) -> ClassFunctions:
        if type(self).match is PatternAnalyzer.match:
            raise ArgumentTypeError(f"expected pattern '{self.name}' to have a method 'match'")
        analyze = lambda handles: self.analyze([Layer(handle) for handle in handles])  # noqa: E731
        return ClassFunctions(match=self._match, analyze=analyze)

    def _match(self, handle):
        result = self.match(Layer(handle))
        if isinstance(result, (list, tuple)) and result and all(isinstance(one, Layer) for one in result):
            return [layer._op for layer in result]
        return self._asked("match", result)


def _check_kinds(pattern, kinds):
    """The types of arguments by name."""
    if not isinstance(kinds or {}, Mapping):
        raise ArgumentTypeError(f"expected args of pattern '{pattern}' to be a dict of types, but got {kinds!r:.80}")
    for name, kind in (kinds or {}).items():
        given = kind if isinstance(kind, tuple) else (kind,)
        is_class = all(isinstance(one, (type, types.UnionType)) and not hasattr(one, "__origin__") for one in given)
        if not isinstance(name, str) or not given or not is_class:
            raise ArgumentTypeError(
                f"expected args of pattern '{pattern}' to give a class, or a tuple of them, by name, "
                f"but got {kind!r:.80} for {name!r}"
            )
    return dict(kinds or {})


def _kinds(kind):
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(one.__name__ if isinstance(one, type) else str(one) for one in kinds)


def _roots(pattern, given):
    """Reads `root_layer`."""
    if isinstance(given, (str, Interface)):
        given = [given]
    names, interfaces = [], []
    for root in given:
        if isinstance(root, Interface):
            interfaces.append(root.value)
        elif isinstance(root, str):
            names.append(_op_name(pattern, str(root)))
        else:
            raise ArgumentTypeError(
                f"expected names of ops or interfaces as root_layer of pattern '{pattern}', but got {root!r}"
            )
    if not names and not interfaces:
        raise ArgumentValueError(f"expected some root_layer for pattern '{pattern}', or None for every layer")
    return Roots(names, interfaces)


def _op_name(pattern, name):
    if "." not in name and name in ops.table():
        return f"inlay.{name}"
    dialect, _, rest = name.rpartition(".")
    known = [*ops.table(), "constant", "opaque", "plugin", "segment"]
    if not dialect or (dialect == "inlay" and rest not in known):
        raise ArgumentValueError(f"unknown op '{name}' in root_layer of pattern '{pattern}'{did_you_mean(rest, known)}")
    return name
