# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the format of quantized weights from the config of a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import ArgumentValueError, UnsupportedError
from .layouts import Format, Layout

_GPTQ_LAYOUTS = {"gptq": Layout.GPTQ_V1, "gptq_v2": Layout.GPTQ_V2}
_BITS = {Layout.GPTQ_V1: (2, 4, 8), Layout.GPTQ_V2: (2, 4, 8), Layout.AWQ: (4,)}


def read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArgumentValueError(f"{path}: can't read JSON: {error}") from error
    if not isinstance(values, dict):
        raise ArgumentValueError(f"{path}: expected an object, but got {type(values).__name__}")
    return values


def read_format(folder: Path, config: dict[str, Any]) -> Format:
    """Returns the format in `quantization_config` of the config, or in `quantize_config.json`."""
    path, values = folder / "config.json", config.get("quantization_config")
    if values is None and (folder / "quantize_config.json").exists():
        path = folder / "quantize_config.json"
        values = {"quant_method": "gptq", **read_json(path)}
    if not isinstance(values, dict):
        raise ArgumentValueError(f"{path}: expected an object 'quantization_config', but got {values!r}")
    layout = _layout(path, values)
    bits, group = values.get("bits", values.get("w_bit")), values.get("group_size", values.get("q_group_size"))
    if type(bits) is not int or bits not in _BITS[layout]:
        known = ", ".join(map(str, _BITS[layout]))
        raise UnsupportedError(
            f"{path}: expected 'bits' of layout {layout.value} to be one of {known}, but got {bits!r}"
        )
    if not isinstance(group, int) or isinstance(group, bool) or not (group > 0 or group == -1):
        raise ArgumentValueError(f"{path}: expected 'group_size' to be a positive int or -1, but got {group!r}")
    _refuse_others(path, values, layout)
    reordered = layout is not Layout.AWQ and bool(values.get("desc_act"))
    return Format(layout, bits, None if group == -1 else group, reordered)


def _layout(path: Path, values: dict[str, Any]) -> Layout:
    method = values.get("quant_method")
    if method == "gptq":
        name = str(values.get("checkpoint_format") or values.get("format") or "gptq").lower()
        if values.get("is_marlin_format"):
            name = "marlin"
        if name not in _GPTQ_LAYOUTS:
            raise UnsupportedError(f"{path}: expected the layout gptq or gptq_v2 of GPTQ, but got {name!r}")
        return _GPTQ_LAYOUTS[name]
    if method == "awq":
        name = str(values.get("version") or values.get("format") or "gemm").lower()
        if name != "gemm":
            raise UnsupportedError(f"{path}: expected the layout gemm of AWQ, but got {name!r}")
        return Layout.AWQ
    raise UnsupportedError(f"{path}: expected the method gptq or awq in 'quant_method', but got {method!r}")


def _refuse_others(path: Path, values: dict[str, Any], layout: Layout) -> None:
    """Raises an error for settings that change the meaning of the tensors."""
    if values.get("dynamic"):
        raise UnsupportedError(f"{path}: settings of single layers in 'dynamic' are not supported")
    if str(values.get("pack_dtype") or "int32").removeprefix("torch.") != "int32":
        raise UnsupportedError(f"{path}: expected 'pack_dtype' to be int32, but got {values['pack_dtype']!r}")
    if layout is Layout.AWQ and values.get("zero_point") is False:
        raise UnsupportedError(f"{path}: expected 'zero_point' of AWQ to be true, but got false")
