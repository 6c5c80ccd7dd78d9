# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares tiny architectures of inlay_models on every set of targets with PyTorch."""

import inlay
import pytest
import torch
from inlay_models import ZOO, Example, make
from torch.utils import _pytree as pytree

pytest.importorskip("transformers")

ROUTES = [("vulkan", "host", "torch"), ("host", "torch")]
TOLERANCES = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-2}


# Calls that have no op of the dialect. PyTorch runs them.
OPAQUE = {}


def tensors(results):
    return [leaf for leaf in pytree.tree_leaves(results) if isinstance(leaf, torch.Tensor)]


def difference(expected, got):
    """Returns the largest difference of all results, relative to the largest element."""
    assert pytree.tree_structure(got) == pytree.tree_structure(expected)
    shares = [0.0]
    for theirs, ours in zip(tensors(expected), tensors(got), strict=True):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        shares.append(float((ours.double() - theirs.double()).abs().max() / theirs.double().abs().max()))
    return max(shares)


def compiled(example, targets):
    exported = torch.export.export(example.model, example.args, example.kwargs, strict=False)
    return inlay.compile(exported, targets=targets)


def converted(name, dtype):
    example = make(name, tiny=True)

    def convert(leaf):
        return leaf.to(dtype) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf

    return Example(example.model.to(dtype), *pytree.tree_map(convert, (example.args, example.kwargs)))


@pytest.mark.parametrize("targets", ROUTES, ids="+".join)
@pytest.mark.parametrize("name", ZOO)
def test_model_equals_pytorch(name, targets):
    example = make(name, tiny=True)
    with torch.no_grad():
        expected = example()
        model = compiled(example, targets)
        assert difference(expected, example(model)) <= TOLERANCES[torch.float32]
    placed = [op for op in model.report["ops"] if op["segment"] is not None]
    assert {op["name"] for op in placed if op["target"] == "torch"} == OPAQUE.get(name, set())


@pytest.mark.parametrize("name", ["mobilenetv3", "bert", "t5", "lstm"])
def test_model_in_pytorch_alone(name):
    example = make(name, tiny=True)
    with torch.no_grad():
        assert difference(example(), example(compiled(example, ("torch",)))) <= 1e-6


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
@pytest.mark.parametrize("name", ["resnet18", "bert", "llama", "lstm"])
def test_narrow_model_equals_pytorch(name, dtype):
    example = converted(name, dtype)
    with torch.no_grad():
        expected = example()
        got = example(compiled(example, ("vulkan", "host", "torch")))
    assert difference(expected, got) <= TOLERANCES[dtype]


def test_same_seed_gives_same_model():
    first, second, other = make("lstm", tiny=True), make("lstm", tiny=True), make("lstm", tiny=True, seed=1)
    assert torch.equal(first.args[0], second.args[0])
    weights = [example.model.out.weight for example in (first, second, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])
