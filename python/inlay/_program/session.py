# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions: the states that a sequence of calls of a compiled model reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from .._dialect.text import tensor_text
from .._paths import StrPath
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from .figures import Profile
from .imported import ProgramInput, in_order

if TYPE_CHECKING:
    from .._inlay import Session as Handle


class Session:
    """The states of one sequence of calls. It is called like the model, without the arguments that are states.

        session = compiled.new_session()
        y = session(x)

    Sessions of a model are independent of each other and share its weights. A session serves one call at a time. All
    states are zeros at first. The first call determines their sizes if these depend on the arguments.

    If a call fails after a part of the program has written states, the states are undefined. Later calls fail until the
    states are reset or replaced.
    """

    def __init__(
        self,
        call: Callable[[tuple[Any, ...], Mapping[str, Any], Handle], Any],
        profile: Callable[[tuple[Any, ...], Mapping[str, Any], StrPath | None, Handle], Profile],
        handle: Handle,
        states: Sequence[ProgramInput],
    ) -> None:
        """call, profile: run the model with arguments on the states of a handle."""
        self._call, self._profile, self._handle = call, profile, handle
        self._numbers = {state.name: number for number, state in enumerate(states)}
        self._dtypes = {state.name: state.dtype for state in states}

    def __reduce__(self) -> NoReturn:
        raise UnsupportedError("a session can't be copied or pickled: copy its states with state_dict()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model and returns its result. Raises the same errors as a call of the model."""
        return self._call(args, kwargs, self._handle)

    def profile(self, *args: Any, trace: StrPath | None = None, **kwargs: Any) -> Profile:
        """Does the same as `CompiledModule.profile`. The call writes the states."""
        return self._profile(args, kwargs, trace, self._handle)

    def reset(self) -> None:
        """Makes all states zeros again and frees their memory. The next call may determine other sizes."""
        self._handle.reset()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Returns copies of the states by name.

        Raises ArgumentValueError before the first call, and after a call that left the states undefined.
        """
        return {name: self._handle.read(number) for name, number in self._numbers.items()}

    def load_state_dict(self, states: Mapping[str, torch.Tensor]) -> None:
        """Replaces states by name. States that are not given keep their values.

        Raises ArgumentTypeError or ArgumentValueError for a wrong name, dtype or size. No state changes then.
        """
        for name, value in states.items():
            if name not in self._numbers:
                raise ArgumentValueError(f"unknown state {name!r}: expected one of {', '.join(self._numbers)}")
            if not isinstance(value, torch.Tensor):
                raise ArgumentTypeError(f"state {name!r}: expected a tensor, but got {type(value).__name__}")
            if value.dtype != self._dtypes[name]:
                given = tensor_text(value.dtype, value.shape)
                raise ArgumentTypeError(f"state {name!r}: expected dtype {self._dtypes[name]}, but got {given}")
            if value.layout != torch.strided or value.is_meta:
                kind = "a tensor of the device meta" if value.is_meta else f"one of {value.layout}"
                raise ArgumentTypeError(f"state {name!r}: expected a dense tensor with values, but got {kind}")
        self._handle.write([(self._numbers[name], in_order(value.cpu())) for name, value in states.items()])
