"""Rewrite a graph with a peer, or write patterns for Inlay: `rewrite_peers.py PEER OPS PATTERNS`.

The graph consists of blocks sigmoid(mul(relu(add(matmul(x, w), b)), s)). The first pattern fuses relu(add(matmul(x, w),
b)) into one op. The other patterns match its first two levels and fail at the third. Each peer is used as in its
documentation. Prints a JSON object with the times to create the patterns and to rewrite, in milliseconds of processor
time, and the number of fused blocks. For `inlay` the object has the patterns as PDL instead. Everything runs once
before it is timed, except for the peer that takes minutes. Exits with 3 if the peer isn't installed.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

Result = dict[str, Any]


def timed(step: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = step()
    return (time.process_time() - start) * 1e3, result


def author_inlay(blocks: int, patterns: int) -> Result:
    from inlay.rewrite import pattern

    def make(number: int) -> str:
        @pattern(f"p{number}")
        def fuse(op, x, w, b):
            first = op.matmul(x, w) if number == 0 else op(f"t.other{number}", x, w)
            return op.relu(op.add(first, b))

        @fuse.to
        def _(op, x, w, b):
            return op("my.linear_relu", x, w, b)

        return fuse.pdl

    taken, texts = timed(lambda: [make(number) for number in range(patterns)])
    return {"author_ms": taken, "pdl": "".join(texts)}


def run_onnxscript(blocks: int, patterns: int) -> Result:
    import onnx_ir
    from onnx import TensorProto, helper
    from onnxscript.rewriter import pattern as rewriting

    nodes, value = [], "x"
    for number in range(blocks):
        for kind, other in (("MatMul", "w"), ("Add", "b"), ("Relu", None), ("Mul", "s"), ("Sigmoid", None)):
            result = f"{kind}{number}"
            nodes.append(helper.make_node(kind, [value, other] if other else [value], [result], name=result))
            value = result
    tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4])  # noqa: E731
    graph = helper.make_graph(nodes, "main", [tensor(name) for name in "xwbs"], [tensor(value)])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("my", 1)]
    model = onnx_ir.serde.deserialize_model(helper.make_model(graph, opset_imports=opsets))

    def make(number: int) -> Any:
        def match(op, x, w, b):
            first = op.MatMul(x, w) if number == 0 else getattr(op, f"Other{number}")(x, w)
            return op.Relu(op.Add(first, b))

        return rewriting.RewriteRule(match, lambda op, x, w, b: op.LinearRelu(x, w, b, _domain="my"))

    authoring, rules = timed(lambda: rewriting.RewriteRuleSet([make(number) for number in range(patterns)]))
    taken, _ = timed(lambda: rules.apply_to_model(model))
    return {"author_ms": authoring, "rewrite_ms": taken, "fused": sum(n.op_type == "LinearRelu" for n in model.graph)}


def run_xdsl(blocks: int, patterns: int) -> Result:
    from xdsl.dialects.builtin import ModuleOp, TensorType, f32
    from xdsl.dialects.test import TestOp
    from xdsl.ir import Dialect
    from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def, var_operand_def
    from xdsl.pattern_rewriter import (
        GreedyRewritePatternApplier,
        PatternRewriter,
        PatternRewriteWalker,
        RewritePattern,
        op_type_rewrite_pattern,
    )
    from xdsl.traits import Pure

    def define(kind: str) -> type:
        fields = {"operands_": var_operand_def(), "out": result_def(), "traits": traits_def(Pure())}
        body = {"name": f"bench.{kind}", "__module__": __name__, **fields}
        return irdl_op_definition(type(kind, (IRDLOperation,), body))

    kinds = {kind: define(kind) for kind in ("matmul", "add", "relu", "mul", "sigmoid", "fused")}
    others = [define(f"other{number}") for number in range(1, patterns)]
    Dialect("bench", [*kinds.values(), *others])
    shape = TensorType(f32, [4, 4])
    inputs = TestOp(result_types=[shape] * 4)
    x, w, b, s = inputs.results
    made = [inputs]
    for _ in range(blocks):
        for kind, other in (("matmul", w), ("add", b), ("relu", None), ("mul", s), ("sigmoid", None)):
            made.append(kinds[kind].create(operands=[x, other] if other else [x], result_types=[shape]))
            x = made[-1].results[0]
    made.append(TestOp(operands=[x]))
    module = ModuleOp(made)
    relu = kinds["relu"]

    class Fuse(RewritePattern):
        def __init__(self, first: type):
            self.first = first

        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: relu, rewriter: PatternRewriter):
            add = op.operands[0].owner
            if not isinstance(add, kinds["add"]):
                return
            first = add.operands[0].owner
            if isinstance(first, self.first):
                fused = kinds["fused"].create(operands=[*first.operands, add.operands[1]], result_types=[shape])
                rewriter.replace(op, fused)
                rewriter.erase(add)
                rewriter.erase(first)

    make = lambda: PatternRewriteWalker(  # noqa: E731
        GreedyRewritePatternApplier([Fuse(first) for first in (kinds["matmul"], *others)])
    )
    authoring, walker = timed(make)
    taken, _ = timed(lambda: walker.rewrite_module(module))
    fused = sum(isinstance(op, kinds["fused"]) for op in module.walk())
    return {"author_ms": authoring, "rewrite_ms": taken, "fused": fused}


def make_fx(blocks: int, functions: list[Any]) -> Any:
    import torch

    matmul, add, relu, mul, sigmoid = functions
    graph = torch.fx.Graph()
    x, w, b, s = (graph.placeholder(name) for name in "xwbs")
    for _ in range(blocks):
        x = graph.call_function(relu, (graph.call_function(add, (graph.call_function(matmul, (x, w)), b)),))
        x = graph.call_function(sigmoid, (graph.call_function(mul, (x, s)),))
    graph.output(x)
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def run_inductor(blocks: int, patterns: int) -> Result:
    import torch
    from torch._inductor.pattern_matcher import Arg, CallFunction, PatternMatcherPass, register_graph_pattern

    aten = torch.ops.aten
    functions = [aten.mm.default, aten.add.Tensor, aten.relu.default, aten.mul.Tensor, aten.sigmoid.default]
    module = make_fx(blocks, functions)
    fused_op = torch.addmm
    passes = PatternMatcherPass()

    def make(number: int) -> None:
        name = UNRELATED[(number - 1) % len(UNRELATED)] if number else "mm"
        inner = CallFunction(getattr(aten, name).default, Arg(), Arg())
        linear = CallFunction(aten.relu.default, CallFunction(aten.add.Tensor, inner, Arg()))

        @register_graph_pattern(linear, pass_dict=passes)
        def _(match, x, w, b):
            with match.graph.inserting_before(match.output_node()):
                fused = match.graph.call_function(fused_op, (b, x, w))
            match.output_node().replace_all_uses_with(fused)
            match.erase_nodes()

    # The patterns that fail come first, since the matching one would prevent their attempts.
    authoring, _ = timed(lambda: [make(number) for number in [*range(1, patterns), 0]])
    taken, _ = timed(lambda: passes.apply(module.graph))
    return {"author_ms": authoring, "rewrite_ms": taken, "fused": sum(n.target is fused_op for n in module.graph.nodes)}


# Ops with two operands that the graph does not have.
UNRELATED = ["bmm", "mv", "dot", "vdot", "outer", "atan2", "hypot", "fmod", "ger", "inner", "fmin", "fmax", "maximum"]


def run_fx(blocks: int, patterns: int) -> Result:
    import operator

    import torch
    from torch.fx import subgraph_rewriter

    module = make_fx(blocks, [torch.matmul, operator.add, torch.relu, operator.mul, torch.sigmoid])

    def match(x, w, b):
        return torch.relu(torch.matmul(x, w) + b)

    def replacement(x, w, b):
        return torch.addmm(b, x, w)

    taken, _ = timed(lambda: subgraph_rewriter.replace_pattern(module, match, replacement))
    fused = sum(node.target is torch.addmm for node in module.graph.nodes)
    return {"author_ms": 0.0, "rewrite_ms": taken, "fused": fused}


PEERS = {
    "inlay": author_inlay,
    "onnxscript": run_onnxscript,
    "xdsl": run_xdsl,
    "inductor": run_inductor,
    "torch.fx": run_fx,
}

# This peer takes so long that a first run would not change its figures.
SLOW = "torch.fx"


def main() -> int:
    peer, ops, patterns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    try:
        if peer != SLOW:
            PEERS[peer](ops // 5, patterns)
        result = PEERS[peer](ops // 5, patterns)
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 3
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
