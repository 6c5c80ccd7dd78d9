# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares tiny architectures of inlay_models, exported to ONNX, with ONNX Runtime on sets of targets."""

import warnings

import inlay
import pytest
import torch
from inlay_models import make
from torch.utils import _pytree as pytree

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
pytest.importorskip("transformers")

from onnx_models import difference, run_onnxruntime  # noqa: E402

# The version of the ops for each model, and true if torch.export exports it. T5 can't be exported that way.
EXPORTS = {
    "resnet18": (17, False),
    "mobilenetv3": (17, False),
    "vit_b16": (18, True),
    "bert": (18, True),
    "gpt2": (20, True),
    "llama": (18, True),
    "t5": (17, False),
    "whisper_encoder": (20, True),
    "unet": (17, False),
}
# Models that are tested on the host only.
OTHERS = {"resnet18": (18, True), "lstm": (17, False)}


def export(name, folder, version, dynamo):
    """Returns the path of the file, the model and its arguments."""
    example = make(name, tiny=True)
    path = folder / f"{name}-{version}.onnx"
    more = {"external_data": False, "verbose": False} if dynamo else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            example.model,
            example.args,
            str(path),
            kwargs=example.kwargs,
            dynamo=dynamo,
            opset_version=version,
            **more,
        )
    leaves = pytree.tree_leaves((example.args, example.kwargs))
    return path, onnx.load(path), [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("onnx"), {}

    def get(name):
        if name not in made:
            made[name] = export(name, folder, *EXPORTS[name])
        return made[name]

    return get


@pytest.mark.parametrize("targets", [("vulkan", "host"), ("host",)], ids="+".join)
@pytest.mark.parametrize("name", EXPORTS)
def test_model_equals_onnxruntime(name, targets, exported):
    path, model, arguments = exported(name)
    compiled = inlay.compile(path, targets=targets)
    assert difference(compiled(*arguments), run_onnxruntime(model, arguments)) <= 1e-4
    assert set(compiled.report.ops_by_target()) == {targets[0]}


@pytest.mark.parametrize("name", OTHERS)
def test_other_export_equals_onnxruntime(name, tmp_path):
    path, model, arguments = export(name, tmp_path, *OTHERS[name])
    compiled = inlay.compile(str(path), targets=("host",))
    assert difference(compiled(*arguments), run_onnxruntime(model, arguments)) <= 1e-4
