# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports control flow (torch.cond, while_loop, scan and map) as ops with regions.

The graph that such a call calls is copied before the call, so that constants from outside fold and weights keep their
names. Values that change from iteration to iteration are placeholders for arguments of a region.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import sympy
import torch
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from ..._program.imported import TensorType
from ..._program.sizes import InexpressibleError, Size
from ...errors import UnsupportedError
from .checks import check_expressible
from .graph import Operand, Region, Value

if TYPE_CHECKING:
    from .walker import Walker

_COMPARISONS = {sympy.Eq: "eq", sympy.Ne: "ne", sympy.Lt: "lt", sympy.Le: "le", sympy.Gt: "gt", sympy.Ge: "ge"}
_CONNECTIVES = {sympy.And: "logical_and", sympy.Or: "logical_or"}

# The results of a call by number; None for a result that is not used.
Results: TypeAlias = "list[Value | None]"


def is_control_flow(node: torch.fx.Node) -> bool:
    """Returns true if a node calls a higher-order operator that can be imported as ops with regions."""
    return isinstance(node.target, torch._ops.HigherOrderOperator) and node.target.name() in _KINDS


class ControlCall:
    """Stands for a Call while ops for control flow are written."""

    def __init__(self, node: torch.fx.Node) -> None:
        self.node = node
        self.label: str = node.meta.get("label", node.name)
        self.space, self.name = "higher_order", _operator_name(node)
        self.origin = f"{self.space}::{self.name}"
        self.val: Sequence[Any] = node.meta["val"]


class Copy(NamedTuple):
    """The nodes of a copied graph in order, and the nodes or plain values that are its results."""

    nodes: list[torch.fx.Node]
    results: Any


class Control:
    """Imports control flow for a walker."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self._refused: dict[torch.fx.Node, str | None] = {}  # node -> why PyTorch runs it; None if PyTorch does not

    def operands(self, node: torch.fx.Node) -> list[torch.fx.Node] | None:
        """Returns the nodes of the values that the call takes; None if PyTorch runs the call."""
        if self.explain(node) is not None:
            return None
        leaves = pytree.tree_leaves(_kind_of(node).taken(node))
        return [leaf for leaf in leaves if isinstance(leaf, torch.fx.Node)]

    def explain(self, node: torch.fx.Node) -> str | None:
        """Returns why PyTorch runs the call; None if it does not."""
        if node not in self._refused:
            try:
                _kind_of(node).check(self, node)
                self._refused[node] = None
            except UnsupportedError as error:
                self._refused[node] = str(error)
        return self._refused[node]

    def refuse(self, node: torch.fx.Node, reason: str) -> None:
        """Lets PyTorch run the call. reason: a sentence for the user."""
        self._refused[node] = reason

    def import_(self, node: torch.fx.Node, used: Sequence[int]) -> Results:
        """Writes the call and returns its results. used: the numbers of the used results."""
        return _kind_of(node).import_(self, node, used)

    # -- Checks ---------------------------------------------------------------------------------------------------

    def check_tensor(self, value: Any, subject: str) -> TensorType:
        """Returns the type of a node's value. Raises UnsupportedError, naming `subject`, unless the dialect can hold
        the value."""
        if not isinstance(value, torch.Tensor):
            raise UnsupportedError(f"{subject} has type {type(value).__name__}, but expected a tensor")
        check_expressible(value, subject, self.walker.symbols)
        return TensorType(self.walker.symbols.dims(value), value.dtype)

    def check_alike(self, value: Any, wanted: TensorType, subject: str) -> None:
        """Raises UnsupportedError, naming `subject`, unless `value` is a tensor of the type `wanted`."""
        if self.check_tensor(value, subject) != wanted:
            raise UnsupportedError(f"{subject} is {_describe(value)}, but expected {_describe_wanted(wanted)}")

    def check_condition(self, value: Any, subject: str) -> None:
        """Raises UnsupportedError, naming `subject`, unless `value` is a condition that the program can compute."""
        if isinstance(value, bool):
            return
        if isinstance(value, torch.SymBool):
            if not self._can_decide(value.node.expr):
                raise UnsupportedError(f"{subject} depends on a number that is known only at a call")
            return
        if self.check_tensor(value, subject)[0] not in ((), (1,)):
            raise UnsupportedError(f"{subject} is {_describe(value)}, but expected one element")

    def _can_decide(self, expr: sympy.Basic) -> bool:
        """Returns true if the program can compute a condition on sizes."""
        if expr in (sympy.true, sympy.false):
            return True
        if type(expr) in _COMPARISONS:
            return all(self._can_express(operand) for operand in expr.args)
        return isinstance(expr, (sympy.And, sympy.Or, sympy.Not)) and all(map(self._can_decide, expr.args))

    def _can_express(self, expr: sympy.Basic) -> bool:
        """Returns true if the dialect has an expression for a size."""
        try:
            self.walker.symbols.map_text([self.walker.symbols.make(expr)])
        except InexpressibleError:
            return False
        return True

    # -- Pieces ---------------------------------------------------------------------------------------------------

    def copy(self, node: torch.fx.Node, called: torch.fx.Node, operands: Sequence[Any], name: str) -> Copy:
        """Copies the graph that `called` reads before `node`.

        operands: the values of its placeholders. name: the name of the region, for labels.
        """
        walker, module = self.walker, find_module(called)
        label = node.meta.get("label", node.name)
        env: dict[torch.fx.Node, Any] = {}
        made: list[torch.fx.Node] = []
        results: Any = ()
        kept = {key: node.meta[key] for key in ("nn_module_stack", "stack_trace") if node.meta.get(key)}
        if not any(inner.meta.get("nn_module_stack") for inner in module.graph.nodes):
            walker.unplaced.append(label)
        rest = iter(operands)
        with node.graph.inserting_before(node):
            for inner in module.graph.nodes:
                if inner.op == "placeholder":
                    env[inner] = next(rest)
                elif inner.op == "output":
                    results = map_arg(inner.args[0], env.__getitem__)
                elif inner.op == "get_attr":
                    env[inner] = node.graph.create_node("get_attr", f"{called.target}.{inner.target}")
                    env[inner].meta["label"] = f"{label}.{name}.{inner.name}"
                    held = operator.attrgetter(inner.target)(module)
                    if isinstance(held, torch.Tensor):
                        walker.constants.add(env[inner], held.detach())
                        env[inner].meta["val"] = inner.meta.get("val", held)
                else:
                    env[inner] = node.graph.node_copy(inner, env.__getitem__)
                    meta = {key: value for key, value in inner.meta.items() if key not in kept or value}
                    inner_label = inner.meta.get("label", inner.name)
                    env[inner].meta = {**kept, **meta, "label": f"{label}.{name}.{inner_label}"}
                    made.append(env[inner])
        return Copy(made, results)

    def write(self, made: Sequence[torch.fx.Node], results: Sequence[Any]) -> list[Value]:
        """Imports copied nodes into the open region. Returns the Values of `results`."""
        self.walker.walk_region(made, [result for result in results if isinstance(result, torch.fx.Node)])
        return [self.walker.tensor(result) for result in results]

    def argument(self, node: torch.fx.Node, name: str, like: Any, value: Value) -> torch.fx.Node:
        """Returns a node for an argument of a region. like: its fake tensor; value: its Value."""
        with node.graph.inserting_before(node):
            made = node.graph.create_node("placeholder", f"{node.name}_{name}")
        made.meta = {"val": like, "label": f"{node.meta.get('label', node.name)}.{name}"}
        self.walker.set_value(made, value)
        return made

    def condition(self, call: ControlCall, value: Any, suffix: str) -> Value:
        """Returns a tensor without dims for a condition: a node or a bool."""
        walker = self.walker
        walker.begin(call)
        fake = value.meta.get("val") if isinstance(value, torch.fx.Node) else value
        if isinstance(fake, bool):
            return walker.splat(fake, (), torch.bool)
        if isinstance(fake, torch.SymBool):
            return self._decide(fake.node.expr, suffix)
        found = walker.cast(walker.tensor(value), torch.bool, f"{suffix}.cast")
        return walker.reshape(found, (), f"{suffix}.reshape")

    def _decide(self, expr: sympy.Basic, suffix: str) -> Value:
        """Returns a tensor without dims that is true if a condition on sizes holds."""
        walker = self.walker
        if expr in (sympy.true, sympy.false):
            return walker.splat(bool(expr), (), torch.bool)
        if isinstance(expr, sympy.Not):
            operands, name = [self._decide(expr.args[0], f"{suffix}.not")], "logical_not"
        elif type(expr) in _CONNECTIVES:
            first, *rest = expr.args
            rest = type(expr)(*rest, evaluate=False) if len(rest) > 1 else rest[0]
            operands = [self._decide(first, f"{suffix}.lhs"), self._decide(rest, f"{suffix}.rhs")]
            name = _CONNECTIVES[type(expr)]
        else:
            names = (f"{suffix}.lhs", f"{suffix}.rhs")
            operands = [
                self.size(walker.symbols.make(operand), name) for operand, name in zip(expr.args, names, strict=True)
            ]
            name = _COMPARISONS[type(expr)]
        return walker.op(name, operands, shape=(), dtype=torch.bool, suffix=suffix)

    def size(self, size: int | Size, suffix: str) -> Value:
        """Returns a tensor without dims for a size."""
        walker = self.walker
        if isinstance(size, int):
            return walker.splat(size, (), torch.int64)
        return walker.op("size", [], {"sizes": [size]}, shape=(), dtype=torch.int64, suffix=suffix)


class _Kind(ABC):
    """A kind of control flow."""

    @classmethod
    @abstractmethod
    def taken(cls, node: torch.fx.Node) -> Any:
        """Returns the values that a call takes from outside, nested in lists and tuples."""
        raise NotImplementedError

    @classmethod
    @abstractmethod
    def check(cls, control: Control, node: torch.fx.Node) -> None:
        """Raises UnsupportedError if a call can't be imported as ops with regions."""
        raise NotImplementedError

    @classmethod
    @abstractmethod
    def import_(cls, control: Control, node: torch.fx.Node, used: Sequence[int]) -> Results:
        """Writes a call and returns its results. used: the numbers of the used results."""
        raise NotImplementedError


class _Cond(_Kind):
    """torch.cond(condition, then, otherwise, operands)."""

    @classmethod
    def taken(cls, node: torch.fx.Node) -> Any:
        condition, _, _, operands = _arguments_of(node)
        value = condition.meta.get("val") if isinstance(condition, torch.fx.Node) else None
        return condition if isinstance(value, torch.Tensor) else None, operands

    @classmethod
    def check(cls, control: Control, node: torch.fx.Node) -> None:
        condition, then, otherwise, _ = _arguments_of(node)
        control.check_condition(_value_of(condition), "the condition")
        results = node.meta["val"]
        branches = [_outputs(find_module(called)) for called in (then, otherwise)]
        for number, result in enumerate(results):
            if not control.walker.symbols.can_express(result) and result is not None:
                wanted = control.check_tensor(result, f"result {number}")
                for name, outputs in zip(("true", "false"), branches, strict=True):
                    control.check_alike(_value_of(outputs[number]), wanted, f"result {number} of the {name} branch")

    @classmethod
    def import_(cls, control: Control, node: torch.fx.Node, used: Sequence[int]) -> Results:
        walker, call = control.walker, ControlCall(node)
        condition, then, otherwise, operands = _arguments_of(node)
        used = [number for number in used if isinstance(call.val[number], torch.Tensor)]
        known = _Cond._known(walker, condition)
        if known is not None:
            made, results = control.copy(node, then if known else otherwise, operands, "true" if known else "false")
            values = control.write(made, [results[number] for number in used])
            return _place(values, used, len(call.val))
        decided = control.condition(call, condition, "condition")
        regions = []
        for called, name in ((then, "true"), (otherwise, "false")):
            made, results = control.copy(node, called, operands, name)
            with walker.builder.region() as region:
                region.results = control.write(made, [results[number] for number in used])
            regions.append(region)
        walker.begin(call)
        types = [TensorType(walker.symbols.dims(call.val[number]), call.val[number].dtype) for number in used]
        chosen = walker.builder.choose(decided, regions[0], regions[1], types, walker.location)
        return _place(chosen, used, len(call.val))

    @staticmethod
    def _known(walker: Walker, condition: Any) -> bool | None:
        """Returns the condition if it is known at import; None if it is not, or if a weight decides it.

        Weights may be replaced after the import.
        """
        if isinstance(condition, bool):
            return condition
        if walker.is_constant(condition) and not walker.constants.weights_of(condition):
            return bool(walker.constants[condition])
        return None


class _While(_Kind):
    """while_loop(condition, body, carried, captured)."""

    @classmethod
    def taken(cls, node: torch.fx.Node) -> Any:
        return node.args[2:4]

    @classmethod
    def check(cls, control: Control, node: torch.fx.Node) -> None:
        condition, called, carried, _ = _arguments_of(node)
        going, body = find_module(condition), find_module(called)
        _check_carried(control, carried, _placeholders(body), _outputs(body), node.meta["val"])
        control.check_condition(_value_of(_outputs(going)), "the loop's condition")

    @classmethod
    def import_(cls, control: Control, node: torch.fx.Node, used: Sequence[int]) -> Results:
        walker, call = control.walker, ControlCall(node)
        going, body, carried, captured = _arguments_of(node)
        starts = [walker.tensor(start) for start in carried]
        types = [TensorType(value.shape, value.dtype) for value in starts]
        fakes = [_value_of(start) for start in carried]
        with walker.builder.region(types) as before:
            given = _arguments(control, node, "before", fakes, before)
            made, result = control.copy(node, going, [*given, *captured], "cond")
            walker.walk_region(made, [result] if isinstance(_value_of(result), torch.Tensor) else [])
            before.condition = control.condition(call, result, "condition")
            before.results = before.arguments
        with walker.builder.region(types) as after:
            given = _arguments(control, node, "carried", fakes, after)
            made, results = control.copy(node, body, [*given, *captured], "body")
            after.results = control.write(made, results)
        walker.begin(call)
        return [*walker.builder.repeat(before, after, starts, walker.location)]


class _ScanArguments(NamedTuple):
    """The arguments of a scan. starts: initial carried values; captured: values from outside that the body reads."""

    body: torch.fx.Node
    starts: Sequence[Any]
    scanned: Sequence[Any]
    captured: Sequence[Any]


class _Scan(_Kind):
    """scan(body, starts, scanned, captured).

    The body takes the carried values and one slice of each scanned tensor. It returns the new carried values and slices
    of further results.
    """

    @staticmethod
    def split(node: torch.fx.Node) -> _ScanArguments:
        """Returns the arguments of a call."""
        return _ScanArguments(*_arguments_of(node))

    @classmethod
    def taken(cls, node: torch.fx.Node) -> Any:
        return cls.split(node)[1:]

    @classmethod
    def check(cls, control: Control, node: torch.fx.Node) -> None:
        body, starts, scanned, _ = cls.split(node)
        if not scanned:
            raise UnsupportedError("expected at least one scanned tensor, but the loop has none")
        module = find_module(body)
        outputs, results = _outputs(module), node.meta["val"]
        _check_carried(control, starts, _placeholders(module), outputs[: len(starts)], results[: len(starts)])
        for number, source in enumerate(scanned):
            control.check_tensor(_value_of(source), f"scanned tensor {number}")
        for number in range(len(starts), len(results)):
            if results[number] is None:
                continue
            (_, *dims), dtype = control.check_tensor(results[number], f"result {number}")
            wanted = TensorType(tuple(dims), dtype)
            control.check_alike(_value_of(outputs[number]), wanted, f"a slice of result {number}")

    @classmethod
    def import_(cls, control: Control, node: torch.fx.Node, used: Sequence[int]) -> Results:
        walker, call = control.walker, ControlCall(node)
        body, starts, scanned, captured = cls.split(node)
        count, fakes = len(starts), [_value_of(source) for source in (*starts, *scanned)]
        stacked = [number for number in used if number >= count and isinstance(call.val[number], torch.Tensor)]
        walker.begin(call)
        carried = [walker.tensor(start) for start in starts]
        for number in stacked:
            shape, dtype = walker.symbols.dims(call.val[number]), call.val[number].dtype
            carried.append(walker.splat(0, shape, dtype, f"start{number}"))
        sources = [walker.tensor(source) for source in scanned]
        if sources[0].shape[0] == 0:
            return _place(carried, [*range(count), *stacked], len(call.val))
        types = [TensorType(value.shape, value.dtype) for value in carried]
        with walker.builder.region(types, walker.location) as region:
            slices = [cls._read(walker, value, region, number) for number, value in enumerate(sources)]
            likes = [*fakes[:count], *(_value_of(input_) for input_ in _placeholders(find_module(body))[count:])]
            values = [*region.arguments[:count], *slices]
            given = [
                control.argument(node, f"x{number}", like, value)
                for number, (like, value) in enumerate(zip(likes, values, strict=False))
            ]
            made, results = control.copy(node, body, [*given, *captured], "body")
            new = control.write(made, [*results[:count], *(results[number] for number in stacked)])
            walker.begin(call)
            kept = [
                cls._put(walker, whole, part, region, number)
                for number, whole, part in zip(stacked, region.arguments[count:], new[count:], strict=True)
            ]
            region.results = [*new[:count], *kept]
        length = sources[0].shape[0]
        rounds = length if isinstance(length, int) else control.size(length, "rounds")
        values = walker.builder.count(rounds, region, carried, walker.location)
        return _place(values, [*range(count), *stacked], len(call.val))

    @staticmethod
    def _read(walker: Walker, value: Value, region: Region, number: int) -> Value:
        """Returns the slice of a scanned tensor for the current iteration."""
        shape = (1, *value.shape[1:])
        operands, suffix = [value, region.position], f"read{number}"
        found = walker.op("index_select", operands, {"dim": 0}, shape=shape, dtype=value.dtype, suffix=suffix)
        return walker.reshape(found, value.shape[1:], f"x{number}")

    @staticmethod
    def _put(walker: Walker, whole: Value, value: Value, region: Region, number: int) -> Value:
        """Returns `whole` with `value` as the slice of the current iteration."""
        value = walker.reshape(value, (1, *value.shape), f"slice{number}")
        assert region.position is not None
        operands: list[Operand] = [whole, value, [region.position]]
        attributes = {"dims": [0], "accumulate": False}
        return walker.op("index_put", operands, attributes, shape=whole.shape, dtype=whole.dtype, suffix=f"put{number}")


class _Map(_Scan):
    """map_impl(body, mapped, captured): a scan without carried values."""

    @staticmethod
    def split(node: torch.fx.Node) -> _ScanArguments:
        body, mapped, captured = _arguments_of(node)
        return _ScanArguments(body, [], mapped, captured)


_KINDS: dict[str, type[_Kind]] = {"cond": _Cond, "while_loop": _While, "scan": _Scan, "map_impl": _Map}


def _operator_name(node: torch.fx.Node) -> str:
    """Returns the name of the higher-order operator that a node calls."""
    assert isinstance(node.target, torch._ops.HigherOrderOperator)
    return str(node.target.name())


def _kind_of(node: torch.fx.Node) -> type[_Kind]:
    """Returns the kind of control flow that a node calls."""
    return _KINDS[_operator_name(node)]


def _arguments_of(node: torch.fx.Node) -> tuple[Any, ...]:
    """Returns the arguments of a call, whose types depend on the operator."""
    return node.args


def find_module(node: torch.fx.Node) -> Any:
    """Returns the GraphModule or tensor that a node reads from the module of its graph."""
    return operator.attrgetter(str(node.target))(node.graph.owning_module)


def _arguments(
    control: Control, node: torch.fx.Node, name: str, fakes: Sequence[Any], region: Region
) -> list[torch.fx.Node]:
    """Returns nodes for the arguments of a region."""
    return [
        control.argument(node, f"{name}{number}", fake, value)
        for number, (fake, value) in enumerate(zip(fakes, region.arguments, strict=True))
    ]


def _check_carried(
    control: Control,
    starts: Sequence[Any],
    placeholders: Sequence[torch.fx.Node],
    outputs: Sequence[Any],
    results: Sequence[Any],
) -> None:
    """Raises UnsupportedError unless the carried values are tensors that keep their dims and dtypes in each
    iteration."""
    for number, start in enumerate(starts):
        name = f"carried value {number}"
        wanted = control.check_tensor(_value_of(start), name)
        for value in (placeholders[number], outputs[number]):
            control.check_alike(_value_of(value), wanted, f"{name} of the body")
        control.check_alike(results[number], wanted, f"{name} after the loop")


def _place(values: Sequence[Value], numbers: Sequence[int], count: int) -> Results:
    """Returns a list of `count` results. The results with these numbers are `values`, the others None."""
    found = dict(zip(numbers, values, strict=True))
    return [found.get(number) for number in range(count)]


def _placeholders(module: torch.fx.GraphModule) -> list[torch.fx.Node]:
    """Returns the inputs of a graph."""
    return list(module.graph.find_nodes(op="placeholder"))


def _outputs(module: torch.fx.GraphModule) -> Any:
    """Returns the nodes or plain values that a graph returns."""
    return next(iter(module.graph.find_nodes(op="output"))).args[0]


def _value_of(value: Any) -> Any:
    """Returns the fake tensor or size of a node. A plain value is returned itself."""
    if not isinstance(value, torch.fx.Node):
        return value
    return find_module(value) if value.op == "get_attr" and "val" not in value.meta else value.meta.get("val")


def _describe(value: torch.Tensor) -> str:
    """Returns the dtype and the dims of a tensor for messages."""
    return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"


def _describe_wanted(wanted: TensorType) -> str:
    """Returns a dtype and dims for messages."""
    return f"{str(wanted[1]).removeprefix('torch.')}{list(wanted[0])}"
