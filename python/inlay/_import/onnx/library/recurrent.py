# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers ONNX's recurrent layers in all forms: activations, clipping, peepholes and sequences of several lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional

Activation = Callable[[Tensor], Tensor]

# An activation has no default of a parameter with this value, because the specification and ONNX Runtime disagree.
REQUIRED = float("nan")

# Name of an activation in lower case -> (the default of alpha, the default of beta, a function of the tensor, alpha and
# beta). None: the activation has no such parameter.
_ACTIVATIONS: dict[str, tuple[float | None, float | None, Callable[[Tensor, float, float], Tensor]]] = {
    "affine": (REQUIRED, REQUIRED, lambda x, alpha, beta: alpha * x + beta),
    "elu": (1.0, None, lambda x, alpha, beta: functional.elu(x, alpha)),
    "hardsigmoid": (0.2, 0.5, lambda x, alpha, beta: (alpha * x + beta).clamp(0, 1)),
    "leakyrelu": (0.01, None, lambda x, alpha, beta: functional.leaky_relu(x, alpha)),
    "relu": (None, None, lambda x, alpha, beta: x.relu()),
    "scaledtanh": (REQUIRED, REQUIRED, lambda x, alpha, beta: alpha * (beta * x).tanh()),
    "sigmoid": (None, None, lambda x, alpha, beta: x.sigmoid()),
    "softplus": (None, None, lambda x, alpha, beta: functional.softplus(x)),
    "softsign": (None, None, lambda x, alpha, beta: functional.softsign(x)),
    "tanh": (None, None, lambda x, alpha, beta: x.tanh()),
    "thresholdedrelu": (REQUIRED, None, lambda x, alpha, beta: torch.where(x > alpha, x, 0)),
}
ACTIVATIONS = frozenset(_ACTIVATIONS)


def missing_parameter(names: Sequence[str], alphas: Sequence[float], betas: Sequence[float]) -> str | None:
    """Returns the first activation that needs a parameter which the lists don't have; None if there is none."""
    for place, numbers in enumerate((alphas, betas)):
        taking = [name for name in names if _ACTIVATIONS[name][place] is not None]
        for name in taking[len(numbers) :]:
            if _ACTIVATIONS[name][place] is REQUIRED:
                return name
    return None


def _activations(names: Sequence[str], alphas: Sequence[float], betas: Sequence[float]) -> list[Activation]:
    """Returns activations by their names in lower case. Those with a parameter take the next one of the lists."""
    rest = [iter(alphas), iter(betas)]

    def make(name: str) -> Activation:
        *defaults, function = _ACTIVATIONS[name]
        alpha, beta = (
            0.0 if default is None else next(numbers, default) for default, numbers in zip(defaults, rest, strict=True)
        )
        return lambda x: function(x, alpha, beta)

    return [make(name) for name in names]


def _rounded(x: Tensor) -> Tensor:
    """Returns numbers rounded as 8 bits hold them, with a scale and a zero point as of DynamicQuantizeLinear."""
    low, high = (x.min().clamp(max=0), x.max().clamp(min=0)) if x.numel() else (x.new_zeros(()), x.new_zeros(()))
    scale = (high - low) / 255
    scale = torch.where(scale == 0, 1.0, scale)
    zero = (-low / scale).round().clamp(0, 255)
    return ((x / scale).round() + zero).clamp(0, 255).sub(zero) * scale


class _Direction:
    """The parameters of a layer for one direction."""

    def __init__(
        self,
        weights: Tensor,
        recurrence: Tensor,
        bias: Tensor | None,
        peepholes: Tensor | None,
        activations: Sequence[Activation],
        clip: float,
        is_variant: bool,
        is_quantized: bool,
    ) -> None:
        """is_variant: `input_forget` of an LSTM, `linear_before_reset` of a GRU.

        is_quantized: True if the operands of products are rounded to 8 bits.
        """
        rows = weights.shape[0]
        bias = weights.new_zeros(2 * rows) if bias is None else bias
        self.weights, self.recurrence, self.bias = weights, recurrence, bias[:rows]
        self.recurrent_bias, self.peepholes = bias[rows:], peepholes
        self.activations, self.is_variant, self._clip = activations, is_variant, clip
        self._is_quantized = is_quantized

    def product(self, x: Tensor, weights: Tensor) -> Tensor:
        """Returns the product of rows with the rows of a weight."""
        return (_rounded(x) if self._is_quantized else x) @ weights.T

    def clip(self, x: Tensor) -> Tensor:
        """Returns `x` limited to the range of inputs of activations."""
        return x.clamp(-self._clip, self._clip) if self._clip else x

    def lstm(self, given: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the hidden state and the cell state after a step. given: the part of the gates from the input."""
        gates = given + self.product(hidden, self.recurrence) + self.recurrent_bias
        taken, out, forgotten, fresh = gates.chunk(4, -1)
        first, second, third = self.activations
        zero = cell.new_zeros(3 * cell.shape[-1])
        into, out_of, forget = (zero if self.peepholes is None else self.peepholes).chunk(3)
        taken = first(self.clip(taken + into * cell))
        forgotten = 1 - taken if self.is_variant else first(self.clip(forgotten + forget * cell))
        cell = forgotten * cell + taken * second(self.clip(fresh))
        out = first(self.clip(out + out_of * cell))
        return out * third(cell), cell

    def gru(self, given: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the hidden state after a step, and `cell`. given: the part of the gates from the input."""
        size = hidden.shape[-1]
        first, second = self.activations
        rows, bias = self.recurrence, self.recurrent_bias
        gates = self.clip(given[..., : 2 * size] + hidden @ rows[: 2 * size].T + bias[: 2 * size])
        update, reset = first(gates).chunk(2, -1)
        if self.is_variant:
            fresh = reset * (hidden @ rows[2 * size :].T + bias[2 * size :])
        else:
            fresh = (reset * hidden) @ rows[2 * size :].T + bias[2 * size :]
        fresh = second(self.clip(given[..., 2 * size :] + fresh))
        return (1 - update) * fresh + update * hidden, cell

    def rnn(self, given: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the hidden state after a step, and `cell`. given: the part of the gate from the input."""
        total = given + hidden @ self.recurrence.T + self.recurrent_bias
        return self.activations[0](self.clip(total)), cell


def _steps(
    kind: str, layer: _Direction, x: Tensor, lengths: Tensor, hidden: Tensor, cell: Tensor
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields the states after each step. Those of a sequence that has ended stay as they are."""
    step = {"LSTM": layer.lstm, "GRU": layer.gru, "RNN": layer.rnn}[kind]
    given = layer.product(x, layer.weights) + layer.bias
    for position in range(x.shape[0]):
        goes_on = (lengths > position).unsqueeze(-1)
        new_hidden, new_cell = step(given[position], hidden, cell)
        hidden, cell = torch.where(goes_on, new_hidden, hidden), torch.where(goes_on, new_cell, cell)
        yield hidden, cell


def _reversed(x: Tensor, lengths: Tensor) -> Tensor:
    """Returns sequences in reverse order, each within its length. x: its first two dims are positions and sequences."""
    positions = torch.arange(x.shape[0]).unsqueeze(1)
    places = torch.where(positions < lengths, lengths - 1 - positions, positions)
    return x.gather(0, places.unsqueeze(-1).expand(x.shape))


@torch.library.custom_op("inlay_onnx::recurrent", mutates_args=())
def recurrent(
    kind: str,
    x: Tensor,
    weights: Tensor,
    recurrence: Tensor,
    bias: Tensor | None,
    lengths: Tensor | None,
    hidden: Tensor,
    cell: Tensor,
    peepholes: Tensor | None,
    is_reversed: list[bool],
    activations: str,
    alphas: list[float],
    betas: list[float],
    clip: float,
    is_variant: bool,
    is_quantized: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the outputs of all steps, the last hidden states and the last cell states of an LSTM, GRU or RNN.

    x: positions, sequences and features. hidden, cell: the initial states: directions, sequences and features.
    is_reversed: for each direction. activations: names in lower case, separated by spaces. clip: 0 for no limit.
    is_variant, is_quantized: see `_Direction`. Only an LSTM is quantized.
    """
    length, batch, _ = x.shape
    ends = torch.full((batch,), length) if lengths is None else lengths.to(torch.int64)
    functions = _activations(activations.split(), alphas, betas)
    each = len(functions) // len(is_reversed)
    outputs, hiddens, cells = [], [], []
    for number, backwards in enumerate(is_reversed):
        layer = _Direction(
            weights[number],
            recurrence[number],
            None if bias is None else bias[number],
            None if peepholes is None else peepholes[number],
            functions[number * each : (number + 1) * each],
            clip,
            is_variant,
            is_quantized,
        )
        source = _reversed(x, ends) if backwards else x
        states = list(_steps(kind, layer, source, ends, hidden[number], cell[number]))
        last = states[-1] if states else (hidden[number], cell[number])
        made = torch.stack([state for state, _ in states]) if states else hidden.new_zeros((0, *hidden.shape[1:]))
        made = torch.where((torch.arange(length).unsqueeze(1) < ends).unsqueeze(-1), made, 0)
        outputs.append(_reversed(made, ends) if backwards else made)
        hiddens.append(last[0])
        cells.append(last[1])
    return torch.stack(outputs, 1), torch.stack(hiddens), torch.stack(cells)


@recurrent.register_fake
def _(
    kind: str, x: Tensor, weights: Tensor, recurrence: Tensor, bias: Tensor | None, lengths: Tensor | None,
    hidden: Tensor, cell: Tensor, peepholes: Tensor | None, is_reversed: list[bool], activations: str,
    alphas: list[float], betas: list[float], clip: float, is_variant: bool, is_quantized: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    directions, batch, size = hidden.shape
    return x.new_empty((x.shape[0], directions, batch, size)), torch.empty_like(hidden), torch.empty_like(cell)
