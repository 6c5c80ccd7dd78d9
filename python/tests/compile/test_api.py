# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests without the compiler: options, arguments of calls, reports, calls as text, the table of ops, errors."""

import json

import inlay
import pytest
import torch
from inlay import ops
from inlay._compile.model import convention_of
from inlay._compile.options import Options
from inlay._dialect.calls import run_call
from inlay._dialect.text import quote, scalar_literal
from inlay._import.torch.encoding import encode_call
from inlay._import.torch.export import export_program
from inlay._import.torch.program import import_program
from inlay._program.signature import Signature
from torch import nn

aten = torch.ops.aten


# -- Options ----------------------------------------------------------------------------------------------------------


def test_options_are_normalized():
    options = Options.make(
        {
            "targets": ["host"],
            "forced_fallback_ops": [aten.relu, aten.add.Tensor, "aten::mul"],
            "torch_executed_modules": [nn.ReLU, "layer*"],
        }
    )
    assert options.targets == ("host",)
    assert options.torch_executed_ops == ("aten.relu", "aten.add.Tensor", "aten::mul")
    assert options.torch_executed_modules == ("torch.nn.modules.activation.ReLU", "layer*")
    assert Options.make({"torch_executed_ops": "aten::relu"}).torch_executed_ops == ("aten::relu",)


@pytest.mark.parametrize(
    "options, error, match",
    [
        ({"min_blocksize": 3}, TypeError, "unknown option 'min_blocksize'; did you mean 'min_block_size'"),
        ({"forced_fallback_op": 3}, TypeError, "did you mean 'forced_fallback_ops'"),
        ({"arg_inputs": ()}, TypeError, "unknown option 'arg_inputs': give the example arguments as inputs"),
        ({"zzz": 3}, TypeError, "unknown option 'zzz'$"),
        ({"min_block_size": 0}, ValueError, "min_block_size to be at least 1, but got 0"),
        ({"min_block_size": 2**63}, ValueError, "at most 9223372036854775807, but got 9223372036854775808"),
        ({"min_block_size": 1.5}, TypeError, "min_block_size to be an int, but got 1.5"),
        ({"max_loop_iterations": 0}, ValueError, "max_loop_iterations to be at least 1, but got 0"),
        ({"max_loop_iterations": True}, TypeError, "max_loop_iterations to be an int, but got True"),
        ({"enabled": 1}, TypeError, "enabled to be a bool"),
        ({"targets": ["vulcan"]}, ValueError, "unknown target 'vulcan'; did you mean 'vulkan'"),
        ({"targets": []}, ValueError, "at least one target"),
        ({"targets": ["host", "host"]}, ValueError, "'host' 2 times"),
        ({"targets": 3}, TypeError, "expected a list of names"),
        ({"torch_executed_ops": [3]}, TypeError, "the name of an op"),
        ({"torch_executed_modules": [nn.ReLU()]}, TypeError, "the path, class name or class of a module"),
        ({"torch_executed_ops": ["a"], "forced_fallback_ops": ["b"]}, TypeError, "synonym"),
        ({"require_full_compilation": True, "torch_executed_ops": ["a"]}, ValueError, "can't be on one target"),
        ({"enabled": False, "torch_executed_modules": ["a"]}, ValueError, "can't be on one target"),
        ({"enabled": False, "torch_executed_locations": ["a"]}, ValueError, "torch_executed_locations forces"),
        ({"torch_executed_locations": [3]}, TypeError, "the label of an op"),
        ({"torch_executed_location": "a"}, TypeError, "did you mean 'torch_executed_locations'"),
        ({"allow_ops": [3]}, TypeError, "the name of an op"),
        ({"exempt_ops": [nn.ReLU]}, TypeError, "the name of an op"),
        ({"placement": 3}, TypeError, "expected placement to be a path"),
        ({"save_placement": ""}, TypeError, "expected save_placement to be a path"),
        ({"placement": "a.json", "min_block_size": 2}, ValueError, "of every op: leave out min_block_size"),
        ({"placement": "a.json", "strategy": "cost"}, ValueError, "of every op: leave out strategy"),
        ({"placement": "a.json", "exempt_ops": "aten::relu"}, ValueError, "of every op: leave out exempt_ops"),
        ({3: 1}, TypeError, "unknown option 3"),
        ("min_block_size=2", TypeError, "expected options to be a dict, but got 'min_block_size=2'"),
        ([2], TypeError, "expected options to be a dict"),
        ({"cache": "folder"}, NotImplementedError, "cache is not supported yet"),
    ],
)
def test_wrong_options_are_refused(options, error, match):
    with pytest.raises(error, match=match) as info:
        Options.make(options)
    assert isinstance(info.value, inlay.Error)


def test_compile_checks_options_before_anything_else():
    with pytest.raises(TypeError, match="did you mean 'targets'"):
        inlay.compile(None, None, target=["host"])


@pytest.mark.parametrize(
    "model, inputs, match",
    [
        (None, None, "expected a torch.nn.Module, a torch.export.ExportedProgram or an ONNX model, but got NoneType"),
        (nn.ReLU, (torch.ones(1),), "but got the class ReLU"),
        (nn.ReLU(), None, "missing inputs"),
        (nn.ReLU(), 3, "expected inputs to be a tuple, a list, a dict or a tensor, but got int"),
    ],
)
def test_wrong_models_are_refused(model, inputs, match):
    with pytest.raises(TypeError, match=match):
        inlay.compile(model, inputs)


def test_an_exported_program_is_not_exported_again():
    exported = export_program(nn.ReLU(), torch.ones(2))
    with pytest.raises(ValueError, match=r"expected no dynamic_shapes for a torch\.export\.ExportedProgram"):
        export_program(exported, None, dynamic_shapes={})


# -- Arguments of calls -----------------------------------------------------------------------------------------------


class Model(nn.Module):
    def forward(self, image, extra, *, scale, steps=2):
        return image * extra["a"] + scale * steps


@pytest.fixture(scope="module")
def signature():
    exported = export_model()
    return Signature(import_program(exported).interface, convention_of(exported))


def export_model():
    args = (torch.ones(2, 3), {"a": torch.ones(3)})
    return torch.export.export(Model(), args, {"scale": torch.ones((), dtype=torch.float64), "steps": 2}, strict=False)


A, B, C = torch.ones(2, 3), {"a": torch.ones(3)}, torch.ones((), dtype=torch.float64)


def test_arguments_by_place_and_by_name(signature):
    calls = [((A, B), {"scale": C, "steps": 2}), ((A,), {"steps": 2, "scale": C, "extra": B}), ((A, B, C, 2), {})]
    for args, kwargs in calls:
        leaves = signature.flatten(args, kwargs)
        assert leaves[0] is A and leaves[1] is B["a"] and leaves[2] is C and leaves[3] == 2


def test_arguments_are_shared_where_they_can_be(signature):
    strided = torch.ones(3, 2).t()
    ready = signature.check([A.requires_grad_(), B["a"], C, 2])
    assert ready[0].data_ptr() == A.data_ptr() and not ready[0].requires_grad and ready[3] is None
    assert signature.check([strided, B["a"], C, 2])[0].is_contiguous()


@pytest.mark.parametrize(
    "args, kwargs, error, match",
    [
        ((A,), {"scale": C, "steps": 2}, TypeError, r"missing argument 'extra' \(place 2\)"),
        ((A, B), {"steps": 2}, TypeError, r"missing argument 'scale' \(place 3\): expected float64$"),
        ((A, B), {"scale": C, "step": 2}, TypeError, "unknown argument 'step'; did you mean 'steps'"),
        ((A, B), {"scale": C, "steps": 2, "image": A}, TypeError, "'image' was given twice"),
        ((A, B, C, 2, 5), {}, TypeError, r"expected 4 arguments \(image, extra, scale, steps\), but got 5"),
        ((A, {"b": B["a"]}), {"scale": C, "steps": 2}, TypeError, "nested like"),
        ((A, B, C, 3), {}, ValueError, r"argument 'steps' \(place 4\) is fixed at 2 since export, but got 3"),
        ((A.double(), B, C, 2), {}, TypeError, r"'image' \(place 1\): expected dtype float32\[2x3\], but got float64"),
        ((A[0], B, C, 2), {}, ValueError, r"expected rank 2, float32\[2x3\], but got rank 1, float32\[3\]"),
        ((A[:, :2], B, C, 2), {}, ValueError, r"but got float32\[2x2\]: dim 1 differs"),
        ((A[:, :0], B, C, 2), {}, ValueError, r"but got float32\[2x0\]: dim 1 differs"),
        ((A.to("meta"), B, C, 2), {}, ValueError, "on the CPU, but got device meta"),
        ((A.to_sparse(), B, C, 2), {}, TypeError, "dense"),
        (([[1.0]], B, C, 2), {}, TypeError, "nested like"),
        ((1.0, B, C, 2), {}, TypeError, r"expected a tensor float32\[2x3\], but got float"),
        ((A.numpy() if not A.requires_grad else A.detach().numpy(), B, C, 2), {}, TypeError, "but got ndarray"),
    ],
)
def test_wrong_arguments_are_refused(signature, args, kwargs, error, match):
    with pytest.raises(error, match=match) as info:
        signature.check(signature.flatten(args, kwargs))
    assert isinstance(info.value, inlay.Error)


# -- Reports ----------------------------------------------------------------------------------------------------------

REPORT = {
    "version": 1,
    "function": "forward",
    "segments": [
        {"id": 0, "target": "vulkan", "ops": ["conv", "add"], "bytes_in": 64, "bytes_out": 3 << 20},
        {"id": 1, "target": "host", "ops": ["relu", "relu_1", "relu_2", "relu_3", "relu_4"], "bytes_in": 0,
         "bytes_out": None},
    ],
    "ops": [
        {"label": "conv", "target": "vulkan", "segment": 0, "reason": {"code": "supported", "text": ""}},
        {"label": "add", "target": "vulkan", "segment": 0, "reason": {"code": "supported", "text": ""}},
        *({"label": f"relu_{i}", "target": "host", "segment": 1, "reason": {"code": "fallback-op", "text": "asked"}}
          for i in range(5)),
        {"label": "weight", "target": "host", "segment": None, "reason": None},
    ],
    "summary": {},
}  # fmt: skip


def test_a_report_reads_as_a_dict_and_as_a_table():
    report = inlay.Report.parse(json.dumps(REPORT))
    assert report["version"] == 1 and report.ops_by_target() == {"vulkan": 2, "host": 5}
    assert report.border_bytes() == (64, 3 << 20)
    text = str(report)
    assert "forward: 7 ops in 2 segments (2 on vulkan, 5 on host)" in text
    assert "3.0 MiB" in text and "relu_0, relu_1, relu_2, relu_3, relu_4: host (fallback-op) asked" in text
    assert inlay.Report.parse(json.dumps([{}, REPORT])) == report


def test_a_report_read_from_json_has_no_other_form(tmp_path):
    report = inlay.Report.parse(json.dumps(REPORT))
    report.save(tmp_path / "report.json")
    assert inlay.Report.parse((tmp_path / "report.json").read_text()) == report
    for ask in (lambda: report.text, lambda: report.html, lambda: report.what_if, lambda: report._repr_html_()):
        with pytest.raises(inlay.ArgumentValueError, match="a report that was read from JSON has no other forms"):
            ask()
    with pytest.raises(
        inlay.ArgumentValueError, match=r"expected a .json, .txt or .html file .*, but got 'report.pdf'"
    ):
        report.save("report.pdf")


def test_a_report_is_made_in_the_form_that_is_asked_for(tmp_path):
    asked = []

    def render(form, what_if=False, sweep=False):
        asked.append((form, what_if, sweep))
        return (
            json.dumps({"what_if": {"kinds": []}, "min_block_sizes": [1]}) if form == "json" else f'<{form}> & "more"'
        )

    report = inlay.Report.parse(json.dumps(REPORT), render)
    assert report.text == '<text> & "more"' and report.what_if == {"kinds": []} and report.sweep == [1]
    assert report.what_if == {"kinds": []} and report == REPORT  # computed once, and the report is unchanged
    report.save(tmp_path / "page.HTML", what_if=True)
    assert (tmp_path / "page.HTML").read_text() == '<html> & "more"'
    assert 'srcdoc="&lt;html&gt; &amp; &quot;more&quot;"' in report._repr_html_()
    expected = [("text", False, False), ("json", True, False), ("json", False, True), ("html", True, False)]
    assert asked == [*expected, ("html", False, False)]


# -- Calls as text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "op, args, kwargs",
    [
        (aten.where.ScalarSelf, (torch.tensor([True, False]), float("-inf"), torch.ones(2)), {}),
        (aten.index.Tensor, (torch.eye(3), [None, torch.tensor([2, 0])]), {}),
        (aten.to.dtype, (torch.ones(2), torch.bfloat16), {}),
        (aten.full.default, ([2, 3], float("nan")), {"dtype": torch.float64, "device": torch.device("cpu")}),
        (aten.clone.default, (torch.ones(1, 2, 3, 3),), {"memory_format": torch.channels_last}),
        (aten.zeros.default, ([2],), {"layout": torch.strided, "pin_memory": None}),
        (aten.upsample_nearest2d.vec, (torch.ones(1, 1, 2, 2), None, [2.0, 2.0]), {}),
        (aten.gelu.default, (torch.ones(2),), {"approximate": "tanh"}),
    ],
    ids=lambda value: str(value) if isinstance(value, torch._ops.OpOverload) else "",
)
def test_calls_survive_as_text(op, args, kwargs):
    operands = []

    def operand(value):
        if not isinstance(value, torch.Tensor):
            return None
        operands.append(value)
        return {"operand": len(operands) - 1}

    text = encode_call(op, args, kwargs, operand)
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    expected = op(*args, **kwargs)
    output = torch.empty_like(expected)
    run_call(text, operands, [output])
    assert torch.equal(output.nan_to_num(7), expected.nan_to_num(7))


def test_a_call_with_another_result_than_compiled_for_is_refused():
    text = encode_call(aten.relu.default, (0,), {}, lambda value: {"operand": 0})
    with pytest.raises(inlay.Error, match=r"expected result 0 to be float32\[3\], but got float32\[2\]"):
        run_call(text, [torch.ones(2)], [torch.ones(3)])
    with pytest.raises(inlay.Error, match="expected 2 tensor results, but got 1"):
        run_call(text, [torch.ones(2)], [torch.ones(2), torch.ones(2)])
    with pytest.raises(inlay.Error, match="no operator nowhere::lost"):
        run_call(text.replace("aten::relu", "nowhere::lost"), [], [])


def test_only_the_wanted_results_are_taken():
    text = encode_call(aten.max.dim, (0, 1), {}, lambda value: {"operand": 0} if value == 0 else None, used=[1])
    output = torch.empty(2, dtype=torch.int64)
    run_call(text, [torch.tensor([[1.0, 3.0], [5.0, 2.0]])], [output])
    assert output.tolist() == [1, 0]


# -- The table of ops, text -------------------------------------------------------------------------------------------


def test_the_table_knows_ops_by_their_framework_names():
    assert ops.find("add.Tensor").name == "add"
    assert ops.find("relu.default").name == "relu"
    assert ops.find("no_such_op") is None


def test_ops_print_in_the_dialects_assembly_format():
    conv = ops.table()["conv"]
    attributes = {"stride": (1, 2), "padding": [0, 0], "dilation": [1, 1], "groups": 1}
    text = conv.print({"input": "%0", "weight": "%1", "bias": None}, attributes, ["t0", "t1"], "t2")
    assert text == "inlay.conv %0, %1 stride [1, 2] padding [0, 0] dilation [1, 1] groups 1 : (t0, t1) -> t2"
    text = conv.print({"input": "%0", "weight": "%1", "bias": "%2"}, attributes, ["t0", "t1", "t2"], "t3")
    assert text.startswith("inlay.conv %0, %1, %2 stride")
    amax = ops.table()["amax"]
    assert "keepdim" in amax.print({"input": "%0"}, {"dims": [1], "keepdim": True}, ["t"], "t")
    assert "keepdim" not in amax.print({"input": "%0"}, {"dims": [1], "keepdim": False}, ["t"], "t")


@pytest.mark.parametrize(
    "value, dtype, text",
    [
        (1e-05, torch.float64, "1.0e-05"),
        (0.1, torch.float32, "0.10000000149011612"),
        (3, torch.float32, "3.0"),
        (1e20, torch.float32, "1.0000000200408773e+20"),
        (float("-inf"), torch.float32, "0xFF800000"),
        (float("inf"), torch.float16, "0x7C00"),
        (1e10, torch.float16, "0x7C00"),
        (float("nan"), torch.bfloat16, "0x7FC0"),
        (float("inf"), torch.float64, "0x7FF0000000000000"),
        (-7, torch.int8, "-7"),
        (1, torch.bool, "true"),
    ],
)
def test_literals(value, dtype, text):
    assert scalar_literal(value, dtype) == text


def test_strings_are_escaped():
    assert quote('a"b\\c\né') == '"a\\22b\\5Cc\\0A\\C3\\A9"'
