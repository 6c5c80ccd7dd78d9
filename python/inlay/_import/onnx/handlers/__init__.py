# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of ONNX ops by topic. `microsoft` handles those of ONNX Runtime's domain, `learning` those of ai.onnx.ml."""

from ..call import Handler
from ..domains import DEFAULT, LEARNING, MICROSOFT, Op
from . import (
    attention,
    casts,
    convolution,
    flow,
    indexing,
    layout,
    learning,
    microsoft,
    neural,
    normalization,
    pointwise,
    pooling,
    quantization,
    random_numbers,
    recurrent,
    reductions,
    resize,
    sampling,
    selection,
    signal,
)

# Domain -> the modules with the handlers of its ops.
_TOPICS = {
    DEFAULT: (
        *flow.TOPICS,
        *learning.DEFAULT_TOPICS,
        attention,
        casts,
        convolution,
        indexing,
        layout,
        neural,
        normalization,
        pointwise,
        pooling,
        quantization,
        random_numbers,
        recurrent,
        reductions,
        resize,
        selection,
        sampling,
        signal,
    ),
    LEARNING: learning.TOPICS,
    MICROSOFT: microsoft.TOPICS,
}


def all_handlers() -> dict[Op, Handler]:
    """Returns the handlers of all domains by op."""
    return {
        Op(domain, name): handler
        for domain, topics in _TOPICS.items()
        for topic in topics
        for name, handler in topic.handlers().items()
    }
