# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Architectures of the library transformers: of text, images and sound."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any

import torch

from .model import SEED, Instance, Model
from .shrink import shrink
from .vision_ops import import_torchvision

_BATCH, _LENGTH, _SAMPLES, _FRAMES = 2, 8, 800, 32

# The types of models whose configs the sizes of `shrink` fit.
_PLAIN = """
afmoe aimv2 aimv2_vision_model albert altclip apertus arcee aria_text bart beam beit bert bert-generation big_bird
bigbird_pegasus biogpt bit bitnet blenderbot blenderbot-small blip bloom camembert canine chinese_clip clip
clip_text_model clip_vision_model clipseg cohere cohere2 cohere2_moe convbert convnext convnextv2 cpmant ctrl cvt
cwm data2vec-audio data2vec-text data2vec-vision deberta deberta-v2 deit detr diffllama dinov2 dinov2_with_registers
dinov3_convnext dinov3_vit distilbert doge dpr dpt electra ernie ernie4_5 ernie4_5_moe eurobert exaone4 falcon
falcon_h1 falcon_mamba flaubert flava flex_olmo fnet focalnet fsmt funnel gemma gemma2 gemma3_text gemma4_text git
glm glm4 glm4_moe gpt-sw3 gpt2 gpt_bigcode gpt_neox gpt_neox_japanese gpt_oss granite granitemoe granitemoeshared
groupvit helium hiera hubert ibert ijepa imagegpt jetmoe jina_embeddings_v3 layoutlm led lfm2 llama llama4_text
longformer longt5 luke m2m_100 mamba marian mbart megatron-bert minimax mistral mixtral mlcd_vision_model mobilebert
mobilenet_v1 mobilenet_v2 mobilevit modernbert modernbert-decoder mpnet mpt mra mt5 mvp nanochat nllb-moe nomic_bert
nystromformer olmo olmo2 olmo3 olmo_hybrid olmoe openai-gpt opt owlv2 owlvit pegasus pegasus_x persimmon phi phi3
phimoe pixio plbart poolformer prophetnet pvt pvt_v2 qwen2 qwen2_moe qwen3 qwen3_moe regnet rembert resnet roberta
roberta-prelayernorm roc_bert roformer rwkv sam_vision_model seed_oss segformer sew sew-d siglip siglip_vision_model
smollm3 splinter squeezebert stablelm starcoder2 swiftformer switch_transformers t5 t5gemma textnet umt5 unispeech
unispeech-sat vaultgemma vilt visual_bert vit vit_mae vit_msn vitdet wav2vec2 wav2vec2-conformer wavlm xglm xlm
xlm-roberta xlm-roberta-xl xlnet yoso
"""

# The fields of other types that need other sizes than those of `shrink`.
_SWIN = {"image_size": 32, "patch_size": 4, "embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4}
_SECTIONS = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}}
FIELDS: Mapping[str, Mapping[str, Any]] = {
    "codegen": {"rotary_dim": 4},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "gptj": {"rotary_dim": 4},
    "qwen2_vl_text": _SECTIONS,
    "swin": _SWIN,
    "swin2sr": {**_SWIN, "patch_size": 1, "num_channels": 3},
    "swinv2": _SWIN,
    "whisper": {"num_mel_bins": 16, "max_source_positions": 16, "max_target_positions": 32},
}


def list_transformers() -> list[Model]:
    """Returns the architectures of transformers."""
    names = sorted({*_PLAIN.split(), *FIELDS})
    return [Model(f"transformers/{name}", functools.partial(_make, name)) for name in names]


def _make(name: str) -> Instance:
    import_torchvision()  # transformers imports it if it is installed
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    classes = MODEL_MAPPING_NAMES[name]
    cls = getattr(transformers, classes if isinstance(classes, str) else classes[0])
    config = shrink(CONFIG_MAPPING[name], FIELDS.get(name, {}))
    torch.manual_seed(SEED)
    module = cls(config).eval()
    with torch.no_grad():
        for weight in module.parameters():
            if weight.dim() > 1 and not weight.any():
                weight.normal_(std=0.02)  # a router of zeros gives all experts the same score
    return Instance(module, _make_inputs(module, config))


def _make_inputs(module: Any, config: Any) -> dict[str, Any]:
    """Returns random inputs for the arguments of a model that have usual names."""
    made: dict[str, Any] = {}
    names = inspect.signature(module.forward).parameters
    for name in names:
        if name in ("input_ids", "decoder_input_ids"):
            made[name] = torch.randint(5, 80, (_BATCH, _LENGTH))
        elif name == "attention_mask" and "input_ids" in made:
            made[name] = torch.ones(_BATCH, _LENGTH, dtype=torch.int64)
            made[name][1, _LENGTH - 2 :] = 0
        elif name == "pixel_values":
            side = _find(config, "image_size", 32)
            sides = (side, side) if isinstance(side, int) else tuple(side)
            made[name] = torch.randn(_BATCH, _find(config, "num_channels", 3), *sides)
        elif name == "input_values":
            made[name] = torch.randn(_BATCH, _SAMPLES)
        elif name == "input_features":
            made[name] = torch.randn(_BATCH, _find(config, "num_mel_bins", 80), _FRAMES)
    return made


def _find(config: Any, name: str, default: Any) -> Any:
    """Returns a field of a config or of the first config inside of it that has the field."""
    inner = [value for value in vars(config).values() if hasattr(value, "to_dict")]
    return next((value for one in (config, *inner) if (value := getattr(one, name, None)) is not None), default)
