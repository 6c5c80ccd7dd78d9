# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that the metadata of a saved model is checked and never executed."""

import json
import sys

import inlay
import pytest
import torch
from inlay._program.metadata import saving
from inlay._program.metadata.restoring import restore
from torch import nn
from torch.utils import _pytree as pytree


def structure(value):
    return pytree.treespec_dumps(pytree.tree_flatten(value)[1])


def node(kind, context, *children):
    return {"type": kind, "context": context, "children_spec": children}


LEAF, EVIL = node(None, None), "inlay_test_evil"
FLOATS = {"dtype": "float32", "dims": [4]}
ARGUMENT, RESULT = {"name": "x"} | FLOATS, {"kind": "result", "index": 0, "copied": False, "value": None}
METADATA = {"python": 1, "symbols": [{"name": "n", "min": 1, "max": 8}], "inputs": [ARGUMENT], "outputs": [RESULT]}
METADATA |= {
    "results": [FLOATS],
    "carried": [],
    "writes": [],
    "conditions": [],
    "argument_names": ["x"],
    "defaults": {},
}
METADATA |= {"in_spec": structure(((0,), {})), "out_spec": structure(0)}


SIZE = {"kind": "size", "index": 0, "copied": False, "value": {"size": {"symbol": 0}}}
VALUE = {"kind": "value", "index": 0, "copied": False, "value": 3}


def sized(tree):
    return {"results": [{"dtype": "float32", "dims": [tree]}]}


def spec(*tree):
    return {"out_spec": json.dumps([1, node(*tree)])}


def test_malformed_metadata_is_refused():
    restore(json.dumps(METADATA), {}.get)
    known = {"state/b": bytes(4)}
    carried = {"name": "b", "key": "state/b", "dtype": "float32"}
    symbol = METADATA["symbols"][0]
    for change, text in [
        ({"python": 2}, "expected metadata of version 1, but got 2"),
        ({"symbols": 3}, "'symbols': TypeError"),
        ({"symbols": [symbol | {"min": "a"}]}, "'symbols': .*expected a range of sizes for 'n', but got 'a' to 8"),
        ({"symbols": [symbol | {"min": 9}]}, "'symbols': .*expected a range of sizes for 'n', but got 9 to 8"),
        ({"inputs": [ARGUMENT | {"dtype": "save"}]}, "'inputs': .*expected a dtype of PyTorch, but got 'save'"),
        ({"inputs": [ARGUMENT | {"dims": [-1]}]}, "'inputs': .*expected a dim of 0 or more, but got -1"),
        ({"inputs": [{"name": "x", "value": [1]}]}, "'inputs': .*expected a plain value"),
        ({"inputs": []}, "'in_spec': .*expected 0 leaves for the inputs, but got 1"),
        ({"outputs": []}, "'out_spec': .*expected 0 leaves for the outputs, but got 1"),
        ({"outputs": [RESULT | {"index": 7}]}, "'outputs': .*expected the number of one of 1 results, but got 7"),
        ({"outputs": [RESULT | {"index": -1}]}, "'outputs': .*expected the number of one of 1 results, but got -1"),
        ({"outputs": [RESULT | {"index": True}]}, "'outputs': .*expected the number of one of 1 results, but got True"),
        ({"outputs": [RESULT | {"kind": "input", "index": 1}]}, "'outputs': .*number of one of 1 inputs, but got 1"),
        ({"outputs": [RESULT | {"kind": "other"}]}, "'outputs': .*expected a kind of output .*, but got 'other'"),
        ({"outputs": [RESULT | {"kind": "kept"}]}, "'outputs': .*expected a kind of output"),
        ({"outputs": [RESULT | {"kind": "size"}]}, "'outputs': .*expected a size"),
        ({"outputs": [RESULT | {"kind": "buffer", "value": "b"}]}, "'outputs': .*name of a buffer, but got 'b'"),
        ({"writes": [["b", RESULT]]}, "'writes': .*name of a buffer to write, but got 'b'"),
        ({"writes": [[-1, RESULT]]}, "'writes': .*expected the number of one of 1 inputs, but got -1"),
        (sized({"Pow": [10, 1000000]}), "'results': .*expected a power of a size"),
        ({"writes": [[0, SIZE]]}, "'writes': .*expected a tensor to write to 0, but got a size"),
        ({"writes": [[0, VALUE]]}, "'writes': .*expected a tensor to write to 0, but got a value"),
        (
            {"writes": [[0, RESULT]], "results": [{"dtype": "float32", "dims": [5]}]},
            r"'writes': .*expected float32\[4\] to write to 0, but got float32\[5\]",
        ),
        (
            {"writes": [[0, RESULT]], "results": [{"dtype": "int8", "dims": [4]}]},
            r"'writes': .*expected float32\[4\] to write to 0, but got int8\[4\]",
        ),
        (spec("collections.deque", str(10**20), LEAF), "'out_spec': .*expected the length of a collections.deque to"),
        (sized({"exec": [1]}), "'results': KeyError: 'exec'"),
        (sized({"symbol": 4}), "'results': .*expected the number of one of 1 symbols, but got 4"),
        (sized({"symbol": -1}), "'results': .*expected the number of one of 1 symbols, but got -1"),
        (sized({"FloorDiv": [1, 0]}), "'results': ZeroDivisionError"),
        (sized(True), "'results': .*expected a size to be a number, but got True"),
        ({"conditions": [{"Eq": [{"Mod": [{"symbol": 0}, 0]}, 0]}]}, "'conditions': ZeroDivisionError"),
        ({"conditions": [{"symbol": 0}]}, "'conditions': .*expected a condition"),
        ({"carried": [{**carried, "key": "state/c", "dims": [1]}]}, "'carried': .*'state/c' is missing"),
        ({"carried": [{**carried, "dims": [-4]}]}, "'carried': .*expected a dim of 0 or more, but got -4"),
        ({"carried": [{**carried, "dims": [1 << 50]}]}, "'carried': .*expected 4503599627370496 bytes .*, but got 4"),
        ({"argument_names": [1]}, "'argument_names': .*expected a str, but got 1"),
        ({"defaults": {"y": [1]}}, "'defaults': .*expected a plain value for 'y'"),
        ({"in_spec": None}, "'in_spec': "),
        ({"in_spec": "[]"}, "'in_spec': "),
        ({"in_spec": structure([(0,), {}])}, "'in_spec': .*expected a tuple of positional arguments and a dict"),
        (spec("builtins.tuple", "[1]", LEAF), r"'out_spec': .*expected no context of a builtins.tuple"),
        (spec("builtins.dict", "[[1]]", LEAF), "'out_spec': .*expected the keys of a builtins.dict to be different"),
        (spec("builtins.dict", '["a", "b"]', LEAF), "'out_spec': .*expected 1 keys of a builtins.dict, but got 2"),
        (spec("collections.namedtuple", "builtins.tuple", LEAF), "'out_spec': .*a registered named tuple of 1 fields"),
        (spec("torch.nn.Linear", "[]", LEAF), "'out_spec': .*registered named tuples .* got 'torch.nn.Linear'"),
        (spec("collections.deque", "0", LEAF), "'out_spec': .*expected the length of a collections.deque to be"),
    ]:
        with pytest.raises(inlay.ArgumentValueError, match=f"malformed metadata: {text}|^expected metadata"):
            restore(json.dumps(METADATA | change), known.get)
    for key in METADATA:
        with pytest.raises(inlay.ArgumentValueError, match=f"malformed metadata: .*'{key}'"):
            restore(json.dumps({other: value for other, value in METADATA.items() if other != key}), {}.get)
    for text in ("", "[]", "3", "[" * 100000):
        with pytest.raises(inlay.ArgumentValueError, match="malformed metadata"):
            restore(text, {}.get)


def nested(operator, depth, *more):
    tree = {"symbol": 0}
    for _ in range(depth):
        tree = {operator: [tree, *more]}
    return tree


SUM = {"Add": [{"symbol": 0}, 1]}
LARGE = {
    "powers": nested("Pow", 8, 16),
    "powers of sums": {"Pow": [{"Pow": [SUM, 8]}, 8]},
    "products of sums": {"Mul": [{"Add": [{"symbol": number}, 1]} for number in (0, 1)] * 8},
    "powers of quotients": nested("Pow", 1, 16) | {"Pow": [{"FloorDiv": [nested("Pow", 3, 16), 3]}, 16]},
    "text": {"Pow": [{"FloorDiv": [{"Pow": [{"FloorDiv": [{"Pow": [{"Mod": [SUM, 7]}, 16]}, 3]}, 16]}, 5]}, 16]},
    "maxima": {"Max": [{"Add": [{"symbol": 0}, number]} for number in range(1000)]},
    "numbers": {"Mul": [{"symbol": 0}, 10**30]},
    "exponents": {"Pow": [{"symbol": 0}, {"symbol": 1}]},
}


@pytest.mark.parametrize("kind", LARGE)
def test_large_expressions_are_refused_before_they_are_expanded(kind):
    symbols = [{"name": name, "min": 1, "max": 8} for name in "nm"]
    for change in (sized(LARGE[kind]), {"conditions": [{"Eq": [LARGE[kind], 3]}]}):
        with pytest.raises(inlay.ArgumentValueError, match=r"malformed metadata: .*expected"):
            restore(json.dumps(METADATA | {"symbols": symbols} | change), {}.get)


def test_expressions_below_the_limits_are_read():
    symbols = [{"name": name, "min": 1, "max": 8} for name in "nmk"]
    product = {"Mul": [{"Add": [{"symbol": number}, 1]} for number in (0, 1, 2)]}
    for tree in (nested("Pow", 1, 16), {"Pow": [SUM, 5]}, {"FloorDiv": [product, 4]}, {"Max": [product, 4]}):
        restored = restore(json.dumps(METADATA | {"symbols": symbols} | sized(tree)), {}.get)
        assert restored.program.interface.results[0].shape[0].evaluate([1, 2, 3]) > 0


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Makes a module, and returns a function that returns true if the module was imported."""
    (tmp_path / f"{EVIL}.py").write_text("import enum\nf = list\nclass E(enum.Enum):\n    a = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda: EVIL in sys.modules
    sys.modules.pop(EVIL, None)


HOSTILE = {
    "defaultdict": node(
        "collections.defaultdict",
        {"default_factory_module": EVIL, "default_factory_name": "f", "dict_context": ["a"]},
        LEAF,
    ),
    "dict": node("builtins.dict", json.dumps([{"__enum__": True, "fqn": f"{EVIL}:E", "name": "a"}]), LEAF),
    "tuple": node("builtins.tuple", json.dumps({"__enum__": True, "fqn": f"{EVIL}:E", "name": "a"}), LEAF),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("key", ["in_spec", "out_spec"])
def test_a_file_imports_nothing(tmp_path, monkeypatch, evil, kind, key):
    bad = HOSTILE[kind]
    if key == "in_spec":
        bad = node("builtins.tuple", "null", node("builtins.tuple", "null", bad), node("builtins.dict", "[]"))
    compiled = inlay.compile(nn.ReLU(), (torch.ones(3),), targets=("host",))
    forge(monkeypatch, {key: json.dumps([1, bad])})
    compiled.save(tmp_path / "m.inlay")
    with pytest.raises(inlay.ArgumentValueError, match=f"m.inlay': malformed metadata: '{key}': .*expected "):
        inlay.load(tmp_path / "m.inlay")
    assert not evil()


def forge(monkeypatch, change):
    """Replaces the metadata that `save` writes."""

    def describe(*given):
        text, tensors = saving.describe(*given)
        return json.dumps(json.loads(text) | change), tensors

    monkeypatch.setattr(inlay._program.compiled, "describe", describe)


def test_metadata_of_another_program_is_refused(tmp_path, monkeypatch):
    compiled = inlay.compile(nn.ReLU(), (torch.ones(3),), targets=("host",))
    forge(monkeypatch, {"inputs": [], "in_spec": structure(((), {}))})
    compiled.save(tmp_path / "m.inlay")
    with pytest.raises(inlay.ArgumentValueError, match="'inputs': expected 1 of the program, but got 0"):
        inlay.load(tmp_path / "m.inlay")


@pytest.mark.parametrize(
    "text", ["", "3", "[]", '{"a": 1}', '{"ops": 3, "segments": []}', '{"ops": [3], "segments": []}']
)
def test_malformed_reports_are_refused(text):
    with pytest.raises(inlay.ArgumentValueError, match="malformed report: "):
        inlay._compile.driver._saved_report(text)


def test_inputs_of_one_name_go_by_place():
    both = {"inputs": [ARGUMENT, ARGUMENT, ARGUMENT | {"name": "y"}], "argument_names": ["x", "x", "y"]}
    signature = restore(json.dumps(METADATA | both | {"in_spec": structure(((0, 0, 0), {}))}), {}.get).signature
    a, b, c = torch.zeros(4), torch.ones(4), torch.full((4,), 2.0)
    for args, kwargs in [((a, b, c), {}), ((a, b), {"y": c})]:
        assert all(one is other for one, other in zip(signature.flatten(args, kwargs), (a, b, c), strict=True))
    for args, kwargs in [((), {"x": a, "y": c}), ((a,), {"y": c}), ((a, c), {"x": b}), ((a, b, c), {"x": a})]:
        with pytest.raises(inlay.ArgumentTypeError, match="argument 'x' is ambiguous because places 1 and 2 have"):
            signature.flatten(args, kwargs)
    with pytest.raises(inlay.ArgumentTypeError, match=r"missing argument 'y' \(place 3\)"):
        signature.flatten((a, b), {})
