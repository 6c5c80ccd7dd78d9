# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of other backends for tensor parallelism: reductions over devices, the ops after them, and buffers."""

import pytest
from inlay.rewrite import op, pattern
from rewriting import drawn, network, rewritten

QUANTIZED, SCALES = "tensor<4x8xf8E4M3FN>", "tensor<4xf32>"
INPUTS = {"x": "4x8xf16", "r": "4x8xf16", "w": "8xf16", "work": "2xi32"}
FLOATS = ("f16", "bf16")


def reduce(x, *more, fusion="none", strategy="auto", results=None):
    results = [x] if results is None else results
    return op("tp.all_reduce", x, *more, fusion=fusion, strategy=strategy, eps=0.25, results=results)


def matched(op, fusion, strategy="auto"):
    """Returns the attributes of a reduction in a pattern."""
    return {"fusion": fusion, "strategy": strategy, "eps": op.attr("eps")}


# A reduction, a residual and a norm.
def find_residual_norm(op, x, work, residual, w):
    total = op("tp.all_reduce", x, work, **matched(op, "none", op.attr("strategy"))) + residual
    return op("tp.rms_norm", total, w), total


def make_residual_norm(op, x, work, residual, w):
    attributes = matched(op, "residual_norm", op.attr("strategy"))
    return op("tp.all_reduce", x, residual, w, work, results=2, **attributes)


residual_norm = pattern("residual_norm")(find_residual_norm).to(make_residual_norm)
residual_norm.where(lambda m: m.x.same_shape(m.residual))


def norm_network(swap=False, residual="4x8xf16", fusion="none", use_reduced=False):
    def build(x, r, w, work):
        reduced = reduce(x, work, fusion=fusion)
        total = r + reduced if swap else reduced + r
        used = op("t.use", total, results=[total])
        norm = op("tp.rms_norm", total, w, results=[total])
        return (norm, total, used, op("t.use", norm, results=[norm]), *([reduced] if use_reduced else []))

    return network(build, **{**INPUTS, "r": residual})


@pytest.mark.parametrize("swap", [False, True])
def test_reduction_residual_and_norm_are_one_op_of_two_results(swap):
    module = norm_network(swap)
    assert rewritten(module, residual_norm) == 1
    assert drawn(module) == [
        "%4, %5 = tp.all_reduce(x, r, w, work) {eps=0.25, fusion=residual_norm, strategy=auto}",
        "%6 = t.use(%5)",
        "%7 = t.use(%4)",
        "return %4, %5, %6, %7",
    ]


@pytest.mark.parametrize("options", [{"residual": "8xf16"}, {"fusion": "other"}, {"use_reduced": True}])
def test_other_residuals_reductions_and_users_stay(options):
    assert rewritten(norm_network(**options), residual_norm) == 0


def test_the_strategy_is_an_argument_of_the_run():
    fuse = pattern("fuse")(find_residual_norm).to(make_residual_norm)
    fuse.constraint(lambda strategy, args: strategy == args["strategy"])
    for swap in (False, True):
        assert rewritten(norm_network(swap), fuse, args={"strategy": "ring"}) == 0
        assert rewritten(norm_network(swap), fuse, args={"strategy": "auto"}) == 1


# A reduction with its norm and a quantization writes to buffers that all devices see.
def quantization(kind):
    """Returns the rule for `fp8` with one scale, or for `fp4` with a scale for each block."""

    def find(op, x, residual, w, scale, work):
        norm, total = op("tp.all_reduce", x, residual, w, work, results=2, **matched(op, "residual_norm"))
        quantized, scales = op(f"q.{kind}", norm, scale, results=2)
        find.types = quantized, scales
        return quantized, scales, total

    def make(op, x, residual, w, scale, work):
        buffer = op("buf.copy", x, like=x)
        like = (find.types[0], residual) if kind == "fp8" else (*find.types, residual)
        attributes = matched(op, f"norm_{kind}", "shared")
        made = op("tp.all_reduce", buffer, residual, w, scale, work, results=len(like), like=like, **attributes)
        return made[0], scale if kind == "fp8" else made[1], op("buf.finalize", made[-1], like=residual)

    return pattern(kind)(find).to(make).where(lambda m: m.x.dtype(*FLOATS))


def quantized_network(kind, dtype="f16", use_norm=False):
    def build(x, r, w, work, scale):
        norm, total = reduce(x, r, w, work, fusion="residual_norm", results=[x, x])
        scales = scale if kind == "fp8" else SCALES
        quantized = op(f"q.{kind}", norm, scale, results=[QUANTIZED, scales])
        product = op("t.matmul", *quantized, results=[x])
        return (product, *quantized, total, *([norm] if use_norm else []))

    types = {name: text.replace("f16", dtype) for name, text in INPUTS.items()}
    return network(build, **types, scale="f32")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "fp8",
            [
                "%5 = buf.copy(x)",
                "%6, %7 = tp.all_reduce(%5, r, w, scale, work) {eps=0.25, fusion=norm_fp8, strategy=shared}",
                "%8 = buf.finalize(%7)",
                "%9 = t.matmul(%6, scale)",
                "return %9, %6, scale, %8",
            ],
        ),
        (
            "fp4",
            [
                "%5 = buf.copy(x)",
                "%6, %7, %8 = tp.all_reduce(%5, r, w, scale, work) {eps=0.25, fusion=norm_fp4, strategy=shared}",
                "%9 = buf.finalize(%8)",
                "%10 = t.matmul(%6, %7)",
                "return %10, %6, %7, %9",
            ],
        ),
    ],
)
def test_a_reduction_quantizes_into_shared_buffers(kind, expected, dtype):
    module = quantized_network(kind, dtype)
    assert rewritten(module, quantization(kind), driver="greedy" if dtype == "bf16" else "fixpoint") == 1
    assert drawn(module) == expected
    module.verify()


@pytest.mark.parametrize("options", [{"dtype": "f32"}, {"use_norm": True}])
@pytest.mark.parametrize("kind", ["fp8", "fp4"])
def test_other_floats_and_norms_with_users_stay(kind, options):
    assert rewritten(quantized_network(kind, **options), quantization(kind)) == 0


def convert(results):
    """Returns the rule that puts a reduction with that many results into a shared buffer."""

    def find(op, x):
        find.made = op("tp.all_reduce", x, op.rest("more"), results=results, **matched(op, op.attr("fusion")))
        return find.made

    def make(op, x):
        attributes = matched(op, op.attr("fusion"), "shared")
        buffer = op("buf.copy", x, like=x)
        *made, last = op("tp.all_reduce", buffer, op.rest("more"), results=results, like=find.made, **attributes)
        return *made, op("buf.finalize", last, like=find.made[-1])

    known = ("residual_norm", "norm_fp8", "norm_fp4")
    rule = pattern(f"convert_{results}")(find).to(make).where(lambda m: m.x.dtype(*FLOATS))
    return rule.constraint(lambda fusion: fusion in known)


@pytest.mark.parametrize(
    ("fusion", "types", "dtype", "count"),
    [
        ("residual_norm", ["x", "x"], "f16", 1),
        ("norm_fp8", [QUANTIZED, "x"], "bf16", 1),
        ("norm_fp4", [QUANTIZED, SCALES, "x"], "f16", 1),
        ("norm_int8", [QUANTIZED, "x"], "f16", 0),
        ("residual_norm", ["x", "x"], "f32", 0),
    ],
)
def test_reductions_of_known_fusions_go_through_shared_buffers(fusion, types, dtype, count):
    def build(x, r, w):
        return reduce(x, r, w, fusion=fusion, results=[x if one == "x" else one for one in types])

    module = network(build, x=f"4x8x{dtype}", r=f"4x8x{dtype}", w=f"8x{dtype}")
    assert rewritten(module, convert(2), convert(3)) == count
    if count:
        results = [f"%{4 + number}" for number in range(len(types))]
        end = f"%{4 + len(types)}"
        assert drawn(module) == [
            "%3 = buf.copy(x)",
            f"{', '.join(results)} = tp.all_reduce(%3, r, w) {{eps=0.25, fusion={fusion}, strategy=shared}}",
            f"{end} = buf.finalize({results[-1]})",
            f"return {', '.join([*results[:-1], end])}",
        ]
    module.verify()


# An op that writes to a shared buffer needs no copy.
def prologue(name, into, operands, **attributes):
    def find(op, first):
        kept = {key: op.attr(key) for key in operands}
        find.made = op("buf.copy", op(name, first, op.rest("more"), **kept))
        return find.made

    def make(op, first):
        return op(into, first, op.rest("more"), like=find.made, **{key: op.attr(key) for key in operands}, **attributes)

    return pattern(f"prologue_{name}")(find).to(make)


PROLOGUES = {
    "scaled_mm": (prologue("q.scaled_mm", "q.scaled_mm", ["dtype"], to_buffer=True), 5, {"dtype": "f16"}),
    "fp4_gemm": (prologue("q.fp4_gemm", "q.fp4_gemm", ["dtype"], to_buffer=True), 5, {"dtype": "bf16"}),
    "mm": (prologue("t.mm", "buf.mm", []), 2, {}),
    "add": (prologue("t.add", "buf.add", []), 2, {}),
}


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", list(PROLOGUES))
def test_what_makes_a_value_writes_it_to_the_buffer_itself(name, shared):
    _, count, attributes = PROLOGUES[name]
    kind = ("t." if name in ("mm", "add") else "q.") + name

    def build(*tensors):
        made = op(kind, *tensors, results=[tensors[0]], **attributes)
        copy = op("buf.copy", made, results=[made])
        return (copy, made) if shared else copy

    module = network(build, **{f"a{number}": "4x4xf16" for number in range(count)})
    before = drawn(module)
    assert rewritten(module, *(rule for rule, *_ in PROLOGUES.values())) == (0 if shared else 1)
    if shared:
        assert drawn(module) == before
        return
    text = ", ".join(f"a{number}" for number in range(count))
    end = f" {{dtype={attributes['dtype']}, to_buffer=True}}" if attributes else ""
    made = kind if attributes else f"buf.{name}"
    assert drawn(module) == [f"%{count} = {made}({text}){end}", f"return %{count}"]


# The op that ends a chain is not needed if another chain follows.
def keep_shard(count):
    def find(op, x, shard):
        residual = op("buf.finalize", shard)
        attributes = matched(op, op.attr("fusion"), "shared")
        find.made = op("tp.all_reduce", x, residual, op.rest("more"), results=count, **attributes)
        return find.made

    def make(op, x, shard):
        attributes = matched(op, op.attr("fusion"), "shared")
        return op("tp.all_reduce", x, shard, op.rest("more"), results=count, like=find.made, **attributes)

    return pattern(f"keep_shard_{count}")(find).to(make)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("strategy", ["shared", "auto"])
def test_the_next_reduction_takes_the_shard_as_it_is(count, strategy):
    fusion = {2: "residual_norm", 3: "norm_fp4"}[count]

    def build(x, shard, w):
        types = [x, x] if count == 2 else [QUANTIZED, SCALES, x]
        return reduce(x, op("buf.finalize", shard, results=[shard]), w, fusion=fusion, strategy=strategy, results=types)

    module = network(build, x="4x8xf16", shard="4x8xf16", w="8xf16")
    assert rewritten(module, keep_shard(2), keep_shard(3)) == (strategy == "shared")
    if strategy == "shared":
        results = ", ".join(f"%{3 + number}" for number in range(count))
        assert drawn(module) == [
            f"{results} = tp.all_reduce(x, shard, w) {{eps=0.25, fusion={fusion}, strategy=shared}}",
            f"return {results}",
        ]
