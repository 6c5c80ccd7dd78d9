# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts Python functions to PDL. A function runs once, with symbols that record the ops they are used in.

`pattern` has the default benefit of a traced pattern. `writing.py` writes the text.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from .._dialect.text import quote
from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean
from .conditions import Conditions, check_function
from .writing import Made, SharedNames, Symbol, SymbolKind, Writer, check_name

_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD
_MANY = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


Build: TypeAlias = Callable[..., Symbol | Sequence[Symbol]]


class Constraint(NamedTuple):
    """A Python function that a pattern calls for each match, and the names of the captures that it takes."""

    function: Callable[..., bool | str]
    names: list[str]


class Traced(NamedTuple):
    """A pattern in PDL, and its constraints by name."""

    pdl: str
    constraints: dict[str, Constraint]


class Pattern:
    """A pattern that Python functions describe. `inlay.rewrite.pattern` makes it from the function that matches."""

    label: str
    benefit: int

    def __init__(self, label: str, function: Build, benefit: int) -> None:
        self.label, self.benefit, self._function = label, benefit, function
        self._replacement: Build | None = None
        self._condition: Callable[[Conditions], None] | None = None
        self._pdl: str | None = None
        self._asked: list[Callable[..., bool | str]] = []

    def to(self, function: Build) -> Pattern:
        """Decorates the function that makes the replacement.

        The function takes `op` and captures by name. It returns as many values as the function that matches.
        """
        self._replacement, self._pdl = check_function(self.label, function), None
        return self

    def where(self, function: Callable[[Conditions], None]) -> Pattern:
        """Decorates the function that states conditions on the captures. It takes an object `m`; see `Conditions`."""
        self._condition, self._pdl = check_function(self.label, function), None
        return self

    def constraint(self, function: Callable[..., bool | str]) -> Pattern:
        """Decorates a Python function that is called for each match.

        The parameters are names of captures, or `args` for the arguments of the run. Values are passed as Tensors,
        attributes as Python values and lists as lists. The function returns True, False, or the reason against the
        match as text.
        """
        self._asked.append(check_function(self.label, function))
        self._pdl = None
        return self

    @property
    def rewrites(self) -> bool:
        """True if the pattern has a replacement."""
        return self._replacement is not None

    @property
    def pdl(self) -> str:
        """The pattern in PDL. Its Python functions are constraints called `python.LABEL.NUMBER`.

        Raises ArgumentValueError if the pattern has no replacement or its functions are wrong.
        """
        if self._replacement is None:
            raise ArgumentValueError(f"pattern '{self.label}' has no replacement: give it one with '.to'")
        if self._pdl is None:
            self._pdl = self.trace(self.label).pdl
        return self._pdl

    def trace(self, label: str) -> Traced:
        """Returns the pattern in PDL with its Python functions.

        label: a part of the names of the constraints. A pattern without replacement only finds matches.
        """
        constraints: dict[str, Constraint] = {}
        return Traced(self._trace(label, constraints), constraints)

    def draft(self, label: str) -> str:
        """Returns the matching half in PDL without its Python functions, as if all of them returned True."""
        return self._trace(label, None)

    def _trace(self, label: str, constraints: dict[str, Constraint] | None) -> str:
        """Returns the pattern in PDL and adds its Python functions to `constraints`.

        If `constraints` is None, the text has neither Python functions nor a replacement.
        """
        names = _parameters(self.label, self._function)
        for name in names:
            check_name(self.label, name)
        shared = SharedNames(captured=set(names))
        captures: dict[str, Symbol] = {}
        writer = Writer(self.label, captures, shared, matching=True)
        shared.lines = writer._lines
        captures.update({name: Symbol(writer, name, SymbolKind.VALUE) for name in names})
        writer._lines += [f"%{name} = pdl.operand" for name in names]
        results = self._call(self._function, writer, names, captures)
        roots = [writer._op_of(result) for result in results]
        for name in captures.keys() - set(writer._used):
            raise ArgumentValueError(f"capture '{name}' isn't used by pattern '{self.label}'")
        writer._check_parts([root.op for root in roots])
        shared.types = {value: made.types[made.number] for value, made in writer._made.items()}

        def call(function: Callable[..., bool | str], given: list[str]) -> None:
            if constraints is None:
                return
            name = f"python.{label}.{len(constraints)}"
            constraints[name] = Constraint(function, given)
            self._ask(writer, captures, name, given)

        if self._condition is not None:
            self._condition(Conditions(self.label, names, writer, call))
        for function in self._asked:
            call(function, list(inspect.signature(function).parameters))
        if self._replacement is None or constraints is None:
            ops_found = dict.fromkeys(root.op for root in roots)
            found = [f"pdl.erase %{op}" for op in ops_found] if len(ops_found) > 1 else ["pdl.attribute = unit"]
            return self._finish(writer, roots, found)  # this replacement is never run
        # Uses of a capture from here on belong to the replacement.
        rewriter = Writer(self.label, captures, shared, matching=False)
        captures.update({name: Symbol(rewriter, symbol._name, symbol._kind) for name, symbol in captures.items()})
        values = self._call(self._replacement, rewriter, _parameters(self.label, self._replacement), captures)
        if len(values) != len(results):
            raise ArgumentValueError(
                f"pattern '{self.label}' has {len(results)} results, but its replacement has {len(values)}"
            )
        self._replace(writer, rewriter, roots, values)
        return self._finish(writer, roots, rewriter._lines)

    def _finish(self, writer: Writer, roots: Sequence[Made], replacement: Sequence[str]) -> str:
        """Returns the text of the pattern from its lines."""
        lines = writer._lines
        for number, exact in writer._ops.items():
            name = lines[number].partition(" = ")[0]
            flags = ["shared"] * (name[1:] in writer._shared) + ["exact"] * exact
            if flags:
                lines[number] += f" {{{', '.join(flags)}}}"
        root = f" %{roots[0].op}" if len({root.op for root in roots}) == 1 else ""
        body = ["  " + line for line in lines] + [f"  pdl.rewrite{root} {{"] + ["    " + line for line in replacement]
        return "\n".join([f"pdl.pattern @{quote(self.label)} : benefit({self.benefit}) {{", *body, "  }", "}", ""])

    def _ask(self, writer: Writer, captures: Mapping[str, Symbol], called: str, names: Sequence[str]) -> None:
        """Writes the constraint that calls a Python function."""
        operands = [name for name in names if name != "args"]
        for name in operands:
            if name not in captures:
                raise ArgumentValueError(
                    f"pattern '{self.label}' captures no '{name}' for a constraint{did_you_mean(name, captures)}"
                )
        if not operands:
            raise ArgumentTypeError(f"expected a constraint of pattern '{self.label}' to take captured values")
        texts = ", ".join("%" + writer._use(captures[name]) for name in operands)
        types = ", ".join(captures[name]._kind.pdl_type for name in operands)
        writer._lines.append(f"pdl.apply_native_constraint {quote(called)}({texts} : {types})")

    def _call(
        self, function: Build, writer: Writer, names: Sequence[str], captures: Mapping[str, Symbol]
    ) -> list[Symbol]:
        """Calls a function of the pattern with the captures of these names and returns its values as a list."""
        missing = [name for name in names if name not in captures]
        if missing:
            raise ArgumentValueError(f"the replacement of pattern '{self.label}' names '{missing[0]}', which isn't "
                                     f"captured{did_you_mean(missing[0], captures)}")  # fmt: skip
        returned = function(writer, *(captures[name] for name in names))
        results: list[Any] = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        for result in results:
            if not isinstance(result, Symbol) or result._kind is not SymbolKind.VALUE:
                raise ArgumentTypeError(f"expected values from the functions of pattern '{self.label}', got {result!r}")
        return results

    def _replace(self, writer: Writer, rewriter: Writer, roots: Sequence[Made], values: Sequence[Symbol]) -> None:
        """Writes the lines that replace the results of the matched ops by the values of the replacement."""
        by_op: dict[str, list[str | None]] = {}  # values of the replacement by op and number of the result
        types: dict[str, str] = {}
        for root, value in zip(roots, values, strict=True):
            if by_op.setdefault(root.op, [None] * root.result_count)[root.number] is not None:
                raise ArgumentValueError(f"pattern '{self.label}' returns a result twice")
            by_op[root.op][root.number] = value._name
            types[value._name] = root.types[root.number]
        rewriter._give_types(types)
        # An op with results that are not replaced comes last, after the users of these results were erased.
        for op, names in sorted(by_op.items(), key=lambda item: (None in item[1], -int(item[0]))):
            missing = [number for number, name in enumerate(names) if name is None]
            kept = {number: writer._expect_uses(op, number) for number in missing}
            for user in writer._users(kept.values(), by_op):
                rewriter._lines.append(f"pdl.erase %{user}")
            texts = ", ".join(f"%{kept.get(number, name)}" for number, name in enumerate(names))
            kinds = ", ".join(["!pdl.value"] * len(names))
            rewriter._lines.append(f"pdl.replace %{op} with ({texts} : {kinds})")


def _parameters(label: str, function: Build) -> list[str]:
    """Returns the names of the parameters of a function after `op`."""
    code = getattr(function, "__code__", None)
    if (
        code
        and type(function) is types.FunctionType
        and not hasattr(function, "__wrapped__")
        and code.co_argcount
        and not (function.__defaults__ or code.co_kwonlyargcount or code.co_posonlyargcount or code.co_flags & _MANY)
    ):
        # The same as below, but inspect.signature takes longer than the rest of tracing.
        return list(code.co_varnames[1 : code.co_argcount])
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or any(
        parameter.kind != _PLAIN or parameter.default is not parameter.empty for parameter in parameters
    ):
        raise ArgumentTypeError(
            f"expected the functions of pattern '{label}' to take 'op' and captured values, without defaults"
        )
    return [parameter.name for parameter in parameters[1:]]


def pattern(label: str, benefit: int = 1) -> Callable[[Build], Pattern]:
    """Decorates the function that builds the ops that a pattern matches.

    The parameters of the function after `op` are captured values. It returns a value or several.

    label: the name of the pattern in messages.
    benefit: the priority, 0 to 32767 (default: 1). Patterns of a higher benefit are tried first.
    """
    if not isinstance(label, str) or not label:
        raise ArgumentTypeError(f'expected a label, but got {label!r}: write @pattern("label")')
    if not isinstance(benefit, int) or not 0 <= benefit <= 0x7FFF:
        raise ArgumentValueError(f"expected a benefit from 0 to 32767, but got {benefit!r}")
    return lambda function: Pattern(label, check_function(label, function), benefit)
