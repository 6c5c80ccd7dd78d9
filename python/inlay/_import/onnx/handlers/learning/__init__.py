# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of ops of classical machine learning: those of the domain ai.onnx.ml, and TfIdfVectorizer."""

from . import features, text

TOPICS = (features,)
DEFAULT_TOPICS = (text,)
