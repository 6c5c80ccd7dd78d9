# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products, attention, convolutions, pooling and resampling."""

from ..draft import SIZES, Refused
from ..graph import Precision


def matmul(draft):
    x = draft.float(1, 4)
    tensor = draft.values[x]
    if tensor.dim() == 1:
        y = draft.input([tensor.shape[0], *draft.shape(draft.choose.randint(0, 1))], tensor.dtype)
        draft.add("matmul", "{0} @ {1}", x, y, precision=Precision.SUMMED)
        return
    columns = draft.choose.choice(SIZES)
    leading = draft.narrowed(tensor.shape[:-2])
    if draft.choose.random() < 0.5:
        y = draft.input([*leading, tensor.shape[-1], columns], tensor.dtype)
    else:
        x, y = draft.input([*leading, columns, tensor.shape[-2]], tensor.dtype), x
    draft.add("matmul", "{0} @ {1}", x, y, precision=Precision.SUMMED)


def linear(draft):
    x = draft.float(1)
    tensor, columns = draft.values[x], draft.choose.choice(SIZES)
    weight = draft.input([columns, tensor.shape[-1]], tensor.dtype)
    if draft.choose.random() < 0.5:
        bias = draft.input([columns], tensor.dtype)
        draft.add("linear", "F.linear({0}, {1}, {2})", x, weight, bias, precision=Precision.SUMMED)
    else:
        draft.add("linear", "F.linear({0}, {1})", x, weight, precision=Precision.SUMMED)


def einsum(draft):
    x = draft.float(2, 2)
    rows, columns = draft.values[x].shape
    form, shape = draft.choose.choice(
        [("ij,kj->ik", [3, columns]), ("ij,ij->j", [rows, columns]), ("ij,ik->kj", [rows, 2])]
    )
    draft.add("einsum", f"torch.einsum('{form}', {{0}}, {{1}})", x, draft.input(shape, draft.values[x].dtype),
              precision=Precision.SUMMED)  # fmt: skip


def attention(draft):
    query = draft.float(3, 4)
    tensor, length = draft.values[query], draft.choose.choice(SIZES)
    shape = [*tensor.shape[:-2], length, tensor.shape[-1]]
    key, value = draft.input(shape, tensor.dtype), draft.input(shape, tensor.dtype)
    causal = draft.choose.choice(["", ", is_causal=True"])
    if causal and not all(draft.values[name].isfinite().all() for name in (query, key, value)):
        raise Refused  # PyTorch multiplies hidden values by 0, and counts rows of NaN as hidden
    text = f"F.scaled_dot_product_attention({{0}}, {{1}}, {{2}}{causal})"
    draft.add("attention", text, query, key, value, precision=Precision.COMPUTED)


def conv(draft):
    x = draft.float(3, 5)
    tensor = draft.values[x]
    count, channels = tensor.dim() - 2, tensor.shape[1]
    groups = draft.choose.choice([g for g in range(1, channels + 1) if channels % g == 0] or [1])
    kernel = [draft.choose.choice([1, 2, 3]) for _ in range(count)]
    stride = [draft.choose.choice([1, 1, 2]) for _ in kernel]
    padding = [draft.choose.choice([0, 1]) for _ in kernel]
    if draft.choose.random() < 0.25:
        sizes = zip(tensor.shape[2:], kernel, stride, padding, strict=True)
        if any((size - 1) * step - 2 * rim + width < 1 for size, width, step, rim in sizes):
            raise Refused  # PyTorch computes empty results for some dtypes only
        weight = draft.input([channels, draft.choose.choice([1, 2, 3]), *kernel], tensor.dtype)
        if not draft.values[weight].isfinite().all():
            raise Refused  # docs/guide/host.md describes the difference
        text = f"F.conv_transpose{count}d({{0}}, {{1}}, stride={stride}, padding={padding}, groups={groups})"
        draft.add(f"conv_transpose{count}d", text, x, weight, precision=Precision.SUMMED)
        return
    outputs = groups * draft.choose.choice([1, 2, 3])
    weight = draft.input([outputs, channels // groups, *kernel], tensor.dtype)
    options = f"stride={stride}, padding={padding}, dilation={draft.choose.choice([1, 1, 2])}, groups={groups}"
    if draft.choose.random() < 0.5:
        text = f"F.conv{count}d({{0}}, {{1}}, {options})"
        draft.add(f"conv{count}d", text, x, weight, precision=Precision.SUMMED)
    else:
        bias = draft.input([outputs], tensor.dtype)
        text = f"F.conv{count}d({{0}}, {{1}}, {{2}}, {options})"
        draft.add(f"conv{count}d", text, x, weight, bias, precision=Precision.SUMMED)


def pool(draft):
    x = draft.float(3, 5)
    count = draft.values[x].dim() - 2
    kernel = [draft.choose.choice([1, 2, 3]) for _ in range(count)]
    padding = [draft.choose.randint(0, size // 2) for size in kernel]
    ceil = draft.choose.choice(["", ", ceil_mode=True"])
    options = f"{kernel}, {[draft.choose.choice([1, 2, 3]) for _ in kernel]}, {padding}{ceil}"
    if draft.choose.random() < 0.5:
        draft.add(f"max_pool{count}d", f"F.max_pool{count}d({{0}}, {options})", x)
    else:
        draft.add(f"avg_pool{count}d", f"F.avg_pool{count}d({{0}}, {options})", x, precision=Precision.SUMMED)


def adaptive_pool(draft):
    x = draft.float(3, 5)
    count = draft.values[x].dim() - 2
    size = [draft.choose.choice([1, 2, 3]) for _ in range(count)]
    name = f"adaptive_avg_pool{count}d"
    draft.add(name, f"F.{name}({{0}}, {size})", x, precision=Precision.COMPUTED)


def resample(draft):
    x = draft.float(3, 4)
    count = draft.values[x].dim() - 2
    if 0 in draft.values[x].shape:
        raise Refused
    size = [draft.choose.choice([1, 2, 3, 5, 8]) for _ in range(count)]
    mode = draft.choose.choice(["nearest", "nearest-exact", "linear" if count == 1 else "bilinear"])
    precision = Precision.EXACT if "nearest" in mode else Precision.COMPUTED
    draft.add("interpolate", f"F.interpolate({{0}}, size={size}, mode='{mode}')", x, precision=precision)


KINDS = [
    (matmul, 4), (linear, 2), (einsum, 1), (attention, 1), (conv, 3), (pool, 2), (adaptive_pool, 1), (resample, 1),
]  # fmt: skip
