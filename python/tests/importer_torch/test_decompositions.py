# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the decompositions that Inlay adds to PyTorch's table with the calls, over shapes, ties and special values.

The tests of sampled operators run the decomposed calls on each target.
"""

import itertools

import pytest
import torch
from inlay._import.torch.decompose import late_decompositions, products

aten = torch.ops.aten
TABLE = late_decompositions() | products.DECOMPOSITIONS
INF, NAN = float("inf"), float("nan")


def numbers(shape, dtype=torch.float32, specials=True):
    """Returns small integers with many ties, and with NaNs and infinities if `specials` is true."""
    values = torch.randint(-4, 5, shape).to(dtype)
    if dtype.is_floating_point and specials:
        share = torch.rand(shape)
        for low, high, special in ((0, 0.1, NAN), (0.8, 0.85, -INF), (0.9, 1, INF)):
            values = torch.where((share >= low) & (share < high), special, values).to(dtype)
    return values


def check(op, *args, results=None, **kwargs):
    """Compares a decomposition with its call. results: numbers of the compared results, all by default."""
    ours, theirs = TABLE[op](*args, **kwargs), op(*args, **kwargs)
    assert ours is not NotImplemented
    if isinstance(theirs, torch.Tensor):
        ours, theirs = [ours], [theirs]
    for number, (mine, want) in enumerate(zip(ours, theirs, strict=True)):
        if mine is not None and (results is None or number in results):
            torch.testing.assert_close(mine, want, equal_nan=True)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


SHAPES = [((7,), 0), ((3, 5), 1), ((3, 5), 0), ((2, 3, 4), -2), ((1,), 0), ((), 0), ((33,), 0)]
DTYPES = [torch.float32, torch.float16, torch.int64, torch.int8]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scans(dtype):
    for (shape, dim), specials in itertools.product([*SHAPES, ((0, 3), 0), ((0, 3), 1)], (False, True)):
        x = numbers(shape, dtype, specials)
        check(aten.cummax.default, x, dim)
        check(aten.cummin.default, x, dim)
        if dtype.is_floating_point:
            check(aten.logcumsumexp.default, x, dim)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_medians_and_modes(dtype):
    for (shape, dim), specials in itertools.product(SHAPES, (False, True)):
        x = numbers(shape, dtype, specials)
        check(aten.median.default, x)
        check(aten.nanmedian.default, x)
        for op in (aten.median.dim, aten.nanmedian.dim, aten.mode.default):
            if op is aten.mode.default and specials:
                continue  # PyTorch sorts with a comparison that NaNs break
            check(op, x, dim, True, results=[0])
            check(op, x, dim, False, results=[0])
            value, place = TABLE[op](x, dim, True)
            torch.testing.assert_close(torch.gather(x, dim, place) if shape else x, value, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.float16], ids=str)
def test_searches(dtype):
    for count, right in itertools.product((1, 2, 3, 7, 8, 33), (False, True)):
        row, rows = (numbers(shape, dtype, False).sort()[0] for shape in ((count,), (3, count)))
        values, mixed = numbers((3, 5), dtype), numbers((3, count), dtype)
        check(aten.searchsorted.Tensor, row, values, right=right)
        check(aten.searchsorted.Tensor, rows, values, right=right, out_int32=True)
        check(aten.searchsorted.Tensor, mixed, values, right=right, sorter=mixed.argsort(-1))
        check(aten.searchsorted.Tensor, row, values[0, 0], side="right")
        check(aten.bucketize.Tensor, values, row, right=right)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, INF])
def test_distances(p):
    for mode, rows in itertools.product((None, 0, 1, 2), (4, 30)):
        check(aten._cdist_forward.default, torch.randn(2, rows, 3), torch.randn(2, 5, 3), p, mode)
    check(aten._pdist_forward.default, torch.randn(6, 3), p)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_means_of_writes(dtype):
    for (shape, dim), own in itertools.product([((5,), 0), ((3, 5), 1), ((3, 5), 0)], (False, True)):
        x, source = numbers(shape, dtype, False), numbers(shape, dtype, False)
        index = torch.randint(0, shape[dim], shape)
        check(aten.scatter_reduce.two, x, dim, index, source, "mean", include_self=own)
        check(aten.index_reduce.default, x, dim, index.flatten()[: shape[dim]], source, "mean", include_self=own)
    x, mask = numbers((3, 4), dtype), torch.rand(3, 4) > 0.5
    check(aten.masked_scatter.default, x, mask, numbers((12,), dtype))
    check(aten.masked_scatter.default, x, mask[0], numbers((14,), dtype))


@pytest.mark.parametrize("mode", [0, 1, 2], ids=["sum", "mean", "max"])
def test_embedding_bags(mode):
    weight, indices = torch.randn(6, 3), torch.randint(0, 6, (7,))
    for offsets, padding, last in itertools.product(([0, 2, 2, 5], [0], [0, 0, 1], [0, 7]), (-1, 2), (False, True)):
        bags = torch.tensor([*offsets, 7] if last else offsets)
        shares = torch.randn(7) if mode == 0 else None
        check(
            aten._embedding_bag_forward_only.default, weight, indices, bags, False, mode, False, shares, last, padding
        )


def test_simulated_quantization():
    for x in (torch.tensor([NAN, 1.4, 2.5, -1e9, 3.5, -0.5, 0.0]), torch.randn(2, 8) * 10):
        check(aten.fake_quantize_per_tensor_affine_cachemask.default, x, 0.1, 3, 0, 255)
        check(aten.fake_quantize_per_tensor_affine_cachemask.default, x, 0.3, 0, -128, 127)
    x, scale = torch.randn(2, 3, 4) * 20, torch.rand(3) + 0.01
    for dtype in (torch.int32, torch.float32):
        zero = torch.tensor([0, 3, 5], dtype=dtype)
        check(aten.fake_quantize_per_channel_affine_cachemask.default, x, scale, zero, 1, 0, 255)


@pytest.mark.parametrize("count", [2, 3])
def test_pools(count):
    most = {2: aten.max_pool2d_with_indices.default, 3: aten.max_pool3d_with_indices.default}[count]
    mean = {2: aten.avg_pool2d.default, 3: aten.avg_pool3d.default}[count]
    for kernel, stride, padding, gap, ceil in itertools.product((1, 2, 3), (1, 2, 3), (0, 1), (1, 2), (False, True)):
        if padding > kernel // 2:
            continue
        numbers_of_dims = ([number] * count for number in (kernel, stride, padding, gap))
        kernels, strides, paddings, gaps = numbers_of_dims
        for dtype in (torch.float32, torch.int64):
            x = numbers((2, 1, 7, 6, 5)[: count + 2], dtype)
            check(most, x, kernels, strides, paddings, gaps, ceil)
        check(most, x[0], kernels, strides, paddings, gaps, ceil)
        if gap == 1:
            x = torch.randn((2, 1, 7, 6, 5)[: count + 2])
            check(mean, x, kernels, strides, paddings, ceil, True, 7)
            check(mean, x, kernels, [], paddings, ceil, False, 3)
    check(most, torch.full((1, 1, *[4] * count), -INF), [3] * count, [2] * count, [1] * count)


@pytest.mark.parametrize("sizes", [(1, 1), (3, 2), (7, 6), (9, 5)], ids=str)
def test_adaptive_pools(sizes):
    check(aten.adaptive_max_pool2d.default, numbers((2, 3, 7, 6)), sizes)
    check(aten.adaptive_max_pool3d.default, numbers((2, 3, 7, 6, 4)), (*sizes, 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_gradients_of_maxima(dtype):
    x = numbers((2, 3, 9, 7), dtype, specials=False)
    for options in ((3, 2, 1, 1, False), (2, 1, 0, 2, True), ([3, 2], [1, 2], [1, 0], [1, 1], False)):
        result, places = aten.max_pool2d_with_indices(x, *options)
        check(aten.max_pool2d_with_indices_backward.default, numbers(result.shape, dtype), x, *options, places)
    result, places = aten.adaptive_max_pool2d(x, [4, 3])
    check(aten.adaptive_max_pool2d_backward.default, numbers(result.shape, dtype), x, places)


def test_norms_of_several_dtypes_are_kept():
    x, scale = torch.randn(2, 6, 4).bfloat16(), torch.randn(6)
    norm = TABLE[aten.native_group_norm.default]
    assert norm(x, scale, scale, 2, 6, 4, 3, 1e-5) is NotImplemented
    check(aten.native_group_norm.default, x, scale.bfloat16(), scale.bfloat16(), 2, 6, 4, 3, 1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64], ids=str)
def test_trilinear_products(dtype):
    x, y, weight = (numbers(shape, dtype, specials=False) for shape in ((3, 4), (3, 5), (2, 4, 5)))
    check(aten._trilinear.default, x, weight, y, [1, 3], [0], [1, 2], [2, 3])
    check(aten._trilinear.default, x, weight, y, [1, 3], [0], [1, 2], [0, 3], 2)
    check(aten._trilinear.default, x, x, x, [], [], [], [])
    check(aten._trilinear.default, x[:0], weight, y[:0], [1, 3], [0], [1, 2], [2, 3])


def test_trilinear_products_of_several_dtypes_are_kept():
    x = torch.ones(2, 2)
    assert TABLE[aten._trilinear.default](x, x.double(), x, [], [], [], [1]) is NotImplemented


def test_angles():
    for dtype in (torch.float32, torch.float16, torch.float64, torch.int32, torch.bool):
        check(aten.angle.default, torch.tensor([0, 1, -1, 3]).to(dtype))
    check(aten.angle.default, torch.tensor([0.0, -0.0, NAN, INF, -INF, -1e-45]))
    negative = torch.tensor([-1.0], dtype=torch.float64)
    assert torch.equal(TABLE[aten.angle.default](negative), torch.angle(negative))  # all digits of pi


def test_conversions_that_decompositions_of_pytorch_make():
    values = torch.tensor([0.0, -1.7, 2.5, 1e30, NAN, INF])
    for dtype in (torch.float64, torch.float16, torch.float32, torch.bool):
        check(torch.ops.prims.convert_element_type.default, values, dtype)
    check(torch.ops.prims.convert_element_type.default, torch.tensor([-3, 300]), torch.int8)


def test_hypotenuses():
    values = torch.tensor([0.0, -0.0, 3.0, -4.0, 1e30, -3e38, 1e-30, 1e-45, INF, -INF, NAN])
    check(aten.hypot.default, *torch.meshgrid(values, values, indexing="ij"))
    check(aten.hypot.default, torch.tensor([[3e4], [-4e-4]]).half(), torch.tensor([4e4, 3e-4]).half())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_products_that_are_added(dtype):
    matrices, others = numbers((3, 4, 5), dtype, False), numbers((3, 5, 2), dtype, False)
    for beta, alpha in ((1, 1), (2, 1), (0, 3), (-1, 2)):
        for shape in ((4, 2), (1, 2), ()):
            check(aten.addbmm.default, numbers(shape, dtype, beta == 0), matrices, others, beta=beta, alpha=alpha)
        for shape in ((4,), (1,), ()):
            x, vector = numbers(shape, dtype, beta == 0), others[0, :, 0]
            check(aten.addmv.default, x, matrices[0], vector, beta=beta, alpha=alpha)
    if dtype != torch.float16:  # PyTorch rounds the sum of each matrix
        check(aten.addbmm.default, numbers((4, 2), dtype, False), matrices, others, beta=1.8, alpha=-0.6)
    check(aten.addbmm.default, numbers((4, 2), dtype), matrices[:0], others[:0])
    check(aten.addmv.default, numbers((4,), dtype), matrices[0, :, :0], others[0, :0, 0])


def test_copies_of_views():
    x = numbers((4, 6))
    check(aten.view_copy.default, x, [3, 8])
    check(aten.as_strided_copy.default, x, [2, 3], [1, 2], 5)
    for dim in (0, -1):
        check(aten.unbind_copy.int, x, dim)
