# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Architectures of the library diffusers."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import torch

from .model import SEED, Instance, Model
from .vision_ops import import_torchvision

_STEP = torch.tensor([10])
_IMAGE = (1, 3, 16, 16)
_LATENT = (1, 4, 8, 8)
_VIDEO = (1, 3, 5, 16, 16)
_TEXT = (1, 6, 16)  # hidden states of a text encoder

_CROSS = {
    "block_out_channels": (16, 32),
    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
    "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
    "layers_per_block": 1,
    "norm_num_groups": 4,
    "cross_attention_dim": 16,
    "attention_head_dim": 4,
}
_CROSS_INPUTS = {"sample": _LATENT, "timestep": _STEP, "encoder_hidden_states": _TEXT}
_CODER = {
    "block_out_channels": (8, 16),
    "down_block_types": ("DownEncoderBlock2D",) * 2,
    "up_block_types": ("UpDecoderBlock2D",) * 2,
    "norm_num_groups": 4,
}
_HEADS = {"num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 1}
_JOINT = {"hidden_states": _LATENT, "encoder_hidden_states": _TEXT, "timestep": _STEP}
_CONDITION = {
    "original_size": torch.tensor([[16.0, 16.0]]),
    "target_size": torch.tensor([[16.0, 16.0]]),
    "crop_coords": torch.tensor([[0.0, 0.0]]),
}
_POSITIONS = {"img_ids": torch.zeros(16, 3), "txt_ids": torch.zeros(6, 3)}

# name -> (fields of the config, inputs). A tuple stands for a random tensor of these dims.
_MODELS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "UNet1DModel": (
        {
            "block_out_channels": (32, 32),
            "down_block_types": ("DownBlock1DNoSkip", "AttnDownBlock1D"),
            "up_block_types": ("AttnUpBlock1D", "UpBlock1DNoSkip"),
            "sample_size": 64,
            "extra_in_channels": 64,
        },
        {"sample": (1, 2, 64), "timestep": _STEP},
    ),
    "UNet2DModel": (
        {
            "block_out_channels": (16, 32),
            "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
            "up_block_types": ("AttnUpBlock2D", "UpBlock2D"),
            "norm_num_groups": 4,
            "layers_per_block": 1,
        },
        {"sample": _IMAGE, "timestep": _STEP},
    ),
    "UNet2DConditionModel": (_CROSS, _CROSS_INPUTS),
    "UNet3DConditionModel": (
        {
            "block_out_channels": (16, 32),
            "down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D"),
            "up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D"),
            "layers_per_block": 1,
            "norm_num_groups": 4,
            "cross_attention_dim": 16,
            "attention_head_dim": 4,
        },
        {"sample": (1, 4, 2, 8, 8), "timestep": _STEP, "encoder_hidden_states": _TEXT},
    ),
    "UNetSpatioTemporalConditionModel": (
        {
            "block_out_channels": (32, 64),
            "layers_per_block": 1,
            "cross_attention_dim": 16,
            "down_block_types": ("CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"),
            "up_block_types": ("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"),
            "num_attention_heads": (2, 4),
            "projection_class_embeddings_input_dim": 32,
            "addition_time_embed_dim": 32,
            "in_channels": 4,
        },
        {
            "sample": (1, 2, 4, 8, 8),
            "timestep": _STEP,
            "encoder_hidden_states": (1, 1, 16),
            "added_time_ids": torch.tensor([[6.0]]),
        },
    ),
    "I2VGenXLUNet": (
        {
            "block_out_channels": (16, 32),
            "down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D"),
            "up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D"),
            "layers_per_block": 1,
            "norm_num_groups": 4,
            "cross_attention_dim": 16,
            "attention_head_dim": 4,
            "num_attention_heads": 2,
        },
        {
            "sample": (1, 4, 2, 8, 8),
            "timestep": _STEP,
            "fps": _STEP,
            "image_latents": (1, 4, 2, 8, 8),
            "image_embeddings": (1, 16),
            "encoder_hidden_states": _TEXT,
        },
    ),
    "StableCascadeUNet": (
        {
            "in_channels": 4,
            "out_channels": 4,
            "conditioning_dim": 16,
            "block_out_channels": (16, 16),
            "num_attention_heads": (2, 2),
            "down_num_layers_per_block": (1, 1),
            "up_num_layers_per_block": (1, 1),
            "clip_text_in_channels": 16,
            "clip_text_pooled_in_channels": 16,
            "clip_image_in_channels": 16,
        },
        {
            "sample": _LATENT,
            "timestep_ratio": torch.tensor([0.5]),
            "clip_text_pooled": (1, 1, 16),
            "clip_text": (1, 6, 16),
            "clip_img": (1, 1, 16),
        },
    ),
    "ControlNetModel": (
        {
            **{key: value for key, value in _CROSS.items() if key != "up_block_types"},
            "conditioning_embedding_out_channels": (8, 16),
        },
        {**_CROSS_INPUTS, "controlnet_cond": _IMAGE},
    ),
    "T2IAdapter": (
        {"channels": [16, 32], "num_res_blocks": 1, "downscale_factor": 4},
        {"x": _IMAGE},
    ),
    "AutoencoderKL": (_CODER, {"sample": _IMAGE}),
    "AsymmetricAutoencoderKL": (
        {
            "down_block_types": ("DownEncoderBlock2D",) * 2,
            "down_block_out_channels": (8, 16),
            "up_block_types": ("UpDecoderBlock2D",) * 2,
            "up_block_out_channels": (8, 16),
            "norm_num_groups": 4,
        },
        {"sample": _IMAGE},
    ),
    "AutoencoderTiny": (
        {
            "encoder_block_out_channels": (8, 8),
            "decoder_block_out_channels": (8, 8),
            "num_encoder_blocks": (1, 1),
            "num_decoder_blocks": (1, 1),
        },
        {"sample": _IMAGE},
    ),
    "AutoencoderDC": (
        {
            "latent_channels": 4,
            "attention_head_dim": 2,
            "encoder_block_types": ("ResBlock", "EfficientViTBlock"),
            "decoder_block_types": ("ResBlock", "EfficientViTBlock"),
            "encoder_block_out_channels": (8, 8),
            "decoder_block_out_channels": (8, 8),
            "encoder_qkv_multiscales": ((), (5,)),
            "decoder_qkv_multiscales": ((), (5,)),
            "encoder_layers_per_block": (1, 1),
            "decoder_layers_per_block": (1, 1),
            "decoder_norm_types": "rms_norm",
            "decoder_act_fns": "silu",
        },
        {"sample": _IMAGE},
    ),
    "AutoencoderKLTemporalDecoder": (
        {"block_out_channels": (32, 64), "down_block_types": ("DownEncoderBlock2D",) * 2},
        {"sample": (2, 3, 16, 16), "num_frames": 2},
    ),
    "AutoencoderKLCogVideoX": (
        {
            "down_block_types": ("CogVideoXDownBlock3D",) * 2,
            "up_block_types": ("CogVideoXUpBlock3D",) * 2,
            "block_out_channels": (8, 8),
            "latent_channels": 4,
            "layers_per_block": 1,
            "norm_num_groups": 2,
            "temporal_compression_ratio": 2,
            "sample_height": 16,
            "sample_width": 16,
        },
        {"sample": _VIDEO},
    ),
    "AutoencoderKLWan": (
        {
            "base_dim": 4,
            "z_dim": 16,
            "dim_mult": [1, 1, 1, 1],
            "num_res_blocks": 1,
            "temperal_downsample": [False, True, True],
        },
        {"sample": _VIDEO},
    ),
    "AutoencoderKLQwenImage": (
        {"base_dim": 4, "z_dim": 16, "dim_mult": [1, 1, 1, 1], "num_res_blocks": 1},
        {"sample": (1, 3, 1, 16, 16)},
    ),
    "AutoencoderKLLTXVideo": (
        {
            "latent_channels": 8,
            "block_out_channels": (8, 8, 8, 8),
            "decoder_block_out_channels": (8, 8, 8, 8),
            "layers_per_block": (1, 1, 1, 1, 1),
            "decoder_layers_per_block": (1, 1, 1, 1, 1),
        },
        {"sample": (1, 3, 9, 32, 32)},
    ),
    "AutoencoderKLHunyuanVideo": (
        {"block_out_channels": (8, 8, 8, 8), "layers_per_block": 1, "norm_num_groups": 4, "latent_channels": 4},
        {"sample": _VIDEO},
    ),
    "AutoencoderKLMagvit": (
        {"block_out_channels": [8, 8, 8, 8], "layers_per_block": 1, "norm_num_groups": 4, "latent_channels": 4},
        {"sample": _VIDEO},
    ),
    "AutoencoderKLMochi": (
        {
            "encoder_block_out_channels": (32, 32, 32, 32),
            "decoder_block_out_channels": (32, 32, 32, 32),
            "layers_per_block": (1, 1, 1, 1, 1),
            "latent_channels": 4,
        },
        {"sample": (1, 3, 7, 16, 16)},
    ),
    "AutoencoderOobleck": (
        {
            "encoder_hidden_size": 8,
            "decoder_channels": 8,
            "decoder_input_channels": 4,
            "downsampling_ratios": [2, 4],
            "channel_multiples": [1, 2],
            "audio_channels": 2,
        },
        {"sample": (1, 2, 64)},
    ),
    "VQModel": (
        {**_CODER, "latent_channels": 3, "num_vq_embeddings": 16},
        {"sample": _IMAGE},
    ),
    "DiTTransformer2DModel": (
        {**_HEADS, "sample_size": 8, "num_embeds_ada_norm": 10},
        {"hidden_states": _LATENT, "timestep": torch.tensor([3]), "class_labels": torch.tensor([2])},
    ),
    "PixArtTransformer2DModel": (
        {**_HEADS, "sample_size": 8, "cross_attention_dim": 16, "caption_channels": 16},
        _JOINT,
    ),
    "Transformer2DModel": (
        {**_HEADS, "in_channels": 16, "norm_num_groups": 4, "cross_attention_dim": 16},
        {"hidden_states": (1, 16, 8, 8), "encoder_hidden_states": _TEXT},
    ),
    "TransformerTemporalModel": (
        {**_HEADS, "in_channels": 16, "norm_num_groups": 4},
        {"hidden_states": (2, 16, 4, 4), "num_frames": 2},
    ),
    "SD3Transformer2DModel": (
        {
            **_HEADS,
            "sample_size": 8,
            "in_channels": 4,
            "out_channels": 4,
            "joint_attention_dim": 16,
            "caption_projection_dim": 16,
            "pooled_projection_dim": 16,
            "pos_embed_max_size": 16,
        },
        {**_JOINT, "pooled_projections": (1, 16)},
    ),
    "FluxTransformer2DModel": (
        {
            **_HEADS,
            "attention_head_dim": 16,
            "num_single_layers": 1,
            "in_channels": 4,
            "joint_attention_dim": 16,
            "pooled_projection_dim": 16,
            "axes_dims_rope": (4, 4, 8),
        },
        {**_JOINT, "hidden_states": (1, 16, 4), "pooled_projections": (1, 16), **_POSITIONS},
    ),
    "ChromaTransformer2DModel": (
        {
            **_HEADS,
            "attention_head_dim": 16,
            "num_single_layers": 1,
            "in_channels": 4,
            "joint_attention_dim": 16,
            "axes_dims_rope": (4, 4, 8),
            "approximator_num_channels": 8,
            "approximator_hidden_dim": 16,
            "approximator_layers": 1,
        },
        {**_JOINT, "hidden_states": (1, 16, 4), **_POSITIONS},
    ),
    "BriaTransformer2DModel": (
        {
            **_HEADS,
            "attention_head_dim": 16,
            "num_single_layers": 1,
            "in_channels": 4,
            "joint_attention_dim": 16,
            "axes_dims_rope": [0, 8, 8],
        },
        {**_JOINT, "hidden_states": (1, 16, 4), **_POSITIONS},
    ),
    "QwenImageTransformer2DModel": (
        {
            **_HEADS,
            "attention_head_dim": 16,
            "in_channels": 16,
            "out_channels": 4,
            "joint_attention_dim": 16,
            "axes_dims_rope": (4, 4, 8),
        },
        {
            "hidden_states": (1, 16, 16),
            "encoder_hidden_states": _TEXT,
            "encoder_hidden_states_mask": torch.ones(1, 6),
            "timestep": torch.tensor([0.5]),
            "img_shapes": [(1, 4, 4)],
        },
    ),
    "AuraFlowTransformer2DModel": (
        {
            "sample_size": 8,
            "num_mmdit_layers": 1,
            "num_single_dit_layers": 1,
            "attention_head_dim": 8,
            "num_attention_heads": 2,
            "joint_attention_dim": 16,
            "caption_projection_dim": 16,
            "pos_embed_max_size": 16,
        },
        {**_JOINT, "timestep": torch.tensor([0.5])},
    ),
    "SanaTransformer2DModel": (
        {
            **_HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "num_cross_attention_heads": 2,
            "cross_attention_head_dim": 8,
            "cross_attention_dim": 16,
            "caption_channels": 16,
            "sample_size": 8,
        },
        _JOINT,
    ),
    "Lumina2Transformer2DModel": (
        {
            "sample_size": 8,
            "in_channels": 4,
            "hidden_size": 24,
            "num_layers": 1,
            "num_refiner_layers": 1,
            "num_attention_heads": 3,
            "num_kv_heads": 1,
            "multiple_of": 4,
            "axes_dim_rope": (4, 2, 2),
            "axes_lens": (32, 16, 16),
            "cap_feat_dim": 16,
        },
        {**_JOINT, "encoder_attention_mask": torch.ones(1, 6, dtype=torch.bool)},
    ),
    "CogView3PlusTransformer2DModel": (
        {
            **_HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "text_embed_dim": 16,
            "time_embed_dim": 16,
            "condition_dim": 4,
            "pos_embed_max_size": 8,
            "sample_size": 8,
        },
        {**_JOINT, **_CONDITION},
    ),
    "CogView4Transformer2DModel": (
        {
            **_HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "text_embed_dim": 16,
            "time_embed_dim": 16,
            "condition_dim": 4,
            "pos_embed_max_size": 8,
            "sample_size": 8,
            "rope_axes_dim": (16, 16),
        },
        {**_JOINT, **_CONDITION},
    ),
    "CogVideoXTransformer3DModel": (
        {
            **_HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "time_embed_dim": 16,
            "text_embed_dim": 16,
            "sample_width": 8,
            "sample_height": 8,
            "sample_frames": 5,
            "max_text_seq_length": 6,
        },
        {**_JOINT, "hidden_states": (1, 2, 4, 8, 8)},
    ),
    "LatteTransformer3DModel": (
        {
            **_HEADS,
            "in_channels": 4,
            "out_channels": 8,
            "cross_attention_dim": 16,
            "sample_size": 8,
            "patch_size": 2,
            "norm_type": "ada_norm_single",
            "caption_channels": 16,
            "video_length": 2,
            "attention_bias": True,
            "activation_fn": "gelu-approximate",
            "norm_elementwise_affine": False,
            "norm_eps": 1e-6,
            "num_embeds_ada_norm": 100,
        },
        {**_JOINT, "hidden_states": (1, 4, 2, 8, 8)},
    ),
    "LTXVideoTransformer3DModel": (
        {**_HEADS, "in_channels": 4, "out_channels": 4, "cross_attention_dim": 16, "caption_channels": 16},
        {
            **_JOINT,
            "hidden_states": (1, 32, 4),
            "encoder_attention_mask": torch.ones(1, 6, dtype=torch.bool),
            "num_frames": 2,
            "height": 4,
            "width": 4,
        },
    ),
    "MochiTransformer3DModel": (
        {
            **_HEADS,
            "in_channels": 4,
            "pooled_projection_dim": 16,
            "text_embed_dim": 16,
            "time_embed_dim": 4,
            "max_sequence_length": 6,
        },
        {**_JOINT, "hidden_states": (1, 4, 2, 8, 8), "encoder_attention_mask": torch.ones(1, 6, dtype=torch.bool)},
    ),
    "WanTransformer3DModel": (
        {
            **_HEADS,
            "attention_head_dim": 12,
            "in_channels": 4,
            "out_channels": 4,
            "text_dim": 16,
            "freq_dim": 16,
            "ffn_dim": 32,
            "rope_max_seq_len": 32,
        },
        {**_JOINT, "hidden_states": (1, 4, 2, 8, 8)},
    ),
    "AllegroTransformer3DModel": (
        {
            **_HEADS,
            "attention_head_dim": 12,
            "cross_attention_dim": 24,
            "caption_channels": 16,
            "sample_height": 8,
            "sample_width": 8,
            "sample_frames": 2,
        },
        {
            **_JOINT,
            "hidden_states": (1, 4, 2, 8, 8),
            "attention_mask": torch.ones(1, 2, 8, 8),
            "encoder_attention_mask": torch.ones(1, 6),
        },
    ),
    "HunyuanVideoTransformer3DModel": (
        {
            **_HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "attention_head_dim": 10,
            "num_single_layers": 1,
            "num_refiner_layers": 1,
            "text_embed_dim": 16,
            "pooled_projection_dim": 8,
            "rope_axes_dim": (2, 4, 4),
        },
        {
            **_JOINT,
            "hidden_states": (1, 4, 2, 8, 8),
            "encoder_attention_mask": torch.ones(1, 6),
            "pooled_projections": (1, 8),
            "guidance": torch.tensor([1000.0]),
        },
    ),
    "StableAudioDiTModel": (
        {
            **_HEADS,
            "attention_head_dim": 16,
            "sample_size": 4,
            "in_channels": 4,
            "out_channels": 4,
            "num_key_value_attention_heads": 2,
            "cross_attention_dim": 16,
            "time_proj_dim": 8,
            "global_states_input_dim": 8,
            "cross_attention_input_dim": 16,
        },
        {
            "hidden_states": (1, 4, 8),
            "timestep": _STEP,
            "encoder_hidden_states": _TEXT,
            "global_hidden_states": (1, 1, 8),
            "rotary_embedding": (torch.randn(9, 8), torch.randn(9, 8)),
        },
    ),
    "PriorTransformer": (
        {**_HEADS, "embedding_dim": 16, "num_embeddings": 6},
        {
            "hidden_states": (1, 16),
            "timestep": torch.tensor([3]),
            "proj_embedding": (1, 16),
            "encoder_hidden_states": _TEXT,
        },
    ),
    "CosmosTransformer3DModel": (
        {
            **_HEADS,
            "attention_head_dim": 16,
            "in_channels": 4,
            "out_channels": 4,
            "text_embed_dim": 16,
            "adaln_lora_dim": 4,
            "max_size": (4, 32, 32),
        },
        {
            **_JOINT,
            "hidden_states": (1, 4, 1, 8, 8),
            "attention_mask": torch.ones(1, 6),
            "fps": 30,
            "padding_mask": torch.zeros(1, 1, 32, 32),
        },
    ),
    "PRXTransformer2DModel": (
        {
            "in_channels": 4,
            "context_in_dim": 16,
            "hidden_size": 16,
            "num_heads": 2,
            "depth": 1,
            "axes_dim": [4, 4],
            "mlp_ratio": 2.0,
        },
        {**_JOINT, "timestep": torch.tensor([0.5])},
    ),
}


def list_diffusers() -> list[Model]:
    """Returns the architectures of diffusers."""
    return [Model(f"diffusers/{name}", functools.partial(_make, name)) for name in _MODELS]


def _make(name: str) -> Instance:
    import_torchvision()
    import diffusers  # type: ignore[import-not-found,unused-ignore]

    fields, inputs = _MODELS[name]
    torch.manual_seed(SEED)
    module = getattr(diffusers, name)(**fields).eval()
    made = {key: torch.randn(value) if _is_shape(value) else value for key, value in inputs.items()}
    return Instance(module, made)


def _is_shape(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(dim, int) for dim in value)
