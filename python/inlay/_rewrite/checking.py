# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do patterns that call Python functions keep what a graph computes?

The compiler can't draw what such a pattern matches. So it is run on example graphs, given or drawn for what is known of
it, and what it makes of each is compared with the example on the host.
"""

from .._dialect import ops
from .._graph.module import Module, parse
from ..errors import ArgumentTypeError, ArgumentValueError, RewriteError
from .tracing import Pattern

_MOST_DRAWN = 48
_ENOUGH = 8  # examples that it changed
_UNKNOWN_SIZE = 3  # what is taken for sizes that an example leaves open
_DTYPES = 8  # graphs are drawn of so many element types by turns


def check_by_examples(label, pattern, run, args, given):
    """Raises RewriteError for the first example of which the pattern makes something else.

    run: applies the pattern alone to a module, and says how often it changed it. given: examples, or None to draw them.
    """
    if given is not None:
        examples = _list(given)
        if not examples:
            raise ArgumentValueError(f"pattern '{label}' can't be checked: expected an example at least, but got none")
        for example in examples:
            wrong, is_known = _try(label, example, run, args, _UNKNOWN_SIZE)
            if is_known is None:
                raise RewriteError(f"pattern '{label}' can't be checked: it matches nowhere in the example\n{example}")
            if wrong:
                raise RewriteError(wrong)
        return
    changed, reason = 0, f"it matches in none of {_MOST_DRAWN} graphs that were drawn for it"
    for example, size in _draw(label, pattern, args):
        wrong, is_known = _try(label, example, run, args, size)
        if wrong and is_known:
            raise RewriteError(wrong)
        reason = wrong or reason
        changed += is_known is True
        if changed == _ENOUGH:
            return
    if not changed:
        raise RewriteError(
            f"pattern '{label}' can't be checked: {reason}; "
            "give a graph that it changes, as check(label, example=module)"
        )


def check_each_rewrite(module, step, args, most):
    """Rewrites a copy of the module and raises RewriteError for the first rewrite that changes what it computes, or of
    which that can't be said.

    step: rewrites a module once, appends what it did to the list that it is given as `trace`, and says how often it
    changed the module; most: number of steps.
    """
    from .._inlay import compare_graphs

    copy, count = module.clone(), 0
    while count < most:
        before, done = copy.clone(), []
        if not step(copy, trace=done):
            return
        count += 1
        label = done[-1]["label"]
        wrong, graphs, _ = compare_graphs(label, before._graph, copy._graph, args, _UNKNOWN_SIZE)
        if wrong:
            raise RewriteError(f"rewrite {count}: {wrong}\n{graphs}")


def _try(label, example, run, args, unknown_size):
    """What the pattern does wrong in the example, and whether that is known; None if it does nothing there."""
    from .._inlay import compare_graphs

    module = example.clone()
    try:
        if not run(module):
            return "", None
    except RewriteError as error:
        return f"pattern '{label}' makes an invalid graph: {error}\n{example}", True
    wrong, graphs, is_known = compare_graphs(label, example._graph, module._graph, args, unknown_size)
    return f"{wrong}\n{graphs}" if wrong else "", is_known


def _list(given):
    given = list(given) if isinstance(given, (list, tuple)) else [given]
    for one in given:
        if not isinstance(one, Module):
            raise ArgumentTypeError(f"expected a module, or a list of them, as example, but got {one!r:.80}")
    return given


def _draw(label, pattern, args):
    """(graph, what its open sizes are) drawn for what is known of the pattern."""
    from .._inlay import draw_graph

    drafts = [pattern.draft(label)] if isinstance(pattern, Pattern) else _drafts(label, pattern)
    drawn, reasons, fruitless = 0, [], set()
    for number in range(_MOST_DRAWN):
        turn, draft = divmod(number, len(drafts))
        kind = (draft, turn % _DTYPES)
        if kind in fruitless:
            continue
        text, more = draw_graph(drafts[draft], args, turn)
        if text is None:
            fruitless.add(kind)
        if text is not None:
            drawn += 1
            yield parse(text, "<example>"), more
        elif more not in reasons:
            reasons.append(more)
    if not drawn:
        raise RewriteError(f"pattern '{label}' can't be checked: {'; '.join(reasons)}; give an example that it changes")


def _drafts(label, pattern):
    """PDL that matches an op of each kind that a class is called for."""
    names = pattern.root_layer.ops if pattern.root_layer else []
    known = [name.removeprefix("inlay.") for name in names if name.removeprefix("inlay.") in ops.table()]
    if not known:
        raise RewriteError(
            f"pattern '{label}' can't be checked: its root_layer names no op that a graph can be drawn for; "
            "give a graph that it changes, as check(label, example=module)"
        )
    return [_draft(name) for name in known]


def _draft(name):
    definition = ops.table()[name]
    count = sum(2 if one.kind is ops.Kind.VARIADIC else 1 for one in definition.operands if not one.is_optional)
    wanted = [one.name for one in definition.attributes if one.kind is not ops.Kind.UNIT]
    lines = [f"%v{number} = pdl.operand" for number in range(count)]
    lines += [f"%a{number} = pdl.attribute" for number in range(len(wanted))]
    operands = f"({', '.join(f'%v{n}' for n in range(count))} : {', '.join(['!pdl.value'] * count)})" if count else ""
    attributes = ", ".join(f'"{one}" = %a{number}' for number, one in enumerate(wanted))
    attributes = f" {{{attributes}}}" if attributes else ""
    lines += ["%t = pdl.type", f'%op = pdl.operation "inlay.{name}"{operands}{attributes} -> (%t : !pdl.type)']
    lines += ["pdl.rewrite %op {", "%none = pdl.attribute = unit", "}"]
    return "\n".join(["pdl.pattern @example : benefit(1) {", *lines, "}", ""])
