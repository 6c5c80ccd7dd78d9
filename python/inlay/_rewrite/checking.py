# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that patterns which call Python functions keep the results of a graph.

The compiler can't draw the graphs that such a pattern matches. Therefore the pattern is applied to example graphs, and
the results on the host are compared. The user gives the examples, or they are drawn for the known part of the pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from .._dialect import ops
from .._graph.module import Module, parse
from ..errors import ArgumentTypeError, ArgumentValueError, RewriteError
from .classes import PatternAnalyzer, PatternRewriter
from .tracing import Pattern

_MAX_DRAWN = 48  # examples that are drawn for a pattern
_ENOUGH = 8  # changed examples after which a pattern counts as correct
_UNKNOWN_SIZE = 3  # size that stands for the unknown dims of an example
_DTYPES = 8  # number of element types that drawn graphs have in turn


class Run(Protocol):
    """Applies patterns to a module and returns the number of rewrites. `trace` gets an entry for each rewrite."""

    def __call__(self, module: Module, *, trace: list[dict[str, Any]] | None = None) -> int: ...


class _Example(NamedTuple):
    """A graph, and the size that stands for its unknown dims."""

    module: Module
    unknown_size: int


class _Outcome(NamedTuple):
    """The result of a pattern on an example."""

    error: str  # the difference that the pattern makes; empty if there is none
    is_sure: bool | None  # False if the graphs can't be run; None if the pattern does not match


def check_by_examples(label: str, run: Run, args: dict[str, Any], given: Module | Sequence[Module]) -> None:
    """Raises RewriteError for the first example whose results the pattern changes, or that it does not match.

    label: the label of the pattern, for messages.
    run: applies only this pattern.
    args: the arguments of the run.
    """
    examples = _list(given)
    if not examples:
        raise ArgumentValueError(f"pattern '{label}' can't be checked: expected at least one example, but got none")
    for example in examples:
        wrong, is_sure = _try(label, example, run, args, _UNKNOWN_SIZE)
        if is_sure is None:
            raise RewriteError(f"pattern '{label}' can't be checked: it matches nowhere in the example\n{example}")
        if wrong:
            raise RewriteError(wrong)


def check_by_drawn_graphs(
    label: str, pattern: Pattern | PatternRewriter | PatternAnalyzer, run: Run, args: dict[str, Any]
) -> None:
    """Draws graphs for the pattern. Raises RewriteError for the first graph whose results the pattern changes.

    Also raises RewriteError if the pattern can't be checked. label, run, args: see `check_by_examples`.
    """
    changed, reason = 0, f"it matches in none of {_MAX_DRAWN} graphs that were drawn for it"
    for example, size in _draw(label, pattern, args):
        wrong, is_sure = _try(label, example, run, args, size)
        if wrong and is_sure:
            raise RewriteError(wrong)
        reason = wrong or reason
        changed += is_sure is True
        if changed == _ENOUGH:
            return
    if not changed:
        raise RewriteError(
            f"pattern '{label}' can't be checked: {reason}; "
            "give a graph that it changes, as check(label, example=module)"
        )


def check_each_rewrite(module: Module, step: Run, args: dict[str, Any], limit: float) -> None:
    """Rewrites a copy of the module step by step.

    Raises RewriteError for the first rewrite that changes the results, or whose results can't be compared.

    step: applies the first rewrite that is possible. limit: the maximum number of steps.
    """
    from .._inlay import compare_graphs

    copy, count = module.clone(), 0
    while count < limit:
        before = copy.clone()
        done: list[dict[str, Any]] = []
        if not step(copy, trace=done):
            return
        count += 1
        label = done[-1]["label"]
        wrong, graphs, _ = compare_graphs(label, before._graph, copy._graph, args, _UNKNOWN_SIZE)
        if wrong:
            raise RewriteError(f"rewrite {count}: {wrong}\n{graphs}")


def _try(label: str, example: Module, run: Run, args: dict[str, Any], unknown_size: int) -> _Outcome:
    """Applies the pattern to a copy of the example and compares the results."""
    from .._inlay import compare_graphs

    module = example.clone()
    try:
        if not run(module):
            return _Outcome("", None)
    except RewriteError as error:
        return _Outcome(f"pattern '{label}' makes an invalid graph: {error}\n{example}", True)
    wrong, graphs, is_sure = compare_graphs(label, example._graph, module._graph, args, unknown_size)
    return _Outcome(f"{wrong}\n{graphs}" if wrong else "", is_sure)


def _list(given: Module | Sequence[Module]) -> list[Module]:
    examples: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    for example in examples:
        if not isinstance(example, Module):
            raise ArgumentTypeError(f"expected example to be a module or a list of modules, but got {example!r:.80}")
    return examples


def _draw(label: str, pattern: Pattern | PatternRewriter | PatternAnalyzer, args: dict[str, Any]) -> Iterator[_Example]:
    """Yields graphs that are drawn for the known part of the pattern."""
    from .._inlay import draw_graph

    drafts = [pattern.draft(label)] if isinstance(pattern, Pattern) else _drafts(label, pattern)
    drawn = 0
    reasons: list[str] = []
    fruitless: set[tuple[int, int]] = set()  # (number of the draft, number of the dtype) without graphs
    for number in range(_MAX_DRAWN):
        turn, draft = divmod(number, len(drafts))
        kind = (draft, turn % _DTYPES)
        if kind in fruitless:
            continue
        text, more = draw_graph(drafts[draft], args, turn)
        if text is not None and isinstance(more, int):
            drawn += 1
            yield _Example(parse(text, "<example>"), more)
            continue
        fruitless.add(kind)
        if (reason := str(more)) not in reasons:
            reasons.append(reason)
    if not drawn:
        raise RewriteError(f"pattern '{label}' can't be checked: {'; '.join(reasons)}; give an example that it changes")


def _drafts(label: str, pattern: PatternRewriter | PatternAnalyzer) -> list[str]:
    """Returns a pattern in PDL for each kind of op in the `root_layer` of a class."""
    names = pattern.root_layer.ops if pattern.root_layer else []
    known = [name.removeprefix("inlay.") for name in names if name.removeprefix("inlay.") in ops.table()]
    if not known:
        raise RewriteError(
            f"pattern '{label}' can't be checked: its root_layer names no op that a graph can be drawn for; "
            "give a graph that it changes, as check(label, example=module)"
        )
    return [_draft(name) for name in known]


def _draft(name: str) -> str:
    """Returns a pattern in PDL that matches op `name` with any operands and attributes."""
    definition = ops.table()[name]
    needed = [operand for operand in definition.operands if not operand.is_optional]
    count = sum(2 if operand.kind is ops.Kind.VARIADIC else 1 for operand in needed)
    wanted = [attribute.name for attribute in definition.attributes if attribute.kind is not ops.Kind.UNIT]
    lines = [f"%v{number} = pdl.operand" for number in range(count)]
    lines += [f"%a{number} = pdl.attribute" for number in range(len(wanted))]
    operands = f"({', '.join(f'%v{n}' for n in range(count))} : {', '.join(['!pdl.value'] * count)})" if count else ""
    attributes = ", ".join(f'"{key}" = %a{number}' for number, key in enumerate(wanted))
    attributes = f" {{{attributes}}}" if attributes else ""
    lines += ["%t = pdl.type", f'%op = pdl.operation "inlay.{name}"{operands}{attributes} -> (%t : !pdl.type)']
    lines += ["pdl.rewrite %op {", "%none = pdl.attribute = unit", "}"]
    return "\n".join(["pdl.pattern @example : benefit(1) {", *lines, "}", ""])
