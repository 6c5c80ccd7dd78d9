# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads a checkpoint of GPTQ or AWQ into a model of transformers, with packed weights."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._packed.building import build_model
from ..errors import ArgumentValueError, Error, UnsupportedError
from .config import read_format, read_json
from .layouts import Format, Layout, Rearranged, Source, rearrange

# The modules that have a parameter and the names of their attributes, by each name of the parameter.
_Places: TypeAlias = "dict[str, list[tuple[nn.Module, str]]]"

_PARTS = ("qweight", "qzeros", "scales", "g_idx")


class CheckpointLinear(nn.Module):
    """A linear layer with a packed weight. order: the input of each column of the weight; None for their own order."""

    order: Tensor | None
    bias: Tensor | None

    def __init__(self, rearranged: Rearranged, bias: Tensor | None):
        super().__init__()
        self.weight = rearranged.weight
        self.register_buffer("order", rearranged.order)
        self.register_buffer("bias", bias)

    def forward(self, input: Tensor) -> Tensor:
        if self.order is not None:
            input = input.index_select(-1, self.order)
        return functional.linear(input, self.weight(), self.bias)


class _Tensors:
    """The tensors of the safetensors files in a folder. A tensor is read when it is taken."""

    def __init__(self, folder: Path):
        try:
            from safetensors import SafetensorError, safe_open
        except ImportError as error:
            raise Error("checkpoints need the package safetensors: pip install safetensors") from error
        self._files: dict[str, Any] = {}  # name of a tensor -> its file
        paths = _paths(folder)
        for path in paths:
            try:
                file: Any = safe_open(path, framework="pt")
                names = list(file.keys())
            except (OSError, SafetensorError) as error:
                raise ArgumentValueError(f"{path}: can't read the file of safetensors: {error}") from error
            for name in names:
                if name in self._files:
                    raise ArgumentValueError(f"{path}: tensor '{name}' is in another file of the checkpoint too")
                self._files[name] = file

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._files))

    def take(self, name: str) -> Tensor:
        """Returns a tensor and removes its name."""
        tensor: Tensor = self._files.pop(name).get_tensor(name)
        return tensor


def _paths(folder: Path) -> list[Path]:
    """Returns the paths of the files that have the tensors."""
    index = folder / "model.safetensors.index.json"
    if index.exists():
        table = read_json(index).get("weight_map")
        if not isinstance(table, dict):
            raise ArgumentValueError(f"{index}: expected an object 'weight_map', but got {table!r}")
        return sorted({folder / str(name) for name in table.values()})
    paths = sorted(folder.glob("*.safetensors"))
    if len(paths) != 1:
        raise ArgumentValueError(
            f"{folder}: expected one file *.safetensors or an index model.safetensors.index.json, but got "
            f"{len(paths)} files"
        )
    return paths


def load(path: str | PathLike[str]) -> nn.Module:
    """Returns the transformers model of a checkpoint of GPTQ or AWQ, in evaluation mode, with its weights packed.

    path: a folder with `config.json` and files of safetensors, as `save_pretrained` of transformers writes it.

    The layouts `gptq` and `gptq_v2` of GPTQ with 2, 4 or 8 bits and `gemm` of AWQ are known. Other tensors become f32.
    The model computes in f32. It needs the packages `safetensors` and `transformers`, and no package of GPTQ or AWQ.

    Raises UnsupportedError for other layouts, which the message names. Raises ArgumentValueError for a checkpoint that
    does not fit its config: each tensor must have a parameter, and each parameter a tensor.

        model = inlay.quantization.load("Qwen2.5-0.5B-Instruct-GPTQ-Int4")
        compiled = inlay.generation.compile(model, max_length=512)
    """
    folder = Path(os.fspath(path))
    if not (folder / "config.json").is_file():
        raise ArgumentValueError(f"{folder}: expected a folder with a file config.json")
    format = read_format(folder, read_json(folder / "config.json"))
    tensors = _Tensors(folder)
    model = _build(folder)
    places = _places(model)
    for name in list(tensors):
        if name.endswith(".qweight"):
            _load_packed(model, tensors, places, name.removesuffix(".qweight"), format)
    _load_floats(model, tensors, places)
    model.eval()
    return model


def _build(folder: Path) -> nn.Module:
    try:
        from transformers import AutoConfig
    except ImportError as error:
        raise Error("checkpoints need the package transformers: pip install transformers") from error
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        if hasattr(config, "quantization_config"):
            del config.quantization_config
        return build_model(config)
    except Error:
        raise
    except Exception as error:
        raise UnsupportedError(f"{folder}: transformers can't build a model from config.json: {error}") from error


def _places(model: nn.Module) -> _Places:
    """Returns, for each name of a parameter, all modules that have it with the names of their attributes."""
    owners: dict[int, list[tuple[nn.Module, str]]] = {}
    for module in model.modules():
        for attribute, parameter in module._parameters.items():
            if parameter is not None:
                owners.setdefault(id(parameter), []).append((module, attribute))
    return {name: owners[id(parameter)] for name, parameter in model.named_parameters(remove_duplicate=False)}


def _load_packed(model: nn.Module, tensors: _Tensors, places: _Places, name: str, format: Format) -> None:
    """Replaces a linear layer by one with a packed weight."""
    try:
        module = model.get_submodule(name)
    except AttributeError as error:
        raise ArgumentValueError(f"tensor '{name}.qweight' has no layer in {type(model).__name__}") from error
    if type(module) is not nn.Linear:
        raise UnsupportedError(f"expected '{name}' to be a Linear of PyTorch, but got {type(module).__name__}")
    parts = {part: tensors.take(f"{name}.{part}") if f"{name}.{part}" in tensors else None for part in _PARTS}
    missing = [part for part in _PARTS[:3] if parts[part] is None]
    if missing:
        raise ArgumentValueError(f"expected a tensor '{name}.{missing[0]}' beside '{name}.qweight'")
    if format.layout is Layout.AWQ and parts["g_idx"] is not None:
        raise ArgumentValueError(f"tensor '{name}.g_idx' does not belong to the layout of AWQ")
    bias = None
    if f"{name}.bias" in tensors:
        bias = tensors.take(f"{name}.bias")
        if not bias.is_floating_point() or list(bias.shape) != [module.out_features]:
            raise ArgumentValueError(
                f"expected '{name}.bias' to have floats of shape [{module.out_features}], but got {bias.dtype} of "
                f"shape {list(bias.shape)}"
            )
        bias = bias.float()
        if module.bias is None and bool(bias.count_nonzero()):
            raise ArgumentValueError(f"tensor '{name}.bias' is not zero, but the layer of the config has no bias")
    elif module.bias is not None:
        raise ArgumentValueError(f"expected a tensor '{name}.bias', because the layer of the config has a bias")
    for attribute in ("weight", "bias"):
        places.pop(f"{name}.{attribute}", None)
    source = Source(name, module.in_features, module.out_features, **parts)  # type: ignore[arg-type]
    model.set_submodule(name, CheckpointLinear(rearrange(source, format), bias))


def _load_floats(model: nn.Module, tensors: _Tensors, places: _Places) -> None:
    """Gives all other parameters their tensors."""
    ignored = getattr(model, "_keys_to_ignore_on_load_unexpected", None) or []
    loaded: dict[int, tuple[str, Tensor]] = {}  # by the id of the places
    for name in list(tensors):
        if name not in places:
            if any(re.search(pattern, name) for pattern in ignored):
                tensors.take(name)
                continue
            raise ArgumentValueError(
                f"tensor '{name}' has no parameter in {type(model).__name__}, so the model would not compute what the "
                "checkpoint describes"
            )
        tensor = tensors.take(name)
        module, attribute = places[name][0]
        shape = list(getattr(module, attribute).shape)
        if not tensor.is_floating_point() or list(tensor.shape) != shape:
            raise ArgumentValueError(
                f"expected tensor '{name}' to have floats of shape {shape}, but got {tensor.dtype} of shape "
                f"{list(tensor.shape)}"
            )
        key = id(places[name])
        if key in loaded and not torch.equal(loaded[key][1], tensor):
            raise ArgumentValueError(f"expected '{name}' and '{loaded[key][0]}', which are tied, to be equal")
        loaded[key] = (name, tensor)
        parameter = nn.Parameter(tensor.float(), requires_grad=False)
        for owner, place in places[name]:
            setattr(owner, place, parameter)
    missing = [name for name, parameter in model.named_parameters() if parameter.is_meta]
    if missing:
        raise ArgumentValueError(
            f"expected a tensor for each parameter of {type(model).__name__}, but there is none for '{missing[0]}'"
            + (f" and {len(missing) - 1} others" if len(missing) > 1 else "")
        )
