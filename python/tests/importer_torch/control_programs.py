# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with nested conditionals, loops and scans, as Python source."""

import random
import re

import torch
from inlay._import.torch.decompose import decompositions_for_tracing
from inlay._import.torch.program import import_graph, tensor_input
from torch import nn
from torch._higher_order_ops import while_loop
from torch._higher_order_ops.scan import scan
from torch.fx.experimental.proxy_tensor import make_fx

FLOATS = [("f32", ()), ("f32", (3,)), ("f32", (2, 3)), ("f32", (4, 3))]
KINDS = [*FLOATS, ("i64", ()), ("i64", (3,)), ("bool", ()), ("bool", (3,))]
INPUTS = [("f32", (2, 3)), ("f32", (4, 3)), ("f32", (3,)), ("i64", ()), ("i64", (3,)), ("bool", ())]
DTYPES = {"f32": torch.float32, "i64": torch.int64, "bool": torch.bool}


class _Writer:
    """Writes a function. The results of its steps are small, so that rounding errors stay small."""

    def __init__(self, seed):
        self.choose, self.lines, self.count = random.Random(seed), [], 0

    def name(self, stem="v"):
        self.count += 1
        return f"{stem}{self.count}"

    def put(self, depth, line):
        self.lines.append("    " * depth + line)

    def bind(self, depth, known, kind, text):
        name = self.name()
        self.put(depth, f"{name} = {text}")
        known.append((name, kind))
        return name

    def find(self, known, kind):
        """Returns the text of a value of that kind."""
        names = [name for name, one in known if one == kind]
        if names and self.choose.random() < 0.95:
            return self.choose.choice(names[-6:])
        number = self.choose.choice([0, 1]) if kind[0] != "bool" else self.choose.choice([True, False])
        return f"torch.full({kind[1]}, {number}, dtype=torch.{str(DTYPES[kind[0]]).removeprefix('torch.')})"

    def predicate(self, known):
        one = self.find(known, ("i64", ()))
        other = self.find(known, self.choose.choice(FLOATS))
        return self.choose.choice(
            [self.find(known, ("bool", ())), f"({one} % 2 == 0)", f"({one} > 2)", f"({other}.sum() > 0.1)"]
        )

    def step(self, depth, known):
        """Writes a call that computes a value."""
        kind = self.choose.choice(KINDS)
        element, shape = kind
        a, b = self.find(known, kind), self.find(known, kind)
        if element == "f32":
            texts = [
                f"torch.tanh({a} + {b})",
                f"torch.sin({a}) * {b}.cos()",
                f"torch.relu({a}) * 0.5",
                f"torch.where({self.predicate(known)}, {a}, {b} * 0.25)",
                f"torch.nn.functional.gelu({a}) * 0.5",
                f"torch.lgamma({a}.abs() + 1).tanh()",
            ]
            if len(shape) == 2:
                wide = self.find(known, ("f32", (3,)))
                texts += [f"torch.nn.functional.linear({a}, weight, {wide}).tanh()", f"({a} + {wide}).softmax(-1)"]
                texts += [f"torch.nn.functional.layer_norm({a}, (3,)).tanh()"]
            elif shape == (3,):
                texts += [
                    f"{self.find(known, ('f32', (2, 3)))}.mean(0)",
                    f"{self.find(known, ('f32', (4, 3)))}.amax(0)",
                ]
            else:
                texts += [f"{self.find(known, ('f32', (4, 3)))}.mean()"]
        elif element == "i64":
            mask = self.find(known, ("bool", (3,)))
            texts = [f"({a} * 3 + {b}) % 7", f"{a} - {b}", f"({mask}.sum() + {a}) % 5"]
        else:
            number, vector = self.find(known, ("i64", shape)), self.find(known, ("f32", shape))
            texts = [f"{a} & {b}", f"~{a}", f"{a} ^ {b}", f"{number} > 1", f"{vector} > 0.05"]
        self.bind(depth, known, kind, self.choose.choice(texts))

    def results(self, depth, known, kinds):
        texts = [f"{self.find(known, kind)}.clone()" for kind in kinds]
        self.put(depth, f"return ({', '.join(texts)},)")

    def block(self, depth, known, nesting):
        for _ in range(self.choose.randint(1, 4)):
            kind = self.choose.random()
            if nesting and kind < 0.2:
                self.conditional(depth, known, nesting - 1)
            elif nesting and kind < 0.35:
                self.loop(depth, known, nesting - 1)
            elif nesting and kind < 0.45:
                self.scanned(depth, known, nesting - 1)
            else:
                self.step(depth, known)

    def kinds(self, most=3):
        return [self.choose.choice(KINDS) for _ in range(self.choose.randint(1, most))]

    def keep(self, depth, known, name, kinds):
        """Binds the results of a call to names."""
        for number, kind in enumerate(kinds):
            self.bind(depth, known, kind, f"{name}[{number}]")

    def function(self, depth, stem, own, known, write):
        """Writes a function. `own` are its first arguments as (name, kind). `write(known)` writes its body.

        Returns its name, the line of its header, and the names of the outer values that it uses.
        """
        name, place = self.name(stem), len(self.lines)
        self.put(depth, "")
        write([*known, *own])
        used = set(re.findall(r"\b[a-z]+\d*\b", "\n".join(self.lines[place:])))
        return name, place, [one for one, _ in known if one in used]

    def head(self, depth, defined, own, taken):
        """Writes the header of a function after its body, which determines the arguments."""
        name, place, _ = defined
        self.lines[place] = "    " * depth + f"def {name}({', '.join([*own, *taken])}):"

    def conditional(self, depth, known, nesting):
        kinds, branches = self.kinds(), []

        def write(inner):
            self.block(depth + 1, inner, nesting)
            self.results(depth + 1, inner, kinds)

        for _ in range(2):
            branches.append(self.function(depth, "branch", [], known, write))
        taken = list(dict.fromkeys([*branches[0][2], *branches[1][2]]))
        for branch in branches:
            self.head(depth, branch, [], taken)
        name = self.name("cond")
        called = ", ".join(branch[0] for branch in branches)
        self.put(depth, f"{name} = cond({self.predicate(known)}, {called}, {_tuple(taken)})")
        self.keep(depth, known, name, kinds)

    def loop(self, depth, known, nesting):
        kinds = self.kinds(2)
        counter, carried = self.name("i"), [self.name("c") for _ in kinds]
        own = [(counter, ("i64", ())), *zip(carried, kinds, strict=True)]

        def go_on(inner):
            number = self.find([one for one in inner if one[0] != counter], ("i64", ()))
            most = self.choose.choice([str(self.choose.randint(0, 4)), f"({number} % 4)"])
            last = self.choose.choice(["", f" & {self.predicate(inner)}"])
            self.put(depth + 1, f"return ({counter} < {most}){last}")

        def round_(inner):
            self.block(depth + 1, inner, nesting)
            texts = [f"{self.find(inner, kind)}.clone()" for kind in kinds]
            self.put(depth + 1, f"return ({counter} + 1, {', '.join(texts)})")

        going, body = (
            self.function(depth, stem, own, known, write) for stem, write in (("going", go_on), ("body", round_))
        )
        taken = list(dict.fromkeys([*going[2], *body[2]]))
        for one in (going, body):
            self.head(depth, one, [counter, *carried], taken)
        starts = ["torch.zeros((), dtype=torch.int64)", *(f"{self.find(known, one)}.clone()" for one in kinds)]
        name = self.name("loop")
        self.put(depth, f"{name} = while_loop({going[0]}, {body[0]}, {_tuple(starts)}, {_tuple(taken)})")
        self.keep(depth, known, name, [("i64", ()), *kinds])

    def scanned(self, depth, known, nesting):
        carried, made = self.kinds(2), self.choose.choice([("f32", (3,)), ("i64", ()), ("bool", ())])
        source = self.choose.choice([("f32", (2, 3)), ("f32", (4, 3))])
        names, part = [self.name("c") for _ in carried], self.name("p")
        own = [*zip(names, carried, strict=True), (part, ("f32", (3,)))]

        def write(inner):
            self.block(depth + 1, inner, nesting)
            texts = [f"{self.find(inner, kind)}.clone()" for kind in (*carried, made)]
            self.put(depth + 1, f"return [{', '.join(texts)}]")

        body = self.function(depth, "step", own, known, write)
        self.head(depth, body, [*names, part], body[2])
        starts = ", ".join(f"{self.find(known, one)}.clone()" for one in carried)
        name, scanned = self.name("scan"), f"{self.find(known, source)}.clone()"
        self.put(depth, f"{name} = scan({body[0]}, [{starts}], [{scanned}], {_tuple(body[2])})")
        self.keep(depth, known, name, carried)
        result = f"{name}[{len(carried)}]"
        if made == ("f32", (3,)):
            self.bind(depth, known, source, result)
        else:
            self.bind(depth, known, ("f32", ()), f"{result}.to(torch.float32).mean()")


def _tuple(texts):
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def _while_loop(going, body, carried, taken):
    """Calls the public while_loop, whose functions capture values."""
    return while_loop(lambda *own: going(*own, *taken), lambda *own: body(*own, *taken), carried)


def _scan(body, starts, scanned, taken):
    count = len(starts)

    def step(carried, parts):
        results = body(*carried, *parts, *taken)
        return tuple(results[:count]), tuple(results[count:])

    carried, made = scan(step, tuple(starts), tuple(scanned))
    return [*carried, *made]


class Program(nn.Module):
    """A random program. `source` is its text. exported: True if it calls functions that torch.export supports."""

    def __init__(self, seed, exported=False):
        super().__init__()
        torch.manual_seed(seed)
        self.weight = nn.Parameter(torch.randn(3, 3) / 2)
        writer = _Writer(seed)
        known = [(f"x{number}", kind) for number, kind in enumerate(INPUTS)]
        known.append(("weight", ("f32", (3, 3))))
        writer.put(0, f"def forward({', '.join(name for name, _ in known)}):")
        while len(known) < 12 or not any(word in "\n".join(writer.lines) for word in ("cond(", "loop(", "scan(")):
            writer.block(1, known, 2)
        writer.put(1, f"return {_tuple([name for name, _ in known[len(INPUTS) + 1 :]][-12:])}")
        self.source = "\n".join(writer.lines)
        calls = torch.ops.higher_order
        names = {"torch": torch, "cond": calls.cond, "while_loop": calls.while_loop, "scan": calls.scan}
        if exported:
            names |= {"cond": torch.cond, "while_loop": _while_loop, "scan": _scan}
        exec(compile(self.source, f"<program {seed}>", "exec"), names)
        self.function = names["forward"]

    def forward(self, *inputs):
        return self.function(*inputs, self.weight)


def inputs(seed):
    """Returns arguments for a Program."""
    generator = torch.Generator().manual_seed(seed)
    made = []
    for element, shape in INPUTS:
        if element == "f32":
            made.append(torch.randn(shape, generator=generator))
        else:
            made.append(torch.randint(0, 2 if element == "bool" else 6, shape, generator=generator).to(DTYPES[element]))
    return tuple(made)


def trace(program, inputs):
    """Returns the graph of a program. torch.export would take ten times as long."""
    traced = make_fx(program.function, decomposition_table=decompositions_for_tracing(), tracing_mode="fake")
    with torch.no_grad():
        return traced(*inputs, program.weight.detach())


def import_traced(module, weights):
    """Imports a graph. Its last arguments are `weights`."""
    arguments = module.graph.find_nodes(op="placeholder")
    count = len(arguments) - len(weights)
    parameters = dict(zip(arguments[count:], weights, strict=True))
    for node in module.graph.find_nodes(op="get_attr"):
        if isinstance(getattr(module, node.target), torch.Tensor):
            parameters[node] = getattr(module, node.target)
    given = [(node, tensor_input(node.name, node.meta["val"])) for node in arguments[:count]]
    outputs = next(iter(module.graph.find_nodes(op="output"))).args[0]
    return import_graph(module.graph, given, torch.utils._pytree.tree_leaves(outputs), parameters)
