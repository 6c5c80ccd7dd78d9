# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a type checker sees the types of everything that users can reach, and that the types are right."""

import ast
import dataclasses
import importlib
import inspect
import pathlib
import subprocess
import sys
import typing

import inlay
import inlay._inlay
import inlay_models
import pytest
import typing_extensions
from inlay import ops
from inlay._compile import types as aliases
from inlay._graph.builder import OpFunction

PACKAGE = pathlib.Path(inlay.__file__).parent
MAKE_STUB = pathlib.Path(__file__).resolve().parents[2] / "tools" / "make_ops_stub.py"
MODULES = [
    "inlay",
    "inlay.debug",
    "inlay.errors",
    "inlay.onnx",
    "inlay.ops",
    "inlay.quantization",
    "inlay.rewrite",
    "inlay._compile.driver",
    "inlay._compile.dynamo",
    "inlay._compile.options",
    "inlay._program.compiled",
    "inlay._program.report",
    "inlay_models",
]

# Names that only the type checker imports, because they are loaded later or would close a circle of imports.
LATE = {
    **{name: getattr(inlay._inlay, name) for name in ("Compilation", "Graph", "Op")},
    **{name: getattr(inlay.rewrite, name) for name in ("Layer", "Module", "OpFunction")},
    "Handle": inlay._inlay.Session,
    "Unpack": typing_extensions.Unpack,
}


def is_ours(thing):
    package = getattr(thing, "__module__", "").split(".")[0]
    return package in ("inlay", "inlay_models") and thing.__module__ != "inlay._inlay"


def public_names(module):
    """Returns the functions and classes in `__all__`, or else those that the module defines, by qualified name."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    found = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return {f"{module.__name__}.{name}": value for name, value in found.items() if callable(value) and is_ours(value)}


def functions_of(cls):
    """Yields (name, function) of the methods, properties and operators of a class and its bases in our packages."""
    for base in cls.__mro__:
        if not is_ours(base):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") and not name.startswith("__"):
                continue
            for part in (value.fget, value.fset) if isinstance(value, property) else (value,):
                function = inspect.unwrap(getattr(part, "__func__", part))
                # Skip the functions that dataclasses and enums generate.
                if inspect.isfunction(function) and pathlib.Path(function.__code__.co_filename).is_relative_to(
                    PACKAGE.parent
                ):
                    yield f"{base.__module__}.{base.__qualname__}.{name}", function


def hints_of(thing):
    return typing.get_type_hints(thing, localns={**LATE, **vars(sys.modules[thing.__module__])})


def missing_annotations(name, function):
    """Returns the parts of a function without annotation. Resolves the other annotations."""
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        del parameters[0]
    needed = [*(one.name for one in parameters), "return"]
    hints = hints_of(function)
    return [f"{name}: {one}" for one in needed if one not in hints]


def classes_in(hint):
    """Returns the classes of our packages that a type is made of."""
    if isinstance(hint, type) and not typing.get_args(hint):
        return {hint} if is_ours(hint) else set()
    return {found for part in typing.get_args(hint) for found in classes_in(part)}


def walk():
    """Yields (name, function) of everything that users can reach: public names, results and fields."""
    waiting = dict(item for name in MODULES for item in public_names(importlib.import_module(name)).items())
    seen = set()
    while waiting:
        name, thing = waiting.popitem()
        if thing in seen or not (inspect.isclass(thing) or inspect.isfunction(inspect.unwrap(thing))):
            continue
        seen.add(thing)
        reached = []
        for one, function in functions_of(thing) if inspect.isclass(thing) else [(name, inspect.unwrap(thing))]:
            yield one, function
            reached.append(hints_of(function).get("return"))
        if dataclasses.is_dataclass(thing):
            reached += [hints_of(thing)[field.name] for field in dataclasses.fields(thing)]
        waiting.update({f"{cls.__module__}.{cls.__qualname__}": cls for hint in reached for cls in classes_in(hint)})


REACHED = dict(walk())


def test_all_that_is_public_is_annotated():
    missing = [line for name, function in REACHED.items() for line in missing_annotations(name, function)]
    assert not missing, "\n".join(missing)


def test_the_walk_reaches_what_users_call():
    for name in (
        "inlay._compile.driver.compile",
        "inlay._compile.driver.partition",
        "inlay.debug.compare",
        "inlay_models.zoo.Example.__call__",
        "inlay._program.compiled.CompiledModule.load_state_dict",
        "inlay._program.figures.Profile.__init__",  # result of `profile`
        "inlay.ops.find",
        "inlay._program.report.Report.what_if",
        "inlay._graph.module.Tensor.shape",
        "inlay._rewrite.manager._Manager.explain",  # of a base class
        "inlay._rewrite.manager.RewritePatternManager.rewrite",
        "inlay._rewrite.signature.FLayerInfo.raw_inputs",
        "inlay._rewrite.conditions.Condition.dtype",  # type of `m.x` in `where`
    ):
        assert name in REACHED, f"{name} is not among\n{chr(10).join(sorted(REACHED))}"


def fields_without_elements(cls):
    bare = (list, dict, tuple, set)
    return [f"{cls.__qualname__}.{name}" for name, hint in hints_of(cls).items() if hint in bare]


def test_fields_say_what_is_in_them():
    classes = [
        inlay.debug.Comparison,
        inlay.debug.SegmentComparison,
        inlay_models.Example,
        inlay._compile.options.Options,
        inlay.rewrite.Explanation,
        inlay.rewrite.Match,
        inlay.rewrite.Statistics,
        ops.Argument,
        ops.Op,
    ]
    assert [line for cls in classes for line in fields_without_elements(cls)] == []


def test_options_passed_on_are_those_of_compile():
    hints, parameters = hints_of(inlay.compile), inspect.signature(inlay.compile).parameters.values()
    expected = {one.name: hints[one.name] for one in parameters if one.kind == one.KEYWORD_ONLY}
    assert hints_of(aliases.CompileOptions) == {**expected, **hints_of(aliases.Synonyms)}
    targets, strategies = ("vulkan", "host", "torch"), ("levels", "cost", "in-order", "torch-tensorrt")
    assert (targets, strategies) == (inlay._compile.options.TARGETS, inlay._compile.options.STRATEGIES)


# -- The stub of the extension ----------------------------------------------------------------------------------------


def members(name, names):
    return {f"{name}.{member}" for member in names if not member.startswith("_")}


def declared_names():
    """Returns the names of the stub: functions, constants, classes and members of classes."""
    names = set()
    for node in ast.parse((PACKAGE / "_inlay.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.bases:
            fields = [part.target.id for part in node.body if isinstance(part, ast.AnnAssign)]
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
            names |= {node.name, *members(node.name, fields + methods)}
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    return names


def test_stub_of_the_extension_has_what_the_extension_has():
    public = {name: value for name, value in vars(inlay._inlay).items() if not name.startswith("_")}
    names = {"__version__", *public}
    for name, value in public.items():
        names |= members(name, vars(value)) if inspect.isclass(value) else set()
    assert declared_names() == names | {"Graph.network"}  # inlay.Module sets this attribute


# -- The stub of inlay.ops --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    """Runs the stub that the build writes and returns its names. `overloads` has its methods by name."""
    path = tmp_path_factory.mktemp("stub") / "ops.pyi"
    subprocess.run([sys.executable, MAKE_STUB, PACKAGE / "_ops.json", ops.__file__, path], check=True)
    overloads = {}
    names = {"__name__": "inlay.ops_stub", "__package__": "inlay", "overloads": overloads}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typing, "overload", lambda one: overloads.setdefault(one.__qualname__, []).append(one))
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True), names)
    return names


def test_stub_has_what_the_module_has(stub):
    assert {*ops.table(), *ops.CALLS} == set(stub["__annotations__"]) - {"_Operand"}
    for name, thing in public_names(ops).items():
        theirs = stub[name.rpartition(".")[2]]
        assert inspect.signature(thing).parameters.keys() == inspect.signature(theirs).parameters.keys()
        assert thing.__doc__ == theirs.__doc__


@pytest.mark.parametrize("name", sorted(ops.table()))
def test_stub_signatures_are_what_calls_take(stub, name):
    """Calls with all arguments by name, all by position, and only the needed arguments are valid."""
    definition, cls = ops.table()[name], stub[f"_{name}"]
    assert issubclass(cls, OpFunction)
    ways = [inspect.signature(one) for one in stub["overloads"].get(f"_{name}.__call__", [cls.__call__])]
    arguments = [*definition.operands, *definition.attributes]
    needed = {one.name: 1 for one in arguments if not one.is_optional}

    def fits(*args, **kwargs):
        definition.bind(args, kwargs)  # raises an exception if the call would
        for way in ways:
            try:
                way.bind(None, *args, **kwargs)
            except TypeError:
                continue
            return True
        return False

    assert fits(**{one.name: 1 for one in arguments})
    assert fits(*(1 for _ in arguments))
    assert fits(**needed)
    for left_out in needed:
        kwargs = {key: 1 for key in needed if key != left_out}
        for way in ways:
            with pytest.raises(TypeError):
                way.bind(None, **kwargs)
