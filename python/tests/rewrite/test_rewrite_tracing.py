# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of traced patterns: their rewrites by inlay-opt, and their errors."""

import math
import subprocess

import inlay
import pytest
import torch
from conftest import INLAY_OPT
from inlay.rewrite import AnalysisPatternManager, RewritePatternManager, pattern
from inlay.rewrite import op as make_layer
from rewriting import drawn, network, rewritten

GRAPH = """
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %two = inlay.constant dense<2.0> : tensor<f32>
  %0 = inlay.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = inlay.add %b, %0 : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = inlay.relu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = inlay.mul %2, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = inlay.softmax %3 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = inlay.sum %4 dims [0] keepdim : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %6 = inlay.sub %4, %5 : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}
"""


def rewrite(tmp_path, *patterns, options=""):
    """Returns the ops of the graph after the rewrites, by name."""
    file = tmp_path / "patterns.pdl.mlir"
    file.write_text("".join(one.pdl for one in patterns))
    command = [INLAY_OPT, "--allow-unregistered-dialect", f"--inlay-rewrite=patterns={file} {options}"]
    done = subprocess.run(command, input=GRAPH, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def make(build, replace, label="p", condition=None):
    traced = pattern(label)(build).to(replace)
    return traced.where(condition) if condition else traced


def test_fusion_matches_in_either_order(tmp_path):
    fuse = make(lambda op, x, w, b: op.relu(op.matmul(x, w) + b), lambda op, x, w, b: op("my.fused", x, w, b, axis=1))
    text = rewrite(tmp_path, fuse)
    assert '"my.fused"(%arg0, %arg1, %arg2) {axis = 1 : i64}' in text
    assert "inlay.matmul" not in text


def test_attributes_are_compared(tmp_path):
    replace = lambda op, x: op.neg(x)  # noqa: E731
    assert "inlay.neg" in rewrite(tmp_path, make(lambda op, x: op.softmax(x, dim=-1), replace))
    assert "inlay.neg" not in rewrite(tmp_path, make(lambda op, x: op.softmax(x, 0), replace))


def test_flags_left_out_are_absent(tmp_path):
    replace = lambda op, x: op("my.sum", x)  # noqa: E731
    assert "my.sum" not in rewrite(tmp_path, make(lambda op, x: op.sum(x, [0]), replace))
    assert "my.sum" in rewrite(tmp_path, make(lambda op, x: op.sum(x, [0], keepdim=True), replace))


def test_attributes_of_any_value_reach_the_replacement(tmp_path):
    build = lambda op, x: op.softmax(x, op.attr("dim"))  # noqa: E731
    assert '"my.softmax"(%4) {axis = -1 : i64}' in rewrite(
        tmp_path, make(build, lambda op, x: op("my.softmax", x, axis=op.attr("dim")))
    )


def test_numbers_are_constants_of_equal_elements(tmp_path):
    replace = lambda op, x: op("my.twice", x)  # noqa: E731
    assert "my.twice" in rewrite(tmp_path, make(lambda op, x: x * 2, replace))
    assert "my.twice" not in rewrite(tmp_path, make(lambda op, x: x * 3, replace))


def test_conditions(tmp_path):
    def check(condition):
        return "my.yes" in rewrite(
            tmp_path, make(lambda op, x: op.relu(x), lambda op, x: op("my.yes", x), condition=condition)
        )

    assert check(lambda m: m.x.dtype("f32", "f16"))
    assert not check(lambda m: m.x.dtype("f16"))
    assert check(lambda m: (m.x.rank(1, 2), m.x.dim(0, 4), m.x.multiple_of(-1, 8), m.x.static_shape()))
    assert not check(lambda m: m.x.multiple_of(0, 8))
    assert check(lambda m: m.x.constant(False))
    assert not check(lambda m: m.x.foldable())


def test_run_time_arguments(tmp_path):
    fuse = make(
        lambda op, x: op.relu(x),
        lambda op, x: op("my.relu", x, amount=op.arg("amount")),
        condition=lambda m: m.args.equals("mode", "fast"),
    )
    assert "amount = 3" in rewrite(tmp_path, fuse, options="args=mode=fast,amount=3")
    assert "my.relu" not in rewrite(tmp_path, fuse, options="args=mode=slow,amount=3")


def test_several_results(tmp_path):
    def build(op, x):
        shared = op.relu(x)
        return shared * 2, shared

    def replace(op, x):
        shared = op("my.relu", x)
        return op("my.twice", shared), shared

    text = rewrite(tmp_path, make(build, replace))
    assert text.count("my.relu") == text.count("my.twice") == 1
    assert "inlay.relu" not in text


def two_and_use(*more):
    def build(x):
        first, second = make_layer("t.two", x, results=[x, "tensor<2xf16>"])
        return make_layer("t.use", first, results=[x]), second, *(make_layer("t.use", first, results=[x]) for _ in more)

    return network(build, x="4xf32")


def find_two_and_use(op, x):
    first, second = op("t.two", x, results=2)
    return op("t.use", first), second


def test_results_that_only_the_match_uses_need_no_replacement():
    both = make(find_two_and_use, lambda op, x: op("t.both", x, results=2))
    module = two_and_use()
    assert rewritten(module, both) == 1
    assert drawn(module) == ["%1, %2 = t.both(x)", "return %1, %2"]
    assert [tensor.type for tensor in module.get_outputs()] == ["tensor<4xf32>", "tensor<2xf16>"]
    assert rewritten(two_and_use("more"), both) == 0
    first = make(lambda op, x: op("t.two", x, results=2)[0], lambda op, x: op("t.one", x, like=x))
    assert rewritten(two_and_use(), first) == 0  # its second result is used
    module = network(lambda x: make_layer("t.two", x, results=[x, x])[0], x="4xf32")
    assert rewritten(module, first) == 1 and drawn(module) == ["%1 = t.one(x)", "return %1"]


def test_results_may_have_the_types_of_inputs():
    def replace(op, x):
        inner = op("t.inner", x, results=2, like=(x, x))
        return op("t.both", inner[1], results=2)

    module = two_and_use()
    assert rewritten(module, make(find_two_and_use, replace)) == 1
    assert drawn(module) == ["%1, %2 = t.inner(x)", "%3, %4 = t.both(%2)", "return %3, %4"]
    assert [tensor.type for tensor in module.get_layers()[0].get_outputs()] == ["tensor<4xf32>"] * 2


@pytest.mark.parametrize(
    ("build", "replace", "message"),
    [
        (lambda op, x: op.rellu(x), lambda op, x: x, "unknown op 'rellu' in pattern 'p'; did you mean 'relu'?"),
        (lambda op, x: op.relu(), lambda op, x: x, "op.relu needs its argument 'input'"),
        (lambda op, x: op.relu(x, 1), lambda op, x: x, "op.relu takes 1 arguments"),
        (lambda op, x: op.softmax(x, dm=1), lambda op, x: x, "has no argument 'dm'; did you mean 'dim'?"),
        (lambda op, x: op.relu("x"), lambda op, x: x, "expected values as operands of 'relu', but got 'x'"),
        (lambda op, x: x, lambda op, x: x, "expected a value that an op of pattern 'p' makes, but got the capture 'x'"),
        (lambda op, x: 1, lambda op, x: x, "expected values from the functions of pattern 'p', got 1"),
        (lambda op, x: op.relu(x), lambda op, y: y, "names 'y', which isn't captured"),
        (lambda op, x: op.relu(x), lambda op, x: (x, x), "has 1 results, but its replacement has 2"),
        (lambda op, x: op.relu(x), lambda op, x: x * 2, "expected a captured value in the replacement"),
        (lambda op, x: op.relu(x), lambda op, x: op.softmax(x, op.attr("dim")), "captures no attribute 'dim'"),
        (lambda op, x: op.softmax(x, op.attr("x")), lambda op, x: x, "but 'x' is captured twice"),
        (lambda op, x: op.relu(x) if x else x, lambda op, x: x, "state conditions in 'where'"),
        (lambda op, *x: op.relu(x[0]), lambda op, x: x, "to take 'op' and captured values"),
        (
            lambda op, x: op.relu(x),
            lambda op, x: op("t.a", x, like=op.neg(x)),
            "expected 'like' to be a value of the pat",
        ),
        (lambda op, x: op("relu", x), lambda op, x: x, "expected an op's full name with its dialect, but got 'relu'"),
    ],
)
def test_mistakes(build, replace, message):
    with pytest.raises((TypeError, ValueError)) as error:
        _ = make(build, replace).pdl
    assert message in str(error.value)


def test_labels_and_benefits():
    with pytest.raises(TypeError, match="expected a label"):
        pattern(lambda op, x: x)
    with pytest.raises(ValueError, match="expected a benefit from 0 to 32767, but got -1"):
        pattern("p", benefit=-1)
    with pytest.raises(ValueError, match="has no replacement"):
        _ = pattern("p")(lambda op, x: op.relu(x)).pdl
    with pytest.raises(ValueError, match="captures no value 'y'"):
        _ = make(lambda op, x: op.relu(x), lambda op, x: x, condition=lambda m: m.y.rank(2)).pdl


PAIR = make(
    lambda op, x, w, v: (op.matmul(x, w), op.matmul(x, v)),
    lambda op, x, w, v: op("t.pair", x, w, v, results=2),
    label="pair",
)


@pytest.mark.parametrize("driver", ["fixpoint", "sweep", "greedy"])
@pytest.mark.parametrize(("count", "pairs"), [(1, 0), (2, 1), (3, 1), (4, 2)])
def test_two_ops_of_a_pattern_are_two_of_the_graph(driver, count, pairs):
    matrices = ", ".join(f"%w{i}: tensor<8x8xf32>" for i in range(count))
    products = "\n".join(
        f"  %{i} = inlay.matmul %x, %w{i} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>" for i in range(count)
    )
    results = ", ".join(f"%{i}" for i in range(count))
    types = ", ".join(["tensor<4x8xf32>"] * count)
    graph = inlay.parse(
        f"func.func @f(%x: tensor<4x8xf32>, {matrices}) -> ({types}) {{\n{products}\n  return {results} : {types}\n}}"
    )
    manager = RewritePatternManager()
    manager.add("pair", PAIR)
    assert manager.rewrite(graph, driver=driver) == pairs
    assert str(graph).count("t.pair") == pairs and str(graph).count("inlay.matmul") == count - 2 * pairs


@pytest.mark.parametrize("driver", ["fixpoint", "greedy"])
def test_what_grows_without_end_is_ended(driver):
    manager = RewritePatternManager()
    manager.add("grow", make(lambda op, x: op.relu(x), lambda op, x: op.relu(op.relu(x)), label="grow"))
    graph = inlay.parse(GRAPH)
    before = str(graph)
    with pytest.raises(inlay.RewriteError, match="grow"):
        manager.rewrite(graph, driver=driver)
    assert str(graph) == before


def states(condition):
    """Returns the PDL of a pattern of an op with these conditions on its captures."""
    return make(lambda op, x, y: op.add(x, y), lambda op, x, y: op.sub(x, y), "a", condition).pdl


def test_dtypes_are_told_in_each_spelling():
    texts = [states(lambda m, one=one: m.x.dtype("f16", one)) for one in ("f32", "float32", torch.float32)]
    assert '["f16", "f32"]' in texts[0] and texts == texts[:1] * 3


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (lambda m: m.x.dtype(), "expected dtypes for x.dtype in pattern 'a'"),
        (lambda m: m.x.dtype("f33"), "in x.dtype of pattern 'a': unknown dtype 'f33'"),
        (lambda m: m.x.dtype('f32"]'), "in x.dtype of pattern 'a': unknown dtype"),
        (lambda m: m.x.dtype(3), "in x.dtype of pattern 'a': expected a dtype like torch.float16, but got 3"),
        (lambda m: m.x.rank(-1), "expected 'least' of x.rank in pattern 'a' to be an integer from 0, but got -1"),
        (lambda m: m.x.rank("a"), "'least' of x.rank in pattern 'a' to be an integer from 0, but got 'a'"),
        (lambda m: m.x.rank(True), "but got True"),
        (lambda m: m.x.rank(3, 1), "expected 'most' of x.rank in pattern 'a' to be an integer from 3, but got 1"),
        (lambda m: m.x.dim(10**30, 4), "expected 'dim' of x.dim in pattern 'a' to be an integer of 64 bits, but got 1"),
        (lambda m: m.x.dim(0.5, 4), "expected 'dim' of x.dim in pattern 'a' to be an integer, but got 0.5"),
        (lambda m: m.x.dim(0, -5), "expected 'size' of x.dim in pattern 'a' to be an integer from 0, but got -5"),
        (lambda m: m.x.dim_between(0, 4, 2), "'most' of x.dim_between in pattern 'a' to be an integer from 4, but got"),
        (
            lambda m: m.x.multiple_of(0, 0),
            "'factor' of x.multiple_of in pattern 'a' to be an integer from 1, but got",
        ),
        (lambda m: m.x.multiple_of(0, -4), "to be an integer from 1, but got -4"),
        (lambda m: m.x.multiple_of(0, 1.5), "to be an integer from 1, but got 1.5"),
        (lambda m: m.x.splat(0, -1), "'tolerance' of x.splat in pattern 'a' to be a number from 0, but got -1"),
        (lambda m: m.x.splat("1"), "'number' of x.splat in pattern 'a' to be a number, but got '1'"),
        (lambda m: m.x.splat(math.nan), "'number' of x.splat in pattern 'a' to be a number, but got nan"),
        (lambda m: m.x.foldable(-1), "'depth' of x.foldable in pattern 'a' to be an integer from 0, but got -1"),
        (lambda m: m.x.constant("no"), "'yes' of x.constant in pattern 'a' to be True or False, but got 'no'"),
        (lambda m: m.x.same_shape("y"), "'other' of x.same_shape in pattern 'a' to be a captured value, as m.x, but"),
        (lambda m: m.x.rnk(1), "unknown predicate 'rnk' of 'x' in pattern 'a'; did you mean 'rank'?"),
        (lambda m: m.args.equals("", 1), "'name' of args.equals in pattern 'a' to be a non-empty string"),
    ],
)
def test_conditions_that_never_hold(condition, message):
    with pytest.raises((TypeError, ValueError)) as error:
        states(condition)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda op, x, y: op.relu(x), "capture 'y' isn't used by pattern 'a'"),
        (lambda op, x, y: (op.attr("dim"), op.add(x, y))[1], "capture 'dim' isn't used by pattern 'a'"),
        (
            lambda op, ü: op.relu(ü),
            "expected names of ASCII letters, digits and underscores in pattern 'a', but got",
        ),
        (lambda op, x: op.softmax(x, op.attr("dim dim")), "in pattern 'a', but got 'dim dim'"),
        (lambda op, x: op.softmax(x, op.attr("0")), "in pattern 'a', but got '0'"),
        (lambda op, x: x, "expected a value that an op of pattern 'a' makes, but got the capture 'x'"),
        (lambda op, x: op("t.a", x, **{"": 1}), "expected names of attributes for 't.a', but got an empty one"),
        (
            lambda op, x: (op.tanh(x), op.relu(x))[1],
            "'inlay.tanh' isn't part of a value that the function of pattern 'a' returns",
        ),
        (lambda op, x, y: (op.relu(x), op.exp(y)), "expected the results of pattern 'a' to share a captured value"),
        (lambda op, x: x + math.nan, "expected a number in pattern 'a' to be a number, but got nan"),
    ],
)
def test_what_pdl_would_refuse_is_said_in_terms_of_the_function(build, message):
    with pytest.raises((TypeError, ValueError)) as error:
        _ = make(build, lambda op, *_: None, "a").trace("a")
    assert message in str(error.value)


@pytest.mark.parametrize("given", [lambda one: one.to(5), lambda one: one.where(5), lambda one: one.constraint(5)])
def test_functions_are_functions(given):
    with pytest.raises(TypeError, match="expected a function for pattern 'a', but got 5"):
        given(pattern("a")(lambda op, x: op.relu(x)))
    with pytest.raises(TypeError, match="expected a function for pattern 'a', but got 5"):
        pattern("a")(5)


def test_several_results_are_found_without_a_replacement():
    def build(x, w, v):
        first = x @ w
        return first, x @ v, make_layer.exp(first)

    module, manager = network(build, x="4x8xf32", w="8x8xf32", v="8x8xf32"), AnalysisPatternManager()
    manager.add("two", pattern("two")(lambda op, x, w, v: (x @ w, x @ v)).constraint(lambda w, v: w != v))
    manager.add("chain", pattern("chain")(lambda op, x, w: (lambda first: (first, op.exp(first)))(x @ w)))
    found = [(match.label, len(match.layers)) for match in manager.analyze(module)]
    assert sorted(found) == [("chain", 2), ("two", 2), ("two", 2)]
    assert [layer.op for layer in module.get_layers()] == ["inlay.matmul", "inlay.matmul", "inlay.exp"]


def test_names_of_attributes_may_be_any_text(tmp_path):
    replace = lambda op, x: op("my.yes", x, **{'a"b': 1})  # noqa: E731
    assert "my.yes" in rewrite(tmp_path, make(lambda op, x: op.relu(x), replace))


def test_products_and_powers(tmp_path):
    product = make(lambda op, x, w: x @ w, lambda op, x, w: op("my.product", x, w))
    assert "my.product" in rewrite(tmp_path, product)
    module = network(lambda x: [x**2, x**3], x="4xf32")
    assert rewritten(module, make(lambda op, x: x**2, lambda op, x: x * x)) == 1
    module = network(lambda x: 2**x, x="4xf32")
    assert rewritten(module, make(lambda op, x: 2**x, lambda op, x: op.exp(x))) == 1


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("number", [math.inf, -math.inf])
def test_infinities_are_constants(dtype, number):
    module = network(lambda x: [x * number, x * -number], x=f"4x{dtype}")
    assert rewritten(module, make(lambda op, x: x * number, lambda op, x: op.neg(x))) == 1
    by_where = make(lambda op, x, y: x * y, lambda op, x, y: op.neg(x), "p", lambda m: m.y.splat(-number))
    assert rewritten(module, by_where) == 1
    written = make(lambda op, x: op.neg(x), lambda op, x: op("my.neg", x, by=number))
    assert rewritten(module, written) == 2
    assert [layer.by for layer in module.get_layers() if layer.op == "my.neg"] == [number] * 2


def test_no_number_is_a_constant_of_a_graph():
    for dtype, text in (("f32", "0x7FC00000"), ("f16", "0x7E00"), ("f64", "0x7FF8000000000000")):
        assert f"dense<{text}> : tensor<{dtype}>" in str(network(lambda x: x + math.nan, x=f"4x{dtype}"))
    with pytest.raises(ValueError, match="expected a number that i64 can hold, but got inf"):
        network(lambda x: x + math.inf, x="4xi64")
