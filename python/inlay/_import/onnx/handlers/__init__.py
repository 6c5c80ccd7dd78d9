# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of ONNX ops by topic. `microsoft` handles the ops of ONNX Runtime's domain."""

from ..call import Handler
from ..domains import DEFAULT, MICROSOFT, Op
from . import (
    attention,
    casts,
    control,
    convolution,
    indexing,
    layout,
    loops,
    microsoft,
    neural,
    normalization,
    pointwise,
    pooling,
    quantization,
    recurrent,
    reductions,
    resize,
    sampling,
    selection,
    sequences,
    signal,
)

# Domain -> the modules with the handlers of its ops.
_TOPICS = {
    DEFAULT: (
        attention,
        casts,
        control,
        convolution,
        indexing,
        layout,
        loops,
        neural,
        normalization,
        pointwise,
        pooling,
        quantization,
        recurrent,
        reductions,
        resize,
        selection,
        sequences,
        sampling,
        signal,
    ),
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
