# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loaded programs and their calls with arrays."""

from __future__ import annotations

import ctypes
import functools
import json
import math
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from . import library as c
from .library import Error, check, library
from .settings import GenerationSettings, read_settings

_Path: TypeAlias = str | os.PathLike[str]
_Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TensorInfo:
    """An input or a result of a program."""

    name: str
    dtype: str
    """ "float32", "bool", ..."""
    shape: tuple[int | None, ...]
    """Sizes of the dims; None for a dim that may differ between calls."""
    type: str
    """The type with the names of such dims: "float32[batch x 10]"."""


def load(
    path: _Path,
    *,
    device: str | None = None,
    public_key: _Path | None = None,
    recovery: bool = True,
    notice: Callable[[str], object] | None = None,
) -> Program:
    """Loads a program that `inlay.CompiledModule.save` or `inlay-compile` wrote.

    device: a Vulkan device, as a number or a part of its name; default: INLAY_DEVICE or the best one that can run the
    program. "none": the host runs all segments, if the program was compiled with recovery.
    public_key: file with the Ed25519 public key (PEM) that must verify the signature; default: INLAY_PUBLIC_KEY.
    recovery: run segments on the host if the device fails, instead of raising an error.
    notice: called with a message when that happens; by default the message is printed to stderr.

    Raises Error.
    """
    return Program(path, device, public_key, recovery, notice)


def _encode(name: str, text: _Path) -> bytes:
    """Encodes a text for C, where it must not contain NUL."""
    encoded = os.fsencode(text)
    if b"\0" in encoded:
        raise ValueError(f"expected {name} to have no NUL, but got {text!r}")
    return encoded


class Program:
    """A loaded program. Call it with arrays, by position or by name. Several threads may call it at a time."""

    def __init__(
        self,
        path: _Path,
        device: str | None,
        public_key: _Path | None,
        recovery: bool,
        notice: Callable[[str], object] | None,
    ) -> None:
        options = library.inlayOpenOptions()
        options.device = None if device is None else _encode("device", str(device))
        options.public_key_file = None if public_key is None else _encode("public_key", public_key)
        options.without_recovery = not recovery
        if notice is not None:
            if not callable(notice):
                raise TypeError(f"expected notice to be callable, but got {notice!r}")
            self._notice = options.notice = c.NOTICE(lambda text, _: notice(text.decode()))  # keeps it alive
        handle = ctypes.c_void_p()
        check(library.inlayProgramOpen(_encode("path", path), options, handle))
        self._handle = handle
        # A program that is alive when the interpreter exits is never closed, because daemon threads may still call it.
        weakref.finalize(self, library.inlayProgramClose, handle).atexit = False
        self.inputs = self._describe(library.inlayProgramInput, library.inlayProgramInputCount(handle))
        self.outputs = self._describe(library.inlayProgramOutput, library.inlayProgramOutputCount(handle))
        self.states = self._describe(library.inlayProgramState, library.inlayProgramStateCount(handle))

    def _describe(self, get: Callable[..., int], count: int) -> tuple[TensorInfo, ...]:
        infos = []
        for number in range(count):
            info = c.TensorInfo()
            check(get(self._handle, number, info))
            shape = tuple(None if size < 0 else size for size in info.dims[: info.rank])
            infos.append(TensorInfo(info.name.decode(), c.ELEMENTS[info.element], shape, info.type.decode()))
        return tuple(infos)

    @property
    def device(self) -> str:
        """The name of the device that the program runs on; empty if all of it runs on the host."""
        return str(library.inlayProgramDevice(self._handle).decode())

    @property
    def report(self) -> Any:
        """The partition report: the target of each op and the reason. None if the file has none."""
        text = library.inlayProgramReport(self._handle)
        return json.loads(text) if text else None

    @property
    def metadata(self) -> str:
        """The JSON metadata that was added when the file was saved; empty if there is none."""
        return str(library.inlayProgramMetadata(self._handle).decode())

    @functools.cached_property
    def generation(self) -> GenerationSettings:
        """The settings of a program that generates text. Raises Error for other programs."""
        return read_settings(self)

    def make_session(self) -> Session:
        """Returns a session, which calls of a program with states need."""
        return Session(self)

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs the program and returns its result, or a tuple of results.

        Arguments are NumPy arrays or objects with __dlpack__ in host memory, with the dtypes and shapes of `inputs`.
        Raises Error with the name of the input that is wrong.
        """
        return _unpack(self._call(None, arrays, named))

    def _call(
        self, session: ctypes.c_void_p | None, arrays: Sequence[Any], named: Mapping[str, Any], is_raw: bool = False
    ) -> list[_Array]:
        """Returns the results. is_raw: see `Session.call_raw`."""
        inputs = [_to_numpy(info, array) for info, array in zip(self.inputs, self._order(arrays, named), strict=True)]
        dtypes = [
            np.dtype(_RAW[info.dtype]) if is_raw and info.dtype in _RAW else _dtype(info, "result")
            for info in self.outputs
        ]
        given = _tensors(inputs, [info.dtype for info in self.inputs])
        results = _run(session, self._handle, given, inputs, len(dtypes))
        return [_result_array(result, dtype) for result, dtype in zip(results, dtypes, strict=True)]

    def _order(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Returns all arrays in the order of the inputs."""
        names = [info.name for info in self.inputs]
        for name in named:
            if name not in names[len(arrays) :]:
                raise Error(f"expected the inputs {', '.join(names)}, each once, but got {name!r}")
        if len(arrays) + len(named) != len(names):
            raise Error(f"expected {len(names)} inputs ({', '.join(names)}), but got {len(arrays) + len(named)}")
        return [*arrays, *(named[name] for name in names[len(arrays) :])]

    def __repr__(self) -> str:
        def spell(infos: Sequence[TensorInfo]) -> str:
            return ", ".join(f"{info.name}: {info.type}" for info in infos)

        return f"<inlay_runtime.Program ({spell(self.inputs)}) -> ({spell(self.outputs)})>"


class Session:
    """The states of a sequence of calls of a program. It serves one call at a time: `session(...)`."""

    def __init__(self, program: Program) -> None:
        self._program = program
        handle = ctypes.c_void_p()
        check(library.inlaySessionMake(program._handle, handle))
        self._handle = handle
        weakref.finalize(self, library.inlaySessionFree, handle).atexit = False

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Calls the program, as `Program.__call__` does, with the states of this session."""
        return _unpack(self._program._call(self._handle, arrays, named))

    def call_raw(self, *arrays: Any) -> list[_Array]:
        """Calls the program and returns a list of results. Those of bfloat16 are uint16 with the same bits."""
        return self._program._call(self._handle, arrays, {}, is_raw=True)

    def reset(self) -> None:
        """Frees all states. The next call starts with zeros, and its inputs choose the dims."""
        check(library.inlaySessionReset(self._handle))

    def read(self, state: int | str) -> Any:
        """Returns a copy of a state, given by number or name."""
        number = self._number(state)
        result = ctypes.c_void_p()
        check(library.inlaySessionRead(self._handle, number, result))
        return _result_array(_Result(result.value), _dtype(self._program.states[number], "state"))

    def write(self, state: int | str, array: Any) -> None:
        """Replaces a state, given by number or name."""
        number = self._number(state)
        info = self._program.states[number]
        value = _to_numpy(info, array, "state")
        check(library.inlaySessionWrite(self._handle, number, _tensors([value], [info.dtype])))

    def _number(self, state: int | str) -> int:
        names = [info.name for info in self._program.states]
        number = names.index(state) if isinstance(state, str) and state in names else state
        if not isinstance(number, int) or not 0 <= number < len(names):
            raise Error(f"expected one of the states {', '.join(names)}, but got {state!r}")
        return number


_RAW = {"bfloat16": "uint16"}  # the elements that NumPy lacks


def _unpack(results: list[_Array]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


def _dtype(info: TensorInfo, role: str) -> np.dtype[Any]:
    try:
        return np.dtype(info.dtype)
    except TypeError:
        pass
    try:
        import ml_dtypes  # NumPy has no dtype for some elements

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, info.dtype))
        return dtype
    except (ImportError, AttributeError):
        raise Error(f"{role} {info.name!r}: NumPy has no {info.dtype}: pip install ml_dtypes") from None


def _to_numpy(info: TensorInfo, array: Any, role: str = "input") -> _Array:
    """Returns the array as dense row-major elements; copies it only if needed."""
    if not isinstance(array, (np.ndarray, np.generic)):
        if not hasattr(array, "__dlpack__"):
            raise Error(f"{role} {info.name!r}: expected an array, but got {type(array).__name__}")
        try:
            array = np.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise Error(f"{role} {info.name!r}: can't be read in host memory: {error}") from None
    if array.dtype != _dtype(info, role):
        raise Error(f"{role} {info.name!r}: expected {info.type}, but got {array.dtype.name} {list(array.shape)}")
    return np.require(array, requirements=["C", "A"])


def _tensors(arrays: list[_Array], dtypes: list[str]) -> ctypes.Array[c.Tensor]:
    tensors = (c.Tensor * len(arrays))()
    for tensor, array, dtype in zip(tensors, arrays, dtypes, strict=True):
        tensor.data, tensor.element, tensor.rank = array.ctypes.data, c.ELEMENTS.index(dtype), array.ndim
        tensor.dims = (ctypes.c_int64 * array.ndim)(*array.shape)
    return tensors


class _Result:
    """Frees a result when no object refers to it, even while the interpreter exits: arrays may still be in use then."""

    def __init__(self, handle: int | None, free: Callable[[int | None], None] = library.inlayResultFree) -> None:
        self.handle, self._free = handle, free

    def __del__(self) -> None:
        self._free(self.handle)


# Inputs that a hanging device may still read.
_kept_for_good: list[object] = []

_MARK_RELEASED = ctypes.cast(library.inlayMarkReleased, ctypes.c_void_p)


def _run(
    session: ctypes.c_void_p | None,
    handle: ctypes.c_void_p,
    given: ctypes.Array[c.Tensor],
    inputs: list[_Array],
    count: int,
) -> list[_Result]:
    """Calls a program, which may read the inputs in place."""
    released = (ctypes.c_bool * len(inputs))()
    owners = (c.Owner * len(inputs))()
    for number, owner in enumerate(owners):
        owner.object, owner.release = ctypes.addressof(released) + number, _MARK_RELEASED
    results = (ctypes.c_void_p * count)()
    status = library.inlaySessionRun(session, handle, given, owners, len(given), results, count)
    if not all(released):
        _kept_for_good.append((released, inputs))
    check(status)
    return [_Result(result) for result in results]


def _result_array(result: _Result, dtype: np.dtype[Any]) -> _Array:
    """Returns an array over a result, which it keeps alive."""
    tensor = library.inlayResultTensor(result.handle)
    shape = tuple(tensor.dims[: tensor.rank])
    memory = (ctypes.c_char * (math.prod(shape) * dtype.itemsize)).from_address(tensor.data)
    memory.owner = result
    return np.ndarray(shape, dtype, memory)
