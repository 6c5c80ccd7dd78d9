# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples and tests of graph rewriting in TensorRT-LLM. Only imports and names of ops are changed."""

import inlay
import pytest
import torch
from inlay.rewrite import (
    AnalysisPatternManager,
    FLayerInfoMemo,
    PatternAnalyzer,
    PatternRewriter,
    RewritePatternManager,
    Tensor,
    constant,
    net_guard,
    op,
    pattern,
    record_signature,
)
from rewriting import ReplaceAddWithSub, attention_network, gpt_attention, kinds, linear, rewritten, steps


class GPTAttentionPluginRemovePaddingRewritePass(PatternRewriter):
    def __init__(self):
        super().__init__("gpt_attention_plugin_remove_padding", root_layer={"inlay.plugin"})
        self.count = 0

    def match_and_rewrite(self, layer):
        if (
            layer.as_layer().type != "inlay.plugin"
            or layer.as_layer().plugin.plugin_namespace != "tensorrt_llm"
            or layer.as_layer().plugin.plugin_type != "GPTAttention"
        ):
            return False

        flayer = FLayerInfoMemo.instance().get(layer.name)
        assert flayer
        tensor_input = flayer.get_input("qkv")
        if tensor_input.shape[0] == 1:  # is already without padding
            return False

        assert self.args is not None
        batch_size, in_len, hidden_size = self.args["batch_size"], self.args["in_len"], self.args["hidden_size"]

        with net_guard(layer.network):
            new_inputs = flayer.clone_inputs()
            new_inputs["qkv"] = Tensor(name="qkv", dtype=torch.float16, shape=(1, batch_size * in_len, hidden_size))
            new_outs = gpt_attention(**new_inputs)
            flayer.replace_outputs_uses_with(layer.network, new_outs)
            layer.mark_as_removed()

        self.count += 1
        return True


SIZES = {"batch_size": 4, "in_len": 128, "hidden_size": 1024}


def test_every_sum_becomes_a_difference():
    module = attention_network(**SIZES)
    added = next(layer for layer in module.get_layers() if layer.op == inlay.ops.add)
    inputs, users = added.get_inputs(), added.get_outputs()[0].get_users()
    manager = RewritePatternManager()
    manager.add(label="replace_add_to_sub", pattern=ReplaceAddWithSub(), benefit=0)
    assert manager.rewrite(module) == 1
    assert manager.get("replace_add_to_sub").rewrite_count == 1
    assert kinds(module) == ["matmul", "sub", "plugin"]
    made = module.get_layers()[1]
    assert (made.get_inputs(), made.get_outputs()[0].get_users()) == (inputs, users)
    assert added.is_removed()


def test_attention_is_rebuilt_from_its_recorded_inputs():
    module = attention_network(**SIZES)
    manager = RewritePatternManager()
    manager.add("gpt_attention_plugin_remove_padding", GPTAttentionPluginRemovePaddingRewritePass(), 0)
    assert manager.rewrite(module, args=SIZES) == 1
    assert manager.get("gpt_attention_plugin_remove_padding").count == 1
    (plugin,) = (layer for layer in module.get_layers() if layer.op == "inlay.plugin")
    assert plugin.get_inputs(0)[0].shape == (1, 4 * 128, 1024)
    assert plugin.get_inputs(0)[0].is_input()
    assert [tensor.name for tensor in module.get_inputs()][-1] == "qkv"
    assert module.get_outputs() == plugin.get_outputs()
    assert module.get_outputs()[0].shape == (1, 512, 1024)
    with net_guard(module):
        (info,) = FLayerInfoMemo.instance()
        assert info.get_input("qkv") == plugin.get_inputs(0)[0]
        assert info.get_input("num_heads") == 16
        assert info.raw_outputs == tuple(plugin.get_outputs())
    module.verify()


def test_what_follows_from_new_sizes_is_inferred_anew():
    module = attention_network(**SIZES, after=lambda out: out * 2 + 1)
    manager = RewritePatternManager()
    manager.add("p", GPTAttentionPluginRemovePaddingRewritePass())
    assert manager.rewrite(module, args=SIZES) == 1
    assert module.get_outputs()[0].shape == (1, 512, 1024)
    module.verify()


def test_a_missing_argument_is_named():
    module = attention_network(**SIZES)
    before = module.text(locations=True)
    manager = RewritePatternManager()
    manager.add("p", GPTAttentionPluginRemovePaddingRewritePass())
    with pytest.raises(ValueError, match=r"needs argument 'hidden_size', which isn't given; did you mean 'hiden_size'"):
        manager.rewrite(module, args={"batch_size": 4, "in_len": 128, "hiden_size": 1})
    assert module.text(locations=True) == before


def test_an_analysis_counts_sums():
    class CountAdd(PatternAnalyzer):
        def __init__(self):
            super().__init__("count_add", root_layer={inlay.ops.add})
            self.matched, self.count = 0, 0

        def match(self, layer):
            self.matched += 1
            return layer.op == inlay.ops.add

        def analyze(self, layers):
            assert [layer.op for layer in layers] == ["inlay.add"]
            self.count += 1

    module = attention_network(**SIZES)
    before = str(module)
    manager = AnalysisPatternManager()
    manager.add("count_add", CountAdd())
    manager.analyze(module)
    assert manager.get("count_add").count == 1
    assert manager.get("count_add").matched == 1  # once for each match
    assert str(module) == before


@pytest.mark.parametrize("make", [attention_network, linear])
def test_queries(make):
    module = make()
    assert module.get_inputs() and all(tensor.is_input() and module.is_input(tensor) for tensor in module.get_inputs())
    assert module.get_outputs() and all(one.is_output() and module.is_output(one) for one in module.get_outputs())
    assert module.get_layers()
    for layer in module.get_layers():
        assert module.get_layer_by_name(layer.name) == layer
        assert layer.as_layer() == layer
        assert layer.network is module
        assert all(tensor.get_parent() == layer for tensor in layer.get_outputs())
        assert all(layer in tensor.get_users() for tensor in layer.get_inputs())
    assert "digraph" in module.to_dot()
    assert module.get_layer_by_name("none") is None


def is_foldable(tensor, depth=10):
    """Returns true if the tensor is computed from constants by a chain of at most that many layers."""
    layer = tensor.get_parent()
    if layer is None or depth < 0:
        return False
    return layer.op == "inlay.constant" or (
        len(layer.get_inputs()) > 0 and all(is_foldable(one, depth - 1) for one in layer.get_inputs())
    )


class FuseAttentionWithBias(PatternRewriter):
    """The pass of TensorRT-LLM: a constant bias of the product before attention becomes an argument of it."""

    def __init__(self):
        super().__init__("fuse_attention_with_bias", {"inlay.plugin"})

    def match_and_rewrite(self, layer):
        flayer = FLayerInfoMemo.instance().get(layer)
        if layer.plugin.plugin_type != "GPTAttention" or len(layer.get_outputs()) != 2 or flayer is None:
            return False
        inputs = flayer.clone_inputs()
        qkv = inputs["qkv"]
        if not isinstance(qkv, Tensor) or len(qkv.get_users()) != 1 or inputs["qkv_bias"] is not None:
            return False
        added = qkv.get_parent()
        if added is None or added.op != inlay.ops.add:
            return False
        fixed = [one for one in added.get_inputs() if is_foldable(one)]
        mutable = [one for one in added.get_inputs() if not is_foldable(one)]
        if len(fixed) != 1 or len(mutable) != 1:
            return False
        outputs = gpt_attention(**{**inputs, "qkv": mutable[0], "qkv_bias": fixed[0]})
        flayer.replace_outputs_uses_with(layer.network, outputs)
        layer.mark_as_removed()
        return True


@record_signature
def unfused_attention(qkv, past_key_value, qkv_bias=None, count=2):
    """Makes an attention. `qkv` may be a list, and there may be one output only."""
    tensors = qkv if isinstance(qkv, list) else [qkv]
    results = [tensors[0], past_key_value][:count]
    outputs = op("inlay.plugin", *tensors, past_key_value, name="tensorrt_llm::GPTAttention", results=results)
    return outputs if count == 1 else (outputs[0], outputs[1])


def biased(build, bias=None, both_constant=False):
    """Returns attention(matmul(x, w) + bias), with `build` applied to the sum."""
    module = inlay.Module()
    with net_guard(module):
        x = Tensor("x", torch.float32, (4, 8))
        w = Tensor("w", torch.float32, (8, 8))
        past = Tensor("past", torch.float32, (2,))
        ones = constant(1.0, like=x)
        product = ones if both_constant else x @ w
        addend = bias(ones, x) if bias else ones
        outputs = build(product + addend, past)
        for output in outputs if isinstance(outputs, tuple) else (outputs,):
            output.mark_output()
    return module


def deep(count):
    def negated(ones, x):
        for _ in range(count):
            ones = op.neg(ones)
        return ones

    return negated


def test_a_constant_bias_becomes_an_argument():
    module = biased(lambda qkv, past: gpt_attention(qkv, past, num_heads=4))
    manager = RewritePatternManager()
    manager.add("fuse_attention_with_bias", FuseAttentionWithBias())
    assert manager.rewrite(module) == 1
    plugin = module.get_layers()[-1]
    assert [one.get_parent() and one.get_parent().op for one in plugin.get_inputs()] == [
        "inlay.matmul",
        None,
        "inlay.constant",
    ]
    assert plugin.num_heads == 4 and module.get_outputs() == plugin.get_outputs()
    assert "add" not in kinds(module)


fixed_bias = pattern("fixed_bias")(lambda op, x, bias: x + bias).where(lambda m: m.bias.foldable())
fixed_bias.to(lambda op, x, bias: op("t.biased", x, bias))


@pytest.mark.parametrize(("count", "found"), [(0, True), (10, True), (11, False)])
def test_constants_are_looked_for_over_ten_layers(count, found):
    module = biased(gpt_attention, bias=deep(count))
    assert rewritten(module, FuseAttentionWithBias()) == found
    assert steps(module) == ["matmul", *["neg"] * count, *([] if found else ["add"]), "plugin"]
    module = biased(gpt_attention, bias=deep(count))
    assert rewritten(module, fixed_bias) == found  # the predicate has the same limit
    assert steps(module) == ["matmul", *["neg"] * count, "t.biased" if found else "add", "plugin"]


@pytest.mark.parametrize(
    "module",
    [
        lambda: biased(lambda qkv, past: (*gpt_attention(qkv, past), op.neg(qkv))),
        lambda: biased(gpt_attention, both_constant=True),
        lambda: biased(gpt_attention, bias=lambda ones, x: x * 2),
        lambda: biased(lambda qkv, past: gpt_attention(qkv, past, qkv_bias=op.exp(past))),
        lambda: biased(lambda qkv, past: unfused_attention([qkv, qkv], past)),
        lambda: biased(lambda qkv, past: unfused_attention(qkv, past, count=1)),
        lambda: biased(gpt_attention, bias=deep(11)),
        lambda: biased(lambda qkv, past: (*gpt_attention(past, past), qkv)),
        lambda: biased(lambda qkv, past: gpt_attention.__wrapped__(qkv, past)),
    ],
    ids=[
        "two users",
        "both constant",
        "both mutable",
        "a bias already",
        "a list",
        "one output",
        "deep",
        "an input",
        "no record",
    ],
)
def test_what_is_no_constant_bias(module):
    module = module()
    before = module.text(locations=True)
    manager = RewritePatternManager()
    manager.add("fuse_attention_with_bias", FuseAttentionWithBias())
    assert manager.rewrite(module, remove_dead_code=False) == 0
    assert module.text(locations=True) == before
