# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of other backends for parts of transformers: gates, experts, routing, attention, heads."""

import pytest
from inlay.rewrite import FLayerInfoMemo, PatternRewriter, Tensor, op, pattern, record_signature
from rewriting import constant, drawn, network, number_of, rewritten

LAST = 2**63 - 1


# One product computes gate and up. Its halves are split, and the activation of gate is multiplied by up. The halves are
# slices, items of a list with sizes, or results of an op without sizes.
def by_slices(op, x):
    dim, start, half, end = (op.attr(one) for one in ("dim", "start", "half", "end"))
    return op.slice(x, dim, start, half, op.attr("step")), op.slice(x, dim, half, end, op.attr("step"))


def by_items(op, x):
    parts = op("t.split_sizes", x, sizes=op.attr("sizes"), dim=op.attr("dim"))
    return op("t.getitem", parts, index=0), op("t.getitem", parts, index=1)


def by_results(op, x):
    return op("t.split", x, results=2)


def are_slices_halves(x, dim, start, half, end, step):
    size = x.shape[-1]
    return dim in (-1, len(x.shape) - 1) and start == 0 and step == 1 and half * 2 == size and end >= size


def are_items_halves(x, dim, sizes):
    return dim in (-1, len(x.shape) - 1) and sizes == [x.shape[-1] // 2] * 2


def are_results_halves(x):
    splits = [user for user in x.get_users() if user.op == "t.split"]
    return all(part.shape[-1] * 2 == x.shape[-1] for one in splits for part in one.get_outputs())


HALVES = {by_slices: are_slices_halves, by_items: are_items_halves, by_results: are_results_halves}


def gated(name, activate, cut):
    def find(op, x):
        gate, up = cut(op, x)
        return activate(op, gate) * up

    rule = pattern(f"{name}_{cut.__name__}")(find).to(lambda op, x: op(f"t.{name}", x))
    rule.constraint(HALVES[cut])
    return rule


GATES = [
    gated(name, activate, cut)
    for cut in HALVES
    for name, activate in (
        ("silu_and_mul", lambda op, gate: op.silu(gate)),
        ("gelu_tanh_and_mul", lambda op, gate: op("t.gelu", gate, approximate="tanh")),
    )
]


def halves(activate, swap=False, dim=-1, first=0, cut=8, start=8, end=16, step=1, other=False):
    def build(x, y):
        gate = op.slice(x, dim, first, cut, step)
        up = op.slice(y if other else x, dim, start, end, step)
        gate = activate(gate)
        return up * gate if swap else gate * up

    return network(build, x="16x16xf16", y="16x16xf16")


def gelu(kind):
    return lambda x: op("t.gelu", x, approximate=kind, results=[x])


def check_gates(make):
    """Checks that the graph that `make` builds with each activation becomes the op of that activation."""
    for activate, name in ((op.silu, "silu_and_mul"), (gelu("tanh"), "gelu_tanh_and_mul")):
        module = make(activate)
        assert rewritten(module, *GATES) == 1
        assert drawn(module) == [f"%2 = t.{name}(x)", "return %2"]


@pytest.mark.parametrize("end", [16, LAST])
@pytest.mark.parametrize("swap", [False, True])
def test_the_halves_of_a_product_gate_each_other(swap, end):
    check_gates(lambda activate: halves(activate, swap, end=end))


@pytest.mark.parametrize(
    "options",
    [
        {"dim": 0},
        {"first": 7},
        {"cut": 1, "start": 1},
        {"end": 9},
        {"step": 2},
        {"start": 4, "end": 12},
        {"other": True},
    ],
)
def test_other_cuts_stay(options):
    for activate in (op.silu, gelu("tanh")):
        assert rewritten(halves(activate, **options), *GATES) == 0
    assert rewritten(halves(gelu("none")), *GATES) == 0


def parts(activate, cut, sizes=(8, 8), items=(0, 1), dim=-1, swap=False, other=False):
    def build(x, y):
        types = [f"tensor<{size}x16xf16>" if dim == 0 else f"tensor<16x{size}xf16>" for size in sizes]

        def split(x):
            if cut is by_results:
                return op("t.split", x, results=types).__getitem__
            listed = op("t.split_sizes", x, sizes=list(sizes), dim=dim, results=[x])
            return lambda item: op("t.getitem", listed, index=item, results=[types[item]])

        made = split(x)
        gate, up = activate(made(items[0])), (split(y) if other else made)(items[1])
        return up * gate if swap else gate * up

    return network(build, x="16x16xf16", y="16x16xf16")


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("cut", [by_items, by_results])
def test_halves_may_be_items_or_results(cut, swap):
    check_gates(lambda activate: parts(activate, cut, swap=swap))
    module = parts(op.silu, by_items, dim=1)
    assert rewritten(module, *GATES) == 1


OTHER_PARTS = [{"sizes": (1, 15)}, {"sizes": (4, 4, 8)}, {"other": True}]
OTHER_PARTS += [{"items": (1, 0)}, {"items": (0, 0)}, {"items": (1, 1)}]


@pytest.mark.parametrize(
    ("cut", "options"),
    [*((cut, options) for cut in (by_items, by_results) for options in OTHER_PARTS), (by_items, {"dim": 0})],
)
def test_other_parts_stay(cut, options):
    for activate in (op.silu, gelu("tanh")):
        assert rewritten(parts(activate, cut, **options), *GATES) == 0
    assert rewritten(parts(gelu("none"), cut), *GATES) == 0


# The next op reads a quantized operand, so the gated product quantizes its result.
def find_quantized(op, x, w, scale):
    find_quantized.made = op("q.fp8_linear", op("t.silu_and_mul", x), w, scale, out=op.attr("out"))
    return find_quantized.made


def make_quantized(op, x, w, scale):
    return op("q.fp8_gemm", op("q.silu_and_mul", x, scale, dtype="fp8", like=x), w, scale, out=op.attr("out"))


@pytest.mark.parametrize("used", [False, True])
def test_a_gated_product_quantizes_for_the_only_product_that_reads_it(used):
    def build(x, w, scale):
        hidden = op("t.silu_and_mul", x, results=[x])
        result = op("q.fp8_linear", hidden, w, scale, out="f16", results=[x])
        return (result, hidden) if used else result

    module = network(build, x="8x8xf16", w="8x8xi8", scale="f32")
    assert rewritten(module, pattern("p")(find_quantized).to(make_quantized)) == (not used)
    if not used:
        assert drawn(module)[:2] == [
            "%3 = q.silu_and_mul(x, scale) {dtype=fp8}",
            "%4 = q.fp8_gemm(%3, w, scale) {out=f16}",
        ]


# silu(x gate) * (x up) down, with or without biases. Gate and up become one product.
def swiglu(biases):
    def find(op, x, gate, up, down, *more):
        b = more or (None, None, None)

        def linear(one, w, bias):
            return op.linear(one, w) if bias is None else op.linear(one, w, bias)

        return linear(op.silu(linear(x, gate, b[0])) * linear(x, up, b[1]), down, b[2])

    if biases:
        rule = pattern("swiglu_biases")(lambda op, x, gate, up, down, a, b, c: find(op, x, gate, up, down, a, b, c))
        return rule.to(lambda op, x, gate, up, down, a, b, c: op("t.swiglu", x, gate, up, down, a, b, c))
    rule = pattern("swiglu")(lambda op, x, gate, up, down: find(op, x, gate, up, down))
    return rule.to(lambda op, x, gate, up, down: op("t.swiglu", x, gate, up, down))


def joined(biases):
    if biases:
        rule = pattern("join_biases")(lambda op, x, gate, up, down, a, b, c: op("t.swiglu", x, gate, up, down, a, b, c))

        def fuse(op, x, gate, up, down, a, b, c):
            return op("t.fused", x, op.cat([gate, up], 0), down, op.cat([a, b], 0), c)

        return rule.to(fuse)
    rule = pattern("join")(lambda op, x, gate, up, down: op("t.swiglu", x, gate, up, down))
    return rule.to(lambda op, x, gate, up, down: op("t.fused", x, op.cat([gate, up], 0), down))


def feed_forward(biases, use_gate=False):
    def build(x, gate, up, down, *more):
        a, b, c = more if biases else ((), (), ())
        hidden = op.linear(x, gate, a) if biases else op.linear(x, gate)
        other = op.linear(x, up, b) if biases else op.linear(x, up)
        product = op.silu(hidden) * other
        result = op.linear(product, down, c) if biases else op.linear(product, down)
        return (result, product) if use_gate else result

    vectors = {"a": "16xf16", "b": "16xf16", "c": "8xf16"} if biases else {}
    return network(build, x="4x8xf16", gate="16x8xf16", up="16x8xf16", down="8x16xf16", **vectors)


@pytest.mark.parametrize("biases", [False, True])
def test_gated_feed_forward_becomes_two_products(biases):
    module = feed_forward(biases)
    assert rewritten(module, swiglu(False), swiglu(True)) == 1
    operands = "x, gate, up, down" + (", a, b, c" if biases else "")
    first = 7 if biases else 4
    assert drawn(module) == [f"%{first} = t.swiglu({operands})", f"return %{first}"]
    assert rewritten(module, joined(False), joined(True)) == 1
    assert drawn(module)[0] == f"%{first} = cat(gate, up) {{dim=0}}"
    assert drawn(module)[1 + biases] == ("%9 = t.fused(x, %7, down, %8, c)" if biases else "%5 = t.fused(x, %4, down)")
    assert rewritten(feed_forward(biases, use_gate=True), swiglu(False), swiglu(True)) == 0


# The same with quantized products, which have scales. Gate and up become one product if both have the same scales of
# operands and results.
def quantized_swiglu(kind):
    def find(op, x, gate, up, down):
        def linear(one, w, scales):
            return op(f"q.fake_{kind}_linear", one, w, op.rest(scales), bias=False)

        return linear(op.silu(linear(x, gate, "gate_scales")) * linear(x, up, "up_scales"), down, "down_scales")

    def make(op, x, gate, up, down):
        scales = [op.rest(f"{one}_scales") for one in ("gate", "up", "down")]
        return op(f"q.{kind}_swiglu", x, gate, up, down, *scales)

    return pattern(f"{kind}_swiglu")(find).to(make)


def find_fp4(op, x, gate, up, down, scale, ws, alpha, up_scale, up_ws, up_alpha, ds, dws, da):
    return op("q.fp4_swiglu", x, gate, up, down, scale, ws, alpha, up_scale, up_ws, up_alpha, ds, dws, da)


def make_fp4(op, x, gate, up, down, scale, ws, alpha, up_ws, ds, dws, da):
    return op("q.fp4_fused", x, op.cat([gate, up], 0), down, scale, op.cat([ws, up_ws], 0), alpha, ds, dws, da)


def is_same_number(a, b):
    return a == b or (number_of(a) is not None and number_of(a) == number_of(b))


joined_fp4 = pattern("join_fp4")(find_fp4).to(make_fp4)
joined_fp4.constraint(lambda scale, up_scale: is_same_number(scale, up_scale))
joined_fp4.constraint(lambda alpha, up_alpha: is_same_number(alpha, up_alpha))
joined_fp8 = pattern("join_fp8")(
    lambda op, x, gate, up, down, ws, up_ws, dws: op("q.fp8_swiglu", x, gate, up, down, ws, up_ws, dws)
).to(
    lambda op, x, gate, up, down, ws, up_ws, dws: op(
        "q.fp8_fused", x, op.cat([gate, up], 0), down, op.cat([ws, up_ws], 0), dws
    )
)


def quantized_feed_forward(kind, numbers=("s", "a", "s", "a"), use=False, bias=False):
    def build(x, gate, up, down, ws, up_ws, dws, **inputs):
        scale, alpha, up_scale, up_alpha = (inputs[one] if one in inputs else constant(one) for one in numbers)
        scales = {"fp4": [(scale, ws, alpha), (up_scale, up_ws, up_alpha), (inputs["d"], dws, inputs["e"])]}
        of_gate, of_up, of_down = scales.get(kind, [(ws,), (up_ws,), (dws,)])

        def linear(one, w, scales, rows, bias=False):
            return op(f"q.fake_{kind}_linear", one, w, *scales, bias=bias, results=[f"tensor<4x{rows}xf16>"])

        product = op.silu(linear(x, gate, of_gate, 16, bias)) * linear(x, up, of_up, 16)
        result = linear(product, down, of_down, 8)
        return (result, product) if use else result

    names = ("x", "gate", "up", "down", "ws", "up_ws", "dws", *"sarbde")
    weights = {"x": "4x8xf16", "gate": "16x4xi8", "up": "16x4xi8", "down": "8x8xi8"}
    weights |= {"ws": "16xf32", "up_ws": "16xf32", "dws": "8xf32", **dict.fromkeys("sarbde", "f32")}
    return network(lambda *inputs: build(**dict(zip(names, inputs, strict=True))), **weights)


QUANTIZED = quantized_swiglu("fp4"), quantized_swiglu("fp8")


@pytest.mark.parametrize("kind", ["fp4", "fp8"])
def test_quantized_feed_forward_becomes_two_products(kind):
    module = quantized_feed_forward(kind)
    assert rewritten(module, *QUANTIZED) == 1
    scales = "s, ws, a, s, up_ws, a, d, dws, e" if kind == "fp4" else "ws, up_ws, dws"
    assert drawn(module) == [f"%13 = q.{kind}_swiglu(x, gate, up, down, {scales})", "return %13"]
    assert rewritten(module, joined_fp4, joined_fp8) == 1
    scales = "s, %14, a, d, dws, e" if kind == "fp4" else "%14, dws"
    assert drawn(module)[:3] == [
        "%13 = cat(gate, up) {dim=0}",
        "%14 = cat(ws, up_ws) {dim=0}",
        f"%15 = q.{kind}_fused(x, %13, down, {scales})",
    ]
    assert rewritten(quantized_feed_forward(kind, use=True), *QUANTIZED) == 0
    assert rewritten(quantized_feed_forward(kind, bias=True), *QUANTIZED) == 0


@pytest.mark.parametrize(
    ("numbers", "count"),
    [
        ((0.5, 2.0, 0.5, 2.0), 1),
        ((0.5, 2.0, 0.75, 2.0), 0),
        ((0.5, 2.0, 0.5, 3.0), 0),
        (("s", "a", "r", "a"), 0),
        (("s", "a", "s", "b"), 0),
    ],
)
def test_gate_and_up_of_other_scales_stay_two_products(numbers, count):
    module = quantized_feed_forward("fp4", numbers)
    assert rewritten(module, *QUANTIZED) == 1
    assert rewritten(module, joined_fp4) == count


# The weights of experts are in lists. Each list becomes one tensor.
def experts(gates, on_input):
    def find(op, x, chosen, shares):
        lists = [op("t.list", op.rest(name)) for name in ("w1", "w2", "w3")[: 2 + gates]]
        find.made = op("t.moe", x, chosen, shares, *lists, gated=bool(gates), on_input=bool(on_input))
        find.types = lists
        return find.made

    def make(op, x, chosen, shares):
        stacks = [op("t.stack", op.rest(name), like=find.types[number]) for number, name in enumerate(("w1", "w2"))]
        if gates:
            third = op("t.stack", op.rest("w3"), like=find.types[2])
            stacks[0] = op("t.join", third, stacks[0], dim=1, like=find.types[0])
        if on_input:
            x, shares = op.mul(x, shares), op("t.ones_like", shares, like=shares)
        return op("t.moe_fused", x, chosen, shares, *stacks, gated=bool(gates), like=find.made)

    return pattern(f"experts_{gates}_{on_input}")(find).to(make)


@pytest.mark.parametrize("on_input", [False, True])
@pytest.mark.parametrize("gates", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_weights_of_experts_are_stacked(count, gates, on_input):
    def build(x, chosen, shares, *weights):
        lists = [
            op("t.list", *weights[number * count : (number + 1) * count], results=[f"tensor<{count}x8x8xf16>"])
            for number in range(2 + gates)
        ]
        return op("t.moe", x, chosen, shares, *lists, gated=gates, on_input=on_input, results=[x])

    names = [f"{name}_{number}" for name in ("u", "d", "g")[: 2 + gates] for number in range(count)]
    module = network(build, x="4x8xf16", chosen="4xi64", shares="4x1xf16", **dict.fromkeys(names, "8x8xf16"))
    assert rewritten(module, *(experts(one, other) for one in (0, 1) for other in (0, 1))) == 1
    stacks = {name: ", ".join(one for one in names if one.startswith(name)) for name in "udg"}
    text = "\n".join(drawn(module))
    for name in "udg"[: 2 + gates]:
        assert f"t.stack({stacks[name]})" in text
    assert ("t.join" in text) == gates and ("t.ones_like(shares)" in text) == ("mul(x, shares)" in text) == on_input
    assert "t.list" not in text and f"{{gated={gates}}}" in text


# An activation is fused into the convolution before it.
def conv_silu(kind):
    def find(op, x, w):
        find.made = op.silu(op(f"t.{kind}", x, w, op.rest("state"), activation="none", dilation=op.attr("dilation")))
        return find.made

    def make(op, x, w):
        attributes = {"activation": "silu", "dilation": op.attr("dilation")}
        return op(f"t.{kind}", x, w, op.rest("state"), like=find.made, **attributes)

    return pattern(kind)(find).to(make)


@pytest.mark.parametrize(("after", "used", "count"), [("silu", False, 1), ("relu", False, 0), ("silu", True, 0)])
@pytest.mark.parametrize("kind", ["causal_conv", "paged_causal_conv"])
def test_an_activation_goes_into_the_convolution(kind, after, used, count):
    def build(x, w, state, start):
        made = op(f"t.{kind}", x, w, state, start, activation="none", dilation=2, results=[x])
        result = getattr(op, after)(made)
        return (result, made) if used else result

    module = network(build, x="2x8xf16", w="8x4xf16", state="2x8x3xf16", start="2xi32")
    assert rewritten(module, conv_silu("causal_conv"), conv_silu("paged_causal_conv")) == count
    if count:
        assert drawn(module)[0] == f"%4 = t.{kind}(x, w, state, start) {{activation=silu, dilation=2}}"


# The same dims are swapped twice, with an op between that makes the tensor contiguous.
def transposes(between):
    def find(op, x):
        first = op("t.transpose", x, a=op.attr("a"), b=op.attr("b"))
        find.made = op("t.transpose", op("t.contiguous", first) if between else first, a=op.attr("a"), b=op.attr("b"))
        return find.made

    def make(op, x):
        return op("t.contiguous", x, like=find.made) if between else x

    return pattern(f"transposes_{between}")(find).to(make)


@pytest.mark.parametrize(
    ("between", "dims", "used", "count"),
    [(False, (1, 2), False, 1), (True, (1, 2), False, 1), (True, (0, 2), False, 0), (False, (1, 2), True, 0)],
)
def test_swapping_dims_twice(between, dims, used, count):
    def build(x):
        first = op("t.transpose", x, a=1, b=2, results=[x])
        second = op("t.contiguous", first, results=[first]) if between else first
        last = op("t.transpose", second, a=dims[0], b=dims[1], results=[x])
        return (last, first) if used else last

    module = network(build, x="4x4x4xf32")
    assert rewritten(module, transposes(False), transposes(True)) == count
    if count:
        assert drawn(module) == (["%1 = t.contiguous(x)", "return %1"] if between else ["return x"])


# The relative weights of the best experts need no softmax over all experts.
def routing(cast):
    def find(op, logits):
        wide = op.cast(logits, op.attr("dtype")) if cast else logits
        shares, chosen = op("t.topk", op.softmax(wide, -1), k=op.attr("k"), results=2)
        return shares / op.sum(shares, [-1], True), chosen

    def make(op, logits):
        return op("t.topk_softmax", logits, k=op.attr("k"), results=2)

    return pattern(f"routing_{cast}", benefit=1 + cast)(find).to(make)


@pytest.mark.parametrize("cast", [False, True])
@pytest.mark.parametrize("renormalized", [False, True])
def test_the_best_of_a_softmax_renormalized(cast, renormalized):
    def build(logits):
        all_shares = op.softmax(op.cast(logits, "f32") if cast else logits, dim=-1)
        shares, chosen = op("t.topk", all_shares, k=2, results=["tensor<4x2xf32>", "tensor<4x2xi64>"])
        return (shares / op.sum(shares, dims=[-1], keepdim=True) if renormalized else shares * 2), chosen

    module = network(build, logits="4x8xf16" if cast else "4x8xf32")
    assert rewritten(module, routing(False), routing(True)) == renormalized
    if renormalized:
        assert drawn(module) == ["%1, %2 = t.topk_softmax(logits) {k=2}", "return %1, %2"]


# The attention applies the rotary embedding.
def find_turned(op, q, kv, q_rope, k_rope, cos, sin):
    turned_q, turned_k = op("t.rope", q_rope, k_rope, cos, sin, results=2)
    find_turned.made = op("t.latent_attention", q, turned_q, kv, turned_k, scale=op.attr("scale"))
    return find_turned.made


def make_turned(op, q, kv, q_rope, k_rope, cos, sin):
    table = op("t.interleave", cos, sin, like=cos)
    return op("t.latent_attention_rope", q, q_rope, kv, k_rope, table, scale=op.attr("scale"), like=find_turned.made)


@pytest.mark.parametrize("how", ["one rope", "two ropes", "another op", "swapped", "used"])
def test_latent_attention_turns_by_itself(how):
    def build(q, kv, q_rope, k_rope, cos, sin):
        def rope():
            name = "t.other" if how == "another op" else "t.rope"
            return op(name, q_rope, k_rope, cos, sin, results=[q_rope, k_rope])

        turned_q, turned_k = rope()
        if how == "two ropes":
            turned_k = rope()[1]
        if how == "swapped":
            turned_q, turned_k = turned_k, turned_q
        result = op("t.latent_attention", q, turned_q, kv, turned_k, scale=0.5, results=[q])
        return (result, turned_k) if how == "used" else result

    names = ("q", "kv", "q_rope", "k_rope", "cos", "sin")
    module = network(build, **dict.fromkeys(names, "2x4xf16"))
    assert rewritten(module, pattern("p")(find_turned).to(make_turned)) == (how == "one rope")
    if how == "one rope":
        assert drawn(module)[:2] == [
            "%6 = t.interleave(cos, sin)",
            "%7 = t.latent_attention_rope(q, q_rope, kv, k_rope, %6) {scale=0.5}",
        ]


# Attention with its rotary embedding and views becomes a plugin. Its cache and lengths are new inputs and outputs.
class RopeAttention(PatternRewriter):
    def __init__(self):
        super().__init__("rope_attention", root_layer={"t.attention"})
        self.shared = []

    def match_and_rewrite(self, layer):
        if layer.layout != "bsnd":
            return self.fail("the layout is another")
        q, k, v = layer.get_inputs(0, 1, 2)
        rope = q.get_parent()
        if rope is None or rope.op != "t.rope" or rope.get_outputs() != [k, q]:
            return self.fail("query and key don't come from one rope")
        views = []
        for one in (*rope.get_inputs(1, 0), v):
            layers = [one.get_parent()]
            while layers[-1] is not None and layers[-1].op == "t.contiguous":
                layers.append(layers[-1].get_inputs()[0].get_parent())
            if layers[-1] is None or layers[-1].op != "t.view":
                return self.fail("an operand is no view")
            views.append(layers[-1])
        network, batch = layer.network, views[0].get_inputs()[0].shape[0]
        head = views[0].get_outputs()[0].shape[-1]
        if not self.shared:
            self.shared = [Tensor("lengths", "i32", (batch,)), Tensor("table", "f32", (batch, head))]
        past = Tensor(f"past{len(network.get_outputs())}", "f16", (batch, 2, 4, head))
        qkv = op.cat([view.get_inputs()[0] for view in views], 2)
        out, present = op("t.attention_plugin", qkv, past, *self.shared, results=[*layer.get_outputs(), past])
        layer.replace_with(out)
        present.mark_output()
        gone = [rope, *(one.get_parent() for one in rope.get_inputs(1, 0)), *views]
        for one in gone:
            one.mark_as_removed()
        return True


@pytest.mark.parametrize(("layout", "swap", "count"), [("bsnd", False, 2), ("bnsd", False, 0), ("bsnd", True, 0)])
def test_attention_with_its_rope_becomes_a_plugin_with_a_cache(layout, swap, count):
    view, wide = "tensor<2x6x4x8xf16>", "tensor<2x6x32xf16>"

    def attend(x, cos, sin):
        views = [op("t.view", op(f"t.{one}", x, results=[wide]), results=[view]) for one in "qkv"]
        q, k = (op("t.contiguous", one, results=[view]) for one in views[:2])
        turned = op("t.rope", k, q, cos, sin, results=[view, view])
        turned = turned if swap else turned[::-1]
        return op("t.merge", op("t.attention", *turned, views[2], layout=layout, results=[view]), results=[x])

    tensors = {"x": "2x6x32xf16", "cos": "6x8xf16", "sin": "6x8xf16"}
    module = network(lambda x, cos, sin: attend(attend(x, cos, sin), cos, sin), **tensors)
    assert rewritten(module, RopeAttention()) == count
    if count:
        assert [one.name for one in module.get_inputs()] == ["x", "cos", "sin", "lengths", "table", "past1", "past2"]
        assert len(module.get_outputs()) == 3
        plugins = [one for one in module.get_layers() if one.op == "t.attention_plugin"]
        assert module.get_outputs()[1:] == [one.get_outputs()[1] for one in plugins]
        assert not [one for one in module.get_layers() if one.op in ("t.rope", "t.attention", "t.view")]
        module.verify()


# The last product reads only the requested rows.
@record_signature
def head(rows, w):
    return op.linear(rows, w)


class GatherBeforeHead(PatternRewriter):
    def __init__(self):
        super().__init__("gather_before_head", root_layer={"inlay.linear"})

    def match_and_rewrite(self, layer):
        call = FLayerInfoMemo(layer.network).get(layer)
        if call is None or not layer.get_outputs()[0].is_output():
            return self.fail("it isn't the head")
        rows = call.get_input("rows")
        if rows.get_parent() is not None and rows.get_parent().op == "t.gather":
            return self.fail("it has what is asked for already")
        wanted = Tensor("wanted", "i64", (2,))
        gathered = op("t.gather", rows, wanted, results=[(rows.dtype, (2, *rows.shape[1:]))])
        call.replace_outputs_uses_with(layer.network, head(**{**call.clone_inputs(), "rows": gathered}))
        layer.mark_as_removed()
        return True


def test_only_the_rows_that_are_asked_for_reach_the_head():
    module = network(lambda x, w, v: head(op.relu(op.linear(x, w)), v), x="6x8xf32", w="8x8xf32", v="16x8xf32")
    assert rewritten(module, GatherBeforeHead()) == 1
    assert drawn(module) == [
        "%4 = linear(x, w)",
        "%5 = relu(%4)",
        "%6 = t.gather(%5, wanted)",
        "%7 = linear(%6, v)",
        "return %7",
    ]
    assert module.get_outputs()[0].shape == (2, 16)
    module.verify()
