# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of other backends for norms: norms of several ops, norms after a sum, and norms before quantized products."""

import pytest
from inlay.rewrite import PatternRewriter, op, pattern
from rewriting import drawn, network, rewritten


def is_last_use(tensor, layer):
    """Returns true if nothing reads the tensor after the layer, so that the layer may overwrite it."""
    order = {one: number for number, one in enumerate(tensor.network.get_layers())}
    return not tensor.is_output() and all(order[user] <= order[layer] for user in tensor.get_users())


def only_sum(*operands):
    return next(user for user in operands[0].get_users() if set(user.get_inputs()) == set(operands))


# A sum and its norm overwrite the summands.
def find_sum_norm(op, x, residual, w):
    total = x + residual
    return op("t.rms_norm", total, w, eps=op.attr("eps")), total


def make_sum_norm(op, x, residual, w):
    return op("t.add_norm_", x, residual, w, eps=op.attr("eps"), results=2)


sum_norm = pattern("sum_norm")(find_sum_norm).to(make_sum_norm)


@sum_norm.constraint
def _(x, residual):
    layer = only_sum(x, residual)
    return (is_last_use(x, layer) and is_last_use(residual, layer)) or "a summand is read later"


@pytest.mark.parametrize(("later", "count"), [(None, 1), ("before", 1), ("x", 0), ("residual", 0), ("returned", 0)])
def test_a_sum_and_its_norm_in_place_where_nothing_reads_the_summands_later(later, count):
    def build(a, b, w):
        x, residual = op("t.a", a, results=[a]), op("t.b", b, results=[b])
        before = op("t.use", x, results=[x]) if later == "before" else w
        total = x + residual
        norm = op("t.rms_norm", total, w, eps=0.5, results=[total])
        after = {"x": x, "residual": residual}.get(later, norm)
        return norm, total, op("t.use", after, results=[x]), before, *([x] if later == "returned" else [])

    module = network(build, a="4x8xf32", b="4x8xf32", w="8xf32")
    before = drawn(module)
    assert rewritten(module, sum_norm) == count
    if count == 0:
        assert drawn(module) == before
    elif later is None:
        assert drawn(module)[2:] == [
            "%5, %6 = t.add_norm_(%3, %4, w) {eps=0.5}",
            "%7 = t.use(%5)",
            "return %5, %6, %7, w",
        ]


# The same with a quantization, which only reads the norm and writes to a new tensor.
def find_sum_norm_quant(op, x, residual, w, scale):
    total = x + residual
    find_sum_norm_quant.types = op("q.static", op("t.rms_norm", total, w, eps=op.attr("eps")), scale, results=2)
    return *find_sum_norm_quant.types, total


def make_sum_norm_quant(op, x, residual, w, scale):
    quantized = find_sum_norm_quant.types[0]
    out = op("t.empty", like=quantized)
    made, total = op(
        "t.add_norm_quant_", out, x, residual, w, scale, eps=op.attr("eps"), results=2, like=(quantized, x)
    )
    return made, scale, total


sum_norm_quant = pattern("sum_norm_quant")(find_sum_norm_quant).to(make_sum_norm_quant)
sum_norm_quant.constraint(lambda x, residual: is_last_use(residual, only_sum(x, residual)))


@pytest.mark.parametrize("later", ["", "x", "residual", "norm", "x residual"])
def test_a_sum_its_norm_and_a_quantization(later):
    def build(a, b, w, scale):
        x, residual = op("t.a", a, results=[a]), op("t.b", b, results=[b])
        total = x + residual
        norm = op("t.rms_norm", total, w, eps=0.5, results=[total])
        quantized, _ = op("q.static", norm, scale, results=["tensor<4x8xf8E4M3FN>", scale])
        values = {"x": x, "residual": residual, "norm": norm}
        return quantized, total, *(op("t.use", values[name], results=[x]) for name in later.split())

    module = network(build, a="4x8xf16", b="4x8xf16", w="8xf16", scale="f32")
    if later in ("norm", "x residual"):
        assert rewritten(module, sum_norm_quant) == 0
        return
    assert rewritten(module, sum_norm_quant) == 1
    summands = "%5, %4" if later == "residual" else "%4, %5"  # the tensor that nothing reads is overwritten
    assert drawn(module)[2:4] == ["%6 = t.empty()", f"%7, %8 = t.add_norm_quant_(%6, {summands}, w, scale) {{eps=0.5}}"]
    assert drawn(module)[-1].startswith("return %7, %8")
    module.verify()


# A sum and its norm, with or without a cast between.
def sum_cast_norm(cast):
    def find(op, x, residual, w):
        total = x + residual
        wide = op.cast(total, op.attr("dtype")) if cast else total
        return op("t.rms_norm", wide, w, eps=op.attr("eps")), total

    def make(op, x, residual, w):
        return op("t.add_norm", x, residual, w, eps=op.attr("eps"), results=2)

    return pattern(f"sum_cast_{cast}")(find).to(make)


@pytest.mark.parametrize("cast", [False, True])
def test_a_sum_a_cast_and_a_norm_are_one_op(cast):
    def build(x, residual, w):
        total = x + residual
        norm = op("t.rms_norm", op.cast(total, "bf16") if cast else total, w, eps=0.5, results=[x])
        return norm, op("t.use", total, results=[total]), total

    module = network(build, x="2x8xbf16", residual="2x8xbf16", w="8xbf16")
    assert rewritten(module, sum_cast_norm(False), sum_cast_norm(True)) == 1
    assert drawn(module) == [
        "%3, %4 = t.add_norm(x, residual, w) {eps=0.5}",
        "%5 = t.use(%4)",
        "return %3, %5, %4",
    ]


# Norms of several ops, in a wider type or not.
def rms_norm(cast):
    def find(op, x, w):
        wide = op.cast(x, op.attr("wide")) if cast else x
        normal = wide * op.rsqrt(op.mean(wide * wide, [-1], True) + 0.25)
        return w * (op.cast(normal, op.attr("narrow")) if cast else normal)

    rule = pattern(f"rms_norm_{cast}")(find).to(lambda op, x, w: op("t.rms_norm", x, w, eps=0.25))
    rule.where(lambda m: m.x.dtype("bf16", "f16", "f32"))
    return rule.constraint(lambda x, narrow: x.dtype == narrow) if cast else rule


def l2_norm(cast):
    def find(op, x):
        wide = op.cast(x, op.attr("wide")) if cast else x
        normal = wide * op.rsqrt(op.sum(wide * wide, [-1], True) + 0.25)
        return op.cast(normal, op.attr("narrow")) if cast else normal

    rule = pattern(f"l2_norm_{cast}")(find).to(lambda op, x: op("t.l2_norm", x, eps=0.25))
    rule.where(lambda m: m.x.dtype("bf16", "f16", "f32"))
    return rule.constraint(lambda x, narrow: x.dtype == narrow) if cast else rule


def written_out(x, reduce, wide=None, narrow=None, swap=False):
    inner = op.cast(x, wide) if wide else x
    over = op.rsqrt(reduce(inner * inner, dims=[-1], keepdim=True) + 0.25)
    result = over * inner if swap else inner * over
    return op.cast(result, narrow) if narrow else result


@pytest.mark.parametrize(("dtype", "cast"), [("f32", False), ("f16", True), ("bf16", True), ("f16", False)])
@pytest.mark.parametrize("swap", [False, True])
def test_norms_that_are_written_out(dtype, cast, swap):
    def build(x, w):
        def normal(reduce):
            return written_out(x, reduce, *(("f32", dtype) if cast else (None, None)), swap=swap)

        return (normal(op.mean) * w if swap else w * normal(op.mean)), normal(op.sum)

    module = network(build, x=f"2x8x{dtype}", w=f"8x{dtype}")
    count = sum(rewritten(module, rms_norm(one), l2_norm(one)) for one in (True, False))  # with casts first
    assert count == 2
    assert drawn(module) == [
        "%2 = t.rms_norm(x, w) {eps=0.25}",
        "%3 = t.l2_norm(x) {eps=0.25}",
        "return %2, %3",
    ]


@pytest.mark.parametrize(
    ("dtype", "wide", "narrow"), [("f64", None, None), ("f64", "f32", "f64"), ("f16", "f32", "bf16")]
)
def test_norms_of_other_types_stay(dtype, wide, narrow):
    types = {"x": f"8x8x{dtype}", "w": f"8x{narrow or dtype}"}
    scaled = network(lambda x, w: w * written_out(x, op.mean, wide, narrow), **types)
    assert rewritten(scaled, rms_norm(wide is not None)) == 0
    alone = network(lambda x, w: (written_out(x, op.sum, wide, narrow), w), **types)
    assert rewritten(alone, l2_norm(wide is not None)) == 0


@pytest.mark.parametrize(
    "build",
    [
        lambda x, w: w * (x * op.rsqrt(op.mean(x * x, dims=[0], keepdim=True) + 0.25)),
        lambda x, w: w * (x * op.rsqrt(op.mean(x * w, dims=[-1], keepdim=True) + 0.25)),
        lambda x, w: w * (x * op.rsqrt(op.mean(x * x, dims=[-1], keepdim=True) + 0.5)),
        lambda x, w: w * (x * op.sqrt(op.mean(x * x, dims=[-1], keepdim=True) + 0.25)),
    ],
)
def test_what_only_looks_like_a_norm(build):
    module = network(build, x="8x8xf32", w="8xf32")
    assert rewritten(module, rms_norm(False), l2_norm(False)) == 0


# Products whose operands are quantized and dequantized again become products of a kernel.
def fake_linear(kind, bias):
    scales = ["input_scale", "weight_scale", *(["alpha"] if kind == "fp4" else [])]

    def find(op, x, w):
        return op(f"q.fake_{kind}_linear", x, w, op.rest("more"), bias=bias, scales=len(scales))

    def make(op, x, w):
        return op(f"q.{kind}_linear", x, w, op.rest("more"), bias=bias)

    return pattern(f"{kind}_{bias}")(find).to(make)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ["fp8", "fp4"])
def test_fake_quantized_products(kind, bias):
    def build(*tensors):
        count = len(tensors) - 2 - bias
        return op(f"q.fake_{kind}_linear", *tensors, bias=bias, scales=count, results=[tensors[0]])

    names = ["x", "w", *(["b"] if bias else []), "in_scale", "w_scale", *(["alpha"] if kind == "fp4" else [])]
    module = network(build, **{name: "8x8xf16" if name in ("x", "w") else "8xf32" for name in names})
    rules = [fake_linear(one, with_bias) for one in ("fp8", "fp4") for with_bias in (False, True)]
    assert rewritten(module, *rules) == 1
    assert drawn(module)[0] == f"%{len(names)} = q.{kind}_linear({', '.join(names)}) {{bias={bias}}}"


# A norm is quantized before each product that reads it. It becomes one quantization next to the norm.
class QuantizeOnce(PatternRewriter):
    def __init__(self, kind):
        super().__init__(f"quantize_once_{kind}", root_layer={"t.rms_norm", "t.add_norm"}, separate_match_rewrite=True)
        self.kind = kind
        self.more = ["tensor<4x8xf8E4M3FN>"] if kind == "fp8" else ["tensor<4x4xui8>", "tensor<4xf8E4M3FN>"]

    def match(self, layer):
        norm = layer.get_outputs()[0]
        products = [user for user in norm.get_users() if user.op == f"q.{self.kind}_linear"]
        others = [user for user in norm.get_users() if user not in products]
        order = {one: number for number, one in enumerate(layer.network.get_layers())}
        if not products:
            return self.fail("no quantized product reads the norm")
        if len({product.get_inputs()[2] for product in products}) > 1:
            return self.fail("products have scales of their own")
        if any(order[other] < min(order[product] for product in products) for other in others):
            return self.fail("something reads the norm before the products do")
        return True

    def rewrite(self, layer):
        norm = layer.get_outputs()[0]
        products = [user for user in norm.get_users() if user.op == f"q.{self.kind}_linear"]
        results = [norm, *self.more, *layer.get_outputs()[1:]]
        scale = products[0].get_inputs()[2]
        made = op(f"{layer.op}_{self.kind}", *layer.get_inputs(), scale, eps=layer.eps, results=results)
        for product in products:
            _, w, scale, *more = product.get_inputs()
            quantized = made[1 : 1 + len(self.more)]
            product.replace_with(op(f"q.{self.kind}_gemm", *quantized, w, scale, *more, results=product.get_outputs()))
        layer.replace_with(made[0], *made[1 + len(self.more) :])


def projections(kind, summed, scales=("s", "s", "s"), first=False):
    def build(x, r, w, s, s2, q, k, v):
        results = [x, x] if summed else [x]
        made = (
            op("t.add_norm", x, r, w, eps=0.5, results=results)
            if summed
            else op("t.rms_norm", x, w, eps=0.5, results=x)
        )
        norm, *more = made if summed else [made]
        router = [op("t.router", norm, results=[norm])] if first else []
        values = {"s": s, "s2": s2}
        products = [
            op(f"q.{kind}_linear", norm, one, values[scale], results=[x])
            for one, scale in zip((q, k, v), scales, strict=True)
        ]
        return *products, *([] if first else [op("t.use", norm, results=[norm])]), *more, *router

    tensors = {"x": "4x8xf16", "r": "4x8xf16", "w": "8xf16", "s": "f32", "s2": "f32"}
    return network(build, **tensors, **dict.fromkeys("qkv", "8x8xi8"))


@pytest.mark.parametrize("kind", ["fp8", "fp4"])
@pytest.mark.parametrize("summed", [False, True])
def test_products_share_the_quantized_norm(kind, summed):
    module = projections(kind, summed)
    assert rewritten(module, QuantizeOnce(kind)) == 1
    lines = drawn(module)
    results = [
        "%8",
        "%9",
        *(["%10"] if kind == "fp4" else []),
        *(["%11" if kind == "fp4" else "%10"] if summed else []),
    ]
    quantized = ", ".join(results[1 : 2 if kind == "fp8" else 3])
    name, operands = ("add_norm", "x, r, w, s") if summed else ("rms_norm", "x, w, s")
    assert lines[0] == f"{', '.join(results)} = t.{name}_{kind}({operands}) {{eps=0.5}}"
    assert [line.split(" = ")[1] for line in lines[1:5]] == [
        *(f"q.{kind}_gemm({quantized}, {w}, s)" for w in "qkv"),
        "t.use(%8)",
    ]
    assert not summed or lines[-1].endswith(results[-1])


@pytest.mark.parametrize("options", [{"scales": ("s", "s2", "s")}, {"first": True}])
@pytest.mark.parametrize("kind", ["fp8", "fp4"])
def test_other_scales_and_earlier_readers_stay(kind, options):
    assert rewritten(projections(kind, False, **options), QuantizeOnce(kind)) == 0
    assert rewritten(projections(kind, True), QuantizeOnce("fp4" if kind == "fp8" else "fp8")) == 0
