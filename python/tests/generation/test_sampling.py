# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the choice of tokens in inlay_runtime with transformers, and tests its statistics."""

import math

import inlay_runtime
import numpy as np
import pytest
import torch
from inlay_runtime.sampling import Sampling, random_number

transformers = pytest.importorskip("transformers")


def filter_of_transformers(sampling, logits, text):
    """Returns the logits after the processors of `generate` in transformers."""
    scores, ids = torch.from_numpy(logits)[None], torch.tensor([text])
    made = transformers.generation.logits_process
    processors = []
    if sampling.repetition_penalty != 1:
        processors.append(made.RepetitionPenaltyLogitsProcessor(sampling.repetition_penalty))
    if sampling.do_sample and sampling.temperature != 1:
        processors.append(made.TemperatureLogitsWarper(sampling.temperature))
    if sampling.do_sample and sampling.top_k:
        processors.append(made.TopKLogitsWarper(sampling.top_k))
    if sampling.do_sample and sampling.top_p < 1:
        processors.append(made.TopPLogitsWarper(sampling.top_p))
    for processor in processors:
        scores = processor(ids, scores)
    return scores[0].numpy()


def random_logits(rng):
    logits = rng.standard_normal(rng.choice([1, 2, 5, 50, 1000])) * rng.choice([0.1, 1, 10])
    if rng.random() < 0.5:
        logits = np.round(logits * 2) / 2  # ties
    if rng.random() < 0.5:
        logits[rng.random(len(logits)) < 0.3] = -np.inf
    if not np.isfinite(logits).any():
        logits[0] = 0
    return logits.astype(np.float32)


@pytest.mark.parametrize("do_sample", [True, False])
def test_filters_are_those_of_transformers(do_sample):
    """Compares all bits. Which of several tied tokens top p keeps depends on the sort, so these may change places."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        logits = random_logits(rng)
        text = rng.integers(0, len(logits), rng.integers(1, 9)).tolist()
        sampling = Sampling(
            do_sample=do_sample,
            temperature=float(rng.choice([1, 0.7, 1.3, 0.01])),
            top_k=int(rng.choice([0, 1, 3, 40, 2000])),
            top_p=float(rng.choice([1, 0.99, 0.9, 0.5, 1e-6, 0])),
            repetition_penalty=float(rng.choice([1, 1.3, 0.8])),
        )
        before = logits.copy()
        got, want = sampling.filter(logits, text), filter_of_transformers(sampling, logits, text)
        assert np.array_equal(logits, before)
        assert np.array_equal(np.sort(got), np.sort(want)), sampling
        differing = got != want
        for values in (got, want):  # only tied tokens change places
            kept = values[differing][values[differing] > -np.inf]
            assert len(np.unique(kept)) <= 1, sampling


def test_the_most_probable_token_is_chosen():
    assert Sampling().choose(np.array([1, 3, 3, 2], np.float32), [0], 0.0) == 1
    assert Sampling(repetition_penalty=2.0).choose(np.array([1, 3, 2, -1], np.float32), [1, 3], 0.0) == 2
    assert Sampling(repetition_penalty=4.0).choose(np.array([-3, -1, -2, -9], np.float32), [1], 0.0) == 2


@pytest.mark.parametrize(
    ("number", "token"), [(0.0, 1), (0.249, 1), (0.25, 3), (0.99, 3), (math.nextafter(1, 0), 3)], ids=str
)
def test_a_number_selects_a_token_by_the_sums_of_probabilities(number, token):
    logits = np.array([-math.inf, math.log(1), -math.inf, math.log(3), -math.inf], np.float32)
    assert Sampling(do_sample=True).choose(logits, [0], number) == token


def test_a_number_that_equals_a_sum_selects_the_next_token():
    assert Sampling(do_sample=True).choose(np.zeros(4, np.float32), [0], 0.5) == 2


def test_tokens_without_probability_are_never_chosen():
    """The last token has a finite logit, but its probability is 0 after rounding."""
    logits = np.array([0, -200, -np.inf], np.float32)
    assert Sampling(do_sample=True).choose(logits, [0], math.nextafter(1, 0)) == 0


def chi_square(counts, probabilities):
    wanted = counts.sum() * probabilities
    return float(((counts - wanted) ** 2 / wanted).sum())


@pytest.mark.parametrize(
    "options", [{}, {"temperature": 0.5}, {"top_k": 6}, {"top_p": 0.8}, {"repetition_penalty": 1.5}], ids=str
)
def test_tokens_have_their_probabilities(options):
    """Draws for several prompts and steps. The bounds of chi square have probability 1e-4 or less."""
    logits = np.random.default_rng(1).standard_normal(10).astype(np.float32)
    sampling, text = Sampling(do_sample=True, **options), [3, 4]
    wanted = torch.from_numpy(filter_of_transformers(sampling, logits, text)).double().softmax(0).numpy()
    counts = np.zeros(10)
    for prompt in range(4):
        for step in range(2500):
            counts[sampling.choose(logits, text, random_number(17, prompt, step))] += 1
    assert not counts[wanted == 0].any()
    assert chi_square(counts[wanted > 0], wanted[wanted > 0]) < 34


def test_random_numbers_are_uniform_and_independent():
    numbers = np.array(
        [[[random_number(seed, prompt, step) for step in range(500)] for prompt in range(4)] for seed in range(4)]
    )
    assert numbers.min() >= 0 and numbers.max() < 1
    counts = np.histogram(numbers, 20, (0, 1))[0]
    assert chi_square(counts, np.full(20, 1 / 20)) < 52
    flat = numbers.reshape(16, -1)
    correlations = np.corrcoef(np.concatenate([flat, np.roll(flat, 1, axis=1)]))
    assert np.abs(correlations - np.eye(32)).max() < 0.2


def test_random_numbers_are_those_of_the_documentation():
    assert (
        random_number(7, 3, 11) == int(np.random.Philox(key=[7, 3], counter=[11, 0, 0, 0]).random_raw()) // 2048 / 2**53
    )
    assert random_number(2**64 - 1, 0, 0) != random_number(2**64 - 1, 1, 0)


@pytest.mark.parametrize(
    ("logits", "options", "match"),
    [
        ([1, math.nan], {}, "but the program computed NaN"),
        ([1, math.inf], {}, "but the program computed infinity"),
        ([-math.inf, -math.inf], {}, "but the program computed -inf for each token"),
        ([1, 3e38], {"do_sample": True, "temperature": 0.5}, "temperature=0.5 .* make logits infinity"),
        ([1, 2], {"do_sample": True, "temperature": 1e-60}, "make logits infinity: use numbers closer to 1"),
    ],
    ids=str,
)
def test_logits_that_are_no_numbers_are_errors(logits, options, match):
    with pytest.raises(inlay_runtime.Error, match=match):
        Sampling(**options).choose(np.array(logits, np.float32), [0], 0.5)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"do_sample": 1}, TypeError, "do_sample: expected a bool, but got 1"),
        ({"temperature": 0}, ValueError, "temperature: expected a number above 0, but got 0"),
        ({"temperature": -1.0}, ValueError, "temperature: expected a number above 0, but got -1"),
        ({"temperature": "hot"}, TypeError, "temperature: expected a number, but got 'hot'"),
        ({"temperature": math.nan}, ValueError, "temperature: expected a finite number, but got nan"),
        ({"temperature": 10**400}, ValueError, "temperature: expected a finite number"),
        ({"top_k": -1}, ValueError, "top_k: expected a number from 0 to"),
        ({"top_k": 2.0}, TypeError, "top_k: expected an int, but got 2.0"),
        ({"top_p": 1.1}, ValueError, "top_p: expected a number from 0 to 1, but got 1.1"),
        ({"repetition_penalty": 0.0}, ValueError, "repetition_penalty: expected a number above 0"),
    ],
    ids=str,
)
def test_wrong_options(options, error, match):
    with pytest.raises(error, match=match):
        Sampling(**options)
