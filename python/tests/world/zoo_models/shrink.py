# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tiny configs of the library transformers from the defaults of its config classes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

VOCABULARY = 128

# The tiny value of a field whose name matches. The first match counts. None keeps the default.
_SIZES: Sequence[tuple[str, int | None]] = (
    (r"_token_id$|_token_index$|_token$|_idx$|_index$", None),
    (r"^(vocab_size|.*_vocab_size|vocab_size_.*|entity_vocab_size|codebook_size)$", VOCABULARY),
    (r"^type_vocab_size$", None),
    (r"^(num_key_value_heads|n_kv_heads|num_kv_heads|num_global_key_value_heads|swa_num_key_value_heads)$", 2),
    (r"^(.*_)?(num_attention_heads|num_heads|n_heads?|nhead|attention_heads|num_attn_heads)$", 4),
    (r"^(head_dim|.*_head_dim|d_kv|kv_channels|attention_head_size|attention_head_dim)$", 8),
    (r"^(.*_)?(num_hidden_layers|num_layers|n_layers?|encoder_layers|decoder_layers|layers|num_blocks|depth)$", 2),
    (r"^(.*_)?(num_local_experts|num_experts|n_routed_experts|moe_num_experts)$", 4),
    (r"^(num_experts_per_tok|moe_k|num_experts_per_token|moe_topk)$", 2),
    (r"^(.*_)?(intermediate_size|ffn_dim|d_ff|ffn_size|n_inner|dim_feedforward|mlp_dim|feed_forward_size)$", 64),
    (r"^(.*_)?(hidden_size|d_model|embed_dim|n_embd|projection_dim|hidden_dim|emb_dim|embedding_size|dim)$", 32),
    (r"^(max_position_embeddings|n_positions|max_source_positions|max_target_positions|n_ctx)$", 64),
    (r"^(sliding_window|attention_window|local_attention)$", 8),
    (r"^image_size$", 32),
    (r"^patch_size$", 8),
)


def shrink(config: type, fields: Mapping[str, Any]) -> Any:
    """Returns a config of a class with tiny sizes.

    fields: the values of fields that the defaults do not fit. A dict is for the config in a field.
    """
    return config(**_tiny(config, fields))


def _tiny(config: type, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of fields for a config of a class."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        default = field.default
        if isinstance(default, bool) or not isinstance(default, int):
            continue
        if field.name.endswith(("_token_id", "_token_index")):
            if default >= VOCABULARY:
                values[field.name] = VOCABULARY - 1 - len([name for name in values if "_token_" in name])
            continue
        size = next((size for pattern, size in _SIZES if re.search(pattern, field.name)), None)
        if size is not None and size < default:
            values[field.name] = size
    for name, inner in (getattr(config, "sub_configs", None) or {}).items():
        given = fields.get(name, {})
        if dataclasses.is_dataclass(inner) and isinstance(given, Mapping) and inner.__name__ != "AutoConfig":
            values[name] = _tiny(inner, given)
    return {
        **values,
        **{name: value for name, value in fields.items() if name not in values or not isinstance(value, Mapping)},
    }
