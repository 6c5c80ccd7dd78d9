# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions of a program whose result is the input of the call before."""

import pathlib
import threading

import pytest
import torch
from inlay import _inlay, errors

PROGRAM = pathlib.Path(__file__).parents[3] / "unittests" / "Fuzz" / "corpus" / "container" / "state.inlay"


@pytest.fixture
def program() -> _inlay.Compilation:
    return _inlay.load(str(PROGRAM), "", lambda *_: None, lambda: None, "")[0]


def call(program: _inlay.Compilation, value: torch.Tensor, session: _inlay.Session | None) -> torch.Tensor:
    return program.call([value], session).tensors()[0]


def test_states_stay_in_their_session(program: _inlay.Compilation) -> None:
    ((name, dtype, dims),) = program.states
    assert (name, dtype, len(dims)) == ("last", "float32", 2)
    one, two = torch.ones(3, 2), torch.full((3, 2), 2.0)
    a, b = program.make_session(), program.make_session()
    assert torch.equal(call(program, one, a), torch.zeros(3, 2))
    assert torch.equal(call(program, two, a), one)
    assert torch.equal(call(program, two, b), torch.zeros(3, 2))
    assert torch.equal(a.read(0), two)
    assert a.dims(0) == [3, 2]
    kept = a.read(0)
    a.write([(0, one)])
    assert torch.equal(call(program, two, a), one)
    assert torch.equal(kept, two)
    a.reset()
    assert torch.equal(call(program, torch.ones(1, 2), a), torch.zeros(1, 2))


def test_errors_name_what_is_wrong(program: _inlay.Compilation) -> None:
    one = torch.ones(3, 2)
    with pytest.raises(errors.Error, match=r"pass a session, which makeSession\(\) makes"):
        call(program, one, None)
    session = program.make_session()
    with pytest.raises(errors.Error, match="state 'last' has no contents yet"):
        session.read(0)
    call(program, one, session)
    with pytest.raises(
        errors.Error, match=r"state 'last': the session has float32\[3x2\], but the inputs of this call"
    ):
        call(program, torch.ones(4, 2), session)
    with pytest.raises(errors.Error, match=r"state 'last': expected float32\[n x 2\], but got float64\[3x2\]"):
        session.write([(0, one.double())])
    with pytest.raises(errors.Error, match="state 7 is out of range: the program has 1 states"):
        session.read(7)
    other = _inlay.load(str(PROGRAM), "", lambda *_: None, lambda: None, "")[0]
    with pytest.raises(errors.Error, match="the session belongs to another program"):
        call(other, one, session)


def test_threads_have_sessions_of_their_own(program: _inlay.Compilation) -> None:
    wrong = []

    def run(number: float) -> None:
        session = program.make_session()
        for step in range(50):
            result = call(program, torch.full((2, 2), number + step), session)
            expected = number + step - 1 if step else 0.0
            if not torch.equal(result, torch.full((2, 2), expected)):
                wrong.append((number, step))

    threads = [threading.Thread(target=run, args=(100.0 * i,)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
