# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the import of calls that write (made functional) and of calls without handler (decomposed)."""

import pytest
import torch
from inlay._import.torch.functional import functional_copy
from inlay._import.torch.program import import_program
from torch import nn


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def export(function, *args):
    return torch.export.export(Function(function), args, strict=False)


def targets(graph):
    return [str(node.target).partition(".")[2] for node in graph.nodes if node.op == "call_function"]


def twice(x):
    y = x * 2
    z = y.relu_()
    z.add_(1.0)
    return y + z  # both equal the last written value


def read_between(x):
    y = x * 2
    before = y + 1
    y.relu_()
    return before, y


def write_argument(x):
    return x.add_(1.0)


def write_view(x):
    y = x * 2
    y[0].add_(1.0)
    return y


def write_viewed(x):
    y = x * 2
    view = y.view(-1)
    y.relu_()
    return view


def write_through_dropout(x):
    y = x * 2
    same = torch.dropout(y, 0.5, False)
    same.add_(1.0)
    return y


def write_other_dtype(x):
    y = (x * 2).half()
    return y.add_(torch.ones(3))


@pytest.mark.parametrize("function", [twice, read_between, write_through_dropout])
def test_writes_to_memory_of_their_own_are_renamed(function, imports):
    x = torch.tensor([[-1.0, 2.0, 3.0]])
    copy = functional_copy(export(function, x).graph)
    assert copy is not None and not any(name.endswith("_") for name in targets(copy.graph))
    imports(Function(function), x)


@pytest.mark.parametrize("function", [write_argument, write_view, write_viewed, write_other_dtype])
def test_other_writes_are_left_to_pytorch(function):
    x = torch.tensor([[-1.0, 2.0, 3.0]])
    assert functional_copy(export(function, x).graph) is None


@pytest.mark.parametrize("function", [write_view, write_viewed, write_other_dtype, lambda x: (x * 2).lt_(0.5) + 1])
def test_left_writes_are_imported_right(function, imports):
    imports(Function(function), torch.tensor([[-1.0, 2.0, 3.0]]), tolerance=1e-3)


def write_slices(x):
    x[1:, 1] = 5.0
    read = x[0] * 2
    x[0, :2].add_(x[1, 1:])
    return read, x[:, 1:] + 1


def write_all(x):
    x.mul_(2.0)
    before = x + 1
    x.detach().copy_(before * x)
    return before


def write_a_view_twice(x):
    view = x[1]
    view.add_(1.0)
    view.mul_(3.0)
    return view.exp()


def read_a_slice_after_a_write_beside_it(x):
    beside = x[1]
    x[0] = 1.0
    return beside.exp()


def read_a_list_of_slices_after_a_write(x):
    first, second = x.split(1)
    x[0] = 1.0
    return first + second


def write_a_comparison(x):
    return x.lt_(0.5) + 1


def write_a_transposed_view(x):
    x.t()[0] = 1.0
    return x + 1


@pytest.mark.parametrize("function", [write_slices, write_all, write_a_view_twice])
def test_writes_to_owned_arguments_are_removed(function):
    x = torch.tensor([[-1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    exported = export(function, x)
    graph = exported.graph
    assert functional_copy(graph) is None  # others may share the memory
    argument = graph.find_nodes(op="placeholder")[-1]
    copy = functional_copy(graph, {argument.name})
    assert copy is not None and not any(name.endswith("_") for name in targets(copy.graph))
    copy.graph.output_node().args = ((*copy.graph.output_node().args[0], copy.writes[argument.name]),)
    interpreter = torch.fx.Interpreter(torch.fx.GraphModule(nn.Module(), copy.graph))
    *results, written = interpreter.run(*exported.constants.values(), x.clone())
    expected = function(x)  # which writes x
    expected = expected if isinstance(expected, tuple) else (expected,)
    assert torch.equal(written, x)
    assert all(torch.equal(*pair) for pair in zip(results, expected, strict=True))


def test_owned_arguments_without_writes_have_no_new_value():
    graph = export(lambda x: x + 1, torch.ones(3)).graph
    argument = graph.find_nodes(op="placeholder")[-1]
    copy = functional_copy(graph, {argument.name})
    assert copy is not None and not copy.writes


@pytest.mark.parametrize(
    "function",
    [
        read_a_slice_after_a_write_beside_it,
        read_a_list_of_slices_after_a_write,
        write_a_comparison,
        write_a_transposed_view,
    ],
)
def test_writes_to_owned_arguments_whose_effects_are_not_known(function):
    graph = export(function, torch.ones(2, 3)).graph
    argument = graph.find_nodes(op="placeholder")[-1]
    assert functional_copy(graph, {argument.name}) is None


def test_program_is_not_changed():
    exported = export(lambda x: torch.nn.functional.hardswish(x).relu_() + nn.functional.pad(x, (0, 0)), torch.ones(3))
    before = str(exported.graph)
    import_program(exported)
    assert str(exported.graph) == before


def test_a_call_without_handler_is_taken_apart(imports):
    made, text = imports(Function(lambda x: torch.nn.functional.glu(x, -1)), torch.randn(2, 8))
    assert "opaque" not in text and "mul" in made
    assert 'loc("glu"' in text  # the last op has the name of the call, and the names of the others start with it
    assert 'loc("glu.' in text


def test_like_calls_are_taken_apart_once(monkeypatch):
    from inlay._import.torch import expansion

    traced = []
    trace = expansion.Expander._trace
    monkeypatch.setattr(
        expansion.Expander, "_trace", lambda self, node, *rest: traced.append(node.name) or trace(self, node, *rest)
    )
    glu = torch.nn.functional.glu
    import_program(export(lambda x, y: glu(x) + glu(x * 2) + glu(y).sum(), torch.randn(2, 8), torch.randn(3, 6)))
    assert traced == ["glu", "glu_2"]


def test_results_in_a_list_are_taken_apart(imports):
    def halves(x):
        first, second = torch.tensor_split(x, 2, -1)
        return first - second, torch.std_mean(x, -1)[1]

    imports(Function(halves), torch.randn(2, 8))


def test_constants_of_decompositions(imports):
    imports(Function(lambda x: torch.nn.functional.interpolate(x, scale_factor=2.0)), torch.randn(1, 2, 3, 3))


def test_operands_from_calls_that_were_traced_once(imports):
    # Both halves have the same fake tensor, but they are different values.
    def crossed(x, y):
        first, second = torch.nn.functional.glu(x), torch.nn.functional.glu(y)
        return torch.nn.functional.cosine_similarity(first, second * 2)

    imports(Function(crossed), torch.randn(2, 8), torch.randn(2, 8))
    imports(
        Function(lambda x, y: torch.lerp(torch.nn.functional.glu(x), torch.nn.functional.glu(y), 0.3)),
        torch.randn(2, 8),
        torch.randn(2, 8),
    )


@pytest.mark.parametrize(
    "function", [torch.nanmean, lambda x: torch.aminmax(x, dim=-1), lambda x: torch.std_mean(x, -1)]
)
def test_decompositions_that_write_or_give_named_results(function, imports):
    imports(Function(function), torch.randn(2, 8))


def test_a_call_with_a_list_among_its_results_stays_whole():
    text = import_program(export(lambda x: torch.histogramdd(x, (2, 3)), torch.rand(5, 2))).text
    assert 'inlay.opaque "aten::histogramdd' in text


def test_only_the_used_results_of_a_decomposition_are_imported():
    text = import_program(
        export(lambda w, i: nn.functional.embedding_bag(i, w), torch.ones(6, 3), torch.ones(4, 5).long())
    ).text
    assert "inlay.opaque" not in text


EMPTY = torch.zeros((2, 0), dtype=torch.int64)  # dims that only an index without elements may have


@pytest.mark.parametrize(
    ("function", "operands"),
    [
        (lambda x: torch.ops.aten.narrow_copy(x, 1, 1, 2), [torch.randn(2, 4)]),
        (lambda x: torch.ops.aten.permute_copy(x, [1, 0]), [torch.randn(2, 4)]),
        (lambda x: torch.linspace(4.3, x, 50, dtype=torch.int64), [torch.tensor(50)]),
        (lambda x: torch.linspace(x, -2.9, 7, dtype=torch.int32), [torch.tensor(4.7)]),
        (lambda x, i: torch.gather(x, 0, i), [torch.randn(5), EMPTY]),
        (lambda x, i, y: torch.scatter_add(x, 0, i, y), [torch.randn(5), EMPTY, torch.ones(3, 3)]),
        (
            lambda x, mask, i, y: torch.ops.aten._unsafe_masked_index_put_accumulate(x, mask, [i], y),
            [torch.randn(5), torch.tensor([True, False, True]), torch.tensor([1, 2, 9]), torch.ones(3)],
        ),
        (
            lambda x, w: torch.ops.aten.native_group_norm(x, w, w, 2, 6, 4, 3, 1e-5),
            [torch.randn(2, 6, 4), torch.ones(6)],
        ),
    ],
    ids=["narrow", "permute", "linspace", "linspace from", "gather", "scatter", "put", "norm"],
)
def test_calls_are_taken_apart(function, operands, imports):
    _, text = imports(Function(function), *operands)
    assert "opaque" not in text
