# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `inlay.quantization.smooth`: results, errors, layers that stay as they are, and bad arguments."""

import inlay
import pytest
import torch
from inlay.quantization import Recipe, smooth
from small_models import TOKENS, Tied, chain, check_program, kernels, relative, samples
from torch import nn

pytest.importorskip("torchao")


class Block(nn.Module):
    """Three linear layers behind a norm that makes outliers in two channels."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.norm, self.a, self.b, self.c = nn.LayerNorm(64), nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 32)
        with torch.no_grad():
            self.norm.weight[5], self.norm.weight[40] = 60, 30

    def forward(self, x):
        y = self.norm(x)
        return self.c(torch.relu(self.a(y)) * torch.sigmoid(self.b(y)))


def test_smoothing_keeps_results_and_makes_errors_smaller():
    model, data = Block().eval(), samples(16, 64)
    exact = model(*data[0])
    before = {
        recipe: inlay.quantize(model, recipe, data).report for recipe in (Recipe.INT8_DYNAMIC, Recipe.INT8_STATIC)
    }
    assert smooth(model, data) == 3
    torch.testing.assert_close(model(*data[0]), exact, rtol=0, atol=64 * 2**-23 * float(exact.detach().abs().max()))
    assert model.a.inverse is model.b.inverse
    assert model.a.inverse[5] < 0.2 * model.a.inverse.median()
    for recipe, report in before.items():
        quantized = inlay.quantize(model, recipe, data)
        assert quantized.report.error < 0.6 * report.error
        assert quantized.report.layers[0].error < 0.5 * report.layers[0].error
        assert kernels(check_program(quantized, data[0])).count("integer_product") >= 2


def test_the_strength_moves_outliers():
    data = samples(16, 64)
    ratios = []
    for strength in (0.0, 0.5, 1.0):
        model = Block().eval()
        assert smooth(model, data, strength=strength, selector="a") == 1
        inputs = torch.stack([model.norm(*inputs) for inputs in data]) * model.a.inverse
        largest = inputs.abs().flatten(0, -2).amax(0)
        ratios.append(float((largest.max() / largest.median()).detach()))
    assert ratios[0] > ratios[1] > ratios[2]
    assert ratios[2] == pytest.approx(1, rel=1e-5)


def test_channels_without_data_or_weights_keep_their_numbers():
    model, (x,) = nn.Sequential(nn.Linear(64, 64)).eval(), samples(8, 64)[0]
    x[:, 3] = 0
    with torch.no_grad():
        model[0].weight[:, 4] = 0
    exact = model(x)
    smooth(model, [(x,)])
    assert model[0].inverse[3] == model[0].inverse[4] == 1
    torch.testing.assert_close(model(x), exact)


def test_smoothing_overflows_no_weight():
    model = nn.Sequential(nn.Linear(2, 3, bias=False)).half().eval()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[4.0, 0.01], [2.0, 0.02], [1.0, 0.03]]))
    x = torch.tensor([[30000.0, 8.0]]).half()
    exact = model(x)
    assert smooth(model, [(x,)], strength=1) == 1  # 4 * 30000 is too large for float16, 0.03 * 8 is not
    assert model[0].inverse.tolist() == [1.0, 0.125] and torch.isfinite(model[0].linear.weight).all()
    torch.testing.assert_close(model(x), exact)


def test_smoothing_overflows_no_input():
    model = nn.Sequential(nn.Linear(4, 4, bias=False)).half().eval()
    with torch.no_grad():
        model[0].weight.fill_(1)
    x = torch.tensor([[50.0, 1, 1, 1]]).half()
    exact = model(x)
    # Data that is typical has nearly nothing in the first channel.
    assert smooth(model, [(torch.tensor([[1e-7, 64, 1, 1]]).half(),)]) == 1
    assert model[0].inverse.tolist() == [1.0, 0.125, 1.0, 1.0]
    torch.testing.assert_close(model(x), exact)


def test_models_may_read_a_smoothed_layer():
    torch.manual_seed(0)
    model = nn.Sequential(nn.TransformerEncoderLayer(64, 2, 128, batch_first=True)).eval()
    data = samples(4, 5, 64)
    with torch.no_grad():
        model[0].norm1.weight[5] = 60
        exact = model(*data[0])
    floats = model[0].linear1.weight.detach().clone()
    assert smooth(model, data) == 2
    layer = model[0].linear1
    torch.testing.assert_close(layer.weight, floats)
    assert (layer.in_features, layer.out_features) == (64, 128) and layer.bias is layer.linear.bias
    assert not torch.equal(layer.linear.weight, floats)
    with torch.no_grad():  # PyTorch's fused kernels read the weights.
        torch.testing.assert_close(model(*data[0]), exact)
    for recipe in (Recipe.INT8_WEIGHTS, Recipe.INT8_STATIC):
        narrow = inlay.quantize(model, recipe, data).model[0].linear1
        assert narrow.weight.dtype == torch.float32 and relative(narrow.weight, floats) < 0.02


def test_layers_with_hooks_are_not_smoothed():
    model, data = chain(64, 64, 64), samples(8, 64)
    model[0].register_forward_pre_hook(lambda module, args: (args[0].clamp(-1, 1),))
    exact = model(*data[0])
    assert smooth(model, data) == 1
    assert type(model[0]) is nn.Linear
    torch.testing.assert_close(model(*data[0]), exact)


def test_tied_layers_are_not_smoothed():
    model = Tied().eval()
    assert smooth(model, [TOKENS]) == 1
    assert model.head.weight is model.embed.weight


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((nn.ReLU().eval(), samples(8, 64)), "expected ReLU to contain linear layers"),
        (
            (nn.Sequential(nn.Dropout(), nn.Linear(64, 4)), samples(8, 64)),
            "evaluation mode, but 'Sequential' is in training",
        ),
        ((nn.Sequential(nn.Linear(64, 4)).eval(), []), "at least one call, but it is empty"),
        (
            (nn.Sequential(nn.Linear(64, 4)).eval(), [torch.full((1, 64), torch.nan)]),
            r"calibration\[0\]: expected finite .* '0'",
        ),
    ],
)
def test_bad_arguments_of_smooth(arguments, message):
    with pytest.raises(inlay.ArgumentValueError, match=message):
        smooth(*arguments)
    with pytest.raises(inlay.ArgumentValueError, match="strength to be a number from 0 to 1, but got 2"):
        smooth(*arguments, strength=2)
