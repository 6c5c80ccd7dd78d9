# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From Python functions to PDL: a function runs once, on symbols that write down what is done with them."""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

import torch

from .._dialect import ops
from .._dialect.text import quote
from .._graph.arithmetic import Arithmetic
from .._graph.values import (
    check_flag,
    check_integer,
    check_number,
    check_text,
    element_text,
    float_text,
    print_attribute,
)
from ..errors import ArgumentTypeError, ArgumentValueError, UnknownNameError, did_you_mean

_NAME = re.compile(r"[A-Za-z_$.][\w$.-]*", re.ASCII)  # of a value in PDL; digits alone are what has no name
_FREE = inspect.Parameter.POSITIONAL_OR_KEYWORD
_MANY = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Symbol(Arithmetic):
    """A value, an attribute or a list of values that stands for what a match will find there."""

    __slots__ = ("_kind", "_name", "_writer")

    def __init__(self, writer: Writer, name: str, kind: str) -> None:
        self._writer, self._name, self._kind = writer, name, kind

    def _combine(self, name: str, *operands: Symbol | float) -> Symbol:
        return self._writer.make(name, *operands)

    def __neg__(self) -> Symbol:
        return self._writer.make("neg", self)

    def __bool__(self) -> NoReturn:
        raise ArgumentTypeError(f"'{self._name}' is known when it matches, not here: state conditions in 'where'")


Operand: TypeAlias = Symbol | float


class Writer:
    """Writes the ops of one half of a pattern; patterns call it `op`."""

    def __init__(self, pattern: str, captures: dict[str, Symbol], numbers: dict[str, Any], matching: bool) -> None:
        self._pattern, self._captures, self._numbers, self._matching = pattern, captures, numbers, matching
        self._lines, self._made, self._shared, self._used = [], {}, set(), []
        self._operands, self._kinds = {}, {}  # by op
        self._ops = {}  # by line: whether no other attributes may be there than those that it says
        self._untyped = []  # lines of ops of several results, whose types aren't said, and these results

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ops.CALLS:
            return functools.partial(self, f"inlay.{name}")
        if name not in ops.table():
            raise ArgumentValueError(
                f"unknown op '{name}' in pattern '{self._pattern}'{did_you_mean(name, ops.table())}"
            )
        return lambda *operands, **attributes: self.make(name, *operands, **attributes)

    def __call__(
        self,
        name: str,
        /,
        *operands: Operand | Sequence[Operand],
        results: int = 1,
        like: Symbol | Sequence[Symbol] | None = None,
        **attributes: Any,
    ) -> Any:
        """An op of any dialect by its full name.

        like: values whose types are those of the results that the rewrite makes; left out if there is one result, or if
        each takes the place of a value.
        """
        if not isinstance(name, str) or "." not in name:
            raise ArgumentValueError(f"expected an op's full name with its dialect, but got {name!r}")
        if "" in attributes:
            raise ArgumentValueError(f"expected names of attributes for '{name}', but got an empty one")
        texts = {key: self._attribute(key, value, None) for key, value in attributes.items()} if attributes else {}
        return self._write(name, self._flatten(name, operands), texts, results, like)

    def attr(self, name: str) -> Symbol:
        """An attribute of any value: captured in the pattern, known by that name in the replacement."""
        return self._capture(name, "attribute")

    def rest(self, name: str) -> Symbol:
        """A list of operands, of any number."""
        return self._capture(name, "list")

    def _capture(self, name, kind):
        _check_name(self._pattern, name)
        if not self._matching and name not in self._captures:
            near = did_you_mean(name, self._captures)
            raise ArgumentValueError(f"pattern '{self._pattern}' captures no {kind} '{name}'{near}")
        found = self._captures.setdefault(name, Symbol(self, name, kind))
        if found._kind != kind:
            raise ArgumentValueError(f"expected each name to be captured once, but '{name}' is captured twice")
        return found

    def arg(self, name: str) -> Symbol:
        """An argument of the run, as an attribute of an op that the replacement makes."""
        if self._matching:
            raise ArgumentValueError("expected 'op.arg' in the replacement; in a pattern it is 'm.args' of 'where'")
        text = self._line(f"pdl.attribute = {quote(name)}")
        found = self._line(f'pdl.apply_native_rewrite "arg"(%{text} : !pdl.attribute) : !pdl.attribute')
        return Symbol(self, found, "attribute")

    def shared(self, value: Symbol) -> Symbol:
        """Lets the op that makes `value` have users besides the match."""
        self._shared.add(self._op_of(value)[0])
        return value

    def make(self, name: str, *operands: Any, **attributes: Any) -> Symbol:
        """An op of the inlay dialect, its arguments by place or by name as in its definition."""
        definition = ops.table()[name]
        values, given = definition.bind(operands, attributes)
        kinds = {argument.name: argument.kind for argument in definition.attributes} if given else {}
        texts = {key: self._attribute(key, value, kinds[key]) for key, value in given.items()} if given else {}
        return self._write(f"inlay.{name}", self._flatten(name, values), texts, 1, None, exact=True)

    def _flatten(self, name, operands):
        values = []
        for operand in operands:
            if isinstance(operand, Symbol) and operand._kind != "attribute":
                values.append(operand)
            elif isinstance(operand, (list, tuple)):
                values.extend(self._flatten(name, operand))
            elif isinstance(operand, (int, float)) and not isinstance(operand, bool):
                values.append(self._constant(operand))
            else:
                raise ArgumentTypeError(f"expected values as operands of '{name}', but got {operand!r}")
        return values

    def _constant(self, number):
        """In a pattern a number is a constant of equal elements; a replacement can't tell of which type it would be."""
        if not self._matching:
            raise ArgumentTypeError(f"expected a captured value in the replacement, but got the number {number}")
        number = check_number(f"a number in pattern '{self._pattern}'", number)
        value = self._line("pdl.operand")
        wanted = self._line(f"pdl.attribute = {float_text(number, 'f64')} : f64")
        self._lines.append(f'pdl.apply_native_constraint "splat"(%{value}, %{wanted} : !pdl.value, !pdl.attribute)')
        return Symbol(self, value, "value")

    def _attribute(self, key, value, kind):
        if isinstance(value, Symbol):
            if value._kind != "attribute":
                raise ArgumentTypeError(f"expected an attribute for '{key}', but got a value")
            if self._matching and value._name not in self._numbers["captured"]:
                self._numbers["captured"].add(value._name)
                self._used.append(value._name)
                self._lines.append(f"%{value._name} = pdl.attribute")
            return value._name
        return self._line(f"pdl.attribute = {print_attribute(key, value, kind)}")

    def _write(self, name, operands, attributes, results, like, exact=False):
        types = []
        if self._matching:
            types = [self._line("pdl.type") for _ in range(results)]
        elif like is not None:
            types = [self._type_of(one) for one in (like if isinstance(like, (list, tuple)) else [like])]
        text = f"pdl.operation {quote(name)}"
        if operands:
            kinds = ", ".join(["!pdl.range<value>" if one._kind == "list" else "!pdl.value" for one in operands])
            text += f"({', '.join(['%' + self._use(one) for one in operands])} : {kinds})"
        if attributes:
            text += " {" + ", ".join(f"{quote(key)} = %{value}" for key, value in attributes.items()) + "}"
        if types:
            text += self._type_text(types)
        line = len(self._lines)
        self._ops[line] = exact and self._matching
        op = self._line(text)
        self._operands[op], self._kinds[op] = [one._name for one in operands], name
        values = []
        for number in range(results):
            value = self._line(f"pdl.result {number} of %{op}")
            self._made[value] = (op, number, results, types)
            values.append(Symbol(self, value, "value"))
        if results > 1 and not types:
            self._untyped.append((line, values))
        return values[0] if results == 1 else tuple(values)

    def _give_types(self, types):
        """Says the types of ops whose results all have one: `types`, by result."""
        for line, values in self._untyped:
            given = [types.get(value._name) for value in values]
            if None not in given:
                self._lines[line] += (
                    f" -> ({', '.join('%' + one for one in given)} : {', '.join(['!pdl.type'] * len(given))})"
                )

    @staticmethod
    def _type_text(types):
        return f" -> ({', '.join(['%' + one for one in types])} : {', '.join(['!pdl.type'] * len(types))})"

    def _use(self, symbol):
        captured = self._numbers["captured"]
        if self._matching and symbol._kind == "list" and symbol._name not in captured:
            captured.add(symbol._name)
            self._lines.append(f"%{symbol._name} = pdl.operands")
        self._used.append(symbol._name)
        return symbol._name

    def _type_of(self, value):
        types, name = self._numbers["types"], getattr(value, "_name", None)
        if name not in types:
            operand = f"%{name} = pdl.operand"
            if operand not in self._numbers["lines"]:
                raise ArgumentTypeError("expected 'like' to be a value of the pattern")
            types[name] = str(self._numbers["next"])
            self._numbers["next"] += 1
            line = self._numbers["lines"].index(operand)
            self._numbers["lines"][line] = f"%{types[name]} = pdl.type\n  {operand} : %{types[name]}"
        return types[name]

    def _line(self, text):
        name = str(self._numbers["next"])
        self._numbers["next"] += 1
        self._lines.append(f"%{name} = {text}")
        return name

    def _expect_uses(self, op, number):
        """Lets the result match only where nothing but this function's ops uses it; returns its name."""
        value = next(value for value, (made, at, *_) in self._made.items() if (made, at) == (op, number))
        count = self._line(f"pdl.attribute = {self._used.count(value)} : i64")
        self._lines.append(f'pdl.apply_native_constraint "uses"(%{value}, %{count} : !pdl.value, !pdl.attribute)')
        return value

    def _users(self, values, besides):
        """The ops of this function that use these values, or what they make of them, users first."""
        reached, users = set(values), []
        for op, operands in self._operands.items():
            if op not in besides and reached.intersection(operands):
                users.append(op)
                reached.update(value for value, (made, *_) in self._made.items() if made == op)
        return users[::-1]

    def _check_parts(self, roots):
        """That the pattern is in one piece: each op is part of a result, and each result shares a value with others."""
        reached = set(roots)
        for op in reversed(self._operands):  # users first
            if op not in reached:
                raise ArgumentValueError(
                    f"'{self._kinds[op]}' isn't part of what the function of pattern '{self._pattern}' returns"
                )
            reached.update(self._made[value][0] for value in self._operands[op] if value in self._made)
        pieces = []  # sets of values that ops share
        for op, operands in self._operands.items() if len(set(roots)) > 1 else ():
            piece = {op, *operands, *(self._made[one][0] for one in operands if one in self._made)}
            near = [one for one in pieces if one & piece]
            pieces = [one for one in pieces if one not in near] + [piece.union(*near)]
        if len(pieces) > 1:
            raise ArgumentValueError(f"expected the results of pattern '{self._pattern}' to share a captured value")

    def _op_of(self, value):
        made = self._made.get(getattr(value, "_name", None))
        if made is None:
            given = f", but got the capture '{value._name}'" if getattr(value, "_name", None) in self._captures else ""
            raise ArgumentTypeError(f"expected a value that an op of pattern '{self._pattern}' makes{given}")
        return made


class Condition:
    """What `where` may ask of one captured value."""

    def __init__(self, add: Callable[..., None], name: str, pattern: str) -> None:
        self._add, self._name, self._pattern = add, name, pattern

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [one for one in vars(Condition) if not one.startswith("_")]
        raise UnknownNameError(
            f"unknown predicate '{name}' of '{self._name}' in pattern '{self._pattern}'{did_you_mean(name, known)}"
        )

    def _ask(self, constraint, *parameters, negated=False, others=()):
        values = [(one, "!pdl.value") for one in (self._name, *others)]
        self._add(constraint, values, [str(one) for one in parameters], negated)

    def _what(self, predicate, argument):
        return f"'{argument}' of {self._name}.{predicate} in pattern '{self._pattern}'"

    def dtype(self, *types: torch.dtype | str) -> None:
        try:
            texts = [element_text(one) for one in types]
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise type(error)(f"in {self._name}.dtype of pattern '{self._pattern}': {error}") from None
        if not texts:
            raise ArgumentValueError(f"expected dtypes for {self._name}.dtype in pattern '{self._pattern}'")
        self._ask("dtype", "[" + ", ".join(map(quote, texts)) + "]")

    def rank(self, least: int, most: int | None = None) -> None:
        least = check_integer(self._what("rank", "least"), least, 0)
        most = least if most is None else check_integer(self._what("rank", "most"), most, least)
        self._ask("rank", least, most)

    def dim(self, dim: int, size: int) -> None:
        self._ask("dim", self._dim("dim", dim), check_integer(self._what("dim", "size"), size, 0))

    def dim_between(self, dim: int, least: int, most: int) -> None:
        least = check_integer(self._what("dim_between", "least"), least, 0)
        most = check_integer(self._what("dim_between", "most"), most, least)
        self._ask("dim_between", self._dim("dim_between", dim), least, most)

    def multiple_of(self, dim: int, factor: int) -> None:
        factor = check_integer(self._what("multiple_of", "factor"), factor, 1)
        self._ask("multiple_of", self._dim("multiple_of", dim), factor)

    def _dim(self, predicate, dim):
        return check_integer(self._what(predicate, "dim"), dim)

    def static_shape(self) -> None:
        self._ask("static_shape")

    def splat(self, number: float, tolerance: float = 0.0) -> None:
        number = check_number(self._what("splat", "number"), number)
        tolerance = check_number(self._what("splat", "tolerance"), tolerance, 0)
        self._ask("splat", *(f"{float_text(one, 'f64')} : f64" for one in (number, tolerance)))

    def constant(self, yes: bool = True) -> None:
        self._ask("constant", negated=not check_flag(self._what("constant", "yes"), yes))

    def foldable(self, depth: int = 10) -> None:
        self._ask("foldable", check_integer(self._what("foldable", "depth"), depth, 0))

    def one_use(self) -> None:
        self._ask("one_use")

    def same_shape(self, other: Condition) -> None:
        self._ask("same_shape", others=[self._other("same_shape", other)])

    def same_type(self, other: Condition) -> None:
        self._ask("same_type", others=[self._other("same_type", other)])

    def _other(self, predicate, other):
        if not isinstance(other, Condition):
            what = self._what(predicate, "other")
            raise ArgumentTypeError(f"expected {what} to be a captured value, as m.{self._name}, but got {other!r:.80}")
        return other._name


class Args:
    """`m.args`: conditions on the run's arguments."""

    def __init__(self, add: Callable[..., None], pattern: str) -> None:
        self._add, self._pattern = add, pattern

    def equals(self, name: str, value: Any) -> None:
        check_text(f"'name' of args.equals in pattern '{self._pattern}'", name)
        self._add("arg", [], (quote(name), print_attribute(name, value, None)), False)


class Conditions:
    """`m` in `where`: captured values by name, `args`, and `constraint` for what these can't say."""

    args: Args

    def __init__(self, pattern: str, names: Sequence[str], writer: Writer, call: Callable[..., None]) -> None:
        self._pattern, self._names, self._writer, self._call = pattern, names, writer, call
        self.args = Args(self._add, pattern)

    def constraint(self, function: Callable[..., bool | str], *captured: Condition) -> None:
        """Asks a Python function for each match, with what is captured: `m.constraint(is_even, m.x)`."""
        if not captured or not all(isinstance(one, Condition) for one in captured):
            raise ArgumentTypeError(f"expected captured values to call a constraint of pattern '{self._pattern}' with")
        self._call(_check_function(self._pattern, function), [one._name for one in captured])

    def __getattr__(self, name: str) -> Condition:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._names:
            raise ArgumentValueError(
                f"pattern '{self._pattern}' captures no value '{name}'{did_you_mean(name, self._names)}"
            )
        return Condition(self._add, name, self._pattern)

    def _add(self, constraint, operands, parameters, negated):
        operands = [
            *operands,
            *((self._writer._line(f"pdl.attribute = {one}"), "!pdl.attribute") for one in parameters),
        ]
        names, kinds = ", ".join("%" + one for one, _ in operands), ", ".join(kind for _, kind in operands)
        end = " {isNegated = true}" if negated else ""
        self._writer._lines.append(f'pdl.apply_native_constraint "{constraint}"({names} : {kinds}){end}')


class Pattern:
    """A pattern and, once `to` is given, what replaces it."""

    label: str
    benefit: int

    def __init__(self, label: str, function: Callable[..., Symbol | Sequence[Symbol]], benefit: int) -> None:
        self.label, self.benefit, self._function = label, benefit, function
        self._replacement = self._condition = self._pdl = None
        self._asked = []

    def to(self, function: Callable[..., Symbol | Sequence[Symbol]]) -> Pattern:
        """Decorates the function that makes the replacement."""
        self._replacement, self._pdl = _check_function(self.label, function), None
        return self

    def where(self, function: Callable[[Conditions], None]) -> Pattern:
        """Decorates the function that states conditions on what is captured."""
        self._condition, self._pdl = _check_function(self.label, function), None
        return self

    def constraint(self, function: Callable[..., bool | str]) -> Pattern:
        """Decorates a Python function that is asked for each match; its parameters are captured names, and `args`.

        Values come as Tensors, attributes as Python values, lists as lists. It returns True, False, or why not as text.
        """
        self._asked.append(_check_function(self.label, function))
        self._pdl = None
        return self

    @property
    def rewrites(self) -> bool:
        """Whether it has a replacement."""
        return self._replacement is not None

    @property
    def pdl(self) -> str:
        """The pattern in PDL. Python functions that it asks are constraints `python.LABEL.NUMBER`."""
        if self._replacement is None:
            raise ArgumentValueError(f"pattern '{self.label}' has no replacement: give it one with '.to'")
        if self._pdl is None:
            self._pdl, _ = self.trace(self.label)
        return self._pdl

    def trace(self, label: str) -> tuple[str, dict[str, tuple[Callable[..., bool | str], list[str]]]]:
        """The pattern in PDL, and what Python functions it asks: (function, names of its arguments) by constraint.

        label: what constraints are named after. Without a replacement the pattern only finds.
        """
        constraints = {}
        return self._trace(label, constraints), constraints

    def draft(self, label: str) -> str:
        """The matching half in PDL, without Python functions: what it may match if they all say yes."""
        return self._trace(label, None)

    def _trace(self, label, constraints):
        names = _parameters(self.label, self._function)
        for name in names:
            _check_name(self.label, name)
        numbers = {"next": 0, "captured": set(names), "types": {}}
        captures = {}
        writer = Writer(self.label, captures, numbers, matching=True)
        numbers["lines"] = writer._lines
        captures.update({name: Symbol(writer, name, "value") for name in names})
        writer._lines += [f"%{name} = pdl.operand" for name in names]
        results = self._call(self._function, writer, names, captures)
        roots = [writer._op_of(result) for result in results]
        for name in captures.keys() - set(writer._used):
            raise ArgumentValueError(f"capture '{name}' isn't used by pattern '{self.label}'")
        writer._check_parts([op for op, *_ in roots])
        numbers["types"] = {value: types[number] for value, (_, number, _, types) in writer._made.items()}

        def call(function, given):
            if constraints is None:
                return
            name = f"python.{label}.{len(constraints)}"
            constraints[name] = (function, given)
            self._ask(writer, captures, name, given)

        if self._condition is not None:
            self._condition(Conditions(self.label, names, writer, call))
        for function in self._asked:
            call(function, [one.name for one in inspect.signature(function).parameters.values()])
        if self._replacement is None or constraints is None:
            ops_found = dict.fromkeys(op for op, *_ in roots)
            found = [f"pdl.erase %{op}" for op in ops_found] if len(ops_found) > 1 else ["pdl.attribute = unit"]
            return self._finish(writer, roots, found)  # which nothing does
        # What is done with a capture from here on belongs to the replacement.
        rewriter = Writer(self.label, captures, numbers, matching=False)
        captures.update({name: Symbol(rewriter, one._name, one._kind) for name, one in captures.items()})
        values = self._call(self._replacement, rewriter, _parameters(self.label, self._replacement), captures)
        if len(values) != len(results):
            raise ArgumentValueError(
                f"pattern '{self.label}' has {len(results)} results, but its replacement has {len(values)}"
            )
        self._replace(writer, rewriter, roots, values)
        return self._finish(writer, roots, rewriter._lines)

    def _finish(self, writer, roots, replacement):
        lines = writer._lines
        for number, exact in writer._ops.items():
            name = lines[number].partition(" = ")[0]
            flags = ["shared"] * (name[1:] in writer._shared) + ["exact"] * exact
            if flags:
                lines[number] += f" {{{', '.join(flags)}}}"
        root = f" %{roots[0][0]}" if len({op for op, *_ in roots}) == 1 else ""
        body = ["  " + line for line in lines] + [f"  pdl.rewrite{root} {{"] + ["    " + one for one in replacement]
        return "\n".join([f"pdl.pattern @{quote(self.label)} : benefit({self.benefit}) {{", *body, "  }", "}", ""])

    def _ask(self, writer, captures, called, names):
        """Lets the pattern ask a Python function."""
        kinds = {"value": "!pdl.value", "attribute": "!pdl.attribute", "list": "!pdl.range<value>"}
        operands = [name for name in names if name != "args"]
        for name in operands:
            if name not in captures:
                raise ArgumentValueError(
                    f"pattern '{self.label}' captures no '{name}' for a constraint{did_you_mean(name, captures)}"
                )
        if not operands:
            raise ArgumentTypeError(f"expected a constraint of pattern '{self.label}' to take captured values")
        texts = ", ".join("%" + writer._use(captures[name]) for name in operands)
        types = ", ".join(kinds[captures[name]._kind] for name in operands)
        writer._lines.append(f"pdl.apply_native_constraint {quote(called)}({texts} : {types})")

    def _call(self, function, writer, names, captures):
        missing = [name for name in names if name not in captures]
        if missing:
            raise ArgumentValueError(f"the replacement of pattern '{self.label}' names '{missing[0]}', which isn't "
                                     f"captured{did_you_mean(missing[0], captures)}")  # fmt: skip
        results = function(writer, *(captures[name] for name in names))
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        for result in results:
            if not isinstance(result, Symbol) or result._kind != "value":
                raise ArgumentTypeError(f"expected values from the functions of pattern '{self.label}', got {result!r}")
        return results

    def _replace(self, writer, rewriter, roots, values):
        by_op, types = {}, {}
        for (op, number, count, kinds), value in zip(roots, values, strict=True):
            if by_op.setdefault(op, [None] * count)[number] is not None:
                raise ArgumentValueError(f"pattern '{self.label}' returns a result twice")
            by_op[op][number] = value._name
            types[value._name] = kinds[number]
        rewriter._give_types(types)
        # What the match alone uses is left until its users are gone.
        for op, names in sorted(by_op.items(), key=lambda one: (None in one[1], -int(one[0]))):
            missing = [number for number, name in enumerate(names) if name is None]
            kept = {number: writer._expect_uses(op, number) for number in missing}
            for user in writer._users(kept.values(), by_op):
                rewriter._lines.append(f"pdl.erase %{user}")
            names = [kept.get(number, name) for number, name in enumerate(names)]
            kinds = ", ".join(["!pdl.value"] * len(names))
            rewriter._lines.append(f"pdl.replace %{op} with ({', '.join('%' + name for name in names)} : {kinds})")


def _check_function(label, function):
    if not callable(function):
        raise ArgumentTypeError(f"expected a function for pattern '{label}', but got {function!r:.80}")
    return function


def _check_name(label, name):
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ArgumentValueError(
            f"expected names of ASCII letters, digits and underscores in pattern '{label}', but got {name!r:.80}"
        )


def _parameters(label, function):
    code = getattr(function, "__code__", None)
    plain = code and type(function) is types.FunctionType and not hasattr(function, "__wrapped__")
    if (
        plain
        and code.co_argcount
        and not (function.__defaults__ or code.co_kwonlyargcount or code.co_posonlyargcount or code.co_flags & _MANY)
    ):
        return list(code.co_varnames[1 : code.co_argcount])  # as below, which takes longer than the rest of tracing
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or any(one.kind != _FREE or one.default is not one.empty for one in parameters):
        raise ArgumentTypeError(f"expected functions of 'op' and captured values for pattern '{label}'")
    return [one.name for one in parameters[1:]]


def pattern(label: str, benefit: int = 1) -> Callable[[Callable[..., Symbol | Sequence[Symbol]]], Pattern]:
    """Decorates the function that builds what a pattern looks for; its parameters after `op` are captured values."""
    if not isinstance(label, str) or not label:
        raise ArgumentTypeError(f'expected a label, but got {label!r}: write @pattern("label")')
    if not isinstance(benefit, int) or not 0 <= benefit <= 0x7FFF:
        raise ArgumentValueError(f"expected a benefit from 0 to 32767, but got {benefit!r}")
    return lambda function: Pattern(label, _check_function(label, function), benefit)
