# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fusions of onnxscript as rules of Inlay: into weights, and of hard activations, attention, norms and positions.

If the ops can run, the results before and after each rewrite are compared. Rules that the libraries have are in
test/Rewrite/library-*.mlir.
"""

import pytest
from inlay.rewrite import PatternRewriter, op, pattern
from rewriting import check, constant, drawn, network, number_of, rewritten, steps

LAST = 2**63 - 1


# A norm with constant statistics is folded into the weights of the product before it.
class FoldBatchNorm(PatternRewriter):
    def match_and_rewrite(self, layer):
        made = layer.input.get_parent()
        if made is None or made.op not in ("inlay.linear", "inlay.conv_transpose") or made.bias is None:
            return self.fail("no product with a bias before it")
        fixed = [made.weight, made.bias, *layer.get_inputs()[1:]]
        if any(one.get_parent() is None or one.get_parent().op != "inlay.constant" for one in fixed):
            return self.fail("not all weights are constants")
        if len(layer.input.get_users()) != 1 or layer.input.is_output():
            return self.fail("something else reads the product")
        scale = layer.weight * op.rsqrt(layer.variance + layer.eps)
        bias = (made.bias - layer.mean) * scale + layer.bias
        shape = list(made.weight.shape)
        if made.op == "inlay.linear":
            weight = made.weight * op.reshape(scale, [shape[0], 1])
        else:  # in, out / groups, kernel
            groups = made.groups
            parts = op.reshape(made.weight, [groups, shape[0] // groups, *shape[1:]])
            weight = op.reshape(parts * op.reshape(scale, [groups, 1, shape[1], *[1] * len(shape[2:])]), shape)
        layer.replace_with(getattr(op, made.op.removeprefix("inlay."))(made.input, weight, bias, **made.attributes))
        return True


def normed(groups=0, weight=None, used=False):
    channels = 6

    def build(x):
        vectors = [constant(value, str(channels)) for value in (1.5, 0.25, [1, 2, 3, 4, 5, 6], 0.5, [1, 2, 1, 2, 3, 1])]
        bias, mean, shift, scale, variance = (vectors[index] for index in (0, 1, 2, 3, 4))
        if groups:
            w = constant(0.5, f"4x{channels // groups}x3x3") if weight is None else weight(x)
            sizes = {"stride": [2, 2], "padding": [1, 1], "output_padding": [0, 0], "dilation": [1, 1]}
            made = op.conv_transpose(x, w, bias, **sizes, groups=groups)
        else:
            w = constant(0.5, f"{channels}x4") if weight is None else weight(x)
            made = op.linear(x, w, bias)
        result = op.batch_norm(made, scale, shift, mean, variance, 1e-3)
        return (result, made) if used else result

    return network(build, x="1x4x3x3xf32" if groups else "5x4xf32")


@pytest.mark.parametrize("groups", [0, 1, 2])
def test_a_norm_by_fixed_statistics_goes_into_the_weights(groups):
    fold = FoldBatchNorm("p", {"inlay.batch_norm"})
    left = check(normed(groups), fold)
    assert "batch_norm" not in left and left[-1] == ("conv_transpose" if groups else "linear")
    assert rewritten(normed(groups, used=True), fold) == 0
    assert rewritten(normed(weight=lambda x: op.slice(op.cat([x, x], 0), 0, 0, 6, 1)), fold) == 0


# A number is multiplied or added before or after a convolution.
ATTRIBUTES = ("stride", "dilation")
affine_conv = pattern("affine_conv")(
    lambda op, x, w, b, s, o: op.conv(
        x * s + o, w, b, padding=[0, 0], groups=1, **{name: op.attr(name) for name in ATTRIBUTES}
    )
).where(lambda m: [(one.constant(), one.rank(0)) for one in (m.s, m.o)] and (m.w.constant(), m.b.constant()))
affine_conv.to(
    lambda op, x, w, b, s, o: op.conv(
        x,
        op.mul(w, s),
        op.add(b, op.mul(op.sum(w, [1, 2, 3]), o)),
        padding=[0, 0],
        groups=1,
        **{name: op.attr(name) for name in ATTRIBUTES},
    )
)
conv_affine = pattern("conv_affine")(
    lambda op, x, w, b, s, o: (
        op.conv(
            x,
            w,
            b,
            padding=op.attr("padding"),
            groups=op.attr("groups"),
            **{name: op.attr(name) for name in ATTRIBUTES},
        )
        * s
        + o
    )
).where(lambda m: [(one.constant(), one.rank(0)) for one in (m.s, m.o)] and (m.w.constant(), m.b.constant()))
conv_affine.to(
    lambda op, x, w, b, s, o: op.conv(
        x,
        op.mul(w, s),
        op.add(op.mul(b, s), o),
        padding=op.attr("padding"),
        groups=op.attr("groups"),
        **{name: op.attr(name) for name in ATTRIBUTES},
    )
)


def convolution(x, w=None, padding=0, groups=1, b=None):
    w = constant(0.5, f"4x{4 // groups}x3x3") if w is None else w
    sizes = {"stride": [2, 1], "padding": [padding, padding], "dilation": [1, 1], "groups": groups}
    return op.conv(x, w, constant([1, 2, 3, 4], "4") if b is None else b, **sizes)


@pytest.mark.parametrize(("padding", "groups"), [(0, 1), (1, 1), (0, 2)])
def test_numbers_go_into_a_convolution(padding, groups):
    module = network(lambda x: convolution(x * 2 + 3, padding=padding, groups=groups), x="1x4x5x5xf32")
    inside = check(module, affine_conv, conv_affine, count=int(padding == 0 and groups == 1))
    assert inside[-1] == "conv" and (inside[0] == "mul") and ("sum" in inside) == (padding == 0 and groups == 1)
    module = network(lambda x: convolution(x, padding=padding, groups=groups) * 2 + 3, x="1x4x5x5xf32")
    assert check(module, affine_conv, conv_affine)[-1] == "conv"


@pytest.mark.parametrize("other", ["", "w", "b", "s", "o", "s of a row", "o of a row"])
@pytest.mark.parametrize("before", [False, True])
def test_weights_that_are_no_constants_stay(before, other):
    def build(x, *inputs):
        given = dict(zip("wbso", inputs, strict=True))
        numbers = constant(0.5, "4x4x3x3"), constant([1, 2, 3, 4], "4"), constant(2.0), constant(3.0)
        row = constant(4.0, "5" if before else "3")
        changed = {other[0]: row if "row" in other else given[other]} if other else {}
        w, b, s, o = {**dict(zip("wbso", numbers, strict=True)), **changed}.values()
        return convolution(x * s + o, w, b=b) if before else convolution(x, w, b=b) * s + o

    module = network(build, x="1x4x5x5xf32", w="4x4x3x3xf32", b="4xf32", s="f32", o="f32")
    assert rewritten(module, affine_conv, conv_affine) == (not other)


# A pad of zeros becomes the padding of the convolution after it.
class FoldPad(PatternRewriter):
    def match_and_rewrite(self, layer):
        pad = layer.input.get_parent()
        if pad is None or pad.op != "inlay.pad":
            return self.fail("no pad before it")
        low, high = pad.low, pad.high
        if number_of(pad.value) != 0 or low != high or any(low[:2]):
            return self.fail("it pads with something else, other dims, or one side more than the other")
        padding = [one + other for one, other in zip(layer.padding, low[2:], strict=True)]
        layer.replace_with(op.conv(pad.input, *layer.get_inputs()[1:], **{**layer.attributes, "padding": padding}))
        return True


@pytest.mark.parametrize(
    ("value", "low", "high", "count"),
    [
        (0.0, [0, 0, 1, 2], [0, 0, 1, 2], 1),
        (1.0, [0, 0, 1, 2], [0, 0, 1, 2], 0),
        (0.0, [0, 0, 1, 2], [0, 0, 2, 2], 0),
        (0.0, [1, 0, 1, 1], [1, 0, 1, 1], 0),
    ],
)
def test_a_pad_of_zeros_goes_into_the_convolution(value, low, high, count):
    module = network(lambda x: convolution(op.pad(x, constant(value), low, high), padding=1), x="1x4x5x5xf32")
    assert check(module, FoldPad("p", {"inlay.conv"}), count=count) == (["conv"] if count else ["pad", "conv"])
    assert not count or module.get_layers()[-1].padding == [2, 3]


# A bias of zeros is removed.
def unbiased(name, *attributes):
    def given(op):
        return {key: op.attr(key) for key in attributes}

    rule = pattern(name)(lambda op, x, w, b: getattr(op, name)(x, w, b, **given(op)))
    return rule.to(lambda op, x, w, b: getattr(op, name)(x, w, **given(op))).where(lambda m: m.b.splat(0.0))


UNBIASED = [
    unbiased("linear"),
    unbiased("conv", "stride", "padding", "dilation", "groups"),
    unbiased("conv_transpose", "stride", "padding", "output_padding", "dilation", "groups"),
    pattern("quantized")(lambda op, x, b: op("t.qconv", x, op.rest("scales"), b))
    .to(lambda op, x, b: op("t.qconv", x, op.rest("scales")))
    .where(lambda m: m.b.splat(0.0)),
]
SIZES = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1}


@pytest.mark.parametrize("bias", [0.0, 0.5, None])
@pytest.mark.parametrize("kind", ["linear", "conv", "conv_transpose", "t.qconv"])
def test_a_bias_of_zeros_is_none(kind, bias):
    def build(x, w, b):
        b = b if bias is None else constant(bias, "4")
        if kind == "t.qconv":
            return op("t.qconv", x, w, w, w, w, w, w, w, b, results=[x])
        sizes = {} if kind == "linear" else {**SIZES, **({"output_padding": [0, 0]} if "tr" in kind else {})}
        return getattr(op, kind)(x, w, b, **sizes)

    shapes = {"x": "2x4xf32", "w": "4x4xf32"} if kind == "linear" else {"x": "1x4x3x3xf32", "w": "4x4x3x3xf32"}
    module = network(build, **shapes, b="4xf32")
    inputs = len(module.get_layers()[-1].get_inputs())
    assert rewritten(module, *UNBIASED, check=kind != "t.qconv") == (bias == 0)
    assert len(module.get_layers()[-1].get_inputs()) == inputs - (bias == 0)


# Hard activations in several forms.
hard_swish = pattern("hard_swish", benefit=2)(lambda op, x: op.minimum(op.maximum(x + 3, 0), 6) * x / 6)
hard_swish.to(lambda op, x: op("t.hard_swish", x))
hard_sigmoid = pattern("hard_sigmoid")(lambda op, x: op.minimum(op.maximum(x + 3, 0), 6) / 6)
hard_sigmoid.to(lambda op, x: op("t.hard_sigmoid", x, alpha=1 / 6, beta=0.5))
from_sigmoid = pattern("from_sigmoid")(lambda op, x: op("t.hard_sigmoid", x, alpha=1 / 6, beta=0.5) * x)
from_sigmoid.to(lambda op, x: op("t.hard_swish", x))


@pytest.mark.parametrize("swap", [False, True])
def test_hard_activations(swap):
    rules = hard_swish, hard_sigmoid, from_sigmoid

    def gate(x, shift=3):
        return op.minimum(op.maximum(shift + x if swap else x + shift, 0), 6)

    module = network(lambda x: (x * gate(x) if swap else gate(x) * x) / 6, x="8xf32")
    assert rewritten(module, *rules) == 1 and steps(module) == ["t.hard_swish"]
    module = network(lambda x: gate(x) / 6, x="8xf32")
    assert rewritten(module, *rules) == 1 and steps(module) == ["t.hard_sigmoid"]
    module = network(lambda x: x * (gate(x) / 6), x="8xf32")
    assert rewritten(module, *rules) == 2 and steps(module) == ["t.hard_swish"]
    assert rewritten(network(lambda x: gate(x, 2) * x / 6, x="8xf32"), *rules) == 0


# Attention with a cache of keys and values, which are repeated for groups of heads.
def find_grouped(op, q, k, v, past_k, past_v):
    def repeat(past, new):
        joined = op.cat([past, new], -2)
        wide = op.expand(op.reshape(joined, op.attr("single")), op.attr("grouped"))
        return joined, op.reshape(wide, op.attr("all"))

    present_k, keys = repeat(past_k, k)
    present_v, values = repeat(past_v, v)
    return op("t.attention", q, keys, values, op.rest("mask"), scale=op.attr("scale")), present_k, present_v


grouped = pattern("grouped")(find_grouped).to(
    lambda op, q, k, v, past_k, past_v: op(
        "t.attention", q, k, v, past_k, past_v, op.rest("mask"), scale=op.attr("scale"), results=3
    )
)


@grouped.constraint
def _(q, k, v, past_k, past_v):
    batch, _, length, head = q.shape
    same = k.shape == v.shape and past_k.shape == past_v.shape and k.shape[1] == past_k.shape[1]
    return same and (k.shape[0], *k.shape[2:]) == (batch, length, head)


@pytest.mark.parametrize(("mask", "length", "count"), [(False, 3, 1), (True, 3, 1), (False, 2, 0)])
def test_grouped_attention_takes_keys_and_values_of_the_past(mask, length, count):
    total = 5 + length

    def build(q, k, v, past_k, past_v, m):
        def repeat(past, new):
            joined = op.cat([past, new], -2)
            wide = op.expand(op.reshape(joined, [2, 2, 1, total, 8]), [2, 2, 3, total, 8])
            return joined, op.reshape(wide, [2, 6, total, 8])

        (present_k, keys), (present_v, values) = repeat(past_k, k), repeat(past_v, v)
        return op("t.attention", q, keys, values, *([m] if mask else []), scale=0.5, results=[q]), present_k, present_v

    new, past = f"2x2x{length}x8xf32", "2x2x5x8xf32"
    module = network(build, q="2x6x3x8xf32", k=new, v=new, past_k=past, past_v=past, m=f"3x{total}xf32")
    assert rewritten(module, grouped) == count
    if count:
        operands = "q, k, v, past_k, past_v" + (", m" if mask else "")
        assert drawn(module) == [f"%6, %7, %8 = t.attention({operands}) {{scale=0.5}}", "return %6, %7, %8"]


# Norms without a bias, and with a bias that is added afterwards.
layer_norm = pattern("layer_norm")(
    lambda op, x, w: (
        (centred := x - op.mean(x, [-1], True))
        * op.reciprocal(op.sqrt(op.mean(centred * centred, [-1], True) + 0.25))
        * w
    )
).to(lambda op, x, w: op("t.layer_norm", x, w, eps=0.25))
layer_norm.where(lambda m: m.x.dtype("f32", "f64"))
layer_norm_bias = pattern("layer_norm_bias")(lambda op, x, w, b: op("t.layer_norm", x, w, eps=op.attr("eps")) + b)
layer_norm_bias.to(lambda op, x, w, b: op("t.layer_norm", x, w, b, eps=op.attr("eps")))


@pytest.mark.parametrize(
    ("dtype", "eps", "count"), [("f32", 0.25, 2), ("f64", 0.25, 2), ("f16", 0.25, 0), ("f32", None, 0)]
)
def test_a_norm_and_the_bias_after_it(dtype, eps, count):
    def build(x, w, b, e):
        centred = x - op.mean(x, dims=[-1], keepdim=True)
        variance = op.mean(centred * centred, dims=[-1], keepdim=True) + (e if eps is None else eps)
        return w * (centred * op.reciprocal(op.sqrt(variance))) + b

    module = network(build, x=f"2x8x{dtype}", w=f"8x{dtype}", b=f"8x{dtype}", e=dtype)
    assert rewritten(module, layer_norm, layer_norm_bias) == count
    assert not count or drawn(module)[0] == "%4 = t.layer_norm(x, w, b) {eps=0.25}"


# Rotary embeddings: with each frequency twice, and of the first part of a head only.
def find_rotary(op, x, freqs):
    angles = op.cat([freqs, freqs], -1)
    cos, sin = (op("t.unsqueeze", one, axes=[1]) for one in (op.cos(angles), op.sin(angles)))
    left = op.slice(x, 3, 0, op.attr("half"), 1)
    right = op.slice(x, 3, op.attr("half"), op.attr("end"), 1)
    return x * cos + op.cat([op.neg(right), left], -1) * sin


rotary = pattern("rotary")(find_rotary).to(
    lambda op, x, freqs: op("t.rotary", x, op.cos(freqs), op.sin(freqs), interleaved=False)
)
rotary.constraint(lambda x, half, end: len(x.shape) == 4 and half * 2 == x.shape[3] and end >= x.shape[3])


def find_partial(op, x, cos, sin):
    turned = op("t.rotary", op.slice(x, 3, 0, op.attr("cut"), 1), cos, sin, interleaved=False)
    return op.cat([turned, op.slice(x, 3, op.attr("cut"), LAST, 1)], -1)


partial = pattern("partial")(find_partial).to(
    lambda op, x, cos, sin: op("t.rotary", x, cos, sin, interleaved=False, dim=op.attr("cut"))
)


@pytest.mark.parametrize(("cut", "count"), [(4, 1), (2, 0)])
def test_positions_from_frequencies(cut, count):
    def build(x, freqs):
        angles = op.cat([freqs, freqs], -1)
        wide = "tensor<2x1x3x8xf32>"
        cos, sin = (op("t.unsqueeze", one, axes=[1], results=[wide]) for one in (op.cos(angles), op.sin(angles)))
        left, right = op.slice(x, 3, 0, cut, 1), op.slice(x, 3, cut, 8, 1)
        return op.cat([op.neg(right), left], -1) * sin + x * cos

    module = network(build, x="2x2x3x8xf32", freqs="2x3x4xf32")
    assert rewritten(module, rotary) == count
    if count:
        assert drawn(module) == [
            "%2 = cos(freqs)",
            "%3 = sin(freqs)",
            "%4 = t.rotary(x, %2, %3) {interleaved=False}",
            "return %4",
        ]


@pytest.mark.parametrize(("start", "interleaved", "count"), [(4, False, 1), (3, False, 0), (4, True, 0)])
def test_positions_of_the_first_part_alone(start, interleaved, count):
    def build(x, cos, sin):
        part = op.slice(x, 3, 0, 4, 1)
        turned = op("t.rotary", part, cos, sin, interleaved=interleaved, results=[part])
        return op.cat([turned, op.slice(x, 3, start, LAST, 1)], -1)

    module = network(build, x="2x2x3x8xf32", cos="3x2xf32", sin="3x2xf32")
    assert rewritten(module, partial) == count
    assert not count or drawn(module)[0] == "%3 = t.rotary(x, cos, sin) {dim=4, interleaved=False}"
