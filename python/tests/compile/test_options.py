# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what Python declares for each option with the table in include/inlay/Support/Options.td."""

import dataclasses
import inspect
import json
import pathlib
import re
import typing

import inlay
import pytest
import torch
from inlay import _inlay
from inlay._compile.options import PYTHON_ONLY, STRATEGIES, Options
from inlay._compile.types import CompileOptions, Synonyms

RECORDS = json.loads(pathlib.Path(inlay.__file__).parents[1].joinpath("options.json").read_text())
TABLE = {name: RECORDS[name] for name in RECORDS["!instanceof"]["CompileOption"]}
KEYWORDS = {name: option for name, option in TABLE.items() if option["InPython"]}
SYNONYMS = {synonym for option in TABLE.values() for synonym in option["Synonyms"]}
SIGNATURE = inspect.signature(inlay.compile).parameters


def default_of(option):
    """Returns the default in Python of a record."""
    kind, text = option["Type"]["def"], option["PythonDefault"]
    if kind == "NamesType":
        return tuple(text.split(",")) if text else ()
    return json.loads(text) if kind in ("BoolType", "IntType") else text or None


def test_the_signature_has_every_option():
    declared = {name for name, one in SIGNATURE.items() if one.kind is inspect.Parameter.KEYWORD_ONLY}
    assert declared == set(KEYWORDS)


@pytest.mark.parametrize("name", KEYWORDS)
def test_defaults(name):
    default = default_of(KEYWORDS[name])
    assert SIGNATURE[name].default == default
    (field,) = [field for field in dataclasses.fields(Options) if field.name == name]
    assert field.default == default


def test_the_dataclass_has_every_option():
    assert {field.name for field in dataclasses.fields(Options)} == set(KEYWORDS)


def test_the_typed_dicts_have_every_option_and_synonym():
    hints = typing.get_type_hints(CompileOptions)
    assert set(hints) == set(KEYWORDS) | SYNONYMS
    assert set(typing.get_type_hints(Synonyms)) == SYNONYMS
    for name in KEYWORDS:
        assert CompileOptions.__annotations__[name].__forward_arg__ == SIGNATURE[name].annotation


@pytest.mark.parametrize("name", [*KEYWORDS, *sorted(SYNONYMS)])
def test_the_docstring_describes_every_option(name):
    assert re.search(rf"(?m)^{name}: |\b{name} is a\s+synonym", inspect.getdoc(inlay.compile))


def test_the_request_has_every_option_of_the_compiler():
    attributes = set(dir(_inlay.Request))
    in_compiler = {name for name, option in TABLE.items() if option["Path"]}
    assert in_compiler <= attributes
    assert set(KEYWORDS) - set(PYTHON_ONLY) <= in_compiler
    assert not set(PYTHON_ONLY) & in_compiler


def test_strategies():
    request = _inlay.Request()
    for name in STRATEGIES:
        request.strategy = name
        assert request.strategy == name
        assert name in TABLE["strategy"]["Text"]
    with pytest.raises(ValueError, match="unknown strategy 'level'"):
        request.strategy = "level"


@pytest.mark.parametrize("name", [name for name, option in KEYWORDS.items() if option["Minimum"] != "std::nullopt"])
def test_minimum(name):
    least = int(KEYWORDS[name]["Minimum"])
    assert getattr(Options.make({name: least}), name) == least
    with pytest.raises(inlay.ArgumentValueError, match=f"expected {name} to be at least {least}, but got {least - 1}"):
        Options.make({name: least - 1})


@pytest.mark.parametrize("synonym", sorted(SYNONYMS))
def test_synonyms(synonym):
    (name,) = [name for name, option in TABLE.items() if synonym in option["Synonyms"]]
    assert getattr(Options.make({synonym: ["aten::relu"]}), name) == ("aten::relu",)


class Small(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1


@pytest.mark.parametrize(
    "options, match",
    [
        ({"torch_executed_ops": ["aten::rleu"]}, "'aten::rleu' in torch_executed_ops matches no op"),
        ({"torch_executed_modules": ["layer"]}, "'layer' in torch_executed_modules matches no module"),
        ({"torch_executed_locations": ["rleu"]}, "'rleu' in torch_executed_locations matches no op's label"),
        ({"allow_ops": ["aten::relu@hots"]}, "'aten::relu@hots' in allow_ops to name an accelerator"),
        ({"exempt_ops": ["aten::rleu"]}, "'aten::rleu' in exempt_ops matches no op"),
        ({"arg_inputs": (1,)}, "give the example arguments as inputs"),
    ],
)
def test_errors_name_the_keyword(options, match):
    with pytest.raises(inlay.Error, match=match):
        inlay.partition(Small(), (torch.ones(3),), **options)


def test_reasons_name_the_keyword():
    report = inlay.partition(Small(), (torch.ones(3),), torch_executed_ops=["aten::relu"])
    assert "'aten::relu' is in torch_executed_ops" in str(report)
