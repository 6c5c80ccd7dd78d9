# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of recorded calls. Their arguments and outputs have any structure and are read from the current graph."""

import enum

import inlay
import pytest
import torch
from inlay.rewrite import (
    FLayerInfo,
    FLayerInfoMemo,
    PatternRewriter,
    RewritePatternManager,
    Tensor,
    insert_before,
    net_guard,
    op,
    pattern,
    record_signature,
)
from rewriting import attention_network, gpt_attention, kinds


class Mode(enum.Enum):
    FAST = "f"
    EXACT = "e"


@record_signature
def block(x, others=(), *, named=None, mode=Mode.FAST, dtype=torch.float16, flag=True, sizes=(1, 2), scale=0.5):
    """A recorded function of several layers with structured arguments and outputs."""
    first = op("t.first", x, *others, results=[x])
    second = op("t.second", first, *(named or {}).values(), results=[x, x])
    return {"first": first, "rest": [second[0], (second[1],)]}


@record_signature
def outer(x):
    inner = block(x)["first"]
    return op.neg(inner)


def network(build, count=3):
    module = inlay.Module()
    with net_guard(module):
        tensors = [Tensor(f"x{number}", torch.float32, (4,)) for number in range(count)]
        outputs = build(*tensors)
        for output in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
            output.mark_output()
    return module


def memo(module):
    return FLayerInfoMemo(module)


def make_block(x, y, z):
    outputs = block(x, (y,), named={"z": z}, mode=Mode.EXACT)
    return outputs["first"], outputs["rest"][0], outputs["rest"][1][0]


def test_structures_come_back_as_they_were():
    module = network(make_block)
    x, y, z = module.get_inputs()
    first, second = module.get_layers()
    (info,) = memo(module)
    assert info == memo(module).get(first) == memo(module).get(second.name)
    assert info.layer_kind == "block" and info.layers == [first, second] and info.parent is None
    tensors = info.get_input("x"), *info.get_input("others"), *info.get_input("named").values()
    assert all(tensor.network is module for tensor in tensors)
    assert info.raw_inputs == {
        "x": x, "others": (y,), "named": {"z": z}, "mode": Mode.EXACT, "dtype": torch.float16, "flag": True,
        "sizes": (1, 2), "scale": 0.5,
    }  # fmt: skip
    out = second.get_outputs()
    assert info.raw_outputs == {"first": first.get_outputs()[0], "rest": [out[0], (out[1],)]}
    assert info.signature[0] == "block" and info.signature[1]["x"] is Tensor
    with pytest.raises(ValueError, match=r"'block' has no argument 'other'; did you mean 'others'"):
        info.get_input("other")


def test_text_keeps_the_record():
    module = inlay.parse(network(make_block).text(locations=True))
    (info,) = memo(module)
    assert info.get_input("x") == module.get_inputs()[0] and info.get_input("mode") is Mode.EXACT


def test_calls_nest_and_cover_all_their_layers():
    module = network(outer, 1)
    first, _, last = (module.get_layer_by_name(layer.name) for layer in module.get_layers())
    assert memo(module).get(first).layer_kind == "block"
    assert memo(module).get(first).parent == memo(module).get(last)
    assert memo(module).get(last).layer_kind == "outer"
    assert len(memo(module).get(last).layers) == 3


def test_inputs_are_never_stale():
    module = network(make_block)
    x, y, z = module.get_inputs()
    (info,) = memo(module)
    x.replace_all_uses_with(y)
    assert info.get_input("x") == y and info.get_input("others") == (y,)
    with net_guard(module):
        info.replace_input_with(z, x)
    assert info.get_input("named") == {"z": x}
    with pytest.raises(inlay.RewriteError, match=r"expected a value of type"), net_guard(module):
        info.replace_input_with(x, Tensor("w", torch.float32, (5,)))
    assert info.get_input("named") == {"z": x} and len(module.get_inputs()) == 3


def test_calls_are_found_while_the_graph_changes():
    module = network(make_block)
    x, y, z = module.get_inputs()
    (info,) = memo(module)
    with net_guard(module):
        made = block(x, (y,), named={"z": z})["first"].get_parent()
        second = memo(module).get(made)
        assert second != info and made in second.layers and len(memo(module)) == 2
        made.get_outputs()[0].mark_output()
    with pytest.raises(KeyError), net_guard(module):
        third = memo(module).get(block(x)["first"].get_parent())
        assert len(memo(module)) == 3 and third.get_input("x") == x
        made.set_attribute("inlay.signature", None)
        assert made not in second.layers
        raise KeyError
    assert len(memo(module)) == 2 and made in second.layers
    with pytest.raises(inlay.RewriteError, match=r"expected a recorded call"):
        _ = third.layer_kind
    with net_guard(module):
        made.get_outputs()[0].replace_all_uses_with(x)
        for layer in second.layers:
            layer.mark_as_removed()
    assert second.layers == [] and second.get_input("x") is None and list(memo(module)) == [info]
    with net_guard(module):
        marked = op("t.copy", x, results=[x], **{"inlay.signature": info.layers[0].attributes["inlay.signature"]})
    assert marked.get_parent() in info.layers


def test_calls_are_found_while_patterns_run():
    seen = []

    class Rebuild(PatternRewriter):
        def match_and_rewrite(self, layer):
            info = memo(layer.network).get(layer)
            seen.append(info.key)
            if info.get_input("scale") == 2.0:
                return False
            outputs = block(**{**info.clone_inputs(), "scale": 2.0})
            assert [one.op for one in memo(layer.network).get(outputs["first"].get_parent()).layers] == kinds_of_block
            info.replace_outputs_uses_with(layer.network, outputs)
            for one in info.layers:
                one.mark_as_removed()
            return True

    kinds_of_block = ["t.first", "t.second"]
    module = network(lambda x, y, z: make_block(*make_block(x, y, z)))
    before = list(memo(module))
    manager = RewritePatternManager()
    manager.add("p", Rebuild("p", {"t.first"}))
    assert manager.rewrite(module) == 2
    after = list(memo(module))
    assert len(after) == 2 and not set(after) & set(before) and set(seen) == {one.key for one in before + after}
    assert [info.get_input("scale") for info in after] == [2.0, 2.0]
    assert [info.layers for info in before] == [[], []]


def test_inputs_follow_traced_patterns():
    module = network(lambda x: gpt_attention(op.relu(x), x), 1)
    fold = pattern("p")(lambda op, x: op.relu(x)).to(lambda op, x: op.abs(op.neg(x)))
    manager = RewritePatternManager()
    manager.add("p", fold)
    assert manager.rewrite(module) == 1
    (info,) = memo(module)
    assert info.get_input("qkv").get_parent().op == "inlay.abs"


@record_signature
def product_block(x, w):
    return op.relu(op.matmul(x, w))


def test_what_replaces_layers_of_a_call_takes_their_part_in_it():
    def find(op, x, w):
        return op.relu(op.matmul(x, w))

    def make(op, x, w):
        return op.sigmoid(op.matmul(op.neg(x), w))

    module = inlay.Module()
    with net_guard(module):
        x, w = (Tensor(name, torch.float32, (4, 4)) for name in "xw")
        out = op.neg(product_block(x, w))
        out.mark_output()
    manager = RewritePatternManager()
    manager.add("p", pattern("p")(find).to(make))
    assert manager.rewrite(module) == 1
    (info,) = memo(module)
    negated, product, sigmoid, last = module.get_layers()
    assert info.layers == [negated, product, sigmoid] and memo(module).get(sigmoid) == info
    assert info.get_input("x") == x and info.get_input("w") == w
    assert info.raw_outputs == sigmoid.get_outputs(0)[0]
    with net_guard(module), insert_before(last):
        info.replace_outputs_uses_with(module, op.exp(x))
    assert last.get_inputs(0)[0].get_parent().op == "inlay.exp"


def test_outputs_move_whatever_their_structure():
    module = network(lambda x, y, z: [op.exp(one) for one in make_block(x, y, z)])
    (info,) = memo(module)
    with net_guard(module), insert_before(info.layers[0]):
        again = block(**{**info.clone_inputs(), "scale": 2.0})
        info.replace_output_uses_with(module, again)
        for layer in info.layers:
            layer.mark_as_removed()
    assert sorted(kinds(module)) == ["exp", "exp", "exp", "t.first", "t.second"]
    (info,) = memo(module)
    assert info.get_input("scale") == 2.0
    used = [layer.input.get_parent().op for layer in module.get_layers() if layer.op == "inlay.exp"]
    assert used == ["t.first", "t.second", "t.second"]
    module.verify()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda old: [old["first"]], TypeError, "expected outputs of 'block' to be a dict, but got a list"),
        (lambda old: {"first": old["first"]}, ValueError, "expected outputs of 'block' named"),
        (lambda old: {**old, "rest": old["rest"][:1]}, ValueError, "expected 2 outputs['rest'] of 'block', but got 1"),
        (lambda old: {**old, "first": 3}, TypeError, "expected a tensor for outputs['first'] of 'block', but got 3"),
    ],
)
def test_outputs_must_be_alike(make, error, message):
    module = network(make_block)
    before = module.text(locations=True)
    (info,) = memo(module)
    with pytest.raises(error) as raised, net_guard(module):
        info.replace_outputs_uses_with(module, make(info.raw_outputs))
    assert message in str(raised.value)
    with pytest.raises(ValueError, match=r"expected the module that 'block' is in"):
        info.replace_outputs_uses_with(inlay.Module(), info.raw_outputs)
    assert module.text(locations=True) == before


def test_another_dtype_is_cast_and_other_sizes_inferred():
    module = network(lambda x, y, z: [op.exp(one) for one in make_block(x, y, z)][:1])
    (info,) = memo(module)
    with net_guard(module), insert_before(info.layers[0]):
        wide = [op.cast(one, torch.float64) for one in module.get_inputs()]
        outputs = block(wide[0], (wide[1],), named={"z": wide[2]})
        info.replace_outputs_uses_with(module, outputs)
    exp = module.get_outputs()[0].get_parent()
    assert exp.input.get_parent().op == "inlay.cast" and exp.input.dtype == torch.float32
    module.verify()


def test_sizes_that_a_user_can_not_take():
    module = network(lambda x, y: gpt_attention(x, x)[0] + y, 2)
    before = module.text(locations=True)
    (info,) = memo(module)
    refused = pytest.raises(inlay.RewriteError, match=r"'inlay.add' can't take 'tensor<7xf32>' for 'tensor<4xf32>'")
    with refused, net_guard(module), insert_before(info.layers[0]):
        more = Tensor("more", torch.float32, (7,))
        info.replace_outputs_uses_with(module, gpt_attention(more, info.get_input("past_key_value")))
    assert module.text(locations=True) == before


def test_a_call_that_raises_leaves_no_record():
    @record_signature
    def broken(x):
        op.relu(x)
        raise KeyError

    module = attention_network(1, 2, 4)
    before = module.text(locations=True)

    class Broken(PatternRewriter):
        def match_and_rewrite(self, layer):
            broken(layer.get_inputs()[0])

    manager = RewritePatternManager()
    manager.add("p", Broken("p", {"inlay.add"}))
    with pytest.raises(KeyError):
        manager.rewrite(module)
    assert module.text(locations=True) == before
    with pytest.raises(KeyError), net_guard(module):
        broken(module.get_inputs()[0])
    assert module.text(locations=True) == before
    assert [info.layer_kind for info in memo(module)] == ["gpt_attention"]


def test_what_can_not_be_recorded_is_named():
    @record_signature
    def takes(x, what):
        return op.relu(x)

    with pytest.raises(TypeError, match=r"expected argument 'what' to be a number, .*but got object"):
        network(lambda x: takes(x, object()), 1)
    with pytest.raises(inlay.RewriteError, match=r"there is no module"):
        takes(None, 1)


def test_layers_without_a_record():
    module = network(lambda x: op.relu(x), 1)
    assert memo(module).get(module.get_layers()[0]) is None
    assert memo(module).get("nothing") is None
    assert len(memo(module)) == 0
    with pytest.raises(TypeError, match=r"expected a layer or its name, but got 3"):
        memo(module).get(3)
    with pytest.raises(inlay.RewriteError, match=r"expected a recorded call, but got 'none_1'"):
        _ = FLayerInfo(module._graph, "none_1").layer_kind
    with pytest.raises(inlay.RewriteError, match=r"there is no module"):
        FLayerInfoMemo.instance()


def test_signatures_have_the_structure_of_the_arguments():
    module = network(make_block)
    arguments = next(iter(memo(module))).signature[1]
    assert arguments["others"] == (Tensor,) and arguments["named"] == {"z": Tensor}
    assert arguments["sizes"] == (1, 2) and arguments["mode"] is Mode.EXACT


def with_enum(name):
    return inlay.parse(f"""
        module attributes {{inlay.signatures = [{{f_0 = {{
            arguments = {{x = {{python.enum = "{name}"}}}}, function = "f", outputs = #inlay.tensor<1>}}}}]}} {{
          func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
            %1 = inlay.relu %x {{inlay.signature = [
                {{call = "f_0", operands = array<i64: 0>, results = array<i64: 1>}}]}}
              : (tensor<4xf32>) -> tensor<4xf32> loc("a")
            return %1 : tensor<4xf32>
          }}
        }}""")


@pytest.mark.parametrize(
    "name",
    [
        "unloaded_module:X",
        "unloaded_module:X.Y",
        "os:system",
        "os:path.sep",
        "test_rewrite_signatures:Mode",
        "test_rewrite_signatures:Mode.SLOW",
        "test_rewrite_signatures:Mode.__class__",
        "test_rewrite_signatures:memo.__name__",
        "",
    ],
)
def test_graphs_reach_nothing_but_members_of_enums(name, tmp_path, monkeypatch):
    (tmp_path / "unloaded_module.py").write_text("raise AssertionError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = with_enum(name)
    with pytest.raises(ValueError) as error:
        memo(module).get("a").get_input("x")
    assert f"expected a member of an enum of a module that is imported, but got {name!r}" in str(error.value)


def test_members_of_enums_come_back():
    assert memo(with_enum(f"{__name__}:Mode.FAST")).get("a").get_input("x") is Mode.FAST
    assert memo(with_enum("inlay.rewrite:Interface.COMMUTATIVE")).get("a").get_input("x").value == "commutative"
