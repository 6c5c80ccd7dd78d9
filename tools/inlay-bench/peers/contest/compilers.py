# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that compile a model with each contender, as its documentation recommends."""

import pathlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from catalog import ACTIVATIONS, is_inlay, read_route
from exported import export_onnx, feed
from inlay_models import Example
from memory import Peak
from programs import compile_by_executorch, compile_by_iree, compile_by_ncnn, input_names
from subjects import Setting, tensors


@dataclass(frozen=True)
class Built:
    """A compiled model with its arguments, ready to be called."""

    call: Callable[[], Any]
    figures: dict[str, Any] = field(default_factory=dict)
    profile: Callable[[], dict[str, Any]] | None = None  # measures the time of a call by segment and by op


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Returns the result of `function` and the milliseconds that it took."""
    start = time.perf_counter_ns()
    result = function()
    return result, (time.perf_counter_ns() - start) / 1e6


def _compile(function: Callable[[], Any], **figures: Any) -> tuple[Any, dict[str, Any]]:
    """Returns the result of `function`, with its time and the growth of memory as figures."""
    peak = Peak()
    compiled, compile_ms = timed(function)
    return compiled, {**figures, "compile_ms": compile_ms, "compile_mb": peak.growth()}


def by_torch(example: Example, setting: Setting) -> Built:
    return Built(example)


def by_torch_cuda(example: Example, setting: Setting) -> Built:
    """Arguments and results stay on the device. A call waits until the device is done."""
    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch has no CUDA device here")

    def move(leaf: Any) -> Any:
        return leaf.cuda() if isinstance(leaf, torch.Tensor) else leaf

    args, kwargs = torch.utils._pytree.tree_map(move, (example.args, example.kwargs or {}))
    model = example.model.cuda()

    def call() -> Any:
        results = model(*args, **kwargs)
        torch.cuda.synchronize()
        return results

    return Built(call)


def by_inlay(example: Example, setting: Setting) -> Built:
    import inlay

    exported, export_ms = timed(lambda: torch.export.export(example.model, example.args, example.kwargs, strict=False))
    route = read_route(setting.contender)
    options: dict[str, Any] = {"targets": route.targets}
    if route.is_forced:
        called = {node.target.overloadpacket for node in exported.graph.nodes if hasattr(node.target, "overloadpacket")}
        names = {f"aten::{packet.__name__.removesuffix('_')}" for packet in called}  # x.relu_() is exported as a relu
        options["torch_executed_ops"] = sorted(names & ACTIVATIONS)
    compiled, figures = _compile(lambda: inlay.compile(exported, **options), export_ms=export_ms)
    placed = [op for op in compiled.report["ops"] if op.get("segment") is not None]
    counts = compiled.report.ops_by_target()
    figures |= {
        "ops": len(placed),
        **{target: counts.get(target, 0) for target in ("vulkan", "host", "torch")},
        "opaque": sum(op["name"].startswith("aten.") or "::" in op["name"] for op in placed),
        "segments": len(compiled.report["segments"]),
    }
    return Built(lambda: example(compiled), figures, lambda: profile(example, compiled))


def profile(example: Example, compiled: Any) -> dict[str, Any]:
    """Returns the milliseconds of each segment and of each op or group of fused ops, from the fastest of five calls."""
    profiles = [compiled.profile(*example.args, **(example.kwargs or {})) for _ in range(5)]
    report = min((each.report for each in profiles), key=lambda report: report["summary"]["measured_ns"])
    return {
        "profiled_segments": [
            {
                "target": segment["target"],
                "ops": segment["ops"],
                "bytes": (segment["bytes_in"] or 0) + (segment["bytes_out"] or 0),
                "run_ms": segment["measured_ns"]["run"] / 1e6,
                "copies_ms": segment["measured_ns"]["transfers"] / 1e6,
            }
            for segment in report["segments"]
        ],
        "profiled_ops": [{"ops": entry["ops"], "ms": entry["measured_ns"] / 1e6} for entry in report["measured_ops"]],
    }


def by_inductor(example: Example, setting: Setting) -> Built:
    """Compiles with torch.compile, which does its work in the first call."""
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
        # The default on processors with bfloat16 is less exact than the results of the other contenders.
        "INFERENCE_PRECISION_HINT": setting.dtype,
    }
    compiled, figures = _compile(lambda: core.compile_model(core.read_model(path), "CPU", options), export_ms=export_ms)
    request = compiled.create_infer_request()
    inputs = feed(example, [entry.any_name for entry in compiled.inputs])
    # The results are views of the memory of the request, which the next call overwrites.
    return Built(lambda: list(request.infer(inputs, share_inputs=True, share_outputs=True).to_tuple()), figures)


def by_iree(example: Example, setting: Setting) -> Built:
    """Compiles for the processor or, as iree-vulkan, for the first Vulkan device."""
    is_vulkan = setting.contender.endswith("-vulkan")
    path, export_ms = export_onnx(example, pathlib.Path(setting.folder))
    inputs = list(feed(example, input_names(path)).values())
    function, figures = _compile(lambda: compile_by_iree(path, setting.threads, is_vulkan), export_ms=export_ms)
    return Built(lambda: function(*inputs), figures)


def by_ncnn(example: Example, setting: Setting) -> Built:
    """Compiles for the processor or, as ncnn-vulkan, for the first Vulkan device."""
    is_vulkan = setting.contender.endswith("-vulkan")
    folder = pathlib.Path(setting.folder)
    call, figures = _compile(lambda: compile_by_ncnn(example, folder, setting.threads, is_vulkan))
    return Built(call, figures)


def by_executorch(example: Example, setting: Setting) -> Built:
    """Compiles with ExecuTorch, which uses as many threads as there are cores and has no option for that."""
    exported, export_ms = timed(lambda: torch.export.export(example.model, example.args, example.kwargs, strict=True))
    execute, figures = _compile(lambda: compile_by_executorch(exported), export_ms=export_ms)
    inputs = tensors((example.args, example.kwargs))
    return Built(lambda: execute(inputs), figures)


COMPILERS: dict[str, Callable[[Example, Setting], Built]] = {
    "torch": by_torch,
    "torch-cuda": by_torch_cuda,
    "inductor": by_inductor,
    "onnxruntime": by_onnxruntime,
    "openvino": by_openvino,
    "iree": by_iree,
    "iree-vulkan": by_iree,
    "ncnn": by_ncnn,
    "ncnn-vulkan": by_ncnn,
    "executorch": by_executorch,
}


def build(example: Example, setting: Setting) -> Built:
    compiler = by_inlay if is_inlay(setting.contender) else COMPILERS[setting.contender]
    return compiler(example, setting)
