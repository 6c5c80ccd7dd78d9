# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Managers of patterns: RewritePatternManager changes graphs, and AnalysisPatternManager finds layers in them.

Without a benefit, `add` takes that of a traced pattern (`tracing.py`, 1 unless given), and 0 for a class.
"""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import json
import os
import pathlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from .._graph.module import Layer, Module, Tensor
from .._graph.scope import working_on
from .._graph.values import check_flag, check_integer, check_number, check_text
from .._paths import StrPath
from ..errors import ArgumentTypeError, ArgumentValueError, RewriteError, did_you_mean
from .checking import Run, check_by_drawn_graphs, check_by_examples, check_each_rewrite
from .classes import Args, ClassFunctions, PatternAnalyzer, PatternRewriter, Roots, _ClassPattern
from .tracing import Pattern, Traced

if TYPE_CHECKING:
    from .._inlay import Op, Value

Driver: TypeAlias = Literal["fixpoint", "sweep", "greedy"]

_DRIVERS = get_args(Driver)
_MAX_BENEFIT = 0x7FFF


@dataclass(frozen=True)
class Statistics:
    """The numbers of tries of a pattern, by outcome, in all runs of its manager."""

    tried: int  # layers that the pattern was tried on
    matched: int  # matches that an analysis found
    rewritten: int  # matches that were rewritten
    rejected: int  # matches whose rewrite returned False, so that its changes were undone


@dataclass(frozen=True)
class Match:
    """A match of a pattern."""

    label: str  # of the pattern
    layers: list[Layer]  # the matched layers, the root first
    captures: dict[str, Any] = field(default_factory=dict)  # captured tensors, attributes and lists by name

    def __getitem__(self, name: str) -> Any:
        """Returns the capture of that name. Raises ArgumentValueError if there is none."""
        if name not in self.captures:
            raise ArgumentValueError(
                f"pattern '{self.label}' captured no '{name}'{did_you_mean(str(name), self.captures)}"
            )
        return self.captures[name]


@dataclass(frozen=True)
class Explanation:
    """The reason why a pattern does not match at the layer that is closest to a match. `str` returns a sentence."""

    text: str  # the sentence
    matches: int  # number of layers where the pattern matches
    held: int  # number of checks that hold at the closest layer
    checks: int  # number of all checks
    root: str  # name of the closest layer
    mismatches: list[dict[str, Any]]  # failed checks, each with op, location, place, why and pattern_location

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class PDLPattern:
    """A pattern that was added to a manager as PDL text."""

    label: str
    text: str


AnyPattern: TypeAlias = Pattern | PatternRewriter | PatternAnalyzer


class _Manager:
    """Base class of both managers."""

    def __init__(self) -> None:
        from .._inlay import PatternManager

        self._manager = PatternManager()
        self._patterns: dict[str, AnyPattern | PDLPattern] = {}  # by label
        self._functions: dict[str, Mapping[str, Callable[..., Any]] | ClassFunctions] = {}  # of patterns by label
        self._args: dict[str, Any] = {}  # arguments of the current run
        self._lock = threading.Lock()  # held during a run

    def add(self, label: str, pattern: AnyPattern, benefit: int | None = None) -> None:
        """Adds a pattern.

        label: a new label.
        pattern: a traced pattern, or an object of a class of patterns.
        benefit: the priority, 0 to 32767 (default: the benefit of the pattern, or 0). If several patterns match at a
            layer, the pattern with the highest benefit is applied. Among equal benefits, the first added one is.
        Raises ArgumentTypeError or ArgumentValueError for a wrong argument or pattern.
        """
        if not isinstance(label, str) or not label:
            raise ArgumentTypeError(f"expected the label of a pattern to be a non-empty string, but got {label!r}")
        if label in self._patterns:
            raise ArgumentValueError(f"expected a new label, but there is a pattern labeled '{label}' already")
        if benefit is not None and (isinstance(benefit, bool) or not isinstance(benefit, int)):
            raise ArgumentTypeError(f"expected the benefit of '{label}' to be an int, but got {benefit!r}")
        if benefit is not None and not 0 <= benefit <= _MAX_BENEFIT:
            raise ArgumentValueError(
                f"expected the benefit of '{label}' to be from 0 to {_MAX_BENEFIT}, but got {benefit}"
            )
        if isinstance(pattern, Pattern):
            traced = self._trace(label, pattern)
            functions = {name: self._constraint(label, *asked) for name, asked in traced.constraints.items()}
            self._manager.add_traced(label, traced.pdl, pattern.benefit if benefit is None else benefit, functions)
            self._functions[label] = functions
        else:
            methods = self._class_functions(label, pattern)
            roots = pattern.root_layer or Roots([], [])
            self._manager.add_class(label, roots.ops, roots.interfaces, benefit or 0, *methods)
            self._functions[label] = methods
        self._patterns[label] = pattern

    def add_pdl(self, text: str, name: str = "<pdl>", prefix: str = "") -> list[str]:
        """Adds all patterns of a PDL text, or none if one of them is wrong. Returns their labels.

        text: the patterns.
        name: the name of the text in messages (default: "<pdl>").
        prefix: is put before the symbol name of each pattern to form its label (default: empty).
        Raises ArgumentTypeError for a wrong argument, and RewriteError for wrong PDL.
        """
        if not isinstance(text, str):
            raise ArgumentTypeError(f"expected PDL text, but got {type(text).__name__}")
        check_text("prefix", prefix, may_be_empty=True)
        labels = self._manager.add_pdl(text, str(name), prefix)
        self._patterns.update({label: PDLPattern(label, text) for label in labels})
        return labels

    def add_library(self, name: str) -> list[str]:
        """Adds a library of rules that is a part of Inlay, such as "cleanup" or "fusions". Returns their labels."""
        if not isinstance(name, str):
            raise ArgumentTypeError(f"expected the name of a rule library, but got {type(name).__name__}")
        labels = self._manager.add_library(name)
        self._patterns.update({label: PDLPattern(label, self._manager.pdl(label)) for label in labels})
        return labels

    def get(self, label: str) -> AnyPattern | PDLPattern:
        """Returns the pattern with that label. Raises ArgumentValueError if there is none."""
        if label not in self._patterns:
            raise ArgumentValueError(
                f"expected the label of a pattern, but got {label!r}{did_you_mean(str(label), self._patterns)}"
            )
        return self._patterns[label]

    def remove(self, label: str) -> None:
        """Removes the pattern with that label. Raises ArgumentValueError if there is none."""
        self.get(label)
        self._manager.remove(label)
        del self._patterns[label]
        self._functions.pop(label, None)

    @property
    def labels(self) -> list[str]:
        """The labels in the order in which the patterns are tried."""
        return self._manager.labels()

    def enable(self, glob: str = "*") -> int:
        """Enables the patterns whose labels match a glob, such as "fuse_*". Returns the number of matches."""
        return self._manager.set_enabled(check_text("glob", glob, may_be_empty=True), True)

    def disable(self, glob: str = "*") -> int:
        """Disables the patterns whose labels match a glob. Returns the number of matches. No pattern is recompiled."""
        return self._manager.set_enabled(check_text("glob", glob, may_be_empty=True), False)

    def is_enabled(self, label: str) -> bool:
        """Returns true if the pattern is enabled. Raises ArgumentValueError if there is none with that label."""
        self.get(label)
        return self._manager.is_enabled(label)

    def statistics(self, label: str) -> Statistics:
        """Returns the numbers of tries of the pattern by outcome. Raises ArgumentValueError for an unknown label."""
        self.get(label)
        return Statistics(*self._manager.statistics(label))

    def explain(
        self, label: str, where: Module | Layer, at: str | None = None, args: dict[str, Any] | None = None
    ) -> Explanation:
        """Returns the reason why the pattern does not match, or the number of its matches.

        label: the label of the pattern.
        where: a module or a layer.
        at: restricts the layers to those with a name (a glob), or to those of a source `file:line` (default: all).
        args: the arguments of the run by name (default: none).
        Raises ArgumentValueError for an unknown label or if there is no layer at that place.
        """
        self.get(label)
        layers: list[Layer] | None
        module, layers = (where.network, [where]) if isinstance(where, Layer) else (_check_module(where), None)
        if at is not None:
            check_text("at", at)
            layers = [layer for layer in layers or module.get_layers() if _is_at(layer, at)]
            if not layers:
                names = [layer.name for layer in module.get_layers()]
                raise ArgumentValueError(
                    f"expected 'at' to be the name of a layer or 'file:line', but got {at!r}{did_you_mean(at, names)}"
                )
        handles = None if layers is None else [layer._op for layer in layers]
        with self._running(module, args) as given:
            text, plain = self._manager.explain(label, module._graph, given, handles)
        found = json.loads(plain)
        return Explanation(
            text, found["matches"], found["held"], found["checks"], found.get("root", ""), found["mismatches"]
        )

    def _trace(self, label: str, pattern: Pattern) -> Traced:
        return pattern.trace(label)

    def _class_functions(self, label: str, pattern: object) -> ClassFunctions:
        """Returns the methods of a pattern for the extension. Raises ArgumentTypeError for other objects."""
        if not isinstance(pattern, _ClassPattern):
            hint = ": call the class" if isinstance(pattern, type) and issubclass(pattern, _ClassPattern) else ""
            raise ArgumentTypeError(f"expected a pattern for label '{label}', but got {pattern!r:.80}{hint}")
        if not hasattr(pattern, "root_layer"):
            raise ArgumentTypeError(f"expected the pattern for label '{label}' to call super().__init__(name, ...)")
        return pattern._functions()

    def _constraint(
        self, label: str, function: Callable[..., bool | str], names: Sequence[str]
    ) -> Callable[[list[Any]], bool | str]:
        """Returns the function that the extension calls for a constraint, with the handles of the captures."""

        def call(operands: list[Any]) -> bool | str:
            handles = iter(operands)
            given = [Args(label, self._args) if name == "args" else _wrap(next(handles)) for name in names]
            result = function(*given)
            if isinstance(result, (bool, str)):
                return result
            raise ArgumentTypeError(
                f"expected a constraint of pattern '{label}' to return True, False or a reason, but got {result!r}"
            )

        return call

    @contextlib.contextmanager
    def _running(self, module: Module, args: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
        """Makes `module` the current module and sets the arguments of all patterns for a run."""
        args = _check_args(args)
        if not self._lock.acquire(blocking=False):
            raise RewriteError("expected an idle pattern manager, but its patterns are running")
        try:
            used = {
                id(pattern): pattern
                for label, pattern in self._patterns.items()
                if isinstance(pattern, _ClassPattern) and self._manager.is_enabled(label)
            }
            for pattern in used.values():
                pattern._check_args(args)
            with contextlib.ExitStack() as stack:
                for pattern in used.values():
                    stack.enter_context(pattern._taking(args))
                stack.enter_context(working_on(module))
                self._args = args
                yield args
        finally:
            self._args = {}
            self._lock.release()


def _check_args(args: Any) -> dict[str, Any]:
    """Returns a copy of the arguments of a run. Raises ArgumentTypeError or ArgumentValueError for a wrong dict."""
    if args is not None and not isinstance(args, dict):
        raise ArgumentTypeError(f"expected args to be a dict, but got {type(args).__name__}")
    if "" in (args or {}):
        raise ArgumentValueError("expected the keys of args to be names, but got ''")
    return dict(args or {})


class RewritePatternManager(_Manager):
    """A list of patterns that change graphs: traced patterns, PDL and PatternRewriters.

        manager = inlay.rewrite.RewritePatternManager()
        manager.add("fuse", fuse)
        count = manager.rewrite(module)

    Only one run at a time may use a manager. Another run raises RewriteError.
    """

    def add(
        self,
        label: str,
        pattern: AnyPattern,
        benefit: int | None = None,
        *,
        check: bool = False,
        example: Module | Sequence[Module] | None = None,
    ) -> None:
        """Adds a pattern.

        label: a new label.
        pattern: a traced pattern, or an object of a class of patterns.
        benefit: the priority, 0 to 32767 (default: the benefit of the pattern, or 0). If several patterns match at a
            layer, the pattern with the highest benefit is applied. Among equal benefits, the first added one is.
        check: check the pattern as the method `check` does (default: False). If the check fails, the pattern is not
            added.
        example: a module or a list of modules for the check.
        Raises ArgumentTypeError or ArgumentValueError for a wrong argument or pattern, and RewriteError if the check
        fails.
        """
        check_flag("check", check)
        super().add(label, pattern, benefit)
        if check:
            try:
                self.check(label, example=example)
            except BaseException:
                self.remove(label)
                raise

    def rewrite(
        self,
        module: Module,
        args: dict[str, Any] | None = None,
        *,
        driver: Driver = "fixpoint",
        limit: int | None = None,
        trace: list[dict[str, Any]] | StrPath | None = None,
        across_segments: bool = False,
        budget: float = 10.0,  # the same as RewriteOptions::budget in RewritePatternManager.h
        remove_dead_code: bool = True,
        check: bool = False,
    ) -> int:
        """Applies the enabled patterns until none matches. Returns the number of rewrites.

        args: the arguments of the run, which patterns read by name (default: none).
        driver: "fixpoint" (default) tries the patterns until none matches, "sweep" tries each layer once, and "greedy"
            is the greedy driver of MLIR.
        limit: the maximum number of rewrites (default: no limit).
        trace: a list to which a dict for each rewrite is appended, or the path of a JSON file (default: no trace).
        across_segments: allow a match to have layers inside and outside an open segment (default: False).
        budget: the maximum number of rewrites per layer (default: 10). If there are more than that, and more than 1000
            in all, the rewriting is considered endless.
        remove_dead_code: remove layers whose results became unused (default: True).
        check: compare the layers of each match with their replacement, on the host with random numbers (default:
            False). If a pattern calls Python functions, the whole graph is run before and after each rewrite of a copy.
            This takes long for a large graph and calls the functions twice.

        Raises RewriteError if a rewrite is invalid or fails the check, or if the rewriting is endless. An exception of
        a function of a pattern is raised with a note that names the pattern and the layer. After an error the graph is
        the same as before.
        """
        module = _check_module(module)
        if driver not in _DRIVERS:
            raise ArgumentValueError(f"unknown driver {driver!r}{did_you_mean(str(driver), _DRIVERS)}")
        limit = None if limit is None else check_integer("limit", limit, 0)
        budget = check_number("budget", budget, 0)
        flags = {"across_segments": across_segments, "remove_dead_code": remove_dead_code, "check": check}
        for name, flag in flags.items():
            check_flag(name, flag)
        file = None if trace is None or isinstance(trace, list) else _check_file(trace)
        if check and any(self._functions.get(label) and self.is_enabled(label) for label in self.labels):
            step = functools.partial(
                self.rewrite,
                args=args,
                limit=1,
                driver=driver,
                across_segments=across_segments,
                remove_dead_code=remove_dead_code,
            )
            max_steps = budget * max(len(module.get_layers()), 100) if limit is None else limit
            check_each_rewrite(module, step, _check_args(args), max_steps)
            check = False
        with self._running(module, args) as given:
            count, firings = self._manager.rewrite(
                module._graph,
                given,
                driver,
                -1 if limit is None else limit,
                budget,
                remove_dead_code,
                across_segments,
                trace is not None,
                check,
            )
        if file is not None:
            file.write_text(json.dumps(json.loads(firings), indent=2) + "\n")
        elif isinstance(trace, list):
            trace.extend(json.loads(firings))
        return count

    def check(
        self,
        label: str | None = None,
        args: dict[str, Any] | None = None,
        *,
        example: Module | Sequence[Module] | None = None,
    ) -> None:
        """Compares the graphs that a pattern matches with their replacements, on the host with random types and data.

        label: the label of the pattern (default: all enabled patterns).
        args: the arguments of the run by name (default: none).
        example: a module that the pattern changes, or a list of modules. By default graphs are drawn for the pattern.
            A pattern in Python needs examples if no graph for the ops of its `root_layer`, or for its traced part,
            matches.
        Raises RewriteError with a counterexample if the pattern changes the results of a graph, or with the reason if
        it can't be checked.
        """
        args = _check_args(args)
        for name in [label] if label is not None else [name for name in self.labels if self.is_enabled(name)]:
            pattern = self.get(name)
            if example is not None:
                check_by_examples(name, self._run_alone(name, args), args, example)
            elif self._functions.get(name) and not isinstance(pattern, PDLPattern):
                check_by_drawn_graphs(name, pattern, self._run_alone(name, args), args)
            else:
                wrong, graph = self._manager.check(name, args)
                if wrong:
                    raise RewriteError(wrong + (f"\n{graph}" if graph else ""))

    def _run_alone(self, label: str, args: dict[str, Any]) -> Run:
        """Returns a function that applies only that pattern."""
        pattern = self.get(label)
        alone = RewritePatternManager()
        if isinstance(pattern, PDLPattern):
            alone.add_pdl(self._manager.pdl(label))
        else:
            alone.add(label, pattern)
        # A sweep ends even if the pattern matches its own replacement.
        return functools.partial(alone.rewrite, args=args, driver="sweep")

    def _trace(self, label: str, pattern: Pattern) -> Traced:
        if not pattern.rewrites:
            raise ArgumentValueError(f"pattern '{label}' has no replacement: give it one with '.to'")
        return pattern.trace(label)

    def _class_functions(self, label: str, pattern: object) -> ClassFunctions:
        if isinstance(pattern, PatternAnalyzer):
            raise ArgumentTypeError(f"pattern '{label}' has no rewrite: add it to an AnalysisPatternManager")
        return super()._class_functions(label, pattern)


class AnalysisPatternManager(_Manager):
    """A list of patterns that find layers: PatternAnalyzers, traced patterns, PDL, and PatternRewriters with `match`.

        manager = inlay.rewrite.AnalysisPatternManager()
        manager.add("linear", linear)
        for match in manager.analyze(module):
            print(match.layers, match["x"])

    Only one run at a time may use a manager. Another run raises RewriteError.
    """

    def analyze(self, module: Module, args: dict[str, Any] | None = None) -> list[Match]:
        """Returns all matches of the enabled patterns, layer by layer. At a layer the highest benefit comes first.

        args: the arguments of the run by name (default: none).
        """
        module = _check_module(module)
        with self._running(module, args) as given:
            return [_match(*found) for found in self._manager.analyze(module._graph, given, None)]

    def find(self, module: Module, args: dict[str, Any] | None = None) -> Iterator[Match]:
        """Yields the same matches as `analyze`. Each layer is searched when the iteration reaches it.

        The caller may change the graph meanwhile. Layers that it removed are skipped.
        """
        module = _check_module(module)
        for layer in module.get_layers():
            if layer.is_removed():
                continue
            with self._running(module, args) as given:
                found = self._manager.analyze(module._graph, given, layer._op)
            for match in [_match(*parts) for parts in found]:
                if not any(matched.is_removed() for matched in match.layers):
                    yield match

    def _class_functions(self, label: str, pattern: object) -> ClassFunctions:
        functions = super()._class_functions(label, pattern)
        if isinstance(pattern, PatternRewriter) and not pattern.separate_match_rewrite:
            raise ArgumentTypeError(f"expected pattern '{label}' to have separate_match_rewrite=True for an analysis")
        return functions


def _check_file(trace: Any) -> pathlib.Path:
    """Returns the path of a trace. Raises OSError if it can't be written, before the graph is changed."""
    if not isinstance(trace, (str, os.PathLike)) or not isinstance(os.fspath(trace), str):
        raise ArgumentTypeError(f"expected trace to be a list or a path, but got {trace!r:.80}")
    path = pathlib.Path(trace)
    is_new = not path.exists()
    path.open("a").close()
    if is_new:
        path.unlink()
    return path


def _match(label: str, ops: Sequence[Op], captures: Mapping[str, Any]) -> Match:
    named = {name: _wrap(value) for name, value in captures.items() if not name.isdigit()}
    return Match(label, [Layer(op) for op in ops], named)


def _wrap(value: Any) -> Any:
    """Returns the Tensor, Layer or list for a handle or a list of handles, and other values as they are."""
    op, tensor = _handle_classes()
    if isinstance(value, tensor):
        return Tensor._of(value)
    if isinstance(value, op):
        return Layer(value)
    return [_wrap(element) for element in value] if isinstance(value, list) else value


@functools.cache
def _handle_classes() -> tuple[type[Op], type[Value]]:
    from .._inlay import Op, Value

    return Op, Value


def _is_at(layer: Layer, at: str) -> bool:
    """Returns true if the layer has a name that matches the glob `at`, or comes from `file:line` `at`."""
    return fnmatch.fnmatchcase(layer.name, at) or layer.location == at or layer.location.startswith(at + ":")


def _check_module(module: object) -> Module:
    if not isinstance(module, Module):
        raise ArgumentTypeError(f"expected an inlay.Module, but got {type(module).__name__}")
    return module


__all__ = [
    "AnalysisPatternManager",
    "Explanation",
    "Match",
    "PDLPattern",
    "PatternAnalyzer",
    "PatternRewriter",
    "RewritePatternManager",
    "Statistics",
]
