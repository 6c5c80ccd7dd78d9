# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the numeric check of patterns that call Python functions."""

import inlay
import pytest
from inlay import RewriteError
from inlay.errors import ArgumentTypeError
from inlay.rewrite import PatternRewriter, RewritePatternManager, pattern


class Replace(PatternRewriter):
    """Replaces an op by the result of `make` for its operands."""

    def __init__(self, root, make, separate=True):
        super().__init__("replace", root_layer=root and {root}, separate_match_rewrite=separate)
        self.make = make

    def match(self, layer):
        return True

    def rewrite(self, layer):
        layer.replace_with(self.make(*layer.get_inputs()))

    def match_and_rewrite(self, layer):
        if layer.op != "inlay.relu":
            return False
        self.rewrite(layer)
        return True


def check(one, **options):
    manager = RewritePatternManager()
    manager.add("one", one)
    manager.check("one", **options)


def relu_graph():
    return inlay.parse("""
        func.func @f(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
          %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    """)


o = inlay.ops
RIGHT = {
    "inlay.sub": lambda a, b: o.add(a, o.neg(b)),
    "inlay.mul": lambda a, b: o.mul(b, a),
    "inlay.silu": lambda x: o.mul(x, o.sigmoid(x)),
    "inlay.relu": lambda x: o.neg(o.neg(o.relu(x))),
    "inlay.square": lambda x: o.mul(x, x),
}
WRONG = [
    ("inlay.sub", lambda a, b: o.sub(b, a)),
    ("inlay.sub", lambda a, b: o.add(a, b)),
    ("inlay.sub", lambda a, b: o.sub(a, a)),
    ("inlay.add", lambda a, b: o.mul(a, b)),
    ("inlay.add", lambda a, b: o.add(a, o.relu(b))),
    ("inlay.mul", lambda a, b: o.mul(a, o.abs(b))),
    ("inlay.mul", lambda a, b: o.div(a, b)),
    ("inlay.div", lambda a, b: o.div(b, a)),
    ("inlay.div", lambda a, b: o.mul(a, b)),
    ("inlay.silu", lambda x: o.relu(x)),
    ("inlay.silu", lambda x: o.sigmoid(x)),
    ("inlay.relu", lambda x: o.abs(x)),
    ("inlay.relu", lambda x: o.neg(o.relu(o.neg(x)))),
    ("inlay.exp", lambda x: o.exp(o.neg(x))),
    ("inlay.exp", lambda x: o.add(x, o.exp(o.sub(x, x)))),
    ("inlay.tanh", lambda x: o.sigmoid(x)),
    ("inlay.tanh", lambda x: x),
    ("inlay.neg", lambda x: x),
    ("inlay.abs", lambda x: o.relu(x)),
    ("inlay.sqrt", lambda x: o.rsqrt(x)),
]


@pytest.mark.parametrize("root", [root for root in RIGHT if root.removeprefix("inlay.") in inlay.ops.table()])
def test_right_classes_hold(root):
    check(Replace(root, RIGHT[root]))


def test_wrong_classes_are_refused():
    refused = 0
    for root, make in WRONG:
        with pytest.raises(RewriteError, match=r"changes what is computed|makes an invalid graph"):
            check(Replace(root, make))
        refused += 1
    assert refused == len(WRONG)


def test_classes_that_match_and_rewrite_in_one():
    check(Replace("inlay.relu", lambda x: o.relu(o.relu(x)), separate=False))
    with pytest.raises(RewriteError, match="pattern 'one' changes what is computed"):
        check(Replace("inlay.relu", o.abs, separate=False))


def test_what_is_wrong_is_not_added():
    manager = RewritePatternManager()
    with pytest.raises(RewriteError, match="changes what is computed"):
        manager.add("one", Replace("inlay.relu", o.abs), check=True)
    with pytest.raises(RewriteError, match="changes what is computed"):
        manager.add("one", Replace(None, o.abs, separate=False), check=True, example=relu_graph())
    assert manager.labels == []


def test_classes_of_any_layer_need_an_example():
    anything = Replace(None, o.abs, separate=False)
    with pytest.raises(RewriteError, match="root_layer names no op that a graph can be drawn for; give a graph"):
        check(anything)
    with pytest.raises(RewriteError, match=r"with x: tensor<4xf32>: element .* of result #0 is 0 before"):
        check(anything, example=relu_graph())
    check(Replace(None, lambda x: o.relu(o.relu(x)), separate=False), example=[relu_graph()])
    with pytest.raises(RewriteError, match="it matches nowhere in the example"):
        check(anything, example=inlay.parse("func.func @f() { return }"))
    with pytest.raises(ArgumentTypeError, match="expected example to be a module or a list of modules"):
        check(anything, example="relu")
    with pytest.raises(inlay.ArgumentValueError, match="expected at least one example, but got none"):
        check(anything, example=[])


def test_constraints_are_asked():
    def rule(replacement, constraint):
        one = pattern("softmax")(lambda op, x: op.softmax(x, op.attr("dim"))).to(replacement)
        return one.constraint(constraint)

    same = lambda op, x: op.softmax(op.neg(op.neg(x)), op.attr("dim"))  # noqa: E731
    last = lambda op, x: op.softmax(x, -1)  # noqa: E731
    check(rule(same, lambda x: x.shape[0] != 1))
    with pytest.raises(RewriteError, match="changes what is computed"):
        check(rule(last, lambda x: len(x.shape) > 1))
    check(rule(last, lambda x, dim: dim in (-1, len(x.shape) - 1)))  # the pattern is right where the constraint holds
    with pytest.raises(RewriteError, match="it matches in none of 48 graphs"):
        check(rule(same, lambda x: False))


def test_what_functions_raise_reaches_the_caller():
    def broken(x):
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        check(Replace("inlay.relu", broken))


def test_patterns_of_libraries_are_checked_by_examples():
    manager = RewritePatternManager()
    manager.add_library("cleanup")
    assert manager.get("relu_of_relu").text.startswith("pdl.pattern @relu_of_relu")
    manager.check("relu_of_relu", example=inlay.parse("""
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = inlay.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
          return %1 : tensor<4xf32>
        }
    """))  # fmt: skip


def two_ops():
    return inlay.parse("""
        func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
          %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = inlay.add %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          return %1 : tensor<4xf32>
        }""")


def test_each_rewrite_is_checked_before_the_graph_changes():
    manager, module = RewritePatternManager(), two_ops()
    manager.add("right", Replace("inlay.relu", lambda a: o.maximum(a, o.sub(a, a))))
    manager.add("wrong", Replace("inlay.add", lambda a, b: o.sub(a, b)))
    text = str(module)
    with pytest.raises(RewriteError, match=r"rewrite 2: pattern 'wrong' changes what is computed(.*\n)*.*inlay.sub"):
        manager.rewrite(module, check=True)
    assert str(module) == text
    assert manager.rewrite(module, check=True, limit=1) == 1 and "inlay.maximum" in str(module)
    manager.disable("wrong")
    module = two_ops()
    assert manager.rewrite(module, check=True) == 1 and "inlay.maximum" in str(module)


def test_checked_rewrites_without_end_end():
    manager, module = RewritePatternManager(), two_ops()
    manager.add("turn", Replace("inlay.add", lambda a, b: o.add(b, a)))
    with pytest.raises(RewriteError, match="turn"):
        manager.rewrite(module, check=True, budget=0.02)
