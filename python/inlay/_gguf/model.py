# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads the tensors of a GGUF file into a model of transformers.

The names of tensors and the changes that llama.cpp made to them come from the tables of transformers' own loader.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from os import PathLike
from typing import Any, cast

import numpy as np
import torch
from torch import nn

from .._packed.building import build_model
from .._packed.modules import PackedWeight, pack_module
from ..errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError
from .file import GgufFile, GgufTensor, gguf_package, read
from .formats import FLOATS, pack, read_floats
from .metadata import ARCHITECTURES, adjust_config, check_config, check_layers

_VOCABULARY = "token_embd.weight"  # The tensor with a row for each token.


def _loader() -> Any:
    """Returns the module of transformers that has the tables, or raises an error that says what to install."""
    gguf_package()
    try:
        from transformers import modeling_gguf_pytorch_utils as loader
    except ImportError as error:
        raise Error("models from GGUF files need the package transformers: pip install transformers") from error
    if not hasattr(loader, "TENSOR_PROCESSORS"):
        raise UnsupportedError("this version of transformers has no tables for GGUF files; version 5.24 has them")
    return loader


def _check_model(model: nn.Module) -> None:
    """Checks that a model is one of transformers with parameters of f32 and an architecture that is known."""
    kind = getattr(getattr(model, "config", None), "model_type", None)
    if kind is None:
        raise ArgumentTypeError(f"expected a model of transformers, which has a config, but got {type(model).__name__}")
    if kind not in ARCHITECTURES:
        raise UnsupportedError(f"expected a model of one of the types {', '.join(ARCHITECTURES)}, but got {kind}")
    for name, parameter in model.named_parameters():
        if parameter.dtype != torch.float32:
            raise ArgumentValueError(f"expected parameter '{name}' to be torch.float32, but got {parameter.dtype}")
    for name, buffer in model.named_buffers():
        if buffer.is_meta:
            raise ArgumentValueError(
                f"expected buffer '{name}' to have data, but it is on the device meta; use inlay.gguf.load"
            )


def _parameter_names(model: nn.Module, processor: Any) -> dict[str, str]:
    """Returns the names of parameters by the names of their tensors in a file."""
    package, config = gguf_package(), cast(Any, model.config)
    kinds = {name: kind for kind, name in package.MODEL_ARCH_NAMES.items()}
    table = package.get_tensor_name_map(kinds[ARCHITECTURES[config.model_type]], config.num_hidden_layers)
    names = {}
    for name in model.state_dict():
        stem, dot, last = processor.preprocess_name(name).rpartition(".")
        if (found := table.get_name(stem)) is not None:
            names[found + dot + last] = name
    return names


class _Parameters:
    """The parameters that have not been loaded yet. A tied parameter has several names."""

    def __init__(self, model: nn.Module):
        self.model = model
        self.names: dict[int, list[str]] = {}
        self.by_name: dict[str, nn.Parameter] = {}
        for name, parameter in model.named_parameters(remove_duplicate=False):
            self.names.setdefault(id(parameter), []).append(name)
            self.by_name[name] = parameter

    def take(self, name: str) -> tuple[nn.Parameter, list[str]]:
        """Removes a parameter. Returns it with all of its names."""
        parameter = self.by_name[name]
        names = self.names.pop(id(parameter))
        for other in names:
            del self.by_name[other]
        return parameter, names

    def modules(self, names: list[str]) -> Iterator[tuple[nn.Module, str]]:
        """Yields the module and the attribute of each name."""
        for name in names:
            path, _, attribute = name.rpartition(".")
            yield self.model.get_submodule(path), attribute


def _moved_rows(process: Any, tensor: GgufTensor) -> torch.Tensor | None:
    """Returns the order of rows that `process`, a function of transformers, gives a matrix.

    Returns None if `process` does more than reorder rows.
    """
    numbers = np.arange(tensor.shape[0]).reshape(-1, 1)
    moved = process(numbers.copy(), tensor.name).weights
    if moved.shape != numbers.shape or not np.array_equal(np.sort(moved, axis=0), numbers):
        return None
    return torch.from_numpy(np.ascontiguousarray(moved[:, 0])).long()


def _packed_weight(process: Any, tensor: GgufTensor) -> PackedWeight | None:
    """Returns a tensor of the file as packed weight; None if only its floats can be processed."""
    if tensor.kind in FLOATS or len(tensor.shape) != 2:
        return None
    rows = _moved_rows(process, tensor)
    if rows is None:
        return None
    weight = pack(tensor)
    return weight if torch.equal(rows, torch.arange(len(rows))) else weight.select(rows)


def _load_tensor(parameters: _Parameters, path: str, process: Any, tensor: GgufTensor, name: str) -> None:
    """Replaces a parameter by a tensor of the file: packed in linear layers and embeddings, else as f32."""
    parameter, names = parameters.take(name)
    if tensor.shape != parameter.shape:
        raise ArgumentValueError(
            f"{path}: expected tensor '{tensor.name}' to have shape {list(parameter.shape)} of parameter '{name}', "
            f"but got {list(tensor.shape)}"
        )
    weight = _packed_weight(process, tensor)
    if weight is not None:
        packed = [
            attribute == "weight" and pack_module(module, weight) for module, attribute in parameters.modules(names)
        ]
        if all(packed):
            return
        names = [other for other, done in zip(names, packed, strict=True) if not done]
        floats = weight.floats()
    else:
        floats = torch.from_numpy(np.ascontiguousarray(process(read_floats(tensor).numpy(), tensor.name).weights))
    loaded = nn.Parameter(floats, requires_grad=False)
    for module, attribute in parameters.modules(names):
        setattr(module, attribute, loaded)


def _load_tensors(model: nn.Module, file: GgufFile) -> None:
    loader = _loader()
    config: Any = model.config
    table = loader.TENSOR_PROCESSORS.get(ARCHITECTURES[config.model_type], loader.TensorProcessor)
    processor = table(config=config.to_dict())
    names = _parameter_names(model, processor)
    parameters = _Parameters(model)
    for tensor in file.tensors:
        name = names.get(tensor.name)
        if name is None:
            raise ArgumentValueError(
                f"{file.path}: tensor '{tensor.name}' has no parameter in {type(model).__name__}, so "
                "the model would not compute what the file describes"
            )
        if name not in parameters.by_name:
            raise ArgumentValueError(
                f"{file.path}: expected parameter '{name}' to get one tensor, but '{tensor.name}' is another one; "
                "are its weights tied in the model but not in the file?"
            )
        _load_tensor(parameters, file.path, processor.process, tensor, name)
    if parameters.by_name:
        missing = sorted(parameters.by_name)
        raise ArgumentValueError(
            f"{file.path}: expected a tensor for each parameter of {type(model).__name__}, but there is none for "
            f"'{missing[0]}'" + (f" and {len(missing) - 1} others" if len(missing) > 1 else "")
        )


def load_weights(model: nn.Module, path: str | PathLike[str]) -> None:
    """Replaces all parameters of a transformers model by the tensors of a GGUF file, in place.

    Quantized weights of linear layers and embeddings stay packed, and tied weights stay one tensor. Other weights
    become f32. The parameters must be f32. The model is in an undefined state after an error.

    Raises `ArgumentValueError` for a wrong file, for a tensor that the model lacks or has with another shape, and for a
    parameter without a tensor. Raises `UnsupportedError` for other architectures and types than those of
    `docs/guide/quantized-models.md`, and for metadata that the config of the model contradicts.
    """
    _loader()
    file = read(path)
    _check_model(model)
    check_layers(file)
    check_config(model.config, file)
    _load_tensors(model, file)


def _read_config(file: GgufFile) -> Any:
    """Returns the config that transformers reads from the metadata of a file.

    transformers reads only files, and its reader takes half a minute for 262144 tokens. So it gets a temporary file
    with the scalars and short strings of the metadata, the size of the vocabulary, and the names of the tensors.
    """
    import transformers

    package = gguf_package()
    types = package.GGUFValueType
    kinds = {bool: types.BOOL, int: types.INT64, float: types.FLOAT64, str: types.STRING}
    architecture = file.metadata.get("general.architecture")
    rows = {f"{architecture}.vocab_size": tensor.shape[0] for tensor in file.tensors if tensor.name == _VOCABULARY}
    with tempfile.TemporaryDirectory() as folder:
        writer = package.GGUFWriter(os.path.join(folder, "config.gguf"), architecture)
        for key, value in {**rows, **file.metadata}.items():
            if value is not None and key != "general.architecture":  # The writer has set this one.
                writer.add_key_value(key, value, kinds[type(value)])
        for tensor in file.tensors:
            writer.add_tensor_info(tensor.name, [0], np.dtype(np.float32), 0)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        writer.close()
        config = transformers.AutoConfig.from_pretrained(folder, gguf_file="config.gguf")
    config.name_or_path = os.path.dirname(os.path.abspath(file.path))
    return config


def load(path: str | PathLike[str]) -> nn.Module:
    """Returns the transformers model of a GGUF file, in evaluation mode, with its quantized weights packed.

    The metadata of the file gives the config. The tokenizer stays with transformers:
    `AutoTokenizer.from_pretrained(folder, gguf_file=name)`. Packed weights are not dequantized while loading.
    Raises the errors of `load_weights`, and `UnsupportedError` if transformers can't build a model from the metadata.
    """
    _loader()
    file = read(path)
    check_layers(file)
    try:
        config = _read_config(file)
        if config.model_type not in ARCHITECTURES:
            names = ", ".join(ARCHITECTURES)
            raise UnsupportedError(f"{file.path}: expected one of the types {names}, but got {config.model_type}")
        adjust_config(config, file)
        model = build_model(config)
        check_config(config, file)
    except Error:
        raise
    except Exception as error:
        raise UnsupportedError(f"{file.path}: transformers can't build a model from the metadata: {error}") from error
    _load_tensors(model, file)
    model.eval()
    return model
