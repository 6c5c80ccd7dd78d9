# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Patterns as Python classes, for conditions and changes that a traced pattern can't express.

Their methods are called for each layer of the kinds in `root_layer`.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeAlias

from .._dialect import ops
from .._graph.module import Layer
from .._graph.values import check_flag
from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean
from .interfaces import Interface

if TYPE_CHECKING:
    from .._inlay import Op

_LOG = logging.getLogger("inlay.rewrite")
_SIMILARITY = 0.7  # of names of arguments, for a hint in messages
_local = threading.local()  # has the arguments of the runs of each thread, by pattern

Root: TypeAlias = str | Interface  # a function that makes ops, such as inlay.ops.relu, is a str
ArgKinds: TypeAlias = Mapping[str, type | tuple[type, ...]]


class Args(dict[str, Any]):
    """The arguments of a run by name. Access to a missing argument raises ArgumentValueError."""

    def __init__(self, pattern: str, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self._pattern = pattern

    def __missing__(self, name: str) -> NoReturn:
        raise ArgumentValueError(
            f"pattern '{self._pattern}' needs argument '{name}', which isn't given"
            f"{did_you_mean(str(name), self, _SIMILARITY)}"
        )


def _given() -> dict[int, Any]:
    """Returns the arguments of the runs of this thread, by the id of the pattern."""
    if not hasattr(_local, "args"):
        _local.args = {}
    args: dict[int, Any] = _local.args
    return args


class Roots(NamedTuple):
    """The layers that a pattern is tried on, as names of ops and of interfaces."""

    ops: list[str]
    interfaces: list[str]


class ClassFunctions(NamedTuple):
    """The functions of a pattern that the extension calls with handles."""

    match: Callable[[Op], bool | str | list[Op]] | None = None
    rewrite: Callable[[Op], bool] | None = None
    match_and_rewrite: Callable[[Op], bool] | None = None
    analyze: Callable[[list[Op]], None] | None = None


class _ClassPattern:
    """Base class of PatternRewriter and PatternAnalyzer."""

    name: str
    root_layer: Roots | None

    def __init__(
        self, name: str, root_layer: Root | Iterable[Root] | None = None, *, args: ArgKinds | None = None
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ArgumentTypeError(f"expected a name for the pattern, but got {name!r}")
        self.name = name
        self.root_layer = None if root_layer is None else _roots(name, root_layer)
        self._last_args: Any = None
        self._wanted = _check_kinds(name, args)
        self._reason: str | None = None

    @property
    def args(self) -> Any:
        """The arguments by name of this thread's current run, or of the last run if there is none.

        None before the first run.
        """
        return _given().get(id(self), self._last_args)

    @args.setter
    def args(self, args: Any) -> None:
        if id(self) in _given():
            _given()[id(self)] = args
        self._last_args = args

    def fail(self, reason: object) -> Literal[False]:
        """Returns False and stores the reason for `explain`. Used in `match`: `return self.fail("...")`."""
        self._reason = str(reason)
        return False

    def log_info(self, text: str) -> None:
        """Writes a message with the name of the pattern to the logger "inlay.rewrite"."""
        _LOG.info("%s: %s", self.name, text)

    def log_warn(self, text: str) -> None:
        """Writes a warning with the name of the pattern to the logger "inlay.rewrite"."""
        _LOG.warning("%s: %s", self.name, text)

    def log_error(self, text: str) -> None:
        """Writes an error with the name of the pattern to the logger "inlay.rewrite"."""
        _LOG.error("%s: %s", self.name, text)

    def _functions(self) -> ClassFunctions:
        """Returns the functions that the extension calls."""
        raise NotImplementedError

    def _check_args(self, values: Mapping[str, Any]) -> None:
        """Raises ArgumentTypeError or ArgumentValueError if a needed argument is missing or has the wrong type."""
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
        """Sets the arguments of a run of this thread."""
        given, key, outer = _given(), id(self), self.args
        is_inner = key in given
        given[key] = self._last_args = Args(self.name, values)
        try:
            yield
        finally:
            del given[key]
            if is_inner:
                given[key] = self._last_args = outer

    def _asked(self, method: str, result: object) -> bool | str:
        """Returns the result of a method of the pattern, or the reason of `fail` instead of False."""
        if result is True or result is False:
            reason, self._reason = self._reason, None
            return reason if reason is not None and not result else result
        raise ArgumentTypeError(f"expected '{method}' of pattern '{self.name}' to return True or False, got {result!r}")


class PatternRewriter(_ClassPattern):
    """Base class of patterns that change the graph.

    A subclass overrides `match_and_rewrite`. If separate_match_rewrite is true (default: False), it overrides `match`,
    which must not change the graph, and `rewrite` instead. New layers are inserted before the layer that is rewritten.
    The changes of a call are undone if it raises an exception or returns False.

        class RemoveDoubleNeg(inlay.rewrite.PatternRewriter):
            def __init__(self):
                super().__init__("remove_double_neg", root_layer="neg")

            def match_and_rewrite(self, layer):
                inner = layer.get_inputs(0)[0].get_parent()
                if inner is None or inner.op != inlay.ops.neg:
                    return self.fail("the operand is no neg")
                layer.replace_with(inner.get_inputs(0)[0])
                return True

    name: the name of the pattern in messages.
    root_layer: the layers that the pattern is tried on: names of ops ("inlay.relu", "relu", "my.op"), functions that
        make ops (inlay.ops.relu), interfaces and traits (`inlay.rewrite.Interface`), or a list of these. None, the
        default, stands for all layers.
    args: the types, by name, of the arguments that a run must give to the pattern (default: none).
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
        """Returns true if `rewrite` must be called for the layer."""
        raise NotImplementedError

    def rewrite(self, layer: Layer) -> None:
        """Replaces the match at the layer."""
        raise NotImplementedError

    def match_and_rewrite(self, layer: Layer) -> bool:
        """Replaces the match at the layer if there is one. Returns true if it changed the graph."""
        raise NotImplementedError

    def _functions(self) -> ClassFunctions:
        if self.separate_match_rewrite:
            self._need("match", "rewrite")
            return ClassFunctions(match=self._call_match, rewrite=self._call_rewrite)
        self._need("match_and_rewrite")
        return ClassFunctions(match_and_rewrite=self._call_match_and_rewrite)

    def _call_match(self, handle: Op) -> bool | str:
        return self._asked("match", self.match(Layer(handle)))

    def _call_rewrite(self, handle: Op) -> bool:
        self.rewrite(Layer(handle))
        return True

    def _call_match_and_rewrite(self, handle: Op) -> bool:
        return self._asked("match_and_rewrite", self.match_and_rewrite(Layer(handle))) is True

    def _need(self, *methods: str) -> None:
        """Raises ArgumentTypeError if the subclass does not override one of the methods."""
        for method in methods:
            if getattr(type(self), method) is getattr(PatternRewriter, method):
                raise ArgumentTypeError(
                    f"expected pattern '{self.name}' to have a method '{method}'"
                    f" (separate_match_rewrite={self.separate_match_rewrite})"
                )


class PatternAnalyzer(_ClassPattern):
    """Base class of patterns that find layers.

    A subclass overrides `match`, and `analyze` if it collects matches. The arguments are those of PatternRewriter,
    without separate_match_rewrite.
    """

    def match(self, layer: Layer) -> bool | list[Layer] | tuple[Layer, ...]:
        """Returns true if the layer matches, or a list of the layers of the match. Must not change the graph."""
        raise NotImplementedError

    def analyze(self, layers: list[Layer]) -> None:
        """Handles a match. Called once for each match, with its layers."""

    def _functions(self) -> ClassFunctions:
        if type(self).match is PatternAnalyzer.match:
            raise ArgumentTypeError(f"expected pattern '{self.name}' to have a method 'match'")
        return ClassFunctions(match=self._call_match, analyze=self._call_analyze)

    def _call_match(self, handle: Op) -> bool | str | list[Op]:
        result = self.match(Layer(handle))
        if isinstance(result, (list, tuple)) and result and all(isinstance(layer, Layer) for layer in result):
            return [layer._op for layer in result]
        return self._asked("match", result)

    def _call_analyze(self, handles: list[Op]) -> None:
        self.analyze([Layer(handle) for handle in handles])


def _check_kinds(pattern: str, kinds: ArgKinds | None) -> ArgKinds:
    """Returns the types of arguments by name. Raises ArgumentTypeError for other values than types."""
    if not isinstance(kinds or {}, Mapping):
        raise ArgumentTypeError(f"expected args of pattern '{pattern}' to be a dict of types, but got {kinds!r:.80}")
    for name, kind in (kinds or {}).items():
        given = kind if isinstance(kind, tuple) else (kind,)
        is_class = all(isinstance(cls, (type, types.UnionType)) and not hasattr(cls, "__origin__") for cls in given)
        if not isinstance(name, str) or not given or not is_class:
            raise ArgumentTypeError(
                f"expected args of pattern '{pattern}' to give a class, or a tuple of them, by name, "
                f"but got {kind!r:.80} for {name!r}"
            )
    return dict(kinds or {})


def _kinds(kind: type | tuple[type, ...]) -> str:
    """Returns the names of types for messages."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(cls.__name__ if isinstance(cls, type) else str(cls) for cls in kinds)


def _roots(pattern: str, given: Root | Iterable[Root]) -> Roots:
    """Returns the names of ops and interfaces in `root_layer`."""
    roots: Iterable[Root] = [given] if isinstance(given, (str, Interface)) else given
    names: list[str] = []
    interfaces: list[str] = []
    for root in roots:
        if isinstance(root, Interface):
            interfaces.append(root.value)
        elif isinstance(root, str):
            names.append(_op_name(pattern, str(root)))
        else:
            raise ArgumentTypeError(
                f"expected root_layer of pattern '{pattern}' to be names of ops or interfaces, but got {root!r}"
            )
    if not names and not interfaces:
        raise ArgumentValueError(
            f"expected root_layer of pattern '{pattern}' to name an op or interface, or to be None for all layers"
        )
    return Roots(names, interfaces)


def _op_name(pattern: str, name: str) -> str:
    """Returns the full name of an op. Raises ArgumentValueError for an unknown op of the inlay dialect."""
    if "." not in name and name in ops.table():
        return f"inlay.{name}"
    dialect, _, rest = name.rpartition(".")
    known = [*ops.table(), "constant", "opaque", "plugin", "segment"]
    if not dialect or (dialect == "inlay" and rest not in known):
        raise ArgumentValueError(f"unknown op '{name}' in root_layer of pattern '{pattern}'{did_you_mean(rest, known)}")
    return name
