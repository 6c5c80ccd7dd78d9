# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of rewritten PyTorch models: replaced modules, and rewritten graphs."""

import inlay
import pytest
import torch
from inlay.rewrite import RewritePatternManager, Tensor, net_guard, op, pattern
from rewriting import ReplaceAddWithSub, kinds, linear
from torch import nn


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, *, shift):
        return {"y": x + torch.relu(self.fc(x)), "shifted": x - shift}


def test_a_rewritten_model_is_called_as_the_model():
    model = Residual().eval()
    x, shift = torch.randn(4, 8), torch.randn(8)
    exported = torch.export.export(model, (x,), {"shift": shift})
    module = inlay.import_module(exported)
    assert "dense_resource" in str(module)
    manager = RewritePatternManager()
    manager.add("add_to_sub", ReplaceAddWithSub())
    assert manager.rewrite(module) == 1
    compiled = inlay.compile(module, targets=("host",))
    with torch.no_grad():
        got, want = compiled(x, shift=shift), x - torch.relu(model.fc(x))
    torch.testing.assert_close(got["y"], want)
    torch.testing.assert_close(got["shifted"], x - shift)
    assert "sub" in str(inlay.partition(module, targets=("host",)).text)
    torch.testing.assert_close(inlay.compile(module.clone())(x, shift=shift)["y"], want)


def test_a_model_with_other_inputs_is_called_by_its_function():
    module = inlay.import_module(nn.Linear(8, 8).eval(), (torch.randn(4, 8),))
    with net_guard(module):
        scale = Tensor("scale", torch.float32, (8,))
        op.mul(module.get_outputs()[0], scale).mark_output()
    x, scale = torch.randn(4, 8), torch.randn(8)
    y, scaled = inlay.compile(module, targets=("host",))(x, scale)
    torch.testing.assert_close(scaled, y * scale)


def test_a_module_says_what_its_inputs_are():
    with pytest.raises(TypeError, match=r"an inlay.Module determines its inputs"):
        inlay.compile(linear(), (torch.ones(1),))
    dynamic = inlay.parse("func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }")
    with pytest.raises(inlay.UnsupportedError, match=r"expected known sizes of input 'arg0'"):
        inlay.compile(dynamic)


class LinearReLU(nn.Module):
    """A product with its activation."""

    def __init__(self, linear):
        super().__init__()
        self.linear = linear

    def forward(self, x):
        return torch.relu(self.linear(x))


def make_model():
    return nn.Sequential(
        nn.Sequential(nn.Linear(8, 8), nn.ReLU()), nn.Sequential(nn.Linear(8, 4), nn.ReLU()), nn.Linear(4, 2)
    ).eval()


def fuse(module):
    return LinearReLU(module[0])


def is_linear_relu(module):
    return isinstance(module, nn.Sequential) and [type(one) for one in module] == [nn.Linear, nn.ReLU]


def test_modules_are_replaced_by_what_computes_the_same():
    model, x = make_model(), torch.randn(3, 8)
    want = model(x)
    assert inlay.replace_modules(model, is_linear_relu, fuse) == 2
    assert [type(one) for one in model] == [LinearReLU, LinearReLU, nn.Linear]
    assert not model[0].training
    torch.testing.assert_close(model(x), want)


@pytest.mark.parametrize(
    ("selector", "count"),
    [
        (nn.Linear, 3),
        ("Linear", 3),
        ("torch.nn.*.Linear", 3),
        ("0.*", 2),
        ("2", 1),
        (lambda module: isinstance(module, nn.ReLU), 2),
        (lambda module, path: path.startswith("1."), 2),
        (nn.Conv2d, 0),
    ],
)
def test_selectors(selector, count):
    assert inlay.replace_modules(make_model(), selector, lambda module: nn.Identity()) == count


def test_the_function_may_keep_a_module_and_gets_its_path():
    model, paths = make_model(), []
    assert inlay.replace_modules(model, nn.Linear, lambda module, path: paths.append(path)) == 0
    assert paths == ["0.0", "1.0", "2"]


def test_a_replacement_is_left_as_it_is_and_shared_modules_stay_shared():
    shared = nn.Linear(4, 4)
    model = nn.ModuleDict({"a": nn.Sequential(shared), "b": shared})
    assert inlay.replace_modules(model, nn.Linear, lambda module: nn.Sequential(module)) == 1
    assert model["b"] is model["a"][0] and model["b"][0] is shared


def test_what_can_not_be_replaced():
    with pytest.raises(ValueError, match=r"no module of the model fits 'Linar'; did you mean 'Linear'"):
        inlay.replace_modules(make_model(), "Linar", fuse)
    with pytest.raises(TypeError, match=r"expected a torch.nn.Module in place of '0.0', but got 3"):
        inlay.replace_modules(make_model(), nn.Linear, lambda module: 3)
    with pytest.raises(TypeError, match=r"expected a class of modules, but got int"):
        inlay.replace_modules(make_model(), int, fuse)
    with pytest.raises(TypeError, match=r"expected a class, a glob or a predicate"):
        inlay.replace_modules(make_model(), 3, fuse)
    with pytest.raises(TypeError, match=r"expected a torch.nn.Module, but got int"):
        inlay.replace_modules(3, nn.Linear, fuse)
    with pytest.raises(TypeError, match=r"expected a function that makes a module, but got 3"):
        inlay.replace_modules(make_model(), nn.Linear, 3)


def test_both_ways_come_to_the_same():
    x = torch.randn(3, 8)
    model = make_model()
    module = inlay.import_module(model, (x,))

    fused = pattern("p")(lambda op, x, w, b: op.relu(op.linear(x, w, b)))
    fused.to(lambda op, x, w, b: op("t.linear_relu", x, w, b))
    manager = RewritePatternManager()
    manager.add("p", fused)
    assert manager.rewrite(module) == inlay.replace_modules(model, is_linear_relu, fuse) == 2
    assert kinds(module).count("t.linear_relu") == 2


def test_modules_may_name_their_weights_alike():
    text = """func.func @f() -> tensor<2xf32> {
  %0 = inlay.constant dense_resource<"a \\"b\\""> : tensor<2xf32>
  %1 = inlay.constant dense_resource<w> : tensor<2xf32>
  %2 = inlay.constant dense_resource<w_1> : tensor<2xf32>
  %3 = inlay.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}"""
    first, second = inlay.parse(text), inlay.parse(text)
    third = inlay.parse(text.replace("<w_1>", "<w>"))
    assert str(first) == str(second) and "<w_1>" in str(second) and '<"a \\22b\\22">' in str(second)
    assert "w_1" not in str(third)
