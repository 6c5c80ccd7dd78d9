# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The subjects of contests: the models of inlay_models and the kernels of this folder, equal in all processes."""

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from inlay_models import ZOO, Example, make
from kernels import KERNELS
from torch.utils import _pytree as pytree

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


@dataclass(frozen=True)
class Setting:
    """The parameters of one contender in one measurement."""

    contender: str
    suite: str  # "models" or "kernels"
    subject: str
    dtype: str
    scale: str  # size of models: "usual" or "tiny"
    threads: int
    folder: str  # for results and for files that contenders share, such as an exported model


def prepare_torch(threads: int) -> None:
    """Configures PyTorch for inference with `threads` threads."""
    warnings.simplefilter("ignore")
    torch.set_grad_enabled(False)
    torch.set_num_threads(threads)


def names(suite: str) -> list[str]:
    return list(ZOO if suite == "models" else KERNELS)


def make_subject(setting: Setting) -> Example:
    """Returns the model and its arguments, with floating-point arguments and weights in the dtype of the setting."""
    if setting.suite == "models":
        import transformers

        transformers.logging.set_verbosity_error()
        example = make(setting.subject, tiny=setting.scale == "tiny")
    else:
        torch.manual_seed(0)
        module, inputs = KERNELS[setting.subject].make()
        example = Example(module.eval(), inputs)
    dtype = DTYPES[setting.dtype]

    def convert(leaf: Any) -> Any:
        return leaf.to(dtype) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf

    arguments = pytree.tree_map(convert, (example.args, example.kwargs))
    return Example(example.model.to(dtype), *arguments)


def tensors(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]
