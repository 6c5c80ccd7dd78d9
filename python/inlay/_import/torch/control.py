# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow: calls of other calls (torch.cond, while_loop, scan, map) as ops with regions.

What such a call calls is copied before it, so that values from outside stand for themselves: constants fold, weights
keep their names. Values that change from round to round are placeholders, for arguments of a region.
"""

import operator

import sympy
import torch
from torch.fx.node import map_arg

from ..._program.sizes import InexpressibleError
from ...errors import UnsupportedError
from .checks import check_expressible

_COMPARISONS = {sympy.Eq: "eq", sympy.Ne: "ne", sympy.Lt: "lt", sympy.Le: "le", sympy.Gt: "gt", sympy.Ge: "ge"}
_CONNECTIVES = {sympy.And: "logical_and", sympy.Or: "logical_or"}


def is_control_flow(node):
    """Whether a node calls a higher-order operator that ops with regions can stand for."""
    return isinstance(node.target, torch._ops.HigherOrderOperator) and node.target.name() in _KINDS


class ControlCall:
    """What stands for a Call where ops are made of control flow."""

    def __init__(self, node):
        self.node = node
        self.label = node.meta.get("label", node.name)
        self.space, self.name = "higher_order", node.target.name()
        self.origin = f"{self.space}::{self.name}"
        self.val = node.meta["val"]


class Control:
    """Imports control flow for a walker."""

    def __init__(self, walker):
        self.walker = walker
        self._refused = {}  # node -> why it is left to PyTorch, None if it is not

    def operands(self, node):
        """The nodes of the values that the call takes; None if it is left to PyTorch."""
        if self.explain(node) is not None:
            return None
        kind = _KINDS[node.target.name()]
        return [one for one in torch.utils._pytree.tree_leaves(kind.taken(node)) if isinstance(one, torch.fx.Node)]

    def explain(self, node):
        """Why the call is left to PyTorch; None if it is not."""
        if node not in self._refused:
            try:
                _KINDS[node.target.name()].check(self, node)
                self._refused[node] = None
            except UnsupportedError as error:
                self._refused[node] = str(error)
        return self._refused[node]

    def refuse(self, node, why):
        """Leaves the call to PyTorch."""
        self._refused[node] = why

    def import_(self, node, used):
        """Writes the call; returns its results, None for one whose number is not in `used`."""
        return _KINDS[node.target.name()].import_(self, node, used)

    # -- Checks ---------------------------------------------------------------------------------------------------

    def check_tensor(self, value, what):
        """Raises unless `value`, of a node, is a tensor that the dialect can hold; returns (dims, dtype)."""
        if not isinstance(value, torch.Tensor):
            raise UnsupportedError(f"{what} is no tensor")
        check_expressible(value, what, self.walker.symbols)
        return self.walker.symbols.dims(value), value.dtype

    def check_alike(self, value, wanted, what):
        """Raises unless `value` is a tensor of the dims and dtype `wanted`."""
        if self.check_tensor(value, what) != wanted:
            raise UnsupportedError(f"{what} is {_describe(value)}, but expected {_describe_wanted(wanted)}")

    def check_condition(self, value, what):
        """Raises unless `value` is a condition that the program can compute."""
        if isinstance(value, bool):
            return
        if isinstance(value, torch.SymBool):
            if not self._can_decide(value.node.expr):
                raise UnsupportedError(f"{what} is a condition on what is known only at a call")
            return
        if self.check_tensor(value, what)[0] not in ((), (1,)):
            raise UnsupportedError(f"{what} is {_describe(value)}, but expected one element")

    def _can_decide(self, expr):
        if expr in (sympy.true, sympy.false):
            return True
        if type(expr) in _COMPARISONS:
            return all(self._can_express(one) for one in expr.args)
        return isinstance(expr, (sympy.And, sympy.Or, sympy.Not)) and all(map(self._can_decide, expr.args))

    def _can_express(self, expr):
        try:
            self.walker.symbols.map_text([self.walker.symbols.make(expr)])
        except InexpressibleError:
            return False
        return True

    # -- Pieces ---------------------------------------------------------------------------------------------------

    def copy(self, node, called, operands, name):
        """Copies what a graph calls before `node`; operands: what its placeholders stand for; name: of the region.

        Returns (the copies, what the graph gives).
        """
        walker, module = self.walker, find_module(called)
        label, env, made, results = node.meta.get("label", node.name), {}, [], ()
        kept = {key: node.meta[key] for key in ("nn_module_stack", "stack_trace") if node.meta.get(key)}
        if not any(one.meta.get("nn_module_stack") for one in module.graph.nodes):
            walker.unplaced.append(label)
        rest = iter(operands)
        with node.graph.inserting_before(node):
            for one in module.graph.nodes:
                if one.op == "placeholder":
                    env[one] = next(rest)
                elif one.op == "output":
                    results = map_arg(one.args[0], env.__getitem__)
                elif one.op == "get_attr":
                    env[one] = node.graph.create_node("get_attr", f"{called.target}.{one.target}")
                    env[one].meta["label"] = f"{label}.{name}.{one.name}"
                    held = operator.attrgetter(one.target)(module)
                    if isinstance(held, torch.Tensor):
                        walker.constants.add(env[one], held.detach())
                        env[one].meta["val"] = one.meta.get("val", held)
                else:
                    env[one] = node.graph.node_copy(one, env.__getitem__)
                    own = {key: value for key, value in one.meta.items() if key not in kept or value}
                    inner = one.meta.get("label", one.name)
                    env[one].meta = {**kept, **own, "label": f"{label}.{name}.{inner}"}
                    made.append(env[one])
        return made, results

    def write(self, made, results):
        """Imports copied nodes into the region that is open; returns the Values that `results` are."""
        results = list(results)
        self.walker.walk_region(made, [one for one in results if isinstance(one, torch.fx.Node)])
        return [self.walker.tensor(one) for one in results]

    def argument(self, node, name, like, value):
        """A node for an argument of a region: `like` has its fake tensor, `value` is its Value."""
        with node.graph.inserting_before(node):
            made = node.graph.create_node("placeholder", f"{node.name}_{name}")
        made.meta = {"val": like, "label": f"{node.meta.get('label', node.name)}.{name}"}
        self.walker.set_value(made, value)
        return made

    def condition(self, call, value, suffix):
        """A tensor without dims for a condition: a node or a bool."""
        walker = self.walker
        walker.begin(call)
        fake = value.meta.get("val") if isinstance(value, torch.fx.Node) else value
        if isinstance(fake, bool):
            return walker.splat(fake, (), torch.bool)
        if isinstance(fake, torch.SymBool):
            return self._decide(fake.node.expr, suffix)
        found = walker.cast(walker.tensor(value), torch.bool, f"{suffix}.cast")
        return walker.reshape(found, (), f"{suffix}.reshape")

    def _decide(self, expr, suffix):
        """Whether a condition on sizes holds."""
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
            operands = [self._size(walker.symbols.make(one), name) for one, name in zip(expr.args, names, strict=True)]
            name = _COMPARISONS[type(expr)]
        return walker.op(name, operands, shape=(), dtype=torch.bool, suffix=suffix)

    def _size(self, size, suffix):
        walker = self.walker
        if isinstance(size, int):
            return walker.splat(size, (), torch.int64)
        return walker.op("size", [], {"sizes": [size]}, shape=(), dtype=torch.int64, suffix=suffix)


class _Cond:
    """torch.cond(condition, then, otherwise, operands)."""

    @staticmethod
    def taken(node):
        value = node.args[0].meta.get("val") if isinstance(node.args[0], torch.fx.Node) else None
        return (node.args[0] if isinstance(value, torch.Tensor) else None, node.args[3])

    @staticmethod
    def check(control, node):
        condition, *called = node.args[:3]
        control.check_condition(_value_of(condition), "the condition")
        results = node.meta["val"]
        branches = [_outputs(find_module(one)) for one in called]
        for number, result in enumerate(results):
            if not control.walker.symbols.can_express(result) and result is not None:
                wanted = control.check_tensor(result, f"result {number}")
                for name, outputs in zip(("true", "false"), branches, strict=True):
                    control.check_alike(_value_of(outputs[number]), wanted, f"result {number} of the {name} branch")

    @staticmethod
    def import_(control, node, used):
        walker, call = control.walker, ControlCall(node)
        condition, then, otherwise, operands = node.args
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
        types = [(walker.symbols.dims(call.val[number]), call.val[number].dtype) for number in used]
        return _place(walker.builder.choose(decided, *regions, types, walker.location), used, len(call.val))

    @staticmethod
    def _known(walker, condition):
        """The condition if it is known at import and no weight, which may be replaced, decides it; else None."""
        if isinstance(condition, bool):
            return condition
        if walker.is_constant(condition) and not walker.constants.weights_of(condition):
            return bool(walker.constants[condition])
        return None


class _While:
    """while_loop(condition, body, carried, captured)."""

    @staticmethod
    def taken(node):
        return node.args[2:4]

    @staticmethod
    def check(control, node):
        going, body = (find_module(one) for one in node.args[:2])
        _check_carried(control, node.args[2], _placeholders(body), _outputs(body), node.meta["val"])
        control.check_condition(_value_of(_outputs(going)), "the loop's condition")

    @staticmethod
    def import_(control, node, used):
        walker, call = control.walker, ControlCall(node)
        going, body, carried, captured = node.args
        starts = [walker.tensor(one) for one in carried]
        types = [(value.shape, value.dtype) for value in starts]
        fakes = [_value_of(one) for one in carried]
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
        return walker.builder.repeat(before, after, starts, walker.location)


class _Scan:
    """scan(body, starts, scanned, captured): the body takes carried values and one slice of each scanned tensor, and
    gives the carried values anew and slices of further results."""

    @staticmethod
    def split(node):
        """(body, starts, scanned, captured)."""
        return node.args

    @classmethod
    def taken(cls, node):
        return cls.split(node)[1:]

    @classmethod
    def check(cls, control, node):
        body, starts, scanned, _ = cls.split(node)
        if not scanned:
            raise UnsupportedError("nothing is scanned")
        module = find_module(body)
        outputs, results = _outputs(module), node.meta["val"]
        _check_carried(control, starts, _placeholders(module), outputs[: len(starts)], results[: len(starts)])
        for number, one in enumerate(scanned):
            control.check_tensor(_value_of(one), f"scanned tensor {number}")
        for number in range(len(starts), len(results)):
            if results[number] is None:
                continue
            (_, *dims), dtype = control.check_tensor(results[number], f"result {number}")
            control.check_alike(_value_of(outputs[number]), (tuple(dims), dtype), f"a slice of result {number}")

    @classmethod
    def import_(cls, control, node, used):
        walker, call = control.walker, ControlCall(node)
        body, starts, scanned, captured = cls.split(node)
        count, fakes = len(starts), [_value_of(one) for one in (*starts, *scanned)]
        stacked = [number for number in used if number >= count and isinstance(call.val[number], torch.Tensor)]
        walker.begin(call)
        carried = [walker.tensor(one) for one in starts]
        for number in stacked:
            shape, dtype = walker.symbols.dims(call.val[number]), call.val[number].dtype
            carried.append(walker.splat(0, shape, dtype, f"start{number}"))
        sources = [walker.tensor(one) for one in scanned]
        if sources[0].shape[0] == 0:
            return _place(carried, [*range(count), *stacked], len(call.val))
        with walker.builder.region([(one.shape, one.dtype) for one in carried], walker.location) as region:
            slices = [cls._read(walker, value, region, number) for number, value in enumerate(sources)]
            likes = [*fakes[:count], *(_value_of(one) for one in _placeholders(find_module(body))[count:])]
            values = [*region.arguments[:count], *slices]
            given = [
                control.argument(node, f"x{number}", like, value)
                for number, (like, value) in enumerate(zip(likes, values, strict=False))
            ]
            made, results = control.copy(node, body, [*given, *captured], "body")
            new = control.write(made, [*results[:count], *(results[number] for number in stacked)])
            walker.begin(call)
            kept = [
                cls._put(walker, whole, one, region, number)
                for number, whole, one in zip(stacked, region.arguments[count:], new[count:], strict=True)
            ]
            region.results = [*new[:count], *kept]
        rounds = sources[0].shape[0]
        rounds = rounds if isinstance(rounds, int) else control._size(rounds, "rounds")
        values = walker.builder.count(rounds, region, carried, walker.location)
        return _place(values, [*range(count), *stacked], len(call.val))

    @staticmethod
    def _read(walker, value, region, number):
        """The slice of a scanned tensor that a round takes."""
        shape = (1, *value.shape[1:])
        operands, suffix = [value, region.position], f"read{number}"
        found = walker.op("index_select", operands, {"dim": 0}, shape=shape, dtype=value.dtype, suffix=suffix)
        return walker.reshape(found, value.shape[1:], f"x{number}")

    @staticmethod
    def _put(walker, whole, value, region, number):
        """`whole` with the slice that a round makes."""
        value = walker.reshape(value, (1, *value.shape), f"slice{number}")
        operands, attributes = [whole, value, [region.position]], {"dims": [0], "accumulate": False}
        return walker.op("index_put", operands, attributes, shape=whole.shape, dtype=whole.dtype, suffix=f"put{number}")


class _Map(_Scan):
    """map_impl(body, mapped, captured): a scan that carries nothing."""

    @staticmethod
    def split(node):
        body, mapped, captured = node.args
        return body, [], mapped, captured


_KINDS = {"cond": _Cond, "while_loop": _While, "scan": _Scan, "map_impl": _Map}


def find_module(node):
    """The GraphModule (or tensor) that a node reads from what its graph belongs to."""
    return operator.attrgetter(node.target)(node.graph.owning_module)


def _arguments(control, node, name, fakes, region):
    return [
        control.argument(node, f"{name}{number}", fake, value)
        for number, (fake, value) in enumerate(zip(fakes, region.arguments, strict=True))
    ]


def _check_carried(control, starts, placeholders, outputs, results):
    """Raises unless carried values are tensors that keep their dims and dtypes from round to round."""
    for number, start in enumerate(starts):
        what = f"carried value {number}"
        wanted = control.check_tensor(_value_of(start), what)
        for value in (placeholders[number], outputs[number]):
            control.check_alike(_value_of(value), wanted, f"{what} of the body")
        control.check_alike(results[number], wanted, f"{what} after the loop")


def _place(values, numbers, count):
    """A list of `count` results: those of these numbers are `values`, the others None."""
    found = dict(zip(numbers, values, strict=True))
    return [found.get(number) for number in range(count)]


def _placeholders(module):
    return module.graph.find_nodes(op="placeholder")


def _outputs(module):
    return next(iter(module.graph.find_nodes(op="output"))).args[0]


def _value_of(value):
    """The fake tensor or size of a node; a plain value itself."""
    if not isinstance(value, torch.fx.Node):
        return value
    return find_module(value) if value.op == "get_attr" and "val" not in value.meta else value.meta.get("val")


def _describe(value):
    return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"


def _describe_wanted(wanted):
    return f"{str(wanted[1]).removeprefix('torch.')}{list(wanted[0])}"
