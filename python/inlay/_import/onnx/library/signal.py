# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers ops of signal processing: DFT, STFT and MelWeightMatrix."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor


def _as_complex(x: Tensor) -> Tensor:
    """Returns complex numbers of 64 bits from a last dim of real parts, or of real and imaginary parts."""
    wide = x.double()
    return wide.squeeze(-1) if x.shape[-1] == 1 else torch.view_as_complex(wide.contiguous())


def _as_real(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns complex numbers as a last dim of real and imaginary parts, or real numbers as one of real parts."""
    return (torch.view_as_real(x) if x.is_complex() else x.unsqueeze(-1)).to(dtype).contiguous()


@torch.library.custom_op("inlay_onnx::dft", mutates_args=())
def dft(x: Tensor, length: Tensor | None, axis: int, open_axis: Tensor | None, inverse: bool, onesided: bool) -> Tensor:
    """Returns the Fourier transform of a dim, as the specification defines DFT.

    open_axis: in place of `axis` if it is known only at a call.
    """
    signal = _as_complex(x)
    if open_axis is not None:
        axis = int(open_axis) % x.dim()
    count = None if length is None else int(length)
    if onesided and inverse:
        result = torch.fft.irfft(signal, count, axis)
    elif inverse:
        result = torch.fft.ifft(signal, count, axis)
    elif onesided and not signal.is_complex():
        result = torch.fft.rfft(signal, count, axis)
    else:
        result = torch.fft.fft(signal, count, axis)
        if onesided:
            result = result.narrow(axis, 0, result.shape[axis] // 2 + 1)
    return _as_real(result, x.dtype)


@dft.register_fake
def _fake_dft(
    x: Tensor, length: Tensor | None, axis: int, open_axis: Tensor | None, inverse: bool, onesided: bool
) -> Tensor:
    shape: list[Any] = list(x.shape)
    context = torch.library.get_ctx()
    if open_axis is not None:
        if onesided or length is not None:
            shape = [context.new_dynamic_size() for _ in shape]
    elif length is not None:
        shape[axis] = context.new_dynamic_size()
    elif onesided:
        shape[axis] = 2 * (shape[axis] - 1) if inverse else shape[axis] // 2 + 1
    return x.new_empty([*shape[:-1], 1 if onesided and inverse else 2])


@torch.library.custom_op("inlay_onnx::stft", mutates_args=())
def stft(x: Tensor, step: Tensor, window: Tensor | None, length: Tensor | None, onesided: bool) -> Tensor:
    """Returns the Fourier transforms of windows of signals: batch x frames x frequencies x 2."""
    signal = _as_complex(x)
    count = int(length) if length is not None else signal.shape[1] if window is None else window.shape[0]
    frames = signal.unfold(1, count, int(step))
    if window is not None:
        frames = frames * window.to(frames.real.dtype)
    if onesided and not frames.is_complex():
        return _as_real(torch.fft.rfft(frames), x.dtype)
    result = torch.fft.fft(frames)
    return _as_real(result[..., : count // 2 + 1] if onesided else result, x.dtype)


@stft.register_fake
def _fake_stft(x: Tensor, step: Tensor, window: Tensor | None, length: Tensor | None, onesided: bool) -> Tensor:
    context = torch.library.get_ctx()
    frames = context.new_dynamic_size()
    count: Any
    if length is not None and window is None:
        count = context.new_dynamic_size()
    else:
        count = x.shape[1] if window is None else window.shape[0]
        count = count // 2 + 1 if onesided else count
    return x.new_empty([x.shape[0], frames, count, 2])


@torch.library.custom_op("inlay_onnx::mel_weight_matrix", mutates_args=())
def mel_weight_matrix(
    bins: Tensor, dft_length: Tensor, sample_rate: Tensor, lowest: Tensor, highest: Tensor, dtype: torch.dtype
) -> Tensor:
    """Returns the weights of frequencies for each mel bin: frequencies x bins."""
    count, length = int(bins), int(dft_length)
    low, high = (2595 * math.log10(1 + float(edge) / 700) for edge in (lowest, highest))
    mels = low + torch.arange(count + 2, dtype=torch.float64) * (high - low) / (count + 2)
    hertz = 700 * (10 ** (mels / 2595) - 1)
    left, center, right = ((length + 1) * hertz / int(sample_rate)).floor().long().unfold(0, count, 1)
    places = torch.arange(length // 2 + 1)[:, None]
    rising = torch.where(center > left, (places - left) / (center - left).clamp(min=1), 1.0)
    falling = (right - places) / (right - center).clamp(min=1)
    weights = torch.where((places >= left) & (places <= center), rising, 0.0)
    return torch.where((places >= center) & (places < right), falling, weights).to(dtype)


@mel_weight_matrix.register_fake
def _fake_mel_weight_matrix(
    bins: Tensor, dft_length: Tensor, sample_rate: Tensor, lowest: Tensor, highest: Tensor, dtype: torch.dtype
) -> Tensor:
    context = torch.library.get_ctx()
    return torch.empty(context.new_dynamic_size(), context.new_dynamic_size(), dtype=dtype)
