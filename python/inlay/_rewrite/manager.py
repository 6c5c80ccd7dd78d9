# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Managers hold patterns by label and run them: the one to change graphs, the other to find things in them."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import json
import os
import pathlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from .._graph.module import Layer, Module, Tensor
from .._graph.scope import working_on
from .._graph.values import check_flag, check_integer, check_number, check_text
from .._paths import StrPath
from ..errors import ArgumentTypeError, ArgumentValueError, RewriteError, did_you_mean
from .checking import check_by_examples, check_each_rewrite
from .classes import Args, PatternAnalyzer, PatternRewriter, Roots, _ClassPattern
from .tracing import Pattern

Driver: TypeAlias = Literal["fixpoint", "sweep", "greedy"]

_DRIVERS = get_args(Driver)
_MOST_BENEFIT = 0x7FFF


@dataclass(frozen=True)
class Statistics:
    """What became of a pattern's tries, in all runs of its manager."""

    tried: int
    matched: int  # matches that an analysis was given
    rewritten: int
    rejected: int  # matches whose rewrite said no after changing something, which was undone


@dataclass(frozen=True)
class Match:
    """What a pattern found: the layers, the root first, and what it captured by name."""

    label: str
    layers: list[Layer]
    captures: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        if name not in self.captures:
            raise ArgumentValueError(
                f"pattern '{self.label}' captured no '{name}'{did_you_mean(str(name), self.captures)}"
            )
        return self.captures[name]


@dataclass(frozen=True)
class Explanation:
    """Why a pattern doesn't match where it comes nearest. `str` is a sentence."""

    text: str
    matches: int  # places where it does match
    held: int  # checks that hold at the nearest miss
    checks: int  # of so many
    root: str  # the nearest miss
    mismatches: list[dict[str, Any]]  # each with op, location, place, why, pattern_location

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class PDLPattern:
    """A pattern that a manager has from PDL text."""

    label: str
    text: str


AnyPattern: TypeAlias = Pattern | PatternRewriter | PatternAnalyzer


class _Manager:
    """Common to both managers."""

    def __init__(self) -> None:
        from .._inlay import PatternManager

        self._manager = PatternManager()
        self._patterns, self._functions, self._args = {}, {}, {}
        self._lock = threading.Lock()  # held by the run that goes on

    def add(self, label: str, pattern: AnyPattern, benefit: int | None = None) -> None:
        """Adds a pattern under a label of its own.

        Of those that match at a layer the one of the highest benefit goes first, among equals the first that was added.
        """
        if not isinstance(label, str) or not label:
            raise ArgumentTypeError(f"expected a label for the pattern, but got {label!r}")
        if label in self._patterns:
            raise ArgumentValueError(f"expected a new label, but there is a pattern labeled '{label}' already")
        if benefit is not None and (isinstance(benefit, bool) or not isinstance(benefit, int)):
            raise ArgumentTypeError(f"expected the benefit of '{label}' to be an int, but got {benefit!r}")
        if benefit is not None and not 0 <= benefit <= _MOST_BENEFIT:
            raise ArgumentValueError(f"expected the benefit of '{label}' from 0 to {_MOST_BENEFIT}, but got {benefit}")
        if isinstance(pattern, Pattern):
            traced = self._trace(label, pattern)
            functions = {name: self._constraint(label, *one) for name, one in traced.constraints.items()}
            self._manager.add_traced(label, traced.pdl, pattern.benefit if benefit is None else benefit, functions)
        else:
            functions = self._class_functions(label, pattern)
            roots = pattern.root_layer or Roots([], [])
            self._manager.add_class(label, *roots, benefit or 0, *functions)
        self._patterns[label], self._functions[label] = pattern, functions

    def add_pdl(self, text: str, name: str = "<pdl>", prefix: str = "") -> list[str]:
        """Adds each pattern of a PDL text under its symbol name, after `prefix`; all of them or none. Their labels."""
        if not isinstance(text, str):
            raise ArgumentTypeError(f"expected PDL text, but got {type(text).__name__}")
        check_text("prefix", prefix, may_be_empty=True)
        labels = self._manager.add_pdl(text, str(name), prefix)
        self._patterns.update({label: PDLPattern(label, text) for label in labels})
        return labels

    def add_library(self, name: str) -> list[str]:
        """Adds the rules that come with Inlay under that name, as "cleanup" or "fusions". Their labels."""
        if not isinstance(name, str):
            raise ArgumentTypeError(f"expected the name of a rule library, but got {type(name).__name__}")
        labels = self._manager.add_library(name)
        self._patterns.update({label: PDLPattern(label, self._manager.pdl(label)) for label in labels})
        return labels

    def get(self, label: str) -> AnyPattern | PDLPattern:
        """The pattern of that label."""
        if label not in self._patterns:
            raise ArgumentValueError(
                f"expected a label of a pattern, but got {label!r}{did_you_mean(str(label), self._patterns)}"
            )
        return self._patterns[label]

    def remove(self, label: str) -> None:
        """Removes the pattern of that label."""
        self.get(label)
        self._manager.remove(label)
        del self._patterns[label]
        self._functions.pop(label, None)

    @property
    def labels(self) -> list[str]:
        """The labels in the order in which patterns are tried."""
        return self._manager.labels()

    def enable(self, glob: str = "*") -> int:
        """Turns patterns on whose label fits, as `fuse_*`; returns how many fit."""
        return self._manager.set_enabled(check_text("glob", glob, may_be_empty=True), True)

    def disable(self, glob: str = "*") -> int:
        """Turns patterns off whose label fits; returns how many fit. Nothing is compiled anew."""
        return self._manager.set_enabled(check_text("glob", glob, may_be_empty=True), False)

    def is_enabled(self, label: str) -> bool:
        self.get(label)
        return self._manager.is_enabled(label)

    def statistics(self, label: str) -> Statistics:
        """How often the pattern was tried, and what became of it."""
        self.get(label)
        return Statistics(*self._manager.statistics(label))

    def explain(
        self, label: str, where: Module | Layer, at: str | None = None, args: dict[str, Any] | None = None
    ) -> Explanation:
        """Why the pattern doesn't match, or how often it does.

        where: a module, or one layer. at: only layers of that name (a glob), or from that `file:line`.
        """
        self.get(label)
        module, layers = (where.network, [where]) if isinstance(where, Layer) else (_check_module(where), None)
        if at is not None:
            check_text("at", at)
            layers = [layer for layer in layers or module.get_layers() if _is_at(layer, at)]
            if not layers:
                names = [layer.name for layer in module.get_layers()]
                raise ArgumentValueError(f"expected a layer's name or a place, but got {at!r}{did_you_mean(at, names)}")
        handles = None if layers is None else [layer._op for layer in layers]
        with self._running(module, args) as given:
            text, plain = self._manager.explain(label, module._graph, given, handles)
        found = json.loads(plain)
        return Explanation(
            text, found["matches"], found["held"], found["checks"], found.get("root", ""), found["mismatches"]
        )

    def _trace(self, label, pattern):
        return pattern.trace(label)

    def _class_functions(self, label, pattern):
        if not isinstance(pattern, _ClassPattern):
            hint = ": call the class" if isinstance(pattern, type) and issubclass(pattern, _ClassPattern) else ""
            raise ArgumentTypeError(f"expected a pattern for label '{label}', but got {pattern!r:.80}{hint}")
        if not hasattr(pattern, "root_layer"):
            raise ArgumentTypeError(f"expected the pattern for label '{label}' to call super().__init__(name, ...)")
        return pattern._functions()

    def _constraint(self, label, function, names):
        def call(operands):
            operands = iter(operands)
            given = [Args(label, self._args) if name == "args" else _wrap(next(operands)) for name in names]
            result = function(*given)
            if isinstance(result, (bool, str)):
                return result
            raise ArgumentTypeError(
                f"expected a constraint of pattern '{label}' to return True, False or a reason, but got {result!r}"
            )

        return call

    @contextlib.contextmanager
    def _running(self, module, args):
        """Gives all patterns the run's arguments, and has them back as they were; the module is the current one."""
        args = _check_args(args)
        if not self._lock.acquire(blocking=False):
            raise RewriteError("expected a pattern manager at rest, but its patterns are being run")
        try:
            used = [one for one in self._patterns if isinstance(self._patterns[one], _ClassPattern)]
            used = {id(self._patterns[one]): self._patterns[one] for one in used if self._manager.is_enabled(one)}
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


def _check_args(args):
    if args is not None and not isinstance(args, dict):
        raise ArgumentTypeError(f"expected args to be a dict, but got {type(args).__name__}")
    if "" in (args or {}):
        raise ArgumentValueError("expected names as keys of args, but got an empty one")
    return dict(args or {})


class RewritePatternManager(_Manager):
    """Patterns that change graphs: traced ones, PDL, and PatternRewriters."""

    def add(
        self,
        label: str,
        pattern: AnyPattern,
        benefit: int | None = None,
        *,
        check: bool = False,
        example: Module | Sequence[Module] | None = None,
    ) -> None:
        """Adds a pattern under a label of its own.

        Of those that match at a layer the one of the highest benefit goes first, among equals the first that was added.
        check: whether to run what it matches against what replaces it first, as `check` does (with `example`); what
        fails isn't added.
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
        budget: float = 10.0,
        remove_dead_code: bool = True,
        check: bool = False,
    ) -> int:
        """Applies the enabled patterns until none matches; returns how often one changed the graph.

        args: values that patterns may ask for by name.
        driver: "fixpoint"; "sweep", each layer once; or "greedy", MLIR's own.
        limit: at most so many rewrites. trace: a list that gets a dict for each rewrite, or a path for a JSON file.
        across_segments: whether a match may reach out of an open segment.
        budget: more rewrites than this per layer (and 1000) are taken for rewriting without end.
        check: whether to run each match against what replaces it, on the host, on numbers drawn for it; one that
        changes what is computed is refused. With patterns that call Python functions the whole graph is run before and
        after each rewrite of a copy, which takes long for a large one and calls the functions twice.

        Raises RewriteError if a rewrite is refused or there is no end, and what a pattern's own function raised, with a
        note that names the pattern and the layer. The graph is then as it was.
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
        if check and any(self._functions.get(one) and self.is_enabled(one) for one in self.labels):
            options = {"driver": driver, "across_segments": across_segments, "remove_dead_code": remove_dead_code}
            step = functools.partial(self.rewrite, args=args, limit=1, **options)
            most = budget * max(len(module.get_layers()), 100) if limit is None else limit
            check_each_rewrite(module, step, _check_args(args), most)
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
        elif trace is not None:
            trace.extend(json.loads(firings))
        return count

    def check(
        self,
        label: str | None = None,
        args: dict[str, Any] | None = None,
        *,
        example: Module | Sequence[Module] | None = None,
    ) -> None:
        """Runs what a pattern matches against what replaces it, on the host, on types and numbers drawn for it.

        label: one pattern; all that are enabled if it is left out. example: a module that the pattern changes, or some,
        for a pattern in Python whose graphs can't be drawn; the others are drawn for the ops of its `root_layer`, or
        for what it traces to. Raises RewriteError with a counterexample for what changes what a graph computes, and
        with the reason for what can't be checked.
        """
        args = _check_args(args)
        for one in [label] if label is not None else [one for one in self.labels if self.is_enabled(one)]:
            pattern = self.get(one)
            if self._functions.get(one) or example is not None:
                alone = self._alone(one)
                run = functools.partial(alone.rewrite, args=args, driver="sweep")  # it may match what it makes
                check_by_examples(one, pattern, run, args, example)
                continue
            wrong, graph = self._manager.check(one, args)
            if wrong:
                raise RewriteError(wrong + (f"\n{graph}" if graph else ""))

    def _alone(self, label):
        """A manager of that pattern alone."""
        pattern = self.get(label)
        alone = RewritePatternManager()
        if isinstance(pattern, PDLPattern):
            alone.add_pdl(self._manager.pdl(label))
        else:
            alone.add(label, pattern)
        return alone

    def _trace(self, label, pattern):
        if not pattern.rewrites:
            raise ArgumentValueError(f"pattern '{label}' has no replacement: give it one with '.to'")
        return pattern.trace(label)

    def _class_functions(self, label, pattern):
        if isinstance(pattern, PatternAnalyzer):
            raise ArgumentTypeError(f"pattern '{label}' only finds: add it to an AnalysisPatternManager")
        return super()._class_functions(label, pattern)


class AnalysisPatternManager(_Manager):
    """Patterns that find: PatternAnalyzers, traced ones, with a replacement or without, and rewriters' matches."""

    def analyze(self, module: Module, args: dict[str, Any] | None = None) -> list[Match]:
        """All matches of the enabled patterns, layer by layer; at one layer the highest benefit first."""
        module = _check_module(module)
        with self._running(module, args) as given:
            return [_match(*found) for found in self._manager.analyze(module._graph, given, None)]

    def find(self, module: Module, args: dict[str, Any] | None = None) -> Iterator[Match]:
        """The same one by one, each looked for when it is asked for; not at layers that are gone by then."""
        module = _check_module(module)
        for layer in module.get_layers():
            if layer.is_removed():
                continue
            with self._running(module, args) as given:
                found = self._manager.analyze(module._graph, given, layer._op)
            for match in [_match(*one) for one in found]:
                if not any(one.is_removed() for one in match.layers):
                    yield match

    def _class_functions(self, label, pattern):
        functions = super()._class_functions(label, pattern)
        if isinstance(pattern, PatternRewriter) and not pattern.separate_match_rewrite:
            raise ArgumentTypeError(f"expected pattern '{label}' to match by itself: separate_match_rewrite=True")
        return functions


def _check_file(trace):
    """The path for a trace; raises OSError if it can't be written, while nothing is rewritten yet."""
    if not isinstance(trace, (str, os.PathLike)) or not isinstance(os.fspath(trace), str):
        raise ArgumentTypeError(f"expected trace to be a list or a path, but got {trace!r:.80}")
    path = pathlib.Path(trace)
    is_new = not path.exists()
    path.open("a").close()
    if is_new:
        path.unlink()
    return path


def _match(label, ops, captures):
    named = {name: _wrap(value) for name, value in captures.items() if not name.isdigit()}
    return Match(label, [Layer(one) for one in ops], named)


def _wrap(value):
    """Handles as Python has them."""
    op, tensor = _handle_classes()
    if isinstance(value, tensor):
        return Tensor._of(value)
    if isinstance(value, op):
        return Layer(value)
    return [_wrap(one) for one in value] if isinstance(value, list) else value


@functools.cache
def _handle_classes():
    from .._inlay import Op, Value

    return Op, Value


def _is_at(layer, at):
    return fnmatch.fnmatchcase(layer.name, at) or layer.location == at or layer.location.startswith(at + ":")


def _check_module(module):
    if not isinstance(module, Module):
        raise ArgumentTypeError(f"expected a module, as inlay.parse gives one, but got {type(module).__name__}")
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
