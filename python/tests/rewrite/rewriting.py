# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared graphs and patterns of the tests of rewriting."""

import inlay
import torch
from inlay.rewrite import (
    Attribute,
    Pattern,
    PatternRewriter,
    RewritePatternManager,
    Tensor,
    net_guard,
    op,
    record_signature,
)

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
    """Returns the ops in order, without the dialect if it is inlay."""
    return [layer.op.removeprefix("inlay.") for layer in module.get_layers()]


def steps(module):
    """Returns the ops in order, without constants."""
    return [kind for kind in kinds(module) if kind != "constant"]


def chain(*names):
    """Returns a module of ops with one operand, each of which reads the previous one."""
    lines = ["func.func @f(%v0: tensor<4xf32>) -> tensor<4xf32> {"]
    for number, name in enumerate(names):
        lines.append(f'  %v{number + 1} = "{name}"(%v{number}) : (tensor<4xf32>) -> tensor<4xf32>')
    return inlay.parse("\n".join([*lines, f"  return %v{len(names)} : tensor<4xf32>", "}"]))


class ReplaceAddWithSub(PatternRewriter):
    """The first example in the documentation of graph rewriting in TensorRT-LLM."""

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
    """Makes the layer of the second example: a plugin with two results."""
    inputs = [qkv, past_key_value] + ([qkv_bias] if qkv_bias is not None else [])
    outputs = op("inlay.plugin", *inputs, name="tensorrt_llm::GPTAttention", results=[qkv, past_key_value],
                 num_heads=num_heads, unidirectional=unidirectional, scale=scale)  # fmt: skip
    return outputs[0], outputs[1]


def attention_network(batch_size=4, in_len=128, hidden_size=1024, after=None):
    """Returns a module with qkv = matmul + bias; (output, present) = attention(qkv, past)."""
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


def network(build, **inputs):
    """Returns a module that `build` makes from inputs by name. Their types are written as `x="4x?xf16"`."""
    module = inlay.Module()
    with net_guard(module):
        tensors = []
        for name, text in inputs.items():
            *shape, dtype = text.split("x") if text[0] in "?0123456789" else [text]
            tensors.append(Tensor(name, dtype, [-1 if size == "?" else int(size) for size in shape]))
        outputs = build(*tensors)
        for output in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
            output.mark_output()
    return module


def drawn(module):
    """Returns a line for each layer, such as `%1, %2 = t.op(x, %0) {k=1}`, and a line with the outputs."""
    names, lines = {tensor: tensor.name for tensor in module.get_inputs()}, []
    for layer in module.get_layers():
        inputs = ", ".join(names[tensor] for tensor in layer.get_inputs())
        names.update({tensor: f"%{len(names) + number}" for number, tensor in enumerate(layer.get_outputs())})
        attributes = {key: value for key, value in sorted(layer.attributes.items()) if key != "inlay.signature"}
        lines.append(
            ", ".join(names[tensor] for tensor in layer.get_outputs())
            + f" = {layer.op.removeprefix('inlay.')}({inputs})"
            + (" {" + ", ".join(f"{key}={value}" for key, value in attributes.items()) + "}" if attributes else "")
        )
    return [*lines, "return " + ", ".join(names[tensor] for tensor in module.get_outputs())]


def rewritten(module, *patterns, **options):
    """Returns the number of rewrites of the module by these patterns or classes."""
    manager = RewritePatternManager()
    for number, one in enumerate(patterns):
        manager.add(f"p{number}", one, None if isinstance(one, Pattern) else 0)
    return manager.rewrite(module, **options)


def constant(value, shape=""):
    """Makes a constant of floats from a number for all elements, or from nested lists."""
    kind = f"tensor<{shape}xf32>" if shape else "tensor<f32>"
    value = [float(one) for one in value] if isinstance(value, list) else value
    return op("inlay.constant", value=Attribute(f"dense<{value}> : {kind}"), results=[kind])


def number_of(tensor):
    """Returns the number that all elements of a constant equal, or None for other values."""
    parent = tensor.get_parent()
    if parent is None or parent.op != "inlay.constant":
        return None
    try:
        return float(str(parent.value).partition("dense<")[2].partition(">")[0])
    except ValueError:
        return None


def check(module, *rules, count=1):
    """Applies the rules, compares the results before and after each rewrite, and returns the remaining ops."""
    assert rewritten(module, *rules, check=True) == count
    module.verify()
    return steps(module)
