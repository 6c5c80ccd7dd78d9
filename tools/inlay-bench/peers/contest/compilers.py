# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How each contender makes of a model what can be called, as its documentation tells a user to."""

import pathlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from inlay.models import Example
from memory import Peak
from onnx_model import export_onnx, feed
from subjects import Setting


@dataclass(frozen=True)
class Built:
    """A compiled model with its arguments."""

    call: Callable[[], Any]
    figures: dict[str, Any] = field(default_factory=dict)


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the milliseconds that it took."""
    start = time.perf_counter_ns()
    result = function()
    return result, (time.perf_counter_ns() - start) / 1e6


def _compile(function: Callable[[], Any], **figures: Any) -> tuple[Any, dict[str, Any]]:
    """What `function` makes, its time and how much memory grows meanwhile."""
    peak = Peak()
    compiled, compile_ms = timed(function)
    return compiled, {**figures, "compile_ms": compile_ms, "compile_mb": peak.growth()}


def by_torch(example: Example, setting: Setting) -> Built:
    return Built(example)


def by_inlay(example: Example, setting: Setting) -> Built:
    import inlay

    exported, export_ms = timed(lambda: torch.export.export(example.model, example.args, example.kwargs, strict=False))
    targets = setting.contender.removeprefix("inlay:").split("+")
    compiled, figures = _compile(lambda: inlay.compile(exported, targets=targets), export_ms=export_ms)
    placed = [op for op in compiled.report["ops"] if op.get("segment") is not None]
    counts = compiled.report.ops_by_target()
    figures |= {
        "ops": len(placed),
        **{target: counts.get(target, 0) for target in ("vulkan", "host", "torch")},
        "opaque": sum(op["name"].startswith("aten.") or "::" in op["name"] for op in placed),
        "segments": len(compiled.report["segments"]),
    }
    return Built(lambda: example(compiled), figures)


def by_inductor(example: Example, setting: Setting) -> Built:
    """torch.compile works at the first call."""
    compiled = torch.compile(example.model)
    _, figures = _compile(lambda: example(compiled))
    return Built(lambda: example(compiled), figures)


def by_onnxruntime(example: Example, setting: Setting) -> Built:
    import onnxruntime

    path, export_ms = export_onnx(example, pathlib.Path(setting.folder))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = setting.threads
    options.inter_op_num_threads = 1
    session, figures = _compile(
        lambda: onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]), export_ms=export_ms
    )
    inputs = feed(example, [entry.name for entry in session.get_inputs()])
    return Built(lambda: session.run(None, inputs), figures)


def by_openvino(example: Example, setting: Setting) -> Built:
    import openvino

    path, export_ms = export_onnx(example, pathlib.Path(setting.folder))
    core = openvino.Core()
    options = {
        "INFERENCE_NUM_THREADS": setting.threads,
        "PERFORMANCE_HINT": "LATENCY",
        # Its default on processors with bfloat16 is less exact than what the others compute.
        "INFERENCE_PRECISION_HINT": setting.dtype,
    }
    compiled, figures = _compile(lambda: core.compile_model(core.read_model(path), "CPU", options), export_ms=export_ms)
    request = compiled.create_infer_request()
    inputs = feed(example, [entry.any_name for entry in compiled.inputs])
    # Results are a view of the request's own memory, which the next call writes.
    return Built(lambda: list(request.infer(inputs, share_inputs=True, share_outputs=True).to_tuple()), figures)


def by_iree(example: Example, setting: Setting) -> Built:
    from edge_compilers import compile_by_iree

    path, export_ms = export_onnx(example, pathlib.Path(setting.folder))
    inputs = list(feed(example, None).values())
    function, figures = _compile(lambda: compile_by_iree(path, setting.threads), export_ms=export_ms)
    return Built(lambda: function(*inputs), figures)


def by_executorch(example: Example, setting: Setting) -> Built:
    from edge_compilers import compile_by_executorch

    exported, export_ms = timed(lambda: torch.export.export(example.model, example.args, example.kwargs, strict=True))
    method, figures = _compile(lambda: compile_by_executorch(exported, setting.threads), export_ms=export_ms)
    return Built(lambda: method(example), figures)


COMPILERS: dict[str, Callable[[Example, Setting], Built]] = {
    "torch": by_torch,
    "inductor": by_inductor,
    "onnxruntime": by_onnxruntime,
    "openvino": by_openvino,
}


def build(example: Example, setting: Setting) -> Built:
    return COMPILERS.get(setting.contender, by_inlay)(example, setting)
