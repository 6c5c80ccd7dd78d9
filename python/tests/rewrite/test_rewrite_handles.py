# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of handles to layers and tensors: their properties, their changes of the graph, and their validity."""

import gc
import threading

import inlay
import pytest
import torch
from inlay.rewrite import (
    PatternRewriter,
    RewritePatternManager,
    Tensor,
    insert_after,
    insert_before,
    net_guard,
    op,
    pattern,
)
from rewriting import chain, kinds, linear


def act(module):
    return module.get_layer_by_name("act")


def test_layers_and_tensors_tell_what_they_are():
    module = linear()
    fc = module.get_layer_by_name("fc")
    assert (fc.op, fc.name, fc.type) == ("inlay.matmul", "fc", inlay.ops.matmul)
    assert [tensor.name for tensor in module.get_inputs()] == ["x", "w", "b"]
    x, w = fc.get_inputs(0, 1)
    assert (x.shape, x.dtype, x.type) == ((4, 8), torch.float32, "tensor<4x8xf32>")
    assert fc.get_inputs() == [x, w] == [fc.lhs, fc.rhs]
    assert x.get_parent() is None and fc.get_outputs(0)[0].get_parent() == fc
    assert len({x, module.get_inputs()[0], fc, module.get_layers()[0]}) == 2
    assert act(module).input.name == "bias"
    assert fc.location.startswith("<input>:") is False  # its location is a name


def test_attributes_have_names_and_python_values():
    module = inlay.parse(
        """func.func @f(%x: tensor<2x3xf32>) -> tensor<1x3xf32> {
  %0 = inlay.sum %x dims [0] keepdim {note = "n", by = 2.5, deep = {a = [1, "b"]}}
    : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}"""
    )
    (total,) = module.get_layers()
    assert (total.dims, total.keepdim, total.note, total.by, total.deep) == ([0], True, "n", 2.5, {"a": [1, "b"]})
    total.set_attribute("note", None)
    assert "note" not in total.attributes
    with pytest.raises(AttributeError, match=r"'inlay.sum' has no operand or attribute 'dim'; did you mean 'dims'"):
        _ = total.dim
    with pytest.raises(inlay.RewriteError, match=r"can't set attribute 'dims' of 'inlay.sum'"):
        total.set_attribute("dims", [7])
    assert total.dims == [0]


def test_names_are_unique_and_stay():
    module = chain("t.a", "t.a", "t.b")
    names = [layer.name for layer in module.get_layers()]
    assert names == ["t.a#0", "t.a#1", "t.b#2"]
    first, second, third = module.get_layers()
    third.name = "last"
    assert module.get_layer_by_name("last") == third
    with pytest.raises(ValueError, match=r"'last' is the name of another"):
        first.name = "last"
    first.get_outputs()[0].replace_all_uses_with(module.get_inputs()[0])
    first.mark_as_removed()
    assert (second.name, module.get_layer_by_name("t.a#0")) == ("t.a#1", None)
    assert 'loc("last")' in module.text(locations=True)


@pytest.mark.parametrize(
    "use",
    [
        lambda layer: layer.name,
        lambda layer: layer.op,
        lambda layer: layer.attributes,
        lambda layer: layer.get_inputs(),
        lambda layer: layer.get_outputs(0),
        lambda layer: layer.location,
        lambda layer: layer.as_layer(),
        lambda layer: layer.anything,
        lambda layer: layer.mark_as_removed(),
        lambda layer: layer.set_attribute("a", 1),
        lambda layer: str(layer),
        lambda layer: insert_before(layer).__enter__(),
        lambda layer: layer.plugin,
    ],
)
@pytest.mark.parametrize("how", ["rewritten", "dead", "removed", "greedy"])
def test_a_handle_to_what_is_gone_raises(use, how):
    module = linear()
    layer = module.get_layer_by_name("fc" if how == "dead" else "act")
    output = layer.get_outputs()[0]
    if how == "removed":
        output.replace_all_uses_with(layer.input)
        layer.mark_as_removed()
    else:
        replace = pattern("p")(lambda op, x, w, b: op.relu(op.matmul(x, w) + b)).to(lambda op, x, w, b: op("t.a", x))
        manager = RewritePatternManager()
        manager.add("p", replace)
        assert manager.rewrite(module, driver="greedy" if how == "greedy" else "fixpoint") == 1
    assert layer.is_removed()
    with pytest.raises(inlay.ErasedError, match=r"it was removed"):
        use(layer)
    with pytest.raises(inlay.ErasedError, match=r"expected a tensor that is in its module"):
        _ = output.shape
    assert repr(layer) == "<Layer, removed>" and repr(output) == "<Tensor, removed>"
    assert layer == layer and hash(layer) == hash(layer)
    module.verify()


def test_a_pattern_may_keep_what_it_removes():
    kept = []

    class Keep(PatternRewriter):
        def __init__(self):
            super().__init__("keep", root_layer={"t.a"})

        def match_and_rewrite(self, layer):
            assert all(one.is_removed() for one in kept)
            kept.append(layer)
            layer.replace_with(op("t.b", layer.get_inputs()[0], results=layer.get_outputs()))
            assert layer.is_removed() and layer.op == "t.a"  # until the rewrite is done
            return True

    module = chain("t.a", "t.a")
    manager = RewritePatternManager()
    manager.add("keep", Keep())
    assert manager.rewrite(module) == 2
    for layer in kept:
        with pytest.raises(inlay.ErasedError):
            _ = layer.op
    assert kinds(module) == ["t.b", "t.b"]


def test_handles_outlive_the_name_of_their_module():
    module = linear()
    layer = act(module)
    del module
    gc.collect()
    assert layer.op == "inlay.relu"
    assert layer.network.get_layers()[-1] == layer
    assert layer.network is layer.network or str(layer.network)


def test_handles_survive_an_undone_rewrite():
    seen = []

    class Undone(PatternRewriter):
        def __init__(self):
            super().__init__("undone", root_layer={"inlay.relu"})

        def match_and_rewrite(self, layer):
            made = op.neg(layer.input)
            seen.append(made)
            layer.replace_with(made)
            return False

    module = linear()
    layer = act(module)
    manager = RewritePatternManager()
    manager.add("undone", Undone())
    assert manager.rewrite(module) == 0
    assert manager.statistics("undone").rejected == 1
    assert layer.op == "inlay.relu" and not layer.is_removed()
    with pytest.raises(inlay.ErasedError):
        _ = seen[0].shape


def test_other_threads_wait_outside():
    module = linear()
    errors = []

    def look():
        try:
            module.get_layers()
        except inlay.RewriteError as error:
            errors.append(str(error))

    with net_guard(module):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert errors and "another thread is changing it" in errors[0]
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert len(errors) == 1


def test_threads_rewrite_modules_of_their_own():
    results = []

    def work():
        for _ in range(20):
            module = chain(*["t.a"] * 50)
            manager = RewritePatternManager()
            manager.add("p", pattern("p")(lambda op, x: op("t.a", x)).to(lambda op, x: op("t.b", x)))
            results.append(manager.rewrite(module))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [50] * 80


def test_a_module_from_nothing():
    module = inlay.Module()
    with net_guard(module):
        x = Tensor("x", "float32", (2, 4))
        w = Tensor("w", torch.float32, (4, 4))
        y = inlay.ops.relu(x @ w + 1.5) * 2 - x / x**2
        inlay.ops.softmax(-y, dim=-1).mark_output()
    module.verify()
    assert " ".join(kinds(module)) == "matmul constant add relu constant mul constant pow div sub neg softmax"
    compiled = inlay.compile(module, targets=("host",))
    x, w = torch.rand(2, 4) + 1, torch.rand(4, 4)
    want = torch.softmax(-(torch.relu(x @ w + 1.5) * 2 - x / x**2), -1)
    torch.testing.assert_close(compiled(x, w), want)


def test_layers_go_where_they_are_asked_for():
    module = linear()
    bias = module.get_layer_by_name("bias")
    with net_guard(module):
        with insert_after(bias):
            first = op.neg(bias.get_outputs()[0])
            op.abs(first)
        with insert_before(bias):
            op.exp(bias.lhs)
    assert kinds(module) == ["matmul", "exp", "add", "neg", "abs", "relu"]


def test_the_network_and_the_place_come_back_after_an_exception():
    module, other = linear(), linear()
    before = module.text(locations=True)
    with net_guard(other):
        with pytest.raises(KeyError), net_guard(module), insert_before(module.get_layers()[0]):
            Tensor("more", torch.float32, (1,)).mark_output()
            op.relu(module.get_inputs()[0])
            raise KeyError
        assert module.text(locations=True) == before
        op.relu(other.get_inputs()[0])
    assert kinds(other) == ["matmul", "add", "relu", "relu"]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda m: op.relu(m.get_inputs()[0]).replace_all_uses_with(3), TypeError, "expected a tensor as replacement"),
        (lambda m: act(m).get_outputs()[0].replace_all_uses_with(m.get_inputs()[1]), inlay.RewriteError,
         "expected a value of type 'tensor<4x8xf32>', but got 'tensor<8x8xf32>'"),
        (lambda m: m.get_layers()[0].get_outputs()[0].replace_all_uses_with(act(m).get_outputs()[0]),
         inlay.RewriteError, "expected a value that is defined before its use by 'inlay.add'"),
        (lambda m: m.get_layers()[0].mark_as_removed(), inlay.RewriteError,
         "'inlay.matmul' \"fc\" is marked as removed, but 'inlay.add' uses a result of it"),
        (lambda m: op.add(m.get_inputs()[0], m.get_inputs()[1]), inlay.RewriteError, "can't make 'inlay.add': "),
        (lambda m: op.rellu(m.get_inputs()[0]), AttributeError, "unknown op 'rellu'; did you mean 'relu'"),
        (lambda m: inlay.ops.rellu(m.get_inputs()[0]), AttributeError, "unknown op 'rellu'; did you mean 'relu'"),
        (lambda m: op("inlay.rellu", m.get_inputs()[0]), ValueError, "unknown op 'inlay.rellu'; did you mean"),
        (lambda m: op("relu", m.get_inputs()[0]), ValueError, "expected an op's full name with its dialect"),
        (lambda m: op("my.op", m.get_inputs()[0]), TypeError, "expected result types for 'my.op'"),
        (lambda m: op("my.op", results=["tensor<4"]), ValueError, "expected a type like"),
        (lambda m: op("my.op", results=[]), None, ""),
        (lambda m: op("my.op", m.get_inputs()[0], results=[], a=object()), TypeError, "expected attribute 'a' to be"),
        (lambda m: op("my.op", results=[], a=1 << 70), ValueError, "expected attribute 'a' to fit 64 bits"),
        (lambda m: op.softmax(m.get_inputs()[0], "x"), TypeError, "expected argument 'dim' of op.softmax to be an int"),
        (lambda m: op.softmax(m.get_inputs()[0], dim=9), inlay.RewriteError, "can't make 'inlay.softmax'"),
        (lambda m: op.relu("x"), TypeError, "expected tensors as operands of 'relu', but got 'x'"),
        (lambda m: op.add(1, 2), TypeError, "expected a tensor among the operands"),
        (lambda m: op.relu(linear().get_inputs()[0] + m.get_inputs()[0]), ValueError, "one of another"),
        (lambda m: act(m).get_inputs(1), ValueError, "which has 1, but got 1"),
        (lambda m: act(m).get_outputs(-1), TypeError, "expected the number of an input or output"),
        (lambda m: Tensor("t", "float31", (1,)), ValueError, "unknown dtype 'float31'; did you mean 'float"),
        (lambda m: Tensor("t", torch.float32, (1.5,)), TypeError, "expected a shape of integers"),
        (lambda m: Tensor("t", torch.float32, (-2,)), ValueError, "expected dims of at least 0"),
        (lambda m: net_guard("m").__enter__(), TypeError, "expected a module for net_guard"),
        (lambda m: RewritePatternManager().rewrite(m), inlay.RewriteError, "patterns can't run inside"),
    ],
)  # fmt: skip
def test_changes_that_can_not_be(change, error, message):
    module = linear()
    before = module.text(locations=True)
    if error is None:
        with net_guard(module):
            change(module)
        return
    with pytest.raises(error) as raised, net_guard(module):
        change(module)
    assert message in str(raised.value)
    assert module.text(locations=True) == before


def test_a_tensor_that_is_not_there_yet_is_no_operand():
    module = linear()
    with (
        net_guard(module),
        insert_before(module.get_layers()[0]),
        pytest.raises(inlay.RewriteError, match=r"operand #0 of 'inlay.neg' is defined after the insertion point"),
    ):
        op.neg(act(module).get_outputs()[0])


def test_text_that_is_no_module():
    with pytest.raises(inlay.CompileError, match=r"<input>:1:1: .*custom op 'nonsense'"):
        inlay.parse("nonsense")
    with pytest.raises(inlay.CompileError, match=r"inlay.add"):
        inlay.parse('func.func @f(%x: tensor<4xf32>) { "inlay.add"(%x) : (tensor<4xf32>) -> tensor<4xf32> return }')
    with pytest.raises(TypeError, match=r"expected the text of a module, but got int"):
        inlay.parse(3)
    module = inlay.parse("func.func @f() { return }\nfunc.func @g() { return }")
    with pytest.raises(ValueError, match=r"the module has 2, as 'f'"):
        module.get_inputs()
    with pytest.raises(ValueError, match=r"expected a function of the module, but got 'h'"):
        module.get_inputs("h")
    assert module.functions == ["f", "g"] and module.get_outputs("g") == []
