# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules on large graphs: the number of rewrites, the remaining ops, and time in proportion to the size.

Also tests a pattern that grows regions of pointwise ops as far as possible."""

import hashlib
import time

import inlay
import pytest
from inlay.rewrite import PatternRewriter, op, pattern
from rewriting import drawn, kinds, network, rewritten

T = "tensor<4x4xf32>"
BLOCK = """  %p{n} = inlay.matmul %v{n}, %w : ({t}, {t}) -> {t}
  %s{n} = inlay.add %p{n}, %b : ({t}, {t}) -> {t}
  %r{n} = inlay.relu %s{n} : ({t}) -> {t}
  %m{n} = inlay.mul %r{n}, %s : ({t}, {t}) -> {t}
  %v{next} = inlay.sigmoid %m{n} : ({t}) -> {t}
"""
PAIR = """  %u{n} = "t.unsqueeze"(%v{n}) {{axis = 1}} : ({t}) -> tensor<4x1x4xf32>
  %v{next} = "t.squeeze"(%u{n}) {{axis = 1}} : (tensor<4x1x4xf32>) -> {t}
"""


def repeated(block, count):
    body = "".join(block.format(n=number, next=number + 1, t=T) for number in range(count))
    arguments = ", ".join(f"%{name}: {T}" for name in ("v0", "w", "b", "s"))
    return inlay.parse(f"func.func @f({arguments}) -> {T} {{\n{body}  return %v{count} : {T}\n}}")


fuse = pattern("fuse")(lambda op, x, w, b: op.relu(op.matmul(x, w) + b)).to(lambda op, x, w, b: op("t.fused", x, w, b))
undo = pattern("undo")(
    lambda op, x: op("t.squeeze", op("t.unsqueeze", x, axis=op.attr("axis")), axis=op.attr("axis"))
).to(lambda op, x: x)


def test_twenty_thousand_blocks():
    module = repeated(BLOCK, 20_000)
    assert len(module.get_layers()) == 100_000
    assert rewritten(module, fuse) == 20_000
    left = kinds(module)
    assert len(left) == 60_000  # none of the matched ops
    assert left == ["t.fused", "mul", "sigmoid"] * 20_000


@pytest.mark.parametrize(("block", "rule"), [(BLOCK, fuse), (PAIR, undo)], ids=["fused", "an input instead"])
def test_the_time_follows_the_size(block, rule):
    def seconds(count):
        module = repeated(block, count)
        start = time.process_time()
        assert rewritten(module, rule) == count
        return time.process_time() - start

    small, large = (min(seconds(count) for _ in range(3)) for count in (1_000, 16_000))
    assert large < 16 * 4 * small  # would be 256 times as long if each rewrite searched the whole graph


# Connected pointwise ops become one op. Its name lists the ops.
ELEMENTWISE = {f"inlay.{name}" for name in ("add", "mul", "sub", "rsqrt", "neg", "exp", "relu", "mean")}


class FuseElementwise(PatternRewriter):
    def __init__(self):
        super().__init__("fuse_elementwise", root_layer=ELEMENTWISE)

    def match_and_rewrite(self, layer):
        if any(user.op in ELEMENTWISE for tensor in layer.get_outputs() for user in tensor.get_users()):
            return self.fail("a user of it is the end of the region")
        layers, order = [layer], {one: number for number, one in enumerate(layer.network.get_layers())}
        for one in layers:  # a value that only the region uses is a part of the region
            for parent in (tensor.get_parent() for tensor in one.get_inputs()):
                fits = parent is not None and parent.op in ELEMENTWISE and parent not in layers
                result = parent.get_outputs()[0] if fits else None
                if fits and not result.is_output() and all(user in layers for user in result.get_users()):
                    layers.append(parent)
        layers.sort(key=order.__getitem__)
        made = [one.get_outputs()[0] for one in layers]
        inputs = list(dict.fromkeys(tensor for one in layers for tensor in one.get_inputs() if tensor not in made))
        if len(layers) < 2 or max(len(tensor.shape) for tensor in inputs) < 2:
            return self.fail("it is one op, or reads nothing but vectors")
        names = {tensor: f"i{number}" for number, tensor in enumerate(inputs)}
        names.update({tensor: f"r{number}" for number, tensor in enumerate(made)})
        text = ";".join(f"{one.op}({','.join(names[tensor] for tensor in one.get_inputs())})" for one in layers)
        kernel = hashlib.sha256(text.encode()).hexdigest()[:8]
        new = op("t.kernel", *inputs, kernel=kernel, ops=len(layers), results=layer.get_outputs())
        layer.replace_with(new)
        return True


def norm(x, w):
    return x * op.rsqrt(op.mean(x * x, dims=[-1], keepdim=True) + 0.5) * w


def test_regions_of_elementwise_ops_are_one_kernel_each():
    def build(x, w, v):
        first = norm(x + x, w)
        second = norm(op.matmul(first, v) + x, w)
        return second, op.relu(w + w), op.neg(v)

    module = network(build, x="4x8xf32", w="8xf32", v="8x8xf32")
    assert rewritten(module, FuseElementwise()) == 2
    kernels = [one for one in module.get_layers() if one.op == "t.kernel"]
    assert [one.ops for one in kernels] == [7, 7]
    assert [line.split(" = ")[1].split("(")[0] for line in drawn(module)[:-1] if "constant" not in line] == [
        *("t.kernel", "matmul", "t.kernel", "add", "relu", "neg")
    ]  # a region of vectors and a region of one op stay


def test_equal_regions_are_the_same_kernel():
    module = network(lambda x, y, w: (norm(x, w), norm(y, w), norm(x, w) + 1), x="4x8xf32", y="4x8xf32", w="8xf32")
    assert rewritten(module, FuseElementwise()) == 3
    first, second, third = (one.kernel for one in module.get_layers() if one.op == "t.kernel")
    assert first == second != third
