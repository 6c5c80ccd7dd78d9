# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs single cases of the test suite that the package `onnx` ships."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import inlay
import numpy as np
import onnx
import torch
from inlay._import.onnx.files import TensorFiles
from inlay._import.onnx.tensors import read_tensor
from onnx import numpy_helper
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner
from workers import Outcome, Verdict

_KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
_FLOATS_OF_OTHERS = ("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")  # of ml_dtypes


class _DataSet(NamedTuple):
    """Arguments and the expected results."""

    inputs: list[Any]
    outputs: list[Any]


def load_cases() -> dict[str, TestCase]:
    """Returns the cases by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for kind in _KINDS for case in load_model_tests(kind=kind)}


def run_case(case: TestCase, targets: Sequence[str]) -> Outcome:
    """Compiles the model of a case, runs it and compares the results."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for model, data in _read(case):
                compiled = inlay.compile(model, tuple(data.inputs), targets=cast("Any", tuple(targets)))
                got = compiled(*data.inputs)
                results = [got] if len(data.outputs) == 1 else list(got)
                difference = _difference(results, data.outputs, case.rtol, case.atol)
                if difference:
                    return Outcome(Verdict.WRONG, difference)
    except inlay.UnsupportedError as error:
        return Outcome(Verdict.REFUSED, _one_line(error))
    except inlay.Error as error:
        return Outcome(Verdict.FAILED, f"{type(error).__name__}: {_one_line(error)}")
    except Exception as error:
        return Outcome(Verdict.RAISED, f"{type(error).__name__}: {_one_line(error)}")
    return Outcome(Verdict.PASSED)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _read(case: TestCase) -> Iterator[tuple[onnx.ModelProto, _DataSet]]:
    """Returns the model of a case, with each of its data sets."""
    if case.url is not None:  # a model without weights, which comes with the expected results only
        path = pathlib.Path(onnx.__file__).parents[1] / case.url
        model = onnx.load(path)
        fixed = {tensor.name for tensor in model.graph.initializer}
        infos = [info for info in model.graph.input if info.name not in fixed]
        arrays = [Runner.generate_dummy_data(info, seed=0, name=case.model_name, random=False) for info in infos]
        expected = sorted(path.parent.glob(f"{path.stem}_output_*.pb"))
        kinds = [info.type for info in model.graph.output]
        yield model, _DataSet(list(map(_value, arrays)), list(map(_load, expected, kinds)))
    for inputs, outputs in case.data_sets or []:
        assert case.model is not None
        yield case.model, _DataSet(list(map(_value, inputs)), list(map(_value, outputs)))
    if case.model_dir is not None:
        folder = pathlib.Path(case.model_dir)
        model = onnx.load(folder / "model.onnx")
        for data in sorted(folder.glob("test_data_set_*")):
            yield model, _DataSet(_load_all(data, "input", model.graph), _load_all(data, "output", model.graph))


def _load_all(folder: pathlib.Path, kind: str, graph: onnx.GraphProto) -> list[Any]:
    """Returns the values in the files `input_0.pb`, `input_1.pb` and so on."""
    infos = graph.input if kind == "input" else graph.output
    count = len(list(folder.glob(f"{kind}_*.pb")))
    return [_load(folder / f"{kind}_{number}.pb", infos[number].type) for number in range(count)]


def _load(path: pathlib.Path, kind: onnx.TypeProto) -> Any:
    """Returns the value in a file. kind: its type."""
    data = path.read_bytes()
    if kind.HasField("sequence_type"):
        return _value(numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
    if kind.HasField("optional_type"):
        return _value(numpy_helper.to_optional(onnx.OptionalProto.FromString(data)))
    return _value(onnx.TensorProto.FromString(data))


def _value(value: Any) -> Any:
    """Returns a value as tensors."""
    if value is None or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, (list, tuple)):
        return [_value(part) for part in value]
    if isinstance(value, onnx.TensorProto):
        return read_tensor(value, TensorFiles(), "a value of the case")
    array = np.asarray(value)
    if array.dtype.kind in "OUS":
        raise inlay.UnsupportedError("strings are not supported")
    if array.dtype.name in _FLOATS_OF_OTHERS:
        return torch.from_numpy(array.astype(np.float32)).to(getattr(torch, array.dtype.name))
    return torch.from_numpy(np.array(array, copy=True, order="C")).reshape(array.shape)


def _difference(got: Any, want: Any, rtol: float, atol: float) -> str:
    """Returns a message about the first difference; the empty string if there is none."""
    if isinstance(want, list):
        if not isinstance(got, (list, tuple)) or len(got) != len(want):
            return f"expected {len(want)} values, but got {got!r:.80}"
        return next((text for pair in zip(got, want, strict=True) if (text := _difference(*pair, rtol, atol))), "")
    if want is None or got is None:
        return "" if want is got else f"expected {want!r:.80}, but got {got!r:.80}"
    if not isinstance(got, torch.Tensor) or (got.dtype, got.shape) != (want.dtype, want.shape):
        got_type = (str(got.dtype), list(got.shape)) if isinstance(got, torch.Tensor) else type(got).__name__
        return f"expected {want.dtype} {list(want.shape)}, but got {got_type}"
    if not want.dtype.is_floating_point:
        same = torch.equal(got, want)
    else:
        same = torch.allclose(got.double(), want.double(), rtol=rtol, atol=atol, equal_nan=True)
    return "" if same else f"expected {' '.join(repr(want).split())[:80]}, but got {' '.join(repr(got).split())[:80]}"
