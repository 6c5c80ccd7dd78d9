# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the properties of a module with attention, and of the time to read them in a large module."""

import re
import time

import inlay
import onnx
import pytest
import torch
from inlay.rewrite import Attribute, FLayerInfoMemo, Tensor, net_guard, op
from rewriting import chain, gpt_attention

INPUTS = {
    "input": (torch.float16, (4, 128, 1024)),
    "past_key_value": (torch.float16, (4, 2, 16, 148, 64)),
    "sequence_length": (torch.int32, (4,)),
    "host_past_key_value_lengths": (torch.int32, (4,)),
    "host_max_attention_window_sizes": (torch.int32, (1,)),
    "host_sink_token_length": (torch.int32, (1,)),
    "context_lengths": (torch.int32, (4,)),
    "host_request_types": (torch.int32, (4,)),
    "host_context_lengths": (torch.int32, (4,)),
    "cache_indirection": (torch.int32, (4, 1, 148)),
}


@pytest.fixture(name="module")
def make_network():
    module = inlay.Module()
    with net_guard(module):
        x, past, *_ = (Tensor(name, dtype, shape) for name, (dtype, shape) in INPUTS.items())
        weight, bias = (
            op("inlay.constant", value=Attribute(f"dense<0.5> : tensor<{shape}xf16>"), results=[f"tensor<{shape}xf16>"])
            for shape in ("1024x1024", "1024")
        )
        for tensor in gpt_attention(x @ weight + bias, past):
            tensor.mark_output()
    return module


def test_as_many_inputs_as_the_function_has(module):
    (arguments,) = re.findall(r"func.func @forward\((.*?)\) ->", module.text())
    assert len(module.get_inputs()) == arguments.count("tensor<") == len(INPUTS)
    assert [(one.name, one.dtype, one.shape) for one in module.get_inputs()] == [
        (name, dtype, shape) for name, (dtype, shape) in INPUTS.items()
    ]


def test_inputs_are_inputs_and_nothing_else_is(module):
    assert all(tensor.is_input() and not tensor.is_output() for tensor in module.get_inputs())
    assert not any(tensor.is_input() for layer in module.get_layers() for tensor in layer.get_outputs())


def test_outputs_are_told_by_what_they_are_not_by_name(module):
    outputs = module.get_outputs()
    assert len(outputs) == 2 and all(tensor.is_output() and not tensor.is_input() for tensor in outputs)
    plugin = outputs[0].get_parent()
    plugin.name = "input"  # the name of an input, or no valid name
    assert [tensor.is_output() for tensor in plugin.get_outputs()] == [True, True]
    assert not any(tensor.is_output() for tensor in [*module.get_inputs(), *plugin.get_inputs()])


def test_layers_are_found_by_their_names(module):
    layers = module.get_layers()
    assert [layer.op for layer in layers] == [
        *("inlay.constant", "inlay.constant", "inlay.matmul", "inlay.add", "inlay.plugin")
    ]
    assert [module.get_layer_by_name(layer.name) for layer in layers] == layers
    assert len({layer.name for layer in layers}) == len(layers)


def test_a_tensor_knows_what_makes_it(module):
    for layer in module.get_layers():
        assert layer.get_outputs() and all(tensor.get_parent() == layer for tensor in layer.get_outputs())
    assert all(tensor.get_parent() is None for tensor in module.get_inputs())


def test_a_tensor_knows_what_uses_it(module):
    for layer in module.get_layers():
        assert all(layer in tensor.get_users() for tensor in layer.get_inputs())
        assert all(tensor in user.get_inputs() for tensor in layer.get_outputs() for user in tensor.get_users())
    assert [len(tensor.get_users()) for tensor in module.get_inputs()] == [1, 1] + [0] * 8


def test_a_picture_for_graphviz(module):
    text = module.to_dot()
    assert text.startswith("digraph ")
    assert all(layer.name in text for layer in module.get_layers())
    assert text.count(" -> ") == sum(len(layer.get_inputs()) for layer in module.get_layers()) + 2


def test_a_file_for_viewers_of_onnx(module, tmp_path):
    path = module.to_onnx(tmp_path / "new")
    assert path == tmp_path / "new" / "network.onnx"
    graph = onnx.load(path).graph
    assert [(node.domain, node.op_type, node.name) for node in graph.node] == [
        (*layer.op.split("."), layer.name) for layer in module.get_layers()
    ]
    assert [one.name for one in graph.input] == list(INPUTS)
    assert [one.name for one in graph.output] == [tensor.name for tensor in module.get_outputs()]
    makers = {name: node.name for node in graph.node for name in node.output}
    for node, layer in zip(graph.node, module.get_layers(), strict=True):
        parents = [tensor.get_parent() for tensor in layer.get_inputs()]
        assert [makers.get(name) for name in node.input] == [one and one.name for one in parents]
    sizes = [dim.dim_value for dim in graph.input[0].type.tensor_type.shape.dim]
    assert (sizes, graph.input[0].type.tensor_type.elem_type) == ([4, 128, 1024], onnx.TensorProto.FLOAT16)
    attributes = {one.name: onnx.helper.get_attribute_value(one) for one in graph.node[-1].attribute}
    assert attributes["num_heads"] == 16 and attributes["name"] == b"tensorrt_llm::GPTAttention"
    assert path.stat().st_size < 100_000  # without the data of the constants
    with pytest.raises(inlay.CompileError, match="can't write"):
        module.to_onnx(path)


def test_every_layer_gives_what_it_is_as_an_attribute(module):
    for layer in module.get_layers():
        assert layer.as_layer() == layer and layer.as_layer().type == layer.op
    matmul, add, plugin = module.get_layers()[2:]
    assert (matmul.as_layer().lhs, add.as_layer().rhs) == (module.get_inputs()[0], add.get_inputs()[1])
    assert plugin.as_layer().plugin.plugin_type == "GPTAttention"


def test_names_may_change_without_the_record_of_a_call(module):
    (call,) = FLayerInfoMemo(module)
    plugin, added = module.get_layers()[-1], module.get_layers()[-2]
    plugin.name, added.name = "other", "plugin"
    assert FLayerInfoMemo(module).get("other") == call and FLayerInfoMemo(module).get("plugin") is None
    assert call.layers == [plugin] and call.get_input("qkv") == added.get_outputs()[0]


def seconds_for_queries(count):
    module = chain(*["t.a"] * count)
    start = time.process_time()
    for layer in module.get_layers():
        assert all(tensor.get_parent() == layer for tensor in layer.get_outputs())
        assert all(layer in tensor.get_users() for tensor in layer.get_inputs())
    return time.process_time() - start


def test_a_question_costs_the_same_in_a_large_network():
    small, large = (min(seconds_for_queries(count) for _ in range(3)) for count in (500, 8000))
    assert large < 16 * 4 * small  # would be 256 times as long if each question searched the whole module
