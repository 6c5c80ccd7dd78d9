# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers that compile a model into a program of their own format, which their runtime then loads."""

import contextlib
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any


def input_names(path: str) -> list[str]:
    """Those of an ONNX model; older ones list weights as inputs too."""
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    weights = {weight.name for weight in graph.initializer}
    return [entry.name for entry in graph.input if entry.name not in weights]


def compile_by_iree(path: str, threads: int) -> Callable[..., list[Any]]:
    """A function of numpy arrays: imported from ONNX, compiled for this processor, run by the runtime's own threads."""
    import iree.compiler
    import iree.runtime

    module = pathlib.Path(path).with_suffix(".mlir")
    importer = [sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "-o", os.fspath(module)]
    imported = subprocess.run([*importer, "--opset-version=17"], capture_output=True, text=True, check=False)
    if imported.returncode:
        raise RuntimeError(f"import_onnx failed: {imported.stderr.strip().splitlines()[-1]}")
    program = iree.compiler.compile_file(
        os.fspath(module), target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"]
    )
    iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
    config = iree.runtime.Config("local-task")
    loaded = iree.runtime.VmModule.copy_buffer(config.vm_instance, program)
    context = iree.runtime.SystemContext(config=config)
    context.add_vm_module(loaded)
    # Beside the function there are its twin that signals when it is done, and what sets up the module.
    name = next(name for name in loaded.function_names if "$" not in name and not name.startswith("_"))
    function = context.modules[loaded.name][name]

    def call(*arrays):
        results = function(*arrays)
        results = results if isinstance(results, list | tuple) else [results]
        return [result.to_host() for result in results]

    return call


def compile_by_executorch(exported: Any) -> Callable[[list[Any]], list[Any]]:
    """A function of tensors: lowered to XNNPACK where that has the op, to portable kernels elsewhere."""
    with contextlib.redirect_stdout(sys.stderr):
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        from executorch.exir import to_edge_transform_and_lower
        from executorch.runtime import Runtime

        lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        program = lowered.to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return method.execute
