# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of onnxscript as rules of Inlay.

If the ops can run, the results before and after each rewrite are compared. Rules that the libraries have are in
test/Rewrite/library-*.mlir.
"""

import inlay
import pytest
import torch
from inlay.rewrite import Attribute, PatternRewriter, op, pattern
from rewriting import check, constant, drawn, network, number_of, rewritten, steps

LAST = 2**63 - 1


# Two casts become one cast if the type between can hold every number.
EXACT = {torch.float16: (torch.float32, torch.float64), torch.bfloat16: (torch.float32, torch.float64)}
cast_cast = pattern("cast_cast")(lambda op, x: op.cast(op.cast(x, op.attr("mid")), op.attr("to")))
cast_cast.to(lambda op, x: op.cast(x, op.attr("to")))
cast_cast.constraint(lambda x, mid, to: mid in EXACT.get(x.dtype, ()))


@pytest.mark.parametrize(
    ("types", "count"),
    [(("bf16", "f32", "f16"), 1), (("f16", "f64", "bf16"), 1), (("f64", "f32", "f16"), 0), (("f32", "f16", "f32"), 0)],
)
def test_one_cast_instead_of_two(types, count):
    start, middle, end = types
    module = network(lambda x: op.cast(op.cast(x, middle), end), x=f"6x{start}")
    assert check(module, cast_cast, count=count) == ["cast"] * (2 - count)


# Two slices that divide a dim become a split.
split = pattern("split")(
    lambda op, x: (
        op.slice(x, op.attr("dim"), 0, op.attr("half"), 1),
        op.slice(x, op.attr("dim"), op.attr("half"), op.attr("end"), 1),
    )
).to(lambda op, x: op("t.split", x, results=2))


@split.constraint
def _(x, dim, half, end):
    return dim in (-1, len(x.shape) - 1) and half * 2 == x.shape[-1] and end >= x.shape[-1]


@pytest.mark.parametrize(("dim", "cut", "end", "count"), [(-1, 4, 8, 1), (1, 4, LAST, 1), (0, 4, 8, 0), (1, 2, 8, 0)])
def test_two_halves_are_a_split(dim, cut, end, count):
    module = network(lambda x: (op.slice(x, dim, 0, cut, 1), op.slice(x, dim, cut, end, 1)), x="8x8xf32")
    assert rewritten(module, split) == count
    assert not count or drawn(module) == ["%1, %2 = t.split(x)", "return %1, %2"]


class OneUnsqueeze(PatternRewriter):
    def match_and_rewrite(self, layer):
        inner = layer.get_inputs()[0].get_parent()
        if inner is None or inner.op != "t.unsqueeze":
            return False
        first, second = inner.axes, layer.axes
        if len(first) != 1 or len(second) != 1 or first[0] < 0 or second[0] < 0:
            return self.fail("the axes aren't one each, counted from the front")
        axes = [first[0], second[0]] if first < second else [second[0], first[0] + 1]
        layer.replace_with(op("t.unsqueeze", inner.get_inputs()[0], axes=axes, results=layer.get_outputs()))
        inner.mark_as_removed()
        return True


@pytest.mark.parametrize(("axes", "joined"), [((0, 1), [0, 1]), ((1, 0), [0, 2]), ((1, 1), [1, 2]), ((-1, 0), None)])
def test_one_unsqueeze_instead_of_two(axes, joined):
    def build(x):
        first = op("t.unsqueeze", x, axes=[axes[0]], results=["tensor<4x4x1xf32>"])
        return op("t.unsqueeze", first, axes=[axes[1]], results=["tensor<1x4x4x1xf32>"])

    module = network(build, x="4x4xf32")
    assert rewritten(module, OneUnsqueeze("p", {"t.unsqueeze"})) == (joined is not None)
    assert joined is None or drawn(module)[0] == f"%1 = t.unsqueeze(x) {{axes={joined}}}"


class FlattenToReshape(PatternRewriter):
    def match_and_rewrite(self, layer):
        shape = layer.get_outputs()[0].shape
        if sum(size < 0 for size in shape) > 1:
            return self.fail("two sizes aren't known")
        layer.replace_with(op.reshape(layer.get_inputs()[0], list(shape)))
        return True


@pytest.mark.parametrize(("sizes", "count"), [("6x4", 1), ("?x?", 0)])
def test_flattening_is_a_reshape(sizes, count):
    module = inlay.parse(f"""func.func @f(%x: tensor<2x3x4xf32>) -> tensor<{sizes}xf32> {{
      %0 = "t.flatten"(%x) {{axis = 2}} : (tensor<2x3x4xf32>) -> tensor<{sizes}xf32>
      return %0 : tensor<{sizes}xf32>
    }}""")
    assert rewritten(module, FlattenToReshape("p", {"t.flatten"})) == count
    assert steps(module) == (["reshape"] if count else ["t.flatten"])


# Products of operands that are reshaped, although the product would broadcast them.
def product_shape(a, b):
    """Returns the shape of a product of operands of these shapes, or None if there is no product."""
    try:
        return list(torch.matmul(torch.empty(a, device="meta"), torch.empty(b, device="meta")).shape)
    except RuntimeError:
        return None


def find_two_reshapes(op, a, b):
    product = op.matmul(op.reshape(a, op.attr("first")), op.reshape(b, op.attr("second")))
    return op.reshape(product, op.attr("shape"))


two_reshapes = pattern("two_reshapes")(find_two_reshapes).to(lambda op, a, b: op.matmul(a, b))
two_reshapes.constraint(lambda a, b, shape: product_shape(a.shape, b.shape) == shape)
one_reshape = pattern("one_reshape")(
    lambda op, a, b: op.reshape(op.matmul(op.reshape(a, op.attr("first")), b), op.attr("shape"))
).to(lambda op, a, b: op.matmul(a, b))
one_reshape.constraint(lambda a, b, shape: product_shape(a.shape, b.shape) == shape)
gemm = pattern("gemm")(
    lambda op, a, b, c: op.reshape(op("t.gemm", op.reshape(a, op.attr("first")), b, c), op.attr("shape"))
).to(lambda op, a, b, c: op.add(op.matmul(a, b), c))
gemm.constraint(lambda a, b, shape: product_shape(a.shape, b.shape) == shape)


@pytest.mark.parametrize(
    ("a", "flat", "shape", "count"),
    [("1x3x4", [3, 4], [1, 3, 5], 1), ("2x3x4", [6, 4], [2, 3, 5], 1), ("2x3x4", [6, 4], [3, 2, 5], 0)],
)
def test_products_need_no_reshapes_where_they_broadcast(a, flat, shape, count):
    left = ["matmul"] if count else ["reshape", "matmul", "reshape"]
    module = network(lambda a, b: op.reshape(op.matmul(op.reshape(a, flat), b), shape), a=f"{a}xf32", b="4x5xf32")
    assert check(module, one_reshape, two_reshapes, count=count) == left

    def build(a, b):
        return op.reshape(op.matmul(op.reshape(a, flat), op.reshape(b, [4, 5])), shape)

    module = network(build, a=f"{a}xf32", b="1x4x5xf32")
    assert check(module, two_reshapes, count=count) == (left if count else ["reshape", *left])

    def build_gemm(a, b, c):
        product = op("t.gemm", op.reshape(a, flat), b, c, results=[f"tensor<{flat[0]}x5xf32>"])
        return op.reshape(product, shape)

    module = network(build_gemm, a=f"{a}xf32", b="4x5xf32", c="5xf32")
    assert rewritten(module, gemm) == count
    assert steps(module) == (["matmul", "add"] if count else ["reshape", "t.gemm", "reshape"])


def product_and_sum(swap_a, swap_b):
    def find(op, a, b, c):
        left = op.permute(a, [1, 0]) if swap_a else a
        return op.matmul(left, op.permute(b, [1, 0]) if swap_b else b) + c

    def make(op, a, b, c):
        return op("t.gemm", a, b, c, swap_a=swap_a, swap_b=swap_b)

    rule = pattern(f"gemm_{swap_a}_{swap_b}", benefit=1 + swap_a + swap_b)(find).to(make)
    return rule.where(lambda m: (m.a.rank(2), m.b.rank(2)))


@pytest.mark.parametrize("swap_a", [False, True])
@pytest.mark.parametrize("swap_b", [False, True])
def test_a_product_and_a_sum_are_a_gemm(swap_a, swap_b):
    def build(a, b, c):
        left = op.permute(a, [1, 0]) if swap_a else a
        return c + op.matmul(left, op.permute(b, [1, 0]) if swap_b else b)

    rules = [product_and_sum(one, other) for one in (False, True) for other in (False, True)]
    module = network(build, a="3x3xf32", b="3x3xf32", c="3xf32")
    assert rewritten(module, *rules) == 1
    assert drawn(module)[0] == f"%3 = t.gemm(a, b, c) {{swap_a={swap_a}, swap_b={swap_b}}}"
    assert rewritten(network(lambda a, b, c: a @ b + c, a="2x3x3xf32", b="3x3xf32", c="3xf32"), *rules) == 0


# A number is cast before it is broadcast.
filled = pattern("filled")(lambda op, c: op.cast(op.expand(c, op.attr("shape")), op.attr("dtype")))
filled.to(lambda op, c: op.expand(op.cast(c, op.attr("dtype")), op.attr("shape"))).where(lambda m: m.c.constant())


def test_one_number_is_cast_instead_of_a_tensor_of_it():
    assert check(network(lambda x: op.cast(op.expand(constant(2.5), [3, 4]), "f16"), x="2xf32"), filled) == [
        "cast",
        "expand",
    ]
    assert check(network(lambda x: op.cast(op.expand(x, [3, 2]), "f16"), x="2xf32"), filled, count=0) == [
        "expand",
        "cast",
    ]


# Slices of a whole dim of unknown size.
whole = pattern("whole")(lambda op, x: op.slice(x, op.attr("dim"), 0, LAST, 1)).to(lambda op, x: x)


@pytest.mark.parametrize(
    ("start", "end", "step", "count"), [(0, LAST, 1, 1), (1, LAST, 1, 0), (0, 5, 1, 0), (0, LAST, 2, 0)]
)
def test_a_slice_of_all_is_none(start, end, step, count):
    module = inlay.parse(f"""func.func @f(%x: tensor<?x8xf32>) -> tensor<?x5xf32> {{
      %0 = inlay.slice %x dim 0 start {start} end {end} step {step} : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %1 = inlay.slice %0 dim 1 start 0 end 5 step 1 : (tensor<?x8xf32>) -> tensor<?x5xf32>
      return %1 : tensor<?x5xf32>
    }}""")
    assert rewritten(module, whole) == count
    assert steps(module) == ["slice"] * (2 - count)


# Clips with constant bounds. If a rule lacks a necessary condition, its check finds a counterexample.
def clip(op, x, low, high):
    return op.minimum(op.maximum(x, low), high)


relu_of_clip = pattern("relu_of_clip")(lambda op, x, low, high: op.relu(clip(op, x, low, high)))
relu_of_clip.to(lambda op, x, low, high: clip(op, x, op.relu(low), high))
clip_of_relu = pattern("clip_of_relu")(lambda op, x, low, high: clip(op, op.relu(x), low, high))
clip_of_relu.to(lambda op, x, low, high: clip(op, x, op.relu(low), high)).where(lambda m: m.x.constant(False))
clip_of_clip = pattern("clip_of_clip")(lambda op, x, low, high, a, b: clip(op, clip(op, x, low, high), a, b))
clip_of_clip.to(lambda op, x, low, high, a, b: clip(op, x, op.maximum(low, a), op.minimum(high, b)))


def clipped_twice(*numbers):
    def build(x):
        low, high, a, b = (constant(number) for number in numbers)
        return clip(op, clip(op, x, low, high), a, b)

    return network(build, x="8xf32")


def test_clips_and_relus_join():
    module = network(lambda x: op.relu(clip(op, x, constant(-1.0), constant(2.0))), x="8xf32")
    assert check(module, relu_of_clip) == ["relu", "maximum", "minimum"]
    module = network(lambda x: clip(op, op.relu(x), constant(-1.0), constant(2.0)), x="8xf32")
    assert check(module, clip_of_relu) == ["relu", "maximum", "minimum"]
    module = network(
        lambda x: clip(op, clip(op, x, constant(-1.0), constant(2.0)), constant(0.0), constant(3.0)), x="8xf32"
    )
    assert check(module, clip_of_clip) == ["maximum", "minimum", "maximum", "minimum"]


def test_clips_whose_bounds_cross_do_not_join():
    module = network(lambda x: op.relu(clip(op, x, constant(-2.0), constant(-1.0))), x="8xf32")
    with pytest.raises(inlay.RewriteError, match="'p0' changes what is computed"):
        rewritten(module, relu_of_clip, check=True)
    module = network(
        lambda x: clip(op, clip(op, x, constant(0.0), constant(1.0)), constant(2.0), constant(3.0)), x="8xf32"
    )
    with pytest.raises(inlay.RewriteError, match="'p0' changes what is computed"):
        rewritten(module, clip_of_clip, check=True)


def bounds(kind):
    """Returns the rule for min(min(x, a), b), or for max, which become one op."""
    rule = pattern(kind)(lambda op, x, a, b: getattr(op, kind)(getattr(op, kind)(x, a), b))
    rule.to(lambda op, x, a, b: getattr(op, kind)(x, getattr(op, kind)(a, b)))
    return rule.where(lambda m: (m.a.constant(), m.b.constant(), m.x.constant(False)))


min_of_max = pattern("min_of_max")(lambda op, x, low, high: op.minimum(op.maximum(x, low), high))
min_of_max.to(lambda op, x, low, high: op("t.clip", x, low, high))
min_of_max.constraint(lambda low, high: None not in (number_of(low), number_of(high)))
max_of_min = pattern("max_of_min")(lambda op, x, low, high: op.maximum(op.minimum(x, high), low))
max_of_min.to(lambda op, x, low, high: op("t.clip", x, low, high))
max_of_min.constraint(
    lambda low, high: None not in (number_of(low), number_of(high)) and number_of(low) <= number_of(high)
)


@pytest.mark.parametrize("kind", ["minimum", "maximum"])
def test_two_bounds_of_a_kind_are_one(kind):
    bound = getattr(op, kind)
    module = network(lambda x: bound(constant(3.0), bound(x, constant(2.0))), x="8xf32")
    assert check(module, bounds(kind)) == [kind, kind] and kind in str(module.get_layers()[-1])
    module = network(lambda x, y: bound(y, bound(x, constant(2.0))), x="8xf32", y="8xf32")
    assert rewritten(module, bounds(kind)) == 0


@pytest.mark.parametrize(
    ("low", "high", "first", "count"),
    [(-1.0, 2.0, "max", 1), (3.0, 2.0, "max", 1), (-1.0, 2.0, "min", 1), (3.0, 2.0, "min", 0), (None, 2.0, "max", 0)],
)
def test_a_lower_and_an_upper_bound_are_a_clip(low, high, first, count):
    def build(x, y):
        lower, upper = y if low is None else constant(low), constant(high)
        return clip(op, x, lower, upper) if first == "max" else op.maximum(op.minimum(x, upper), lower)

    module = network(build, x="8xf32", y="8xf32")
    assert rewritten(module, min_of_max, max_of_min) == count
    assert steps(module) == (["t.clip"] if count else ["minimum", "maximum"][:: -1 if first == "max" else 1])


# Ops without effect.
@pytest.mark.parametrize(("ratio", "training", "count"), [(0.0, True, 1), (0.5, False, 1), (0.5, True, 0)])
def test_dropout_of_nothing(ratio, training, count):
    rules = [
        pattern("ratio")(lambda op, x: op("t.dropout", x, ratio=0.0, training=op.attr("training"))),
        pattern("training")(lambda op, x: op("t.dropout", x, ratio=op.attr("ratio"), training=False)),
    ]
    module = network(lambda x: op.relu(op("t.dropout", x, ratio=ratio, training=training, results=[x])), x="8xf32")
    assert rewritten(module, *(rule.to(lambda op, x: x) for rule in rules)) == count
    assert steps(module) == ["t.dropout"] * (1 - count) + ["relu"]


def indices_of(tensor):
    parent = tensor.get_parent()
    return (
        str(parent.value).partition("dense<")[2].partition(">")[0] if parent and parent.op == "inlay.constant" else ""
    )


scatter_all = pattern("scatter_all")(lambda op, data, rows, updates: op("t.scatter_nd", data, rows, updates))
scatter_all.to(lambda op, data, rows, updates: updates).where(lambda m: m.data.same_type(m.updates))
scatter_all.constraint(lambda data, rows: indices_of(rows) == str([[row] for row in range(data.shape[0])]))


def find_scatter_range(op, data, turned, updates):
    size = op("t.gather", op("t.shape", data), axis=op.attr("axis"))
    rows = op("t.unsqueeze", op("t.range", size, start=0, step=1), axes=[-1])
    return op("t.scatter_nd", turned, rows, updates)


scatter_range = pattern("scatter_range")(find_scatter_range).to(lambda op, data, turned, updates: updates)
scatter_range.where(lambda m: m.turned.same_type(m.updates))
scatter_range.constraint(lambda data, turned, axis: 0 <= data.shape[axis] == turned.shape[0])


@pytest.mark.parametrize(
    ("rows", "size", "count"),
    [("[[0], [1], [2]]", 4, 1), ("[[0], [2], [1]]", 4, 0), ("[[0], [1], [1]]", 4, 0), ("[[0], [1], [2]]", "?", 0)],
)
def test_updates_of_all_rows_are_the_result(rows, size, count):
    def build(data, updates):
        kind = "tensor<3x1xi64>"
        indices = op("inlay.constant", value=Attribute(f"dense<{rows}> : {kind}"), results=[kind])
        return op("t.scatter_nd", data, indices, updates, results=[data])

    module = network(build, data=f"3x{size}xf32", updates="3x4xf32")
    assert rewritten(module, scatter_all) == count
    assert drawn(module)[-1] == ("return updates" if count else "return %3")


@pytest.mark.parametrize(
    ("axis", "data", "turned", "updates", "count"),
    [
        (1, "3x4", "4x3", "4x3", 1),
        (0, "3x4", "4x3", "4x3", 0),
        (1, "3x4", "4x?", "4x3", 0),
        (1, "3x?", "?x3", "?x3", 0),
    ],
)
def test_updates_of_a_whole_axis_are_the_result(axis, data, turned, updates, count):
    def build(data, turned, updates):
        size = op("t.gather", op("t.shape", data, results=["tensor<2xi64>"]), axis=axis, results=["tensor<i64>"])
        rows = op("t.range", size, start=0, step=1, results=["tensor<?xi64>"])
        rows = op("t.unsqueeze", rows, axes=[-1], results=["tensor<?x1xi64>"])
        return op("t.scatter_nd", turned, rows, updates, results=[turned])

    module = network(build, data=f"{data}xf32", turned=f"{turned}xf32", updates=f"{updates}xf32")
    assert rewritten(module, scatter_range) == count
    assert not count or drawn(module) == ["return updates"]


# An op with two operands broadcasts them.
def unexpanded(name, second):
    def find(op, x, y):
        wide = op.expand(x, op.attr("shape"))
        return getattr(op, name)(y, wide) if second else getattr(op, name)(wide, y)

    def make(op, x, y):
        return getattr(op, name)(y, x) if second else getattr(op, name)(x, y)

    rule = pattern(f"{name}_{second}")(find).to(make)
    return rule.constraint(
        lambda x, y, shape: torch.broadcast_shapes(x.shape, y.shape) == torch.broadcast_shapes(shape, y.shape)
    )


@pytest.mark.parametrize(("y", "count"), [("2x3x4", 1), ("3x4", 0), ("2x1x1", 1), ("2x3x1", 1)])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "lt", "atan2", "fmod"])
def test_operands_need_no_expansion_where_the_op_broadcasts(name, y, count):
    rules = [unexpanded(name, second) for second in (False, True)]
    make = getattr(op, name)
    shape = [1, 3, 4] if y == "2x1x1" else [2, 3, 4]
    for build in (lambda x, y: make(op.expand(x, shape), y), lambda x, y: make(y, op.expand(x, shape))):
        module = network(build, x="3x4xf32", y=f"{y}xf32")
        assert check(module, *rules, count=count) == ([name] if count else ["expand", name])
