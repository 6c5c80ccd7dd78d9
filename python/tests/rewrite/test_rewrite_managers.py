# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of managers: labels, order, arguments, matches, and errors of patterns."""

import json

import inlay
import pytest
from inlay.rewrite import (
    AnalysisPatternManager,
    Interface,
    PatternAnalyzer,
    PatternRewriter,
    RewritePatternManager,
    net_guard,
    op,
    pattern,
)
from rewriting import LINEAR, chain, kinds, linear


def rename(label, old, new, **options):
    return pattern(label, **options)(lambda op, x: op(old, x)).to(lambda op, x: op(new, x))


class Rename(PatternRewriter):
    """The pattern of `rename` as a class."""

    def __init__(self, old, new, **options):
        super().__init__(f"{old}_to_{new}", root_layer={old}, **options)
        self.new, self.seen = new, []

    def match_and_rewrite(self, layer):
        self.seen.append(layer.name)
        layer.replace_with(op(self.new, *layer.get_inputs(), results=layer.get_outputs()))
        return True


def manage(**patterns):
    manager = RewritePatternManager()
    for label, one in patterns.items():
        manager.add(label, one)
    return manager


def test_labels_are_unique_and_lead_to_patterns():
    first, second = rename("p", "t.a", "t.b"), Rename("t.b", "t.c")
    manager = manage(first=first, second=second)
    with pytest.raises(ValueError, match=r"there is a pattern labeled 'first' already"):
        manager.add("first", second)
    assert manager.get("first") is first and manager.get("second") is second
    with pytest.raises(ValueError, match=r"expected the label of a pattern, but got 'secnd'; did you mean 'second'"):
        manager.get("secnd")
    assert manager.labels == ["first", "second"]
    manager.remove("first")
    assert manager.labels == ["second"]
    manager.add("first", first)
    module = chain("t.a")
    assert manager.rewrite(module) == 2
    assert kinds(module) == ["t.c"]
    with pytest.raises(ValueError, match=r"expected the label of a pattern"):
        manager.remove("third")


def test_high_benefit_first_then_the_first_added():
    manager = RewritePatternManager()
    manager.add("low", rename("p", "t.a", "t.low"), 1)
    manager.add("high", Rename("t.a", "t.high"), 3)
    manager.add("as_high", rename("p", "t.a", "t.as_high"), 3)
    assert manager.labels == ["high", "as_high", "low"]
    module = chain("t.a")
    assert manager.rewrite(module) == 1 and kinds(module) == ["t.high"]
    assert manager.get("high").seen == ["t.a#0"]
    manager.disable("high")
    assert not manager.is_enabled("high") and manager.is_enabled("low")
    module = chain("t.a")
    assert manager.rewrite(module) == 1 and kinds(module) == ["t.as_high"]
    assert manager.disable("*") == 3 and manager.enable("l*") == 1
    module = chain("t.a")
    assert manager.rewrite(module) == 1 and kinds(module) == ["t.low"]
    assert manager.statistics("low").rewritten == 1


def test_what_is_removed_is_not_offered():
    other = Rename("t.a", "t.c")
    manager = manage(first=Rename("t.a", "t.b"), second=other)
    manager.rewrite(chain("t.a", "t.a"))
    assert other.seen == []


def test_rules_go_on_until_none_matches():
    module = chain("t.a", "t.b", "t.a")
    manager = manage(ab=Rename("t.a", "t.b"), bc=rename("p", "t.b", "t.c"))
    assert manager.rewrite(module) == 5
    assert kinds(module) == ["t.c"] * 3
    module = chain("t.a", "t.a", "t.a")
    assert manager.rewrite(module, limit=2, driver="sweep") == 2


@pytest.mark.parametrize("driver", ["fixpoint", "sweep", "greedy"])
def test_drivers(driver):
    module = linear()
    assert manage(p=rename("p", "inlay.relu", "t.relu")).rewrite(module, driver=driver) == 1
    assert kinds(module) == ["matmul", "add", "t.relu"]
    assert manage(p=Rename("t.relu", "inlay.relu")).rewrite(module, driver=driver) == 1
    assert kinds(module) == ["matmul", "add", "relu"]


@pytest.mark.parametrize("make", [Rename, lambda old, new: rename("p", old, new)])
def test_patterns_that_never_end_are_named(make):
    module = chain("t.a")
    before = module.text(locations=True)
    with pytest.raises(inlay.RewriteError, match=r"rewriting doesn't end: patterns '(ab|ba)' and '(ab|ba)' lead back"):
        manage(ab=make("t.a", "t.b"), ba=make("t.b", "t.a")).rewrite(module)
    assert module.text(locations=True) == before


class Raises(PatternRewriter):
    """Changes the graph and then raises an exception."""

    def __init__(self, separate=False, where="rewrite"):
        super().__init__("raises", root_layer=["inlay.relu"], separate_match_rewrite=separate)
        self.where = where

    def match(self, layer):
        if self.where == "match":
            raise KeyError("here")
        return True

    def rewrite(self, layer):
        layer.replace_with(op.neg(op.exp(layer.input)))
        raise KeyError("here")

    def match_and_rewrite(self, layer):
        self.rewrite(layer)


@pytest.mark.parametrize("driver", ["fixpoint", "sweep", "greedy"])
@pytest.mark.parametrize("pattern", [Raises(), Raises(True), Raises(True, "match")])
def test_what_raises_leaves_the_graph_as_it_was(pattern, driver):
    module = linear()
    before = module.text(locations=True)
    manager = manage(first=Rename("inlay.add", "t.add"), broken=pattern)
    with pytest.raises(KeyError) as raised:
        manager.rewrite(module, driver=driver)
    assert raised.value.args == ("here",)
    assert raised.value.__notes__ == ["in pattern 'broken' at 'inlay.relu' \"act\""]
    assert str(module) == str(inlay.parse(before))
    with pytest.raises(inlay.RewriteError, match=r"there is no module"):  # the scopes are closed
        op("t.new", results=[])
    manager.remove("broken")
    assert manager.rewrite(module) == 1


def test_what_a_constraint_raises():
    checked = rename("p", "inlay.relu", "t.relu")
    checked.constraint(lambda x: x < 1 / 0)
    module = linear()
    with pytest.raises(ZeroDivisionError) as raised:
        manage(first=Rename("inlay.add", "t.add"), checked=checked).rewrite(module)
    assert raised.value.__notes__ == ["in pattern 'checked' at 't.add' \"bias\""]
    assert kinds(module) == ["matmul", "add", "relu"]


def test_constraints_see_what_is_captured():
    asked = []

    @pattern("p")
    def fuse(op, x, rest):
        return op.softmax(op.cat([x, op.rest("more")], dim=0) + rest, op.attr("dim"))

    fuse.to(lambda op, x, rest: op("t.fused", x, rest, op.rest("more"), like=None))

    @fuse.constraint
    def _(x, more, dim, args):
        asked.append((x.shape, [tensor.name for tensor in more], dim, args))
        return "not wanted" if args["no"] else True

    @fuse.where
    def _(m):
        m.rest.dtype("f32")
        m.constraint(lambda rest: rest.is_input(), m.rest)

    text = """func.func @f(%x: tensor<4xf32> loc("x"), %y: tensor<1xf32> loc("y")) -> tensor<9xf32> {
  %0 = inlay.cat %x, %y, %x dim 0 : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<9xf32>
  %1 = inlay.add %0, %y : (tensor<9xf32>, tensor<1xf32>) -> tensor<9xf32>
  %2 = inlay.softmax %1 dim -1 : (tensor<9xf32>) -> tensor<9xf32>
  return %2 : tensor<9xf32>
}"""
    manager = manage(fuse=fuse)
    assert manager.rewrite(inlay.parse(text), args={"no": True}) == 0
    assert "not wanted" in str(manager.explain("fuse", inlay.parse(text), args={"no": True}))
    module = inlay.parse(text)
    assert manager.rewrite(module, args={"no": False}) == 1
    assert kinds(module) == ["t.fused"]
    assert asked[-1] == ((4,), ["y", "x"], -1, {"no": False})


def test_the_same_pattern_under_two_labels():
    one = rename("p", "t.a", "t.b").constraint(lambda x: x.is_input())
    manager = manage(first=one, second=one)
    manager.remove("second")
    module = chain("t.a", "t.a")
    assert manager.rewrite(module) == 1
    assert kinds(module) == ["t.b", "t.a"]


def test_arguments_reach_patterns():
    class Needs(Rename):
        def __init__(self):
            super().__init__("t.a", "t.b", args={"times": int, "mode": (str, int)})

    manager = manage(needs=Needs())
    assert manager.rewrite(chain("t.a"), args={"times": 3, "mode": "fast"}) == 1
    assert manager.get("needs").args == {"times": 3, "mode": "fast"}
    with pytest.raises(ValueError, match=r"pattern 't.a_to_t.b' needs argument 'mode', which isn't given"):
        manager.rewrite(chain("t.a"), args={"times": 3})
    with pytest.raises(TypeError, match=r"expected argument 'times' of pattern 't.a_to_t.b' to be int, but got True"):
        manager.rewrite(chain("t.a"), args={"times": True, "mode": 1})
    with pytest.raises(TypeError, match=r"expected argument 'times' to be a number, .*but got object"):
        manage().rewrite(chain("t.a"), args={"times": object()})
    with pytest.raises(TypeError, match=r"expected args to be a dict, but got list"):
        manage().rewrite(chain("t.a"), args=[1])
    with pytest.raises(TypeError, match=r"expected names as keys of argument, but got 1"):
        manage().rewrite(chain("t.a"), args={1: 2})
    traced = pattern("p")(lambda op, x: op("t.a", x)).to(lambda op, x: op("t.b", x, by=op.arg("by")))
    module = chain("t.a")
    assert manage(p=traced).rewrite(module, args={"by": [1, 2]}) == 1
    assert module.get_layers()[0].by == [1, 2]
    with pytest.raises(inlay.RewriteError, match=r"pattern 'p' needs argument 'by', which isn't given; did you mean"):
        manage(p=traced).rewrite(chain("t.a"), args={"bye": 1})


def test_the_trace_says_each_rewrite(tmp_path):
    trace = []
    manage(ab=Rename("t.a", "t.b")).rewrite(chain("t.a", "t.a"), trace=trace)
    assert [one["label"] for one in trace] == ["ab", "ab"]
    manage(ab=rename("p", "t.a", "t.b")).rewrite(chain("t.a"), trace=tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())[0]["label"] == "ab"


def test_why_it_did_not_match():
    class Reluctant(PatternRewriter):
        def __init__(self):
            super().__init__("reluctant", root_layer={"inlay.relu"}, separate_match_rewrite=True)

        def match(self, layer):
            return self.fail("not today")

        def rewrite(self, layer):
            pass

    module = linear()
    fuse = pattern("p")(lambda op, x, w, b: op.tanh(op.matmul(x, w) + b)).to(lambda op, x, w, b: x)
    manager = manage(fuse=fuse, reluctant=Reluctant())
    found = manager.explain("fuse", module)
    assert found.matches == 0 and found.held < found.checks
    assert "expected 'inlay.tanh', but found 'inlay.relu'" in str(found)
    assert "not today" in str(manager.explain("reluctant", module))
    assert "at 0 places; the nearest miss is 'inlay.matmul' \"fc\"" in str(
        manager.explain("fuse", module.get_layers()[0])
    )
    assert "bias" in str(manager.explain("fuse", module, at="bi*"))
    with pytest.raises(
        ValueError, match=r"expected 'at' to be the name of a layer or 'file:line', but got 'bis'; did you mean 'bias'"
    ):
        manager.explain("fuse", module, at="bis")
    with pytest.raises(ValueError, match=r"did you mean 'fuse'"):
        manager.explain("fus", module)


def test_pdl_text():
    manager = RewritePatternManager()
    text = rename("ab", "t.a", "t.b").pdl + rename("bc", "t.b", "t.c").pdl
    assert sorted(manager.add_pdl(text, prefix="x.")) == ["x.ab", "x.bc"]
    assert manager.get("x.ab").label == "x.ab"
    module = chain("t.a")
    assert manager.rewrite(module) == 2 and kinds(module) == ["t.c"]
    with pytest.raises(ValueError, match=r"there is a pattern labeled 'x.ab' already"):
        manager.add_pdl(text, prefix="x.")
    with pytest.raises(ValueError, match=r"mine.pdl:1:1"):
        manager.add_pdl("nonsense", name="mine.pdl")


class Find(PatternAnalyzer):
    def __init__(self, found, roots=None):
        super().__init__("find", root_layer=roots)
        self.found = found

    def match(self, layer):
        return self.found(layer)


def test_analyses_find_and_change_nothing():
    module = linear()
    before = module.text(locations=True)
    manager = AnalysisPatternManager()
    manager.add("products", pattern("p")(lambda op, x, w, b: op.matmul(x, w) + b))
    manager.add("pairs", Find(lambda layer: [layer, *(one.get_parent() for one in layer.get_inputs()[:1])], {"relu"}))
    matches = manager.analyze(module)
    assert [(one.label, [layer.name for layer in one.layers]) for one in matches] == [
        ("products", ["bias", "fc"]),
        ("pairs", ["act", "bias"]),
    ]
    assert matches[0]["x"].name == "x" and set(matches[0].captures) == {"x", "w", "b"}
    with pytest.raises(ValueError, match=r"captured no 'y'"):
        _ = matches[0]["y"]
    lazy = manager.find(module)
    assert next(lazy).label == "products"
    assert manager.statistics("pairs").tried == 1  # of the first analysis
    assert module.text(locations=True) == before


def test_removed_layers_are_not_analyzed():
    module = linear()
    with net_guard(module):
        act = module.get_layer_by_name("act")
        act.get_outputs()[0].replace_all_uses_with(act.input)
        act.mark_as_removed()
    seen = []
    manager = AnalysisPatternManager()
    manager.add("find", Find(lambda layer: seen.append(layer.op) is not None))
    assert list(manager.analyze(module)) == []
    assert "inlay.add" in seen and "inlay.relu" not in seen


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: op.relu(layer.input),
        lambda layer: layer.mark_as_removed(),
        lambda layer: layer.set_attribute("a", 1),
        lambda layer: layer.get_outputs()[0].replace_all_uses_with(layer.input),
        lambda layer: layer.get_outputs()[0].mark_output(),
        lambda layer: setattr(layer, "name", "new"),
        lambda layer: net_guard(layer.network).__enter__() and op.relu(layer.input),
    ],
)
def test_analyses_must_not_change_the_graph(change):
    class Both(PatternAnalyzer):
        def match(self, layer):
            return True

        def analyze(self, layers):
            change(layers[0])

    class Matcher(PatternRewriter):
        def match(self, layer):
            change(layer)

        def rewrite(self, layer):
            pass

    module = linear()
    before = module.text(locations=True)
    for pattern_of in (Find(change, {"relu"}), Both("both", {"relu"})):
        manager = AnalysisPatternManager()
        manager.add("find", pattern_of)
        with pytest.raises(inlay.RewriteError, match=r"must not change the graph while it matches or analyzes"):
            manager.analyze(module)
    manager = manage(matcher=Matcher("m", {"relu"}, separate_match_rewrite=True))
    with pytest.raises(inlay.RewriteError, match=r"must not change the graph while it matches or analyzes"):
        manager.rewrite(module)
    assert module.text(locations=True) == before


def test_roots_are_ops_and_interfaces():
    def roots(*given):
        seen = []
        manager = AnalysisPatternManager()
        manager.add("find", Find(lambda layer: seen.append(layer.name) or False, set(given) or None))
        manager.analyze(linear())
        return seen

    assert roots() == ["fc", "bias", "act"]
    assert roots("matmul", "inlay.relu") == ["fc", "act"]
    assert roots(inlay.ops.relu) == ["act"]
    assert roots(Interface.POINTWISE) == ["bias", "act"]
    assert roots(Interface.COMMUTATIVE, "t.other") == ["bias"]


@pytest.mark.parametrize(
    ("add", "error", "message"),
    [
        (lambda m: m.add("p", Rename), TypeError, "expected a pattern for label 'p', but got"),
        (lambda m: m.add("p", lambda layer: True), TypeError, "expected a pattern for label 'p'"),
        (lambda m: m.add("", Rename("t.a", "t.b")), TypeError, "expected the label of a pattern to be a non-empty"),
        (lambda m: m.add("p", Rename("t.a", "t.b"), "high"), TypeError, "expected the benefit of 'p' to be an int"),
        (lambda m: m.add("p", Rename("t.a", "t.b"), -1), ValueError, "the benefit of 'p' to be from 0 to 32767"),
        (lambda m: m.add("p", Rename("relux", "t.b")), ValueError, "unknown op 'relux' in root_layer of pattern "
         "'relux_to_t.b'; did you mean 'relu'"),
        (lambda m: m.add("p", Rename("inlay.relux", "t.b")), ValueError, "unknown op 'inlay.relux'"),
        (lambda m: m.add("p", Find(None)), TypeError, "'p' has no rewrite: add it to an AnalysisPatternManager"),
        (lambda m: m.add("p", PatternRewriter("p")), TypeError, "to have a method 'match_and_rewrite'"),
        (lambda m: m.add("p", PatternRewriter("p", None, True)), TypeError, "to have a method 'match'"),
        (lambda m: m.add("p", PatternRewriter("p", set())), ValueError, "root_layer of pattern 'p' to name an op"),
        (lambda m: m.add("p", PatternRewriter("p", {3})), TypeError, "expected root_layer of pattern 'p' to be names"),
        (lambda m: m.add("p", pattern("p")(lambda op, x: op.relu(x))), ValueError, "pattern 'p' has no replacement"),
        (lambda m: m.add("p", rename("p", "t.a", "t.b").constraint(lambda y: 1)), ValueError, "captures no 'y' for a"),
        (lambda m: m.add("p", rename("p", "t.a", "t.b").constraint(lambda: 1)), TypeError, "to take captured values"),
        (lambda m: m.rewrite(LINEAR), TypeError, "expected an inlay.Module, but got str"),
        (lambda m: m.rewrite(linear(), driver="fixpint"), ValueError, "unknown driver 'fixpint'; did you mean 'fixp"),
        (lambda m: m.rewrite(linear(), limit=-1), ValueError, "expected limit to be an integer from 0, but got -1"),
    ],
)  # fmt: skip
def test_mistakes(add, error, message):
    with pytest.raises(error) as raised:
        add(RewritePatternManager())
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("rewrite", "error", "message"),
    [
        (lambda layer: None, TypeError, "'match_and_rewrite' of pattern 'p' to return True or False, got None"),
        (lambda layer: 1, TypeError, "to return True or False, got 1"),
        (lambda layer: layer.replace_with(layer.network.get_inputs()[1]), inlay.RewriteError,
         "expected a value of type 'tensor<4x8xf32>', but got 'tensor<8x8xf32>'"),
        (lambda layer: layer.replace_with(), TypeError, "expected 1 tensors for 'inlay.add', but got 0"),
        (lambda layer: layer.lhs.replace_all_uses_with(layer.network.get_outputs()[0]), inlay.RewriteError,
         "expected a value that is defined before its use by 'inlay.add'"),
        (lambda layer: layer.mark_as_removed() or True, inlay.RewriteError,
         "pattern 'p' can't rewrite: 'inlay.add' \"bias\" is marked as removed, but 'inlay.relu' uses a result of it"),
        (lambda layer: manage().rewrite(layer.network), inlay.RewriteError, "patterns can't run inside"),
        (lambda layer: op.add(layer.lhs, layer.network.get_inputs()[1]), inlay.RewriteError, "can't make 'inlay.add'"),
    ],
)  # fmt: skip
def test_rewrites_that_can_not_be(rewrite, error, message):
    class Wrong(PatternRewriter):
        def match_and_rewrite(self, layer):
            return rewrite(layer)

    module = linear()
    before = module.text(locations=True)
    with pytest.raises(error) as raised:
        manage(p=Wrong("p", {"add"})).rewrite(module)
    assert message in str(raised.value)
    assert module.text(locations=True) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda manager: manager.add("q", rename("q", "t.b", "t.c")),
        lambda manager: manager.add("q", Rename("t.b", "t.c")),
        lambda manager: manager.add_pdl(rename("q", "t.b", "t.c").pdl),
        lambda manager: manager.remove("p"),
        lambda manager: manager.disable(),
        lambda manager: manager.rewrite(chain("t.a")),
        lambda manager: manager.explain("p", chain("t.a")),
    ],
)
def test_a_manager_at_work_stays_as_it_is(change):
    class Meddles(PatternRewriter):
        def match_and_rewrite(self, layer):
            change(manager)

    manager = manage(p=Meddles("p", {"t.a"}))
    with pytest.raises(inlay.RewriteError, match=r"expected an idle pattern manager, but its patterns are running"):
        manager.rewrite(chain("t.a"))
    assert manager.labels == ["p"] and manager.is_enabled("p")


def test_a_pattern_may_rewrite_another_module():
    class Elsewhere(PatternRewriter):
        def match_and_rewrite(self, layer):
            inner = manage(p=rename("p", "t.a", "t.b"))
            layer.replace_with(op("t.b", *layer.get_inputs(), results=layer.get_outputs()))
            return inner.rewrite(chain("t.a")) == 1

    module = chain("t.a", "t.a")
    assert manage(p=Elsewhere("p", {"t.a"})).rewrite(module) == 2
    assert kinds(module) == ["t.b", "t.b"]


def test_ops_with_regions_are_not_lost_silently():
    text = """func.func @f(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %c -> tensor<4xf32> {
    %1 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}"""

    class Drop(PatternRewriter):
        def __init__(self, with_regions):
            super().__init__("drop", root_layer={"scf.if"})
            self.with_regions = with_regions

        def match_and_rewrite(self, layer):
            layer.get_outputs()[0].replace_all_uses_with(layer.network.get_inputs()[1])
            layer.mark_as_removed(self.with_regions)
            return True

    module = inlay.parse(text)
    inside = module.get_layers()[1]
    assert inside.op == "inlay.relu"
    with pytest.raises(inlay.RewriteError, match=r"'scf.if' has regions whose ops would be lost"):
        manage(drop=Drop(False)).rewrite(module)
    assert kinds(module)[0] == "scf.if" and inside.op == "inlay.relu"
    assert manage(drop=Drop(True)).rewrite(module) == 1
    assert kinds(module) == []
    with pytest.raises(inlay.ErasedError):
        _ = inside.op
