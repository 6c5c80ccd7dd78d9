# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs and patterns that the tests of rewriting share."""

import inlay
import torch
from inlay.rewrite import PatternRewriter, Tensor, net_guard, op, record_signature

LINEAR = """
func.func @forward(%x: tensor<4x8xf32> loc("x"), %w: tensor<8x8xf32> loc("w"), %b: tensor<8xf32> loc("b"))
    -> tensor<4x8xf32> {
  %0 = inlay.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("fc")
  %1 = inlay.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> loc("bias")
  %2 = inlay.relu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("act")
  return %2 : tensor<4x8xf32>
}
"""


def linear():
    return inlay.parse(LINEAR)


def kinds(module):
    """The ops in order, without their dialect if it is inlay."""
    return [layer.op.removeprefix("inlay.") for layer in module.get_layers()]


def chain(*names):
    """x -> names[0] -> names[1] ...: ops of one operand, of any dialect."""
    lines = ["func.func @f(%v0: tensor<4xf32>) -> tensor<4xf32> {"]
    for number, name in enumerate(names):
        lines.append(f'  %v{number + 1} = "{name}"(%v{number}) : (tensor<4xf32>) -> tensor<4xf32>')
    return inlay.parse("\n".join([*lines, f"  return %v{len(names)} : tensor<4xf32>", "}"]))


class ReplaceAddWithSub(PatternRewriter):
    """The first documented example of TensorRT-LLM's graph rewriting."""

    def __init__(self):
        super().__init__("replace_add_with_sub", root_layer={inlay.ops.add}, separate_match_rewrite=True)
        self.rewrite_count = 0

    def match(self, layer):
        return layer.as_layer().op == inlay.ops.add

    def rewrite(self, layer):
        self.rewrite_count += 1
        with net_guard(layer.network):
            a, b = layer.get_inputs(0, 1)
            o = layer.get_outputs(0)[0]
            c = a - b
            o.replace_all_uses_with(c)
            layer.mark_as_removed()


@record_signature
def gpt_attention(qkv, past_key_value, *, qkv_bias=None, num_heads=16, unidirectional=True, scale=1.0):
    """The layer that the second example is about: a plugin of two results."""
    inputs = [qkv, past_key_value] + ([qkv_bias] if qkv_bias is not None else [])
    outputs = op("inlay.plugin", *inputs, name="tensorrt_llm::GPTAttention", results=[qkv, past_key_value],
                 num_heads=num_heads, unidirectional=unidirectional, scale=scale)  # fmt: skip
    return outputs[0], outputs[1]


def attention_network(batch_size=4, in_len=128, hidden_size=1024, after=None):
    """qkv = matmul + bias; (output, present) = attention(qkv, past)."""
    module = inlay.Module()
    with net_guard(module):
        x = Tensor(name="input", dtype=torch.float16, shape=(batch_size, in_len, hidden_size))
        w = Tensor(name="weight", dtype=torch.float16, shape=(hidden_size, hidden_size))
        b = Tensor(name="bias", dtype=torch.float16, shape=(hidden_size,))
        past = Tensor(name="past_key_value", dtype=torch.float16, shape=(batch_size, 2, 16, 148, 64))
        out, present = gpt_attention(op.matmul(x, w) + b, past)
        if after is not None:
            out = after(out)
        out.mark_output()
        present.mark_output()
    return module
