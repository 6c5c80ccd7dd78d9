# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads models from GGUF files, the format of llama.cpp, with packed weights.

    model = inlay.gguf.load("model-q4_k_m.gguf")
    compiled = inlay.compile(model, (tokens,))

The files need the package `gguf`, and `load` and `load_weights` need `transformers`.
"""

from ._gguf.file import GgufFile, GgufTensor, read
from ._gguf.formats import pack
from ._gguf.model import load, load_weights
from ._packed.modules import PackedWeight

__all__ = ["GgufFile", "GgufTensor", "PackedWeight", "load", "load_weights", "pack", "read"]
