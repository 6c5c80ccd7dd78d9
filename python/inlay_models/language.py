# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of text and speech."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .types import Parts


def _tokens(vocabulary: int, length: int) -> torch.Tensor:
    return torch.randint(0, vocabulary, (1, length))


def bert(tiny: bool = False) -> Parts:
    """BERT-base, Devlin et al., arXiv:1810.04805: 109.5 M parameters."""
    from transformers import BertConfig, BertModel

    size = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    config = BertConfig(**({**size, "vocab_size": 200} if tiny else {}))
    length = 16 if tiny else 128
    mask = torch.ones(1, length, dtype=torch.int64)
    mask[:, -3:] = 0
    return BertModel(config), (), {"input_ids": _tokens(config.vocab_size, length), "attention_mask": mask}


def gpt2(tiny: bool = False) -> Parts:
    """GPT-2, Radford et al. 2019: 124.4 M parameters."""
    from transformers import GPT2Config, GPT2LMHeadModel

    size = {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 200, "bos_token_id": 0, "eos_token_id": 0}
    config = GPT2Config(use_cache=False, **(size if tiny else {}))
    return GPT2LMHeadModel(config), (), {"input_ids": _tokens(config.vocab_size, 16 if tiny else 64)}


def _llama_config(tiny: bool) -> Any:
    from transformers import LlamaConfig

    layers, width = (2, 64) if tiny else (8, 512)
    return LlamaConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=8,
        num_key_value_heads=4,
        intermediate_size=3 * width,
        vocab_size=200 if tiny else 8000,
        pad_token_id=0,
    )


def llama(tiny: bool = False) -> Parts:
    """A small decoder with the architecture of Llama, Touvron et al., arXiv:2302.13971: 31.1 M parameters."""
    from transformers import LlamaForCausalLM

    config = _llama_config(tiny)
    config.use_cache = False
    return LlamaForCausalLM(config), (), {"input_ids": _tokens(config.vocab_size, 16 if tiny else 64)}


class CachedDecoder(nn.Module):
    """A step of decoding with a cache of the earlier tokens for each layer.

    `forward` takes the token (int64, N x 1) and a list with the (key, value) of each layer, both of shape N x heads x
    length x width. It returns scores and the longer caches.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, token: torch.Tensor, caches: list[tuple[torch.Tensor, torch.Tensor]]
    ) -> tuple[torch.Tensor, list[tuple[torch.Tensor, torch.Tensor]]]:
        from transformers import DynamicCache

        cache = DynamicCache(caches)
        result = self.model(input_ids=token, past_key_values=cache, use_cache=True)
        return result.logits, [(layer.keys, layer.values) for layer in result.past_key_values.layers]


def llama_cached(tiny: bool = False) -> Parts:
    """A step of the decoder of `llama` with caches of the earlier tokens."""
    from transformers import LlamaForCausalLM

    config = _llama_config(tiny)
    head = config.hidden_size // config.num_attention_heads
    shape = (1, config.num_key_value_heads, 8 if tiny else 64, head)
    caches = [(torch.randn(shape), torch.randn(shape)) for _ in range(config.num_hidden_layers)]
    return CachedDecoder(LlamaForCausalLM(config)), (_tokens(config.vocab_size, 1), caches), None


def t5(tiny: bool = False) -> Parts:
    """T5-small, Raffel et al., arXiv:1910.10683: 60.5 M parameters."""
    from transformers import T5Config, T5ForConditionalGeneration

    size = {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4, "vocab_size": 200}
    config = T5Config(use_cache=False, decoder_start_token_id=0, **(size if tiny else {}))
    source, target = (12, 6) if tiny else (64, 32)
    kwargs = {"input_ids": _tokens(config.vocab_size, source), "decoder_input_ids": _tokens(config.vocab_size, target)}
    return T5ForConditionalGeneration(config), (), kwargs


def whisper_encoder(tiny: bool = False) -> Parts:
    """The encoder of Whisper-tiny, Radford et al., arXiv:2212.04356: 8.2 M parameters; 30 s of sound."""
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    size = {"d_model": 64, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 128}
    config = WhisperConfig(**({**size, "max_source_positions": 40} if tiny else {}))
    sound = torch.randn(1, config.num_mel_bins, 2 * config.max_source_positions)
    return WhisperEncoder(config), (sound,), None


def mixtral(tiny: bool = False) -> Parts:
    """A small mixture of experts with the architecture of Mixtral, Jiang et al., arXiv:2401.04088: 15 M parameters."""
    from transformers import MixtralConfig, MixtralForCausalLM

    layers, width = (2, 64) if tiny else (4, 256)
    config = MixtralConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=8,
        num_key_value_heads=4,
        intermediate_size=2 * width,
        num_local_experts=8,
        num_experts_per_tok=2,
        vocab_size=200 if tiny else 4000,
        use_cache=False,
    )
    return MixtralForCausalLM(config), (), {"input_ids": _tokens(config.vocab_size, 16 if tiny else 64)}


class Tagger(nn.Module):
    """Maps tokens N x length (int64) to scores N x length x classes by an LSTM; Hochreiter & Schmidhuber 1997."""

    def __init__(self, vocabulary: int, width: int, hidden: int, layers: int = 2, classes: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, layers, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, classes)

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden, (last, _) = self.lstm(self.embedding(tokens))
        return self.out(hidden), last


def lstm(tiny: bool = False) -> Parts:
    """A bidirectional LSTM tagger: 4.9 M parameters."""
    vocabulary, width, hidden, length = (100, 16, 32, 6) if tiny else (8000, 256, 256, 32)
    return Tagger(vocabulary, width, hidden), (_tokens(vocabulary, length),), None
