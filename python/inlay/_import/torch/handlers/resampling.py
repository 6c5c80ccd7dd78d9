# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images at other sizes by their nearest elements: repeated, or picked by indices known at import."""

import torch

from ...._program.sizes import Size


def handlers():
    """ATen name -> handler."""
    names = (f"{kind}{count}d" for kind in ("upsample_nearest", "_upsample_nearest_exact") for count in (1, 2, 3))
    return {name + form: _handle_nearest for name in names for form in ("", ".vec")}


def _sources(call, sizes, wanted):
    """For each spatial dim, which element of the input each element of the result is."""
    scales = call.get("scale_factors") or [call.get(name) for name in _scale_names(call, len(sizes))]
    pick = torch.ops.aten._upsample_nearest_exact1d if "exact" in call.base else torch.ops.aten.upsample_nearest1d
    found = []
    for size, want, scale in zip(sizes, wanted, scales, strict=True):
        numbers = torch.arange(size, dtype=torch.float32).reshape(1, 1, size)
        found.append(pick.default(numbers, [want], scale).reshape(want).to(torch.int64))
    return found


def _scale_names(call, count):
    return ["scales"] if count == 1 else ["scales_d", "scales_h", "scales_w"][-count:]


def _handle_nearest(walker, call):
    x = walker.tensor(call["input" if call.name.endswith(".vec") else "self"])
    spatial = len(x.shape) - 2
    sizes, wanted = x.shape[2:], call.shape[2:]
    if any(isinstance(size, Size) for size in (*sizes, *wanted)):
        return _repeat(walker, call, x, _doublings(call, sizes, wanted))
    sources = _sources(call, sizes, wanted)
    factors = [want // size for size, want in zip(sizes, wanted, strict=True)]
    repeated = all(
        size * factor == want and torch.equal(source, torch.arange(size).repeat_interleave(factor))
        for size, want, factor, source in zip(sizes, wanted, factors, sources, strict=True)
    )
    if not repeated:
        # Indices for dim d of n are followed by n - d dims of size 1, so that all stand for all combinations.
        indices = [
            walker.constant(source.reshape(-1, *[1] * (spatial - 1 - n)), f"index{n}")
            for n, source in enumerate(sources)
        ]
        attributes = {"dims": list(range(2, spatial + 2))}
        return walker.op("index", [x, indices], attributes, shape=call.shape, dtype=call.dtype)
    return _repeat(walker, call, x, factors)


def _doublings(call, sizes, wanted):
    """How often each element is repeated, if that is a power of two along every dim: for these rounding is exact,
    whatever the size. None otherwise."""
    scales = call.get("scale_factors") or [call.get(name) for name in _scale_names(call, len(sizes))]
    factors = [want // size for size, want in zip(sizes, wanted, strict=True)]
    for size, want, factor, scale in zip(sizes, wanted, factors, scales, strict=True):
        exact = isinstance(factor, int) and factor > 0 and factor & (factor - 1) == 0 and want == size * factor
        if not exact or scale not in (None, factor):
            return None
    return factors


def _repeat(walker, call, x, factors):
    """Each element along the spatial dims repeated; None without factors."""
    if factors is None:
        return None
    sizes = x.shape[2:]
    apart = [*x.shape[:2], *(part for size in sizes for part in (size, 1))]
    more = [*x.shape[:2], *(part for pair in zip(sizes, factors, strict=True) for part in pair)]
    value = walker.expand(walker.reshape(x, apart, "apart"), more, "expand")
    return walker.reshape(value, call.shape)
