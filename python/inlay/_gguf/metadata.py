# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the config of a model agree with the metadata of a GGUF file.

transformers reads some keys and drops the others. Here, each key of the architecture must have a known meaning, and the
config must have its value. The meaning of keys, and of missing keys, is that of llama.cpp (src/llama-model.cpp).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from ..errors import ArgumentValueError, UnsupportedError
from .file import GgufFile

# Architectures of GGUF by the model type of transformers. Their tensors map one to one to parameters.
ARCHITECTURES = {
    "llama": "llama",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "gemma2": "gemma2",
    "gemma3_text": "gemma3",
    "phi3": "phi3",
}
_DEFAULT_ROPE_BASE = 10000.0
# llama.cpp takes models with these numbers of layers for those of 27B, which scale queries by the mean size of a head.
_LAYERS_OF_27B = {"gemma2": 46, "gemma3": 62}


def _rope(config: Any, layers: str) -> dict[str, Any]:
    """Returns the parameters of rotary embeddings. layers: the type of the layers, for models with several types."""
    parameters: dict[str, Any] = config.rope_parameters
    found: dict[str, Any] = parameters.get(layers, parameters)
    return found


def _head_size(config: Any) -> int:
    return int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)


def _rotated(config: Any) -> int:
    """Returns the number of dims of a head that are rotated."""
    return int(_head_size(config) * _rope(config, "full_attention").get("partial_rotary_factor", 1.0))


# The value with which a model computes, by key behind the name of the architecture.
_VALUES: dict[str, Callable[[Any], Any]] = {
    "block_count": lambda config: config.num_hidden_layers,
    "embedding_length": lambda config: config.hidden_size,
    "feed_forward_length": lambda config: config.intermediate_size,
    "vocab_size": lambda config: config.vocab_size,
    "attention.head_count": lambda config: config.num_attention_heads,
    "attention.head_count_kv": lambda config: config.num_key_value_heads,
    "attention.key_length": _head_size,
    "attention.value_length": _head_size,
    "attention.layer_norm_rms_epsilon": lambda config: config.rms_norm_eps,
    "attention.sliding_window": lambda config: getattr(config, "sliding_window", None) or 0,
    "attn_logit_softcapping": lambda config: getattr(config, "attn_logit_softcapping", None),
    "final_logit_softcapping": lambda config: getattr(config, "final_logit_softcapping", None),
    "rope.dimension_count": _rotated,
    "rope.freq_base": lambda config: _rope(config, "full_attention")["rope_theta"],
    "rope.freq_base_swa": lambda config: _rope(config, "sliding_attention")["rope_theta"],
    "rope.scaling.type": lambda config: "none",
}
_UNUSED = ("context_length",)  # The arithmetic does not depend on these.


def _own(file: GgufFile) -> dict[str, Any]:
    """Returns the metadata of the architecture, by key behind its name."""
    begin = f"{file.metadata.get('general.architecture')}."
    return {key.removeprefix(begin): value for key, value in file.metadata.items() if key.startswith(begin)}


def check_layers(file: GgufFile) -> None:
    """Raises `ArgumentValueError` if the number of layers is not that of the tensors."""
    found = {int(match[1]) for tensor in file.tensors if (match := re.match(r"blk\.(\d{1,9})\.", tensor.name))}
    expected = _own(file).get("block_count")
    if expected != len(found) or found != set(range(len(found))):
        raise ArgumentValueError(
            f"{file.path}: expected tensors of 'block_count' = {expected} layers, but got those of {len(found)}"
        )


def adjust_config(config: Any, file: GgufFile) -> None:
    """Sets what transformers leaves at defaults though the file has it."""
    values = _own(file)
    if "attention.key_length" in values:
        config.head_dim = values["attention.key_length"]
    if config.model_type == "phi3" and "attention.sliding_window" in values:
        config.sliding_window = values["attention.sliding_window"] or None
    for name in ("attn_logit_softcapping", "final_logit_softcapping"):
        if config.model_type == "gemma2" and name in values:
            setattr(config, name, values[name])
    if hasattr(config, "query_pre_attn_scalar"):
        config.query_pre_attn_scalar = _query_scale(config)


def _query_scale(config: Any) -> float:
    """Returns the number whose root divides the products of queries and keys, in models of Gemma."""
    is_27b = _LAYERS_OF_27B.get(ARCHITECTURES[config.model_type]) == config.num_hidden_layers
    return config.hidden_size / config.num_attention_heads if is_27b else _head_size(config)


def check_config(config: Any, file: GgufFile) -> None:
    """Raises an error unless a model with this config computes what the metadata says.

    Raises `ArgumentValueError` if the file has another architecture, and `UnsupportedError` for a key that is not known
    or has another value.
    """
    architecture, found = ARCHITECTURES[config.model_type], file.metadata.get("general.architecture")
    if found != architecture:
        raise ArgumentValueError(f"{file.path}: expected a file of the architecture {architecture}, but got {found}")
    values = {"rope.freq_base": _DEFAULT_ROPE_BASE, **_own(file)}
    for key, value in values.items():
        if key in _UNUSED:
            continue
        if key not in _VALUES:
            raise UnsupportedError(f"{file.path}: the meaning of '{architecture}.{key}' = {value} is not known")
        used = _VALUES[key](config)
        is_close = (
            isinstance(value, float) and isinstance(used, (int, float)) and math.isclose(value, used, rel_tol=1e-6)
        )
        if used != value and not is_close:
            raise UnsupportedError(
                f"{file.path}: expected '{architecture}.{key}' to be {used}, with which the model of transformers "
                f"computes, but got {value}"
            )
    if getattr(config, "query_pre_attn_scalar", None) not in (None, _query_scale(config)):
        raise UnsupportedError(
            f"{file.path}: expected a config with query_pre_attn_scalar = {_query_scale(config)}, but got "
            f"{config.query_pre_attn_scalar}"
        )
    kinds = {_rope(config, layers).get("rope_type", "default") for layers in ("full_attention", "sliding_attention")}
    if kinds != {"default"}:
        raise UnsupportedError(f"{file.path}: expected a config without scaling of rotary embeddings, but got {kinds}")
