# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the options of runs and of the files that they write. A wrong option is an error and changes nothing."""

import json
import math

import inlay
import pytest
from inlay.errors import ArgumentTypeError, ArgumentValueError
from inlay.rewrite import (
    AnalysisPatternManager,
    PatternRewriter,
    RewritePatternManager,
    constant,
    net_guard,
    op,
    pattern,
)
from rewriting import chain, drawn, kinds, network, rewritten


def rename(old="t.a", new="t.b"):
    return pattern("p")(lambda op, x: op(old, x)).to(lambda op, x: op(new, x))


def manage(**patterns):
    manager = RewritePatternManager()
    for label, one in patterns.items():
        manager.add(label, one)
    return manager


# -- The trace --------------------------------------------------------------------------------------------------------


def test_a_trace_that_can_t_be_written_is_refused_first(tmp_path):
    module = chain("t.a")
    for trace, error in (
        (tmp_path / "none" / "x.json", FileNotFoundError),
        (tmp_path, IsADirectoryError),
        (5, ArgumentTypeError),
        (b"x.json", ArgumentTypeError),
    ):
        with pytest.raises(error):
            manage(p=rename()).rewrite(module, trace=trace)
    assert kinds(module) == ["t.a"]


def test_a_run_that_fails_leaves_files_as_they_were(tmp_path):
    kept, new = tmp_path / "kept.json", tmp_path / "new.json"
    kept.write_text("kept")
    endless = manage(there=rename(), back=rename("t.b", "t.a"))
    for file in (kept, new):
        with pytest.raises(inlay.RewriteError, match="rewriting doesn't end"):
            endless.rewrite(chain("t.a"), trace=file)
    assert kept.read_text() == "kept" and not new.exists()
    manage(there=rename()).rewrite(chain("t.a"), trace=str(kept))
    assert [one["label"] for one in json.loads(kept.read_text())] == ["there"]


# -- Options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"check": "yes"}, ArgumentTypeError, "expected check to be True or False, but got 'yes'"),
        ({"across_segments": "q"}, ArgumentTypeError, "expected across_segments to be True or False, but got 'q'"),
        ({"remove_dead_code": "no"}, ArgumentTypeError, "expected remove_dead_code to be True or False, but got 'no'"),
        ({"limit": 10**30}, ArgumentValueError, "expected limit to be an integer of 64 bits, but got 1000"),
        ({"limit": 1.5}, ArgumentValueError, "expected limit to be an integer from 0, but got 1.5"),
        ({"budget": None}, ArgumentValueError, "expected budget to be a number from 0, but got None"),
        ({"budget": math.nan}, ArgumentValueError, "expected budget to be a number from 0, but got nan"),
        ({"budget": -1}, ArgumentValueError, "expected budget to be a number from 0, but got -1"),
    ],
)
def test_options_of_a_run(options, error, message):
    module = chain("t.a")
    with pytest.raises(error) as raised:
        manage(p=rename()).rewrite(module, **options)
    assert message in str(raised.value)
    assert kinds(module) == ["t.a"]


def test_budgets_are_numbers():
    assert manage(p=rename()).rewrite(chain("t.a"), budget=math.inf) == 1
    assert manage(p=rename()).rewrite(chain("t.a"), budget=0) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda manager, layer: manager.add("q", rename(), check="yes"), "expected check to be True or False"),
        (lambda manager, layer: manager.enable(3), "expected glob to be a string, but got 3"),
        (lambda manager, layer: manager.disable(None), "expected glob to be a string, but got None"),
        (lambda manager, layer: manager.add_pdl(rename().pdl, prefix=3), "expected prefix to be a string, but got 3"),
        (lambda manager, layer: manager.explain("p", layer.network, at=3), "expected at to be a string, but got 3"),
        (
            lambda manager, layer: PatternRewriter("q", separate_match_rewrite="no"),
            "expected separate_match_rewrite of pattern 'q' to be True or False, but got 'no'",
        ),
        (
            lambda manager, layer: layer.set_attribute("", 3),
            "expected the name of an attribute of 't.a' to be a non-empty string, but got ''",
        ),
        (lambda manager, layer: layer.set_attribute(3, 3), "of an attribute of 't.a' to be a string, but got 3"),
        (lambda manager, layer: setattr(layer, "name", 3), "expected the name of a layer 't.a' to be a string, but"),
        (lambda manager, layer: layer.mark_as_removed("q"), "expected with_regions to be True or False, but got 'q'"),
        (lambda manager, layer: layer.network.get_layer_by_name(3), "the name of a layer to be a string, but got 3"),
        (lambda manager, layer: layer.network.to_onnx(None), "expected a folder, but got None"),
        (lambda manager, layer: manager.check("p", args=["b"]), "expected args to be a dict, but got list"),
        (lambda manager, layer: constant("a", layer.get_inputs()[0]), "expected a number for a constant, but got 'a'"),
        (lambda manager, layer: layer.get_inputs()[0] + 10**400, "expected a number for a constant, but got 1000"),
        (lambda manager, layer: op("t.c", results=[("f32", 4)]), "expected a shape of integers, but got 4"),
        (lambda manager, layer: op(3, *layer.get_inputs()), "expected the name of an op to be a string, but got 3"),
        (
            lambda manager, layer: op("t.c", *layer.get_inputs(), results=[], **{"": 1}),
            "expected names of attributes for 't.c', but got an empty one",
        ),
    ],
)
def test_wrong_arguments(call, message):
    module, manager = chain("t.a"), manage(p=rename())
    before = str(module)
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as raised:
        call(manager, module.get_layers()[0])
    assert message in str(raised.value)
    assert str(module) == before and manager.labels == ["p"]


# -- Iteration over matches -------------------------------------------------------------------------------------------


def test_layers_that_are_removed_meanwhile_are_not_looked_at():
    manager, module, found = AnalysisPatternManager(), chain("t.a", "t.a", "t.a"), []
    manager.add("p", rename())
    manager.add("q", rename())
    for match in manager.find(module):
        found.append((match.label, match.layers[0]))
        with net_guard(module):
            for user in match.layers[0].get_outputs(0)[0].get_users():
                if user.op == "t.a":
                    user.replace_with(match.layers[0].get_outputs(0)[0])
    assert found == [(label, module.get_layers()[0]) for label in ("p", "q")]
    assert kinds(module) == ["t.a"]
    found = []
    for match in manager.find(module):
        found.append(match.label)
        with net_guard(module):
            match.layers[0].replace_with(*match.layers[0].get_inputs())
    assert found == ["p"] and kinds(module) == []


# -- Ops that are not in the table ------------------------------------------------------------------------------------


def test_plugins_are_called_as_ops_are():
    module = network(lambda x: inlay.ops.plugin(x, name="my::kernel", results=[x]), x="4xf32")
    assert drawn(module) == ["%1 = plugin(x) {name=my::kernel}", "return %1"]
    assert module.get_layers()[0].op == inlay.ops.plugin == op.plugin
    find = pattern("p")(lambda op, x: op.plugin(x, name="my::kernel")).to(lambda op, x: op.relu(x))
    assert rewritten(module, find) == 1 and kinds(module) == ["relu"]
    with pytest.raises(ValueError, match="unknown op 'plugn'; did you mean 'plugin'"):
        _ = inlay.ops.plugn
    assert PatternRewriter("p", {inlay.ops.plugin}).root_layer == (["inlay.plugin"], [])
