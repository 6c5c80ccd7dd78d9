# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `inlay.quantize`: results, errors, reasons, bytes and bad arguments."""

import copy
import sys

import inlay
import pytest
import torch
from inlay.quantization import Form, QuantizedModel, Recipe, WideReason, smooth
from small_models import HOST, TOKENS, Tied, chain, check_program, kernels, relative, samples
from torch import nn

pytest.importorskip("torchao")

# -- Recipes ----------------------------------------------------------------------------------------------------------

# Recipe -> the largest error of the results, the type of the codes and the kernel of a product with several rows.
RECIPES = {
    Recipe.INT8_WEIGHTS: (0.01, "i8", "quantized_product"),
    Recipe.INT4_WEIGHTS: (0.15, "i4", "quantized_product"),
    Recipe.INT8_DYNAMIC: (0.02, "i8", "integer_product"),
    Recipe.INT8_STATIC: (0.02, "i8", "integer_product"),
}


@pytest.mark.parametrize("recipe", Recipe)
def test_linear_layers(recipe):
    limit, code, kernel = RECIPES[recipe]
    model, data = chain(128, 256, 64), samples(8, 128)
    before = copy.deepcopy(model.state_dict())
    quantized = inlay.quantize(model, recipe, data)
    report = quantized.report
    compiled = check_program(quantized, data[0])
    assert kernels(compiled).count(kernel) == 2
    exact = torch.stack([model(*inputs) for inputs in data])
    values = torch.stack([quantized.model(*inputs) for inputs in data])
    assert report.error == pytest.approx(relative(values, exact), rel=1e-6)
    assert 1e-4 < report.error < limit
    assert [layer.code for layer in report.layers] == [code, code]
    assert all(1e-4 < layer.error < limit and 1e-4 < layer.weight_error < limit for layer in report.layers)
    weights = compiled.report["summary"]["weights"]
    assert weights[code] >= (128 * 256 + 256 * 64) // (2 if code == "i4" else 1)
    assert report.bytes_after == pytest.approx(sum(weights.values()), rel=0.03)
    assert report.bytes_before == 4 * (128 * 256 + 256 * 64 + 256 + 64)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in before.items())


def test_the_errors_of_layers_are_those_for_their_inputs_in_the_float_model():
    model, data = chain(64, 64, 64), samples(8, 64)
    report = inlay.quantize(model, Recipe.INT4_WEIGHTS, data).report
    inner = [torch.relu(model[0](*inputs)) for inputs in data]
    second = nn.Sequential(model[2]).eval()
    alone = inlay.quantize(second, Recipe.INT4_WEIGHTS, inner).report
    assert report.layers[1].error == pytest.approx(alone.layers[0].error, rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("recipe", Recipe)
def test_short_floats(recipe, dtype):
    model = chain(128, 64).to(dtype)
    data = [(x.to(dtype),) for (x,) in samples(8, 128)]
    quantized = inlay.quantize(model, recipe, data)
    assert quantized.report.error < RECIPES[recipe][0]
    compiled = inlay.compile(quantized.model, data[0], targets=HOST)
    assert relative(compiled(*data[0]), quantized.model(*data[0])) < 0.01


def convolutions():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2),
        nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    ).eval()  # fmt: skip
    with torch.no_grad():
        model[1].running_mean.normal_()
        model[1].running_var.uniform_(0.5, 2)
    return model


def test_static_convolutions():
    model, data = convolutions(), samples(2, 3, 16, 16)
    quantized = inlay.quantize(model, Recipe.INT8_STATIC, data)
    assert quantized.report.error < 0.02
    assert quantized.report.notes == ["1 batch norms are folded into convolutions"]
    assert isinstance(quantized.model[1], nn.Identity)
    assert isinstance(model[1], nn.BatchNorm2d)
    compiled = check_program(quantized, data[0])
    assert kernels(compiled).count("integer_product") >= 2


def test_the_input_model_does_not_run():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(64, 64)
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            return self.fc(x)

    model = Counter().eval()
    inlay.quantize(model, Recipe.INT8_STATIC, samples(8, 64))
    assert model.calls == 0


def test_models_may_read_the_weight_of_a_static_layer():
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(64, 64)

        def forward(self, x):
            return self.fc(x.to(self.fc.weight.dtype))

    quantized = inlay.quantize(Reader().eval(), Recipe.INT8_STATIC, samples(8, 64))
    assert quantized.report.error < 0.02
    assert "integer_product" in kernels(check_program(quantized, samples(8, 64)[0]))


def test_static_scales_for_inputs_that_are_constant():
    model = nn.Sequential(nn.Linear(64, 64)).eval()
    for value in (0.0, 1.0, -3.0):
        assert inlay.quantize(model, Recipe.INT8_STATIC, [torch.full((4, 64), value)]).report.error < 0.01


@pytest.mark.parametrize("targets", [HOST, ("vulkan", *HOST)], ids="-".join)
def test_the_report_names_weights_that_are_widened_at_each_call(targets):
    model = nn.Sequential(nn.Conv2d(16, 16, 3, groups=16), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.Flatten()).eval()
    data = samples(2, 16, 12, 12)
    compiled = inlay.compile(inlay.quantize(model, Recipe.INT8_STATIC, data).model, data[0], targets=targets)
    widened = {each["weight"]: each["text"] for each in compiled.report["widened"]}
    assert widened.pop("0.codes") == "conv2d (inlay.conv) does not read codes"
    # On the host, the second convolution multiplies integers.
    assert list(widened) == ([] if targets == HOST else ["2.codes"])
    assert "widened at each call: '0.codes' of i8: conv2d (inlay.conv) does not read codes" in str(compiled.report)


def test_a_batch_norm_whose_input_has_another_user_stays():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv1d(16, 16, 3, padding=1), nn.BatchNorm1d(16)

        def forward(self, x):
            y = self.conv(x)
            return self.norm(y) + y

    torch.manual_seed(0)
    model, data = Both().eval(), samples(2, 16, 20)
    with torch.no_grad():
        model.norm.running_var.uniform_(0.5, 2)
    quantized = inlay.quantize(model, Recipe.INT8_STATIC, data)
    assert isinstance(quantized.model.norm, nn.BatchNorm1d)
    assert quantized.report.error < 0.02


@pytest.mark.parametrize("read", ["conv.weight", "conv.bias", "norm.weight", "norm.running_mean"])
def test_a_batch_norm_stays_if_the_model_reads_a_tensor_of_the_pair(read):
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv1d(16, 16, 3, padding=1), nn.BatchNorm1d(16)

        def forward(self, x):
            module, _, name = read.partition(".")
            return self.norm(self.conv(x)), getattr(getattr(self, module), name).abs().sum()

    torch.manual_seed(0)
    model, data = Reader().eval(), samples(2, 16, 20)
    with torch.no_grad():
        model.norm.running_var.uniform_(0.01, 0.05)
        model.norm.running_mean.uniform_(1, 2)
    quantized = inlay.quantize(model, Recipe.INT8_STATIC, data)
    assert isinstance(quantized.model.norm, nn.BatchNorm1d)
    assert quantized.report.error < 0.02


def test_static_scales_come_from_all_of_the_data():
    model = nn.Sequential(nn.Linear(64, 64)).eval()
    data = samples(8, 64)
    data.append((10 * data[0][0],))
    narrow = inlay.quantize(model, Recipe.INT8_STATIC, data[:-1])
    wide = inlay.quantize(model, Recipe.INT8_STATIC, data)
    exact = model(*data[-1])
    assert relative(wide.model(*data[-1]), exact) < 0.3 * relative(narrow.model(*data[-1]), exact)


def test_static_scales_are_in_the_state():
    data = samples(8, 64)
    first = inlay.quantize(chain(64, 64), Recipe.INT8_STATIC, data).model
    second = inlay.quantize(chain(64, 64), Recipe.INT8_STATIC, [(3 * x,) for (x,) in data]).model
    compiled = inlay.compile(first, data[0], targets=HOST)
    compiled.load_state_dict(second.state_dict())
    torch.testing.assert_close(compiled(*data[0]), second(*data[0]))


def test_a_model_that_is_a_layer():
    quantized = inlay.quantize(nn.Linear(64, 64).eval(), Recipe.INT8_DYNAMIC, example_inputs=samples(4, 64)[0])
    assert isinstance(quantized, QuantizedModel)
    assert quantized.report.layers[0].names == ("Linear",)
    assert quantized.report.error < 0.02


def test_without_data_only_weights_have_errors():
    report = inlay.quantize(chain(64, 64), Recipe.INT8_WEIGHTS).report
    assert report.error is None
    assert report.layers[0].error is None
    assert 1e-4 < report.layers[0].weight_error < 0.01


def test_blocks():
    model, data = chain(64, 64), samples(8, 64)
    errors = [
        inlay.quantize(model, Recipe.INT4_WEIGHTS, data, block_size=block).report.layers[0] for block in (8, 32, 64)
    ]
    assert [layer.block for layer in errors] == [8, 32, 64]
    assert errors[0].error < errors[1].error < errors[2].error
    assert errors[0].bytes_after > errors[1].bytes_after > errors[2].bytes_after


def test_rows_of_codes_end_at_a_byte():
    quantized = inlay.quantize(nn.Sequential(nn.Linear(9, 16)).eval(), Recipe.INT4_WEIGHTS, block_size=3)
    compiled = inlay.compile(quantized.model, (torch.ones(2, 9),), targets=HOST)
    assert compiled.report["summary"]["weights"]["i4"] == 16 * 5  # 9 codes have 4.5 bytes
    (layer,) = quantized.report.layers
    assert layer.bytes_after == 16 * 5 + 16 * 3 * (4 + 1)  # a scale and a zero point for each block


# -- Shared weights and modules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", Recipe)
def test_tied_weights_stay_one_tensor(recipe):
    quantized = inlay.quantize(Tied().eval(), recipe, [TOKENS])
    assert quantized.model.head.weight is quantized.model.embed.weight
    layer = quantized.report.layers[0]
    assert (layer.names, layer.form) == (("embed", "head"), Form.WEIGHTS)
    compiled = check_program(quantized, (TOKENS,))
    assert sum(compiled.report["summary"]["weights"].values()) < 200 * 64 + 64 * 64 + 3000


def test_a_module_at_two_places():
    layer = nn.Linear(64, 64)
    model = nn.Sequential(layer, nn.ReLU(), layer).eval()
    quantized = inlay.quantize(model, Recipe.INT8_STATIC, samples(8, 64))
    assert quantized.model[0] is quantized.model[2]
    assert len(quantized.report.layers) == 1
    check_program(quantized, samples(8, 64)[0])


def test_the_copy_shares_no_tensors():
    model, data = chain(64, 64, 7), samples(8, 64)
    quantized = inlay.quantize(model, Recipe.INT8_WEIGHTS, data, keep_wide=["2"])
    before = quantized.model(*data[0])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1)
    assert torch.equal(quantized.model(*data[0]), before)


# -- Layers that stay wide --------------------------------------------------------------------------------------------


def reasons(report):
    return {name: wide.reason for name, wide in report.wide.items()}


def test_layers_stay_wide_on_request():
    model = nn.Sequential(chain(64, 64, 64), chain(64, 64)).eval()
    quantized = inlay.quantize(model, Recipe.INT8_WEIGHTS, samples(8, 64), keep_wide=["0.2", "1.*"])
    assert reasons(quantized.report) == {"0.2": WideReason.REQUEST, "1.0": WideReason.REQUEST}
    assert type(quantized.model[0][2].weight.data) is torch.Tensor


def test_blocks_that_do_not_divide_stay_wide():
    report = inlay.quantize(chain(64, 40, 64), Recipe.INT4_WEIGHTS, samples(8, 64)).report
    assert reasons(report) == {"2": WideReason.BLOCK}
    assert "40 elements, which blocks of 32 do not divide" in str(report)


def test_classes_without_a_form_stay_wide():
    class Derived(nn.Linear):
        def forward(self, x):
            return super().forward(x) * 2

    model = nn.Sequential(nn.Conv1d(64, 64, 1), nn.Flatten(), nn.Linear(64, 64), Derived(64, 64)).eval()
    report = inlay.quantize(model, Recipe.INT8_DYNAMIC, samples(2, 64, 1)).report
    assert reasons(report) == {"0.weight": WideReason.CLASS, "3.weight": WideReason.CLASS}
    assert "int8-dynamic does not quantize Conv1d; int8-static does" in str(report)


def test_weights_that_a_wide_module_shares_stay_wide():
    class Reader(nn.Module):
        def __init__(self, weight):
            super().__init__()
            self.table = weight

        def forward(self, x):
            return x @ self.table

    first = nn.Linear(64, 64)
    model = nn.Sequential(first, Reader(first.weight), nn.Linear(64, 64)).eval()
    report = inlay.quantize(model, Recipe.INT8_WEIGHTS, samples(8, 64)).report
    assert set(reasons(report).values()) == {WideReason.SHARED}
    assert "'1.table' of Reader has the same tensor" in str(report)


def test_layers_without_data_stay_wide_if_they_need_scales():
    class Unused(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(64, 64), nn.Linear(64, 64)

        def forward(self, x):
            return self.used(x)

    report = inlay.quantize(Unused().eval(), Recipe.INT8_STATIC, samples(8, 64)).report
    assert reasons(report) == {"unused": WideReason.UNSEEN}


def test_weights_whose_codes_save_nothing_stay_wide():
    model = nn.Sequential(nn.Linear(1, 64), nn.Linear(64, 64)).eval()
    assert reasons(inlay.quantize(model, Recipe.INT8_WEIGHTS).report) == {"0": WideReason.SIZE}


def test_weights_whose_floats_overflow_stay_wide():
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64)).half().eval()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([-60000.0, 60000.0]).repeat(32))
    report = inlay.quantize(model, Recipe.INT4_WEIGHTS).report
    assert reasons(report) == {"0": WideReason.RANGE}
    assert "the floats of its codes are not finite in float16" in str(report)


def test_weights_that_stay_wide_on_request_may_be_infinite():
    model = chain(64, 64, 64)
    with torch.no_grad():
        model[2].weight[0, 0] = torch.inf
    assert reasons(inlay.quantize(model, Recipe.INT8_WEIGHTS, keep_wide=["2"]).report) == {"2": WideReason.REQUEST}


# -- Budgets ----------------------------------------------------------------------------------------------------------


def outlier():
    """Returns layers of which the second one has a column that makes the scales of its blocks large."""
    model = chain(64, 64, 64, 64)
    with torch.no_grad():
        model[2].weight[:, ::32] *= 30
        model[0].weight[::32] /= 30
        model[0].bias[::32] /= 30
    return model


def test_a_budget_keeps_the_layers_wide_that_make_the_error():
    model, data = outlier(), samples(32, 64)
    free = inlay.quantize(model, Recipe.INT4_WEIGHTS, data)
    assert not free.report.wide
    budget = free.report.error / 3
    quantized = inlay.quantize(model, Recipe.INT4_WEIGHTS, data, budget=budget)
    assert reasons(quantized.report) == {"2": WideReason.BUDGET}
    assert quantized.report.error <= budget
    exact = torch.stack([model(*inputs) for inputs in data])
    values = torch.stack([quantized.model(*inputs) for inputs in data])
    assert relative(values, exact) == pytest.approx(quantized.report.error, rel=1e-6)
    effects = [layer.effect for layer in quantized.report.layers]
    assert effects[1] == max(effects)
    check_program(quantized, data[0])


def test_a_budget_that_is_met_keeps_nothing_wide():
    report = inlay.quantize(chain(64, 64), Recipe.INT8_WEIGHTS, samples(8, 64), budget=0.1).report
    assert not report.wide
    assert "(budget: 0.1)" in str(report)


def test_a_budget_that_only_a_layer_that_saves_little_meets():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.big, self.middle, self.small = nn.Linear(512, 512), nn.Linear(512, 8), nn.Linear(512, 8)

        def forward(self, x):
            return torch.cat([self.big(x), self.middle(x), self.small(x)], -1)

    model, data = Both().eval(), samples(8, 512)
    free = inlay.quantize(model, Recipe.INT4_WEIGHTS, data, keep_wide=["big"]).report
    budget = 1.01 * free.error
    report = inlay.quantize(model, Recipe.INT4_WEIGHTS, data, budget=budget).report
    assert reasons(report) == {"big": WideReason.BUDGET}
    assert 0 < report.error <= budget


def test_a_budget_that_no_choice_meets_is_an_error():
    with pytest.raises(inlay.ArgumentValueError, match=r"no choice of layers meets the budget of 1e-09: the .* '0'"):
        inlay.quantize(chain(64, 64), Recipe.INT8_WEIGHTS, samples(8, 64), budget=1e-9)


# -- Calibration ------------------------------------------------------------------------------------------------------


class Stateful(nn.Module):
    """A layer behind a running sum, which calls change, in a buffer, a list and a number."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(64, 64)
        self.register_buffer("total", torch.zeros(64))
        self.seen, self.count = [], 0

    def forward(self, x):
        self.total.add_(x.sum(0))
        self.seen.append(1)
        self.count += 1
        x.mul_(len(self.seen) + self.count)  # changes the input too
        return self.layer(x + self.total)


def test_calibration_changes_neither_the_model_nor_the_inputs():
    model, data = Stateful().eval(), samples(8, 64)
    kept = copy.deepcopy(data)
    quantized = inlay.quantize(model, Recipe.INT8_DYNAMIC, data, budget=0.5)
    for made in (model, quantized.model):
        assert not made.total.any() and not made.seen and made.count == 0
    # Each call begins with the state of the model.
    calls = [(copy.deepcopy(model)(*copy.deepcopy(x)), copy.deepcopy(quantized.model)(*copy.deepcopy(x))) for x in data]
    exact, values = (torch.stack(results) for results in zip(*calls, strict=True))
    assert quantized.report.error == pytest.approx(relative(values, exact), rel=1e-6)
    smooth(model, data)
    assert not model.total.any() and not model.seen and model.count == 0
    torch.testing.assert_close(data, kept, rtol=0, atol=0)


def test_errors_are_those_without_fused_kernels_of_pytorch():
    torch.manual_seed(0)
    model = nn.Sequential(nn.TransformerEncoderLayer(64, 2, 128, batch_first=True)).eval()
    data = samples(4, 5, 64, count=1)
    quantized = inlay.quantize(model, Recipe.INT8_STATIC, data)
    assert torch.backends.mha.get_fastpath_enabled()
    # PyTorch has no fused kernel for tensors that require gradients.
    assert quantized.report.error == pytest.approx(relative(quantized.model(*data[0]), model(*data[0])), rel=1e-3)


# -- Bad arguments ----------------------------------------------------------------------------------------------------

DATA = samples(8, 64)
KIND, VALUE = inlay.ArgumentTypeError, inlay.ArgumentValueError
BAD = {
    "recipe": ({"recipe": "int8"}, KIND, r"expected recipe to be one of Recipe.INT8_WEIGHTS.*'int8'"),
    "model": ({"model": "model.onnx"}, KIND, "expected a torch.nn.Module with floats, but got str"),
    "training": ({"model": chain(64, 64).train()}, VALUE, r"'Sequential' is in training; call model"),
    "no-data": ({"calibration": []}, VALUE, "at least one call, but it is empty"),
    "no-calibration": ({"recipe": Recipe.INT8_STATIC}, VALUE, "for the recipe int8-static: a list"),
    "no-budget-data": ({"budget": 0.1}, VALUE, "expected calibration for a budget"),
    "tensor": ({"calibration": torch.ones(2, 64)}, KIND, "to be a list with the inputs of each call"),
    "item": ({"calibration": [3]}, KIND, r"expected calibration\[0\] to be a tensor, a tuple.*int"),
    "inputs": ({"calibration": [torch.ones(3)]}, VALUE, r"does not run with .* calibration\[0\]"),
    "budget": ({"budget": 0, "calibration": DATA}, VALUE, "to be a positive number .* but got 0"),
    "budget-type": ({"budget": "x"}, KIND, "expected budget to be a number, but got str"),
    "block": ({"block_size": 1}, VALUE, "expected block_size to be at least 2, but got 1"),
    "block-type": ({"block_size": 8.0}, KIND, "expected block_size to be an int, but got float"),
    "no-blocks": (
        {"block_size": 32, "recipe": Recipe.INT8_DYNAMIC}, VALUE, "no block_size for int8-dynamic"
    ),
    "names": ({"keep_wide": ["o"]}, VALUE, "no layer of the model fits 'o' of keep_wide"),
    "no-names": ({"keep_wide": None}, KIND, "expected keep_wide to be a sequence of names, but got NoneType"),
    "number": ({"keep_wide": 5}, KIND, "expected keep_wide to be a sequence of names, but got int"),
    "one-name": ({"keep_wide": "0"}, KIND, "a sequence of names, but got the string '0'"),
    "all-wide": ({"keep_wide": ["0"]}, VALUE, "no layer that int8-weights can quantize: '0': keep_wide"),
    "no-layer": ({"model": nn.ReLU().eval()}, VALUE, "no layer that int8-weights .* no weights with"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name):
    changes, kind, message = BAD[name]
    arguments = {"model": chain(64, 64), "recipe": Recipe.INT8_WEIGHTS, **changes}
    with pytest.raises(kind, match=message):
        inlay.quantize(arguments.pop("model"), arguments.pop("recipe"), **arguments)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_weights_that_are_not_finite_are_named(value):
    model = chain(64, 64, 64)
    with torch.no_grad():
        model[2].weight[3, 5] = value
    with pytest.raises(inlay.ArgumentValueError, match=rf"in weight of '2', but got {value} at \[3, 5\]"):
        inlay.quantize(model, Recipe.INT8_WEIGHTS)


def test_inputs_that_are_not_finite_are_named():
    data = [*samples(8, 64, count=1), (torch.full((8, 64), torch.nan),)]
    with pytest.raises(inlay.ArgumentValueError, match=r"calibration\[1\]: expected finite .* input of '0'"):
        inlay.quantize(chain(64, 64), Recipe.INT8_STATIC, data)


def test_quantized_models_are_refused():
    quantized = inlay.quantize(chain(64, 64), Recipe.INT8_WEIGHTS)
    with pytest.raises(inlay.ArgumentTypeError, match="is the model quantized already"):
        inlay.quantize(quantized.model, Recipe.INT8_WEIGHTS)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchao.quantization", None)
    with pytest.raises(inlay.Error, match="pip install torchao"):
        inlay.quantize(chain(64, 64), Recipe.INT8_WEIGHTS)
