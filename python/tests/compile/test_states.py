# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""States that a program keeps between calls."""

import copy
from collections.abc import Sequence

import inlay
import pytest
import torch
from torch import nn
from torch.export import Dim

TARGETS = (("host",), ("vulkan", "host"), ("torch",))


class Total(nn.Module):
    """Adds its argument to a total and returns the total before and after."""

    def forward(self, x: torch.Tensor, total: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        before = total * 1
        total.add_(x)
        return before, total * 2


class Log(nn.Module):
    """Writes rows after those of earlier calls and returns the sum of all of them."""

    def forward(self, past: torch.Tensor, rows: torch.Tensor, log: torch.Tensor) -> torch.Tensor:
        start, count = past.shape[0], rows.shape[0]
        log[start : start + count] = rows
        return log[: start + count].sum(0)


class Exchange(nn.Module):
    """Exchanges two states in parts of the graph that PyTorch and a target run."""

    def forward(self, x: torch.Tensor, pair: Sequence[torch.Tensor]) -> torch.Tensor:
        first, second = pair
        kept = first + x
        first.copy_(second.relu())
        second.copy_(torch.special.i1(kept))
        return first - second


@pytest.mark.parametrize("targets", TARGETS)
def test_calls_continue_a_session(targets: tuple[str, ...]) -> None:
    compiled = inlay.compile(Total(), (torch.zeros(5), torch.zeros(5)), targets=targets, states="total")
    first, second = compiled.new_session(), compiled.new_session()
    expected = torch.zeros(5)
    for _ in range(3):
        x = torch.randn(5)
        before, after = first(x)
        torch.testing.assert_close(before, expected)
        expected = expected + x
        torch.testing.assert_close(after, expected * 2)
    torch.testing.assert_close(second(torch.ones(5))[0], torch.zeros(5))
    torch.testing.assert_close(first.state_dict()["total"], expected)
    assert first.profile(torch.zeros(5))
    first.reset()
    torch.testing.assert_close(first(torch.ones(5))[1], torch.full((5,), 2.0))


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("dtype", (torch.float32, torch.float16, torch.int64, torch.bool))
def test_rows_are_written_at_sizes_of_the_call(targets: tuple[str, ...], dtype: torch.dtype) -> None:
    model = Log()
    if dtype == torch.bool:
        model.forward = lambda past, rows, log: Log.forward(model, past, rows, log) > 0  # type: ignore[method-assign]
    dims = ({0: Dim("past", min=0, max=20)}, {0: Dim("rows", min=1, max=8)}, None)
    example = (torch.zeros(3, 0), torch.zeros(2, 7).to(dtype), torch.zeros(29, 7).to(dtype))
    compiled = inlay.compile(model, example, targets=targets, states="log", dynamic_shapes=dims)
    session, log, past = compiled.new_session(), torch.zeros(29, 7).to(dtype), 0
    for count in (1, 8, 1, 3, 1):
        rows = torch.randint(-3, 4, (count, 7)).to(dtype)
        expected = model(torch.zeros(past, 0), rows, log)
        torch.testing.assert_close(session(torch.zeros(past, 0), rows), expected)
        past += count
    torch.testing.assert_close(session.state_dict()["log"], log)


def test_states_are_loaded_from_negated_views() -> None:
    session = inlay.compile(Total(), (torch.zeros(5), torch.zeros(5)), states="total").new_session()
    session.load_state_dict({"total": torch.full((5,), 1 + 9j).conj().imag})
    torch.testing.assert_close(session.state_dict()["total"], torch.full((5,), -9.0))


@pytest.mark.parametrize("targets", (("host", "torch"), ("vulkan", "host", "torch")))
def test_several_targets_write_the_states(targets: tuple[str, ...]) -> None:
    pair = [torch.randn(4, 3), torch.randn(4, 3)]
    compiled = inlay.compile(Exchange(), (torch.zeros(4, 3), copy.deepcopy(pair)), targets=targets, states=("pair",))
    assert "torch" in compiled.report.ops_by_target()
    session = compiled.new_session()
    session.load_state_dict({"pair_0": pair[0], "pair_1": pair[1]})
    for _ in range(3):
        x = torch.randn(4, 3)
        torch.testing.assert_close(session(x), Exchange()(x, pair))
    for number in range(2):
        torch.testing.assert_close(session.state_dict()[f"pair_{number}"], pair[number])


def test_a_state_has_the_sizes_of_the_first_call() -> None:
    dims = ({0: Dim("batch", min=1, max=8)}, {0: Dim("batch", min=1, max=8)})
    compiled = inlay.compile(Total(), (torch.zeros(2, 5), torch.zeros(2, 5)), states="total", dynamic_shapes=dims)
    session = compiled.new_session()
    session(torch.ones(3, 5))
    with pytest.raises(inlay.ArgumentValueError, match=r"state 'total': .*3x5.*4x5"):
        session(torch.ones(4, 5))
    assert session(torch.ones(3, 5))[1].shape == (3, 5)
    session.reset()
    assert session(torch.ones(4, 5))[1].shape == (4, 5)


def test_wrong_uses_are_errors() -> None:
    compiled = inlay.compile(Total(), (torch.zeros(5), torch.zeros(5)), states="total")
    session = compiled.new_session()
    with pytest.raises(inlay.ArgumentTypeError, match=r"keeps states .*'total'.*new_session"):
        compiled(torch.ones(5))
    with pytest.raises(inlay.ArgumentTypeError, match=r"1 argument|positional"):
        session(torch.ones(5), torch.ones(5))
    with pytest.raises(inlay.ArgumentValueError, match="'total' has no contents yet"):
        session.state_dict()
    with pytest.raises(inlay.ArgumentValueError, match="unknown state 'sum'"):
        session.load_state_dict({"sum": torch.zeros(5)})
    with pytest.raises(inlay.ArgumentTypeError, match=r"state 'total': expected dtype torch.float32"):
        session.load_state_dict({"total": torch.zeros(5, dtype=torch.int32)})
    with pytest.raises(inlay.ArgumentValueError, match=r"state 'total': expected float32\[5\], but got float32\[6\]"):
        session.load_state_dict({"total": torch.zeros(6)})
    with pytest.raises(
        inlay.ArgumentTypeError, match=r"state 'total': expected a dense tensor with values, but got .*coo"
    ):
        session.load_state_dict({"total": torch.zeros(5).to_sparse()})
    with pytest.raises(inlay.ArgumentTypeError, match=r"expected a dense tensor with values, but got .*meta"):
        session.load_state_dict({"total": torch.zeros(5, device="meta")})
    with pytest.raises(inlay.UnsupportedError, match="can't be copied"):
        copy.copy(session)
    with pytest.raises(inlay.ArgumentValueError, match="no argument 'sum'"):
        inlay.compile(Total(), (torch.zeros(5), torch.zeros(5)), states="sum")
    with pytest.raises(inlay.UnsupportedError, match="no states: compile it with states="):
        inlay.compile(nn.ReLU(), (torch.zeros(5),)).new_session()


def test_a_wrong_value_replaces_no_state() -> None:
    class Two(nn.Module):
        def forward(self, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            a.add_(x)
            b.add_(x)
            return a + b

    states = {"a": torch.ones(3), "b": torch.full((3,), 2.0)}
    session = inlay.compile(Two(), (torch.zeros(3),) * 3, states=("a", "b")).new_session()
    session.load_state_dict(states)
    with pytest.raises(inlay.ArgumentValueError, match=r"state 'b': expected float32\[3\], but got float32\[4\]"):
        session.load_state_dict({"a": torch.zeros(3), "b": torch.zeros(4)})
    torch.testing.assert_close(session.state_dict(), states)
    torch.testing.assert_close(session(torch.ones(3)), torch.full((3,), 5.0))


def test_names_are_those_of_the_arguments() -> None:
    class Named(nn.Module):
        def forward(self, x: torch.Tensor, KV: dict[str, torch.Tensor]) -> torch.Tensor:
            KV["Old"].add_(x)
            return KV["Old"] * 2

    compiled = inlay.compile(Named(), (torch.zeros(2), {"Old": torch.zeros(2)}), states="KV")
    session = compiled.new_session()
    session(torch.ones(2))
    torch.testing.assert_close(session.state_dict(), {"KV_Old": torch.ones(2)})


def test_sizes_of_all_states_are_checked_first() -> None:
    class Two(nn.Module):
        def forward(self, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            a.add_(x)
            b.add_(a)
            return a + b

    batch = {0: Dim("batch", min=1, max=8)}
    example = (torch.zeros(3, 2), torch.zeros(3, 2), torch.zeros(3, 2))
    compiled = inlay.compile(Two(), example, states=("a", "b"), dynamic_shapes=(batch, batch, batch))
    session = compiled.new_session()
    session.load_state_dict({"b": torch.ones(3, 2)})
    with pytest.raises(inlay.ArgumentValueError, match="state 'b'"):
        session(torch.ones(4, 2))
    torch.testing.assert_close(session(torch.ones(3, 2)), torch.full((3, 2), 3.0))


def test_only_inputs_determine_sizes() -> None:
    class Count(nn.Module):
        def forward(self, x: torch.Tensor, log: torch.Tensor) -> torch.Tensor:
            log.add_(x)
            return log.sum()

    dims = (None, {0: Dim("rows", min=1, max=8)})
    with pytest.raises(inlay.UnsupportedError, match="rows"):
        inlay.compile(Count(), (torch.zeros(1), torch.zeros(3)), states="log", dynamic_shapes=dims)


class Views(nn.Module):
    """Returns views of old values, and makes states of views of each other."""

    def forward(self, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        old, other = a.clone(), b.clone()
        a.copy_(other.reshape(3, 4).reshape(4, 3))
        b.copy_(old + x)
        return old[1:3], old.reshape(12), other[:2], a + b


class Replaced(nn.Module):
    """Returns views of the old value of a state that does not determine its next value."""

    def forward(self, x: torch.Tensor, a: torch.Tensor) -> tuple[torch.Tensor, ...]:
        old = a.clone()
        a.copy_(x + 1)
        return old[1:3], old.reshape(12)


class Products(nn.Module):
    """Adds a product to one state and makes the sum the next value of another."""

    def forward(self, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        sum = torch.addmm(b, x, x)
        b.copy_(a * 2)
        a.copy_(sum)
        return b - a


@pytest.mark.parametrize("targets", (("host",), ("vulkan", "host")))
@pytest.mark.parametrize(("model", "dims"), ((Views(), (4, 3)), (Replaced(), (4, 3)), (Products(), (4, 4))), ids=repr)
def test_old_values_are_read_before_they_are_replaced(
    model: nn.Module, dims: tuple[int, int], targets: tuple[str, ...]
) -> None:
    states = [torch.randn(dims) for _ in range(1 if isinstance(model, Replaced) else 2)]
    names = ("a", "b")[: len(states)]
    compiled = inlay.compile(model, (torch.zeros(dims), *copy.deepcopy(states)), targets=targets, states=names)
    session = compiled.new_session()
    session.load_state_dict(dict(zip(names, states, strict=True)))
    for _ in range(3):
        x = torch.randn(dims)
        torch.testing.assert_close(session(x), model(x, *states))
    for name, state in zip(names, states, strict=True):
        torch.testing.assert_close(session.state_dict()[name], state)
