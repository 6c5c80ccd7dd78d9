# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of the functions that make models."""

from typing import Any, TypeAlias

from torch import nn

# A model, and the positional and keyword arguments to call it with.
Parts: TypeAlias = tuple[nn.Module, tuple[Any, ...], dict[str, Any] | None]
