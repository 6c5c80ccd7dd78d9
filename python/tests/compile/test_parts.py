# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of models that torch.export can't capture as one graph, which are compiled in parts.

INLAY_FULL=1 runs more models of transformers, which take long.
"""

import copy
import os
import re

import inlay
import pytest
import torch
from conftest import compare
from torch import nn

TARGETS = ("host", "torch")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Branching(nn.Module):
    """A model with a branch on data, an attribute that counts, and a buffer."""

    def __init__(self):
        super().__init__()
        self.inner, self.calls = nn.Linear(4, 4), 0
        self.register_buffer("total", torch.zeros(4))

    def forward(self, a):
        self.calls += 1
        self.total += a.sum(0)
        a = self.inner(a)
        if a.sum() > 0:
            return a.relu() * self.calls + self.total
        return a.exp() - self.calls


class Packed(nn.Module):
    """A recurrent net of sequences with lengths."""

    def __init__(self):
        super().__init__()
        self.net = nn.GRU(3, 4, batch_first=True)

    def forward(self, a, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(a * 2, lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.net(packed)[0], batch_first=True)[0] + 1


class Detector(nn.Module):
    """A model that keeps boxes by their scores and pools each of them, as detectors do."""

    def __init__(self):
        super().__init__()
        self.score, self.head = nn.Linear(4, 1), nn.Linear(4, 2)

    def forward(self, boxes):
        scores = self.score(boxes).squeeze(1).sigmoid()
        kept = boxes[scores > scores.median()]
        return [self.head(box).softmax(-1) for box in kept] if len(kept) else []


def compile_here(model, *inputs, **options):
    with pytest.warns(UserWarning, match=r"can't .*; the model is compiled as \d+ graphs?, and Python runs"):
        return inlay.compile(model, inputs, **{"targets": TARGETS, **options})


def test_a_model_with_branches_and_state():
    torch.manual_seed(0)
    model = Branching().eval()
    other = copy.deepcopy(model)
    compiled = compile_here(model, torch.ones(2, 4))
    assert isinstance(compiled, inlay.CompiledModule)
    assert model.calls == 0 and not model.total.any()
    with torch.no_grad():
        for _ in range(4):
            a = torch.randn(2, 4)
            compare(compiled(a), other(a), 1e-5)
        compare(compiled(torch.ones(5, 4)), other(torch.ones(5, 4)), 1e-5)  # other sizes
    assert model.calls == 5
    compare(compiled.state_dict()["total"], other.total, 1e-5)


def test_only_the_warning_says_why_there_are_parts(capfd):
    class Item(nn.Module):
        def forward(self, a):
            return a * 2 if a.sum().item() > 0 else a - 1

    compile_here(Item(), torch.ones(3))
    assert capfd.readouterr() == ("", "")


def test_the_report_has_all_graphs(tmp_path):
    compiled = compile_here(Branching().eval(), torch.ones(2, 4))
    report = compiled.report
    assert len(report["graphs"]) == 2 and {op["graph"] for op in report["ops"]} == {0, 1}
    assert sum(report.ops_by_target().values()) == sum(
        sum(graph.ops_by_target().values()) for graph in report["graphs"]
    )
    total = report.ops_by_target()["host"]
    assert str(report).startswith(f"2 graphs: {total} ops in 2 segments ({total} on host)\ngraph 0: forward: ")
    assert "graph 1: forward" in str(report) and "graph 1\n" in report.text
    for suffix in ("json", "txt", "html"):
        report.save(tmp_path / f"report.{suffix}")
        assert "addmm" in (tmp_path / f"report.{suffix}").read_text()
    with pytest.raises(inlay.UnsupportedError, match=r"in parts .* can't be saved: Python runs the code between its 2"):
        compiled.save(tmp_path / "model.inlay")
    with pytest.raises(inlay.ArgumentValueError, match="requires grad"):
        compiled(torch.ones(2, 4, requires_grad=True))


@pytest.mark.parametrize(
    ("make", "inputs", "others"),
    [
        (Packed, (torch.ones(2, 5, 3), torch.tensor([3, 5])), (torch.randn(2, 5, 3), torch.tensor([2, 4]))),
        (Detector, (torch.rand(5, 4),), (torch.randn(7, 4),)),
    ],
    ids=["packed", "detector"],
)
def test_models_with_sizes_that_depend_on_data(make, inputs, others):
    torch.manual_seed(0)
    model = make().eval()
    compiled = compile_here(model, *inputs)
    with torch.no_grad():
        for arguments in (inputs, others):
            for got, want in zip(compiled(*arguments), model(*arguments), strict=True):
                compare(got, want, 1e-5)


def test_arguments_that_the_model_changes():
    class Counting(nn.Module):
        def forward(self, a, state):
            state["calls"] += 1
            return a * state["calls"]

    compiled, state = compile_here(Counting(), torch.ones(2), {"calls": 1}), {"calls": 1}
    assert [compiled(torch.ones(2), state).tolist() for _ in range(3)] == [[2, 2], [3, 3], [4, 4]]
    assert state == {"calls": 4}


@pytest.mark.parametrize(
    "options",
    [{"targets": ("host",)}, {"require_full_compilation": True}, {"dynamic_shapes": {"a": {0: torch.export.Dim("n")}}}],
    ids=lambda options: next(iter(options)),
)
def test_options_that_need_one_graph_make_it_an_error(options):
    where = re.escape(f"(in forward at {__file__}:")
    with pytest.raises(inlay.Error, match=f"data-dependent expression .*{where}"):
        inlay.compile(Choice(), (torch.ones(3),), **{"targets": ("host", "torch"), **options})


class Choice(nn.Module):
    def forward(self, a):
        return a * 2 if a.sum() > 0 else a - 1


def test_a_model_that_fails_in_pytorch_too():
    class Failing(nn.Module):
        def forward(self, a):
            return a * 2 if a.sum() > 0 else a @ torch.ones(5, 5)

    with pytest.raises(inlay.Error, match=r"torch.export can't export the model"):
        inlay.compile(Failing(), (-torch.ones(3, 3),), targets=TARGETS)


# name -> (model, config, inputs)
MODELS = {
    "SwitchTransformers": (
        "EncoderModel",
        {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2, "num_experts": 2},
        ["input_ids"],
    ),
    "Longformer": (
        "Model",
        {
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "attention_window": [4],
        },
        ["input_ids"],
    ),
    "LED": (
        "Model",
        {
            "d_model": 16,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "attention_window": 4,
        },
        ["input_ids", "decoder_input_ids"],
    ),
    "Encodec": (
        "Model",
        {"num_filters": 4, "hidden_size": 16, "codebook_dim": 16, "codebook_size": 32, "upsampling_ratios": [4, 2]},
        ["input_values"],
    ),
}


@pytest.mark.parametrize("name", list(MODELS) if os.environ.get("INLAY_FULL") else ["SwitchTransformers"])
def test_models_of_transformers(name):
    transformers = pytest.importorskip("transformers")
    kind, sizes, names = MODELS[name]
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(vocab_size=50, use_cache=False, **sizes)
    model = getattr(transformers, name + kind)(config).eval()
    inputs = {key: torch.randint(2, 50, (1, 8)) if "ids" in key else torch.randn(1, 1, 160) for key in names}
    with pytest.warns(UserWarning, match="and Python runs the code between"):
        compiled = inlay.compile(model, inputs, targets=TARGETS)
    with torch.no_grad():
        results = [torch.utils._pytree.tree_leaves(run(**inputs)) for run in (compiled, model)]
    for got, want in zip(*results, strict=True):
        compare(got, want, 1e-4)
