# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws random graphs. Each step runs in PyTorch when it is drawn, so that all graphs are valid."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Callable

import torch

from .data import draw_values
from .graph import DTYPES, EAGER, FLOATS, INTEGERS, Graph, Input, Precision, Step

SIZES = [1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17, 33]
MOST_ELEMENTS = 2000
MOST_DIMS = 5
FLOAT_SHARE = {torch.float32: 12, torch.float16: 3, torch.bfloat16: 2, torch.float64: 2}


class Refused(Exception):
    """The drawn step does not fit, so another one is drawn."""


class Draft:
    """A graph that is being drawn.

    choose, generator: the random numbers. values: the tensors of all inputs and steps by name.
    """

    def __init__(self, seed: int, kinds: list[tuple[Callable, int]]):
        self.choose = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.values: dict[str, torch.Tensor] = {}
        self.inputs: list[Input] = []
        self.steps: list[Step] = []
        self.dtype = self.choose.choices(list(FLOAT_SHARE), list(FLOAT_SHARE.values()))[0]
        self._kinds, self._weights = zip(*kinds, strict=True)
        self._count = 0
        self.input(self.shape())
        self._draw_steps(self.choose.choice([1, 2, 3, 3, 4, 5, 6, 8, 10, 12]))
        self.graph = self._finish(seed)

    # -- Steps --------------------------------------------------------------------------------------------------------

    def _draw_steps(self, count):
        for _ in range(8 * count):
            if len(self.steps) >= count:
                return
            kept = dict(self.values), list(self.inputs), list(self.steps)
            try:
                self.choose.choices(self._kinds, self._weights)[0](self)
            except Refused:
                self.values, self.inputs, self.steps = kept

    def add(self, kind: str, text: str, *operands: str, precision: Precision = Precision.EXACT) -> str:
        """Adds a step and returns its name. Raises Refused if PyTorch refuses it or its result is too large."""
        step = Step(kind, text, operands, precision, self._name("v"))
        result = self._run(step)
        if not isinstance(result, torch.Tensor) or result.dtype not in DTYPES.values():
            raise Refused
        if result.numel() > MOST_ELEMENTS or result.dim() > MOST_DIMS:
            raise Refused
        self.values[step.name] = result
        self.steps.append(step)
        return step.name

    def write(self, kind: str, text: str, *operands: str, precision: Precision = Precision.EXACT) -> None:
        """Adds a statement that writes its first operand."""
        step = Step(kind, text, operands, precision, None)
        target = self.values[operands[0]]
        if any(size == 0 for size in target.shape) or _overlaps(target):
            raise Refused
        self._run(step)
        self.steps.append(step)

    def _run(self, step):
        try:
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                return eval(step.text.format(*step.operands), EAGER | self.values)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
            raise Refused from None

    def _name(self, stem):
        self._count += 1
        return f"{stem}{self._count}"

    # -- Operands -----------------------------------------------------------------------------------------------------

    def pick(self, test: Callable[[torch.Tensor], bool] = lambda tensor: True) -> str:
        """Returns the name of a value that passes the test, preferably a recent one."""
        found = [name for name, tensor in self.values.items() if test(tensor)]
        if not found:
            raise Refused
        return self.choose.choice(found[-3:] if self.choose.random() < 0.7 else found)

    def float(self, least: int = 0, most: int = MOST_DIMS) -> str:
        """Returns a value of floats with a number of dims in a range. Makes an input if there is none."""
        with contextlib.suppress(Refused):
            return self.pick(lambda x: x.is_floating_point() and least <= x.dim() <= most)
        return self.input(self.shape(self.choose.randint(least, most)))

    def integer(self, least: int = 0) -> str:
        with contextlib.suppress(Refused):
            return self.pick(lambda x: x.dtype in INTEGERS and x.dim() >= least)
        return self.input(self.shape(self.choose.randint(least, 3)), self.choose.choice(INTEGERS))

    def number(self, least: int = 0) -> str:
        """Returns a value of any dtype but bool."""
        return self.integer(least) if self.choose.random() < 0.25 else self.float(least)

    def boolean(self, shape) -> str:
        """Returns a value of booleans that broadcasts to the shape."""
        with contextlib.suppress(Refused):
            return self.pick(lambda x: x.dtype == torch.bool and _broadcasts(x.shape, shape))
        return self.input(self.narrowed(shape), torch.bool)

    def any(self, least: int = 0) -> str:
        return self.pick(lambda x: x.dim() >= least)

    def like(self, name: str, dtype: torch.dtype | None = None) -> str:
        """Returns a value that broadcasts with `name`, of its dtype or another one."""
        x = self.values[name]
        dtype = dtype or x.dtype
        if self.choose.random() < 0.5:
            with contextlib.suppress(Refused):
                return self.pick(lambda y: y.dtype == dtype and _broadcasts(y.shape, x.shape))
        return self.input(self.narrowed(x.shape), dtype)

    def narrowed(self, shape) -> list[int]:
        """Returns a shape that broadcasts to `shape`."""
        if self.choose.random() < 0.6:
            return list(shape)
        sizes = [1 if self.choose.random() < 0.4 else size for size in shape]
        return sizes[self.choose.randint(0, len(sizes)) :] if self.choose.random() < 0.4 else sizes

    def dim(self, name: str) -> int:
        rank = self.values[name].dim()
        if rank == 0:
            raise Refused
        return self.choose.randrange(-rank, rank)

    def dims(self, name: str) -> list[int]:
        """Returns some dims, some of them counted from the end."""
        rank = self.values[name].dim()
        if rank == 0:
            raise Refused
        chosen = self.choose.sample(range(rank), self.choose.randint(1, rank))
        return [dim - rank if self.choose.random() < 0.3 else dim for dim in chosen]

    def shape(self, rank: int | None = None) -> list[int]:
        rank = self.choose.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]) if rank is None else rank
        while True:
            shape = [self.choose.choice(SIZES) for _ in range(rank)]
            if torch.Size(shape).numel() <= MOST_ELEMENTS:
                break
        if shape and self.choose.random() < 0.03:
            shape[self.choose.randrange(rank)] = 0
        return shape

    def input(self, shape, dtype: torch.dtype | None = None, values: torch.Tensor | None = None) -> str:
        """Adds an input and returns its name. values: its tensor; by default one is drawn."""
        if torch.Size(shape).numel() > MOST_ELEMENTS:
            raise Refused
        if dtype is None:
            dtype = self.dtype if self.choose.random() < 0.85 else self.choose.choice(FLOATS)
        if values is None:
            values = draw_values(self.choose, self.generator, list(shape), dtype)
        name = self._name("x")
        self.inputs.append(Input(name, values.clone(), self.choose.random() < 0.25))
        self.values[name] = values.clone()
        return name

    def indices(self, shape, size: int, dtype=torch.int64) -> str:
        """Adds an input of indices into a dim of `size` elements."""
        if size == 0:
            raise Refused
        return self.input(shape, dtype, torch.randint(0, size, tuple(shape), generator=self.generator).to(dtype))

    # -- Results ------------------------------------------------------------------------------------------------------

    def _finish(self, seed):
        used = {name for step in self.steps for name in step.operands}
        made = [step.name for step in self.steps if step.name is not None]
        results = [name for name in made if name not in used]
        more = [name for name in made if name in used and self.choose.random() < 0.15]
        results = results + more or [self.inputs[0].name]
        inputs = self._open() if self.choose.random() < 0.2 else self.inputs
        return Graph(seed, tuple(inputs), tuple(self.steps), tuple(results)).without_dead_parts()

    def _open(self):
        """Opens all dims of arguments that have the size of a random one."""
        sizes = {size for each in self.inputs if not each.is_weight for size in each.tensor.shape if size > 1}
        if not sizes:
            return self.inputs
        size = self.choose.choice(sorted(sizes))
        return [
            Input(each.name, each.tensor, False, tuple(i for i, n in enumerate(each.tensor.shape) if n == size))
            if not each.is_weight
            else each
            for each in self.inputs
        ]


def _broadcasts(shape, other) -> bool:
    """Returns true if `shape` can be expanded to `other`."""
    if len(shape) > len(other):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(other), strict=False))


def _overlaps(tensor: torch.Tensor) -> bool:
    """Returns true if several elements may lie at one address."""
    return any(stride == 0 and size > 1 for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
