# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounds the error of every float op on each target, for inputs that expose lost digits.

`python test_precision.py` measures all dtypes and writes docs/reference/precision.md.
"""

import os
import pathlib
import sys

import inlay
import pytest
import torch
from precise_ops import FAMILIES, INPUTS, Unit

FULL = bool(os.environ.get("INLAY_FULL"))
TARGETS = {"host": ("host",), "vulkan": ("vulkan", "host")}
DTYPES = {"bf16": torch.bfloat16, "f32": torch.float32}
# Devices may count subnormal numbers as 0, and so does `exp` on the host.
FLUSHED = {"vulkan": None, "host": {"exp", "expm1", "exp2", "sigmoid", "silu", "gelu", "erfc", "softmax", "sinh"}}


TITLES = {
    "unary": "Functions of one number",
    "binary": "Functions of two numbers",
    "rows": "Reductions and normalizations of rows",
    "products": "Products and attention",
}


class Each(torch.nn.Module):
    """All ops of a family."""

    def __init__(self, family):
        super().__init__()
        self.functions = [op.function for op in FAMILIES[family]]

    def forward(self, *arguments):
        return tuple(function(*arguments) for function in self.functions)


def ulp(tensor, dtype):
    """Returns the distance of neighboring numbers of `dtype` at each element of a float64 tensor."""
    info = torch.finfo(dtype)
    size = torch.where(tensor.isfinite(), tensor.abs(), info.max).clamp(info.tiny, info.max)
    return torch.ldexp(torch.full_like(size, info.eps), torch.frexp(size).exponent - 1)


def unit_of(op, arguments, exact, dtype):
    """Returns the unit of the error of each element."""
    if op.unit is Unit.TERMS:
        return ulp(op.size(*arguments, exact), dtype) / 2
    unit = ulp(exact, dtype)
    if op.unit is Unit.CONDITION:
        for number, argument in enumerate(arguments):
            moved = list(arguments)
            moved[number] = argument + ulp(argument, dtype)
            effect = (op.function(*moved) - exact).abs()
            unit = unit + torch.where(effect.isfinite(), effect, 0)
    return unit


def flush(tensor, dtype):
    return torch.where(tensor.abs() < torch.finfo(dtype).tiny, 0 * tensor, tensor)


def _raise_subnormal(tensor, least):
    """Replaces subnormal numbers by the smallest normal number, of their sign."""
    is_subnormal = (tensor != 0) & (tensor.abs() < least)
    return torch.where(is_subnormal, torch.copysign(torch.full_like(tensor, least), tensor), tensor)


def error_of(op, given, got, target, dtype):
    """Returns the largest error of a result in units; infinite if NaN or an infinity is wrong."""
    arguments = [x.double() for x in given]
    exact = op.function(*arguments)
    flushes = FLUSHED[target] is None or op.name in FLUSHED[target]
    candidates = [exact]
    if flushes:
        least = torch.finfo(dtype).tiny
        flushed = op.function(*(flush(x, dtype) for x in arguments))
        raised = op.function(*(_raise_subnormal(x, least) for x in arguments))
        candidates += [flushed, raised, flush(exact, dtype), flush(flushed, dtype)]
    errors = torch.stack([_errors(op, arguments, candidate, got.double(), dtype) for candidate in candidates]).amin(0)
    if op.domain != (-torch.inf, torch.inf):
        inside = (arguments[0] >= op.domain[0]) & (arguments[0] <= op.domain[1])
        errors = torch.where(inside, errors, 0)
    return errors.max().item()


def _errors(op, arguments, exact, got, dtype):
    unit = unit_of(op, arguments, exact, dtype)
    # A result that rounds to an infinity may be the largest number, and the other way round.
    most = torch.finfo(dtype).max
    near = exact.abs() >= most * (1 - 8 * torch.finfo(dtype).eps)
    bounded = torch.where(near, exact.clamp(-most, most), exact)
    got = torch.where(near, got.clamp(-most, most), got)
    same = (got == bounded) | (got.isnan() & exact.isnan())
    difference = ((got - bounded).abs() / unit).nan_to_num(torch.inf, torch.inf)
    return torch.where(same, 0.0, difference)


def measure(family, target, dtype):
    """Yields each op of a family with its largest error on a target."""
    given = INPUTS[family](dtype)
    compiled = inlay.compile(Each(family), given, targets=TARGETS[target], recovery=False)
    for op, got in zip(FAMILIES[family], compiled(*given), strict=True):
        yield op, error_of(op, given, got, target, dtype)


CASES = [
    (family, target, name) for family in FAMILIES for target in TARGETS for name in DTYPES if FULL or name == "f32"
]


@pytest.mark.parametrize(("family", "target", "name"), CASES)
def test_errors_stay_within_their_bounds(family, target, name):
    found = {op.name: (error, op.bounds[target]) for op, error in measure(family, target, DTYPES[name])}
    assert not {name: pair for name, pair in found.items() if not pair[0] <= pair[1]}


HEAD = """\
# Precision

`python python/tests/precision/test_precision.py` measures these errors and writes this page. The tests fail if an error
exceeds its bound. Vulkan is Mesa's software driver. `torch` and double precision compute the exact results.

The arguments are all numbers of bf16. In f32 they are numbers of all exponents, numbers close to zeros and
poles, infinities and NaN. Functions of two numbers also get pairs that cancel. Rows have 3,000 elements. Products
add 1,100 terms. Their data include offsets, cancellation, equal numbers and several scales. With AVX-512 the
library adds more terms in order, and the f32 errors of `matmul` and `linear` on the host are 13.5.

An error has one of these units:

* **ULP**: the distance of neighboring numbers at the exact result.
* **cond.**: one ULP of the result, plus the effect of one ULP of each argument. For this unit, the arguments of `sin`,
  `cos` and `tan` are between -π and π, and those of `lgamma` are positive.
* **terms**: half an ULP of the sum of the magnitudes of all terms. For normalizations and softmax, the size includes
  the effect of the rounding error of the mean or of the distance to the largest element. For `var`, `std`,
  `vector_norm` and `rms_norm` the size is the magnitude of the result.

NaN and infinities are exact. Vulkan may count subnormal numbers as 0 or, as arguments, as the smallest normal number.
These functions may do so on the host too: {flushed}.
"""


def write_page(errors):
    """Writes the page. errors: by (op, target, dtype)."""
    flushed = ", ".join(f"`{name}`" for name in sorted(FLUSHED["host"]))
    columns = [(target, name) for target in TARGETS for name in DTYPES]
    lines = [HEAD.format(flushed=flushed)]
    for family, ops in FAMILIES.items():
        lines += [f"## {TITLES[family]}", ""]
        heads = ["op", "unit", *(f"{target} {name}" for target, name in columns), "bound on host", "bound on Vulkan"]
        lines += ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 2)]
        for op in ops:
            cells = [f"{errors[op.name, target, name]:.2g}" for target, name in columns]
            bounds = [f"{op.bounds[target]:g}" for target in TARGETS]
            lines.append("| " + " | ".join([f"`{op.name}`", op.unit.value, *cells, *bounds]) + " |")
        lines.append("")
    (pathlib.Path(__file__).parents[3] / "docs" / "reference" / "precision.md").write_text("\n".join(lines[:-1]) + "\n")


def main():
    errors = {}
    for name, dtype in reversed(DTYPES.items()):
        for target in TARGETS:
            for family in FAMILIES:
                for op, error in measure(family, target, dtype):
                    errors[op.name, target, name] = error
                    mark = "" if error <= op.bounds[target] else "  exceeds its bound"
                    sys.stdout.write(f"{op.name} {target} {name} {error:.3g} {op.bounds[target]:g}{mark}\n")
                sys.stdout.flush()
    write_page(errors)


if __name__ == "__main__":
    main()
