# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for peers that compile a model to their own program format, which their runtime loads."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy
import torch
from inlay_models import Example
from subjects import tensors
from torch.utils import _pytree as pytree


def input_names(path: str) -> list[str]:
    """Returns the names of the inputs of an ONNX model without its weights, which older models also list as inputs."""
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    weights = {weight.name for weight in graph.initializer}
    return [entry.name for entry in graph.input if entry.name not in weights]


# Values of iree-compile's --iree-vulkan-target by a part of the name of the device.
VULKAN_TARGETS = {"llvmpipe": "llvmpipe", "nvidia": "ampere", "amd": "rdna3", "radeon": "rdna3", "intel": "arc"}


def find_vulkan_target() -> str:
    """Returns the target of the first device that IREE's driver lists."""
    import iree.runtime

    devices = iree.runtime.get_driver("vulkan").query_available_devices()
    name = devices[0]["name"] if devices else "none"
    for part, target in VULKAN_TARGETS.items():
        if part in name.lower():
            return target
    raise RuntimeError(f"expected a device that IREE has a target for, but got {name}")


def fetch(result: Any, device: Any) -> Any:
    """Copies an array of the device to the host.

    `to_host` fails on Vulkan: it tries to import memory that is not aligned to a page, which the driver refuses. This
    function copies through a staging buffer, as `to_host` does if memory can't be imported.
    """
    from iree.runtime import BufferUsage, HalElementType, HalFence, MemoryType

    view = result._buffer_view
    source = view.get_buffer()
    staging = device.allocator.allocate_buffer(
        memory_type=int(MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE),
        allowed_usage=int(BufferUsage.TRANSFER_TARGET | BufferUsage.MAPPING_SCOPED),
        allocation_size=source.byte_length(),
    )
    done = device.create_semaphore(0)
    before, after = HalFence.create_at(done, 0), HalFence.create_at(done, 1)
    device.queue_copy(source, staging, wait_semaphores=before, signal_semaphores=after)
    after.wait()
    return staging.map().asarray(view.shape, HalElementType.map_to_dtype(view.element_type))


def compile_by_iree(path: str, threads: int, is_vulkan: bool) -> Callable[..., list[Any]]:
    """Compiles an ONNX model with IREE for this processor or for the first Vulkan device.

    Returns a function of numpy arrays.
    """
    import iree.compiler
    import iree.runtime

    module = pathlib.Path(path).with_suffix(".mlir")
    importer = [sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "-o", os.fspath(module)]
    imported = subprocess.run([*importer, "--opset-version=17"], capture_output=True, text=True, check=False)
    if imported.returncode:
        raise RuntimeError(f"import_onnx failed: {imported.stderr.strip().splitlines()[-1]}")
    backend, option = "llvm-cpu", "--iree-llvmcpu-target-cpu=host"
    if is_vulkan:
        backend, option = "vulkan-spirv", f"--iree-vulkan-target={find_vulkan_target()}"
    program = iree.compiler.compile_file(os.fspath(module), target_backends=[backend], extra_args=[option])
    iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
    config = iree.runtime.Config("vulkan" if is_vulkan else "local-task")
    loaded = iree.runtime.VmModule.copy_buffer(config.vm_instance, program)
    context = iree.runtime.SystemContext(config=config)
    context.add_vm_module(loaded)
    # The module also has an asynchronous version of the function and initializers.
    name = next(name for name in loaded.function_names if "$" not in name and not name.startswith("_"))
    function = context.modules[loaded.name][name]

    def call(*arrays):
        results = function(*arrays)
        results = results if isinstance(results, list | tuple) else [results]
        return [fetch(result, config.device) if is_vulkan else result.to_host() for result in results]

    return call


class Flat(torch.nn.Module):
    """Wraps the module of an example so that its arguments and results are tensors without structure."""

    def __init__(self, example: Example) -> None:
        super().__init__()
        self.model = example.model
        self._spec = pytree.tree_structure((example.args, example.kwargs or {}))

    def forward(self, *leaves: torch.Tensor) -> tuple[torch.Tensor, ...]:
        args, kwargs = pytree.tree_unflatten(list(leaves), self._spec)
        results = pytree.tree_leaves(self.model(*args, **kwargs))
        return tuple(leaf for leaf in results if isinstance(leaf, torch.Tensor))


def compile_by_ncnn(example: Example, folder: pathlib.Path, threads: int, is_vulkan: bool) -> Callable[[], list[Any]]:
    """Converts the module with pnnx and returns a function that runs it with ncnn.

    With `is_vulkan`, layers that have Vulkan code run on the device. pnnx removes the batch dim of inputs with a batch
    of one and writes a Python file that says so.
    """
    import ncnn
    import pnnx

    stem = "by_ncnn_vulkan" if is_vulkan else "by_ncnn"
    given = tensors((example.args, example.kwargs))
    flat = Flat(example).eval()
    shapes = [tuple(result.shape) for result in flat(*given)]
    with contextlib.redirect_stdout(sys.stderr):
        pnnx.export(flat, os.fspath(folder / f"{stem}.pt"), inputs=tuple(given), fp16=False)
    if is_vulkan and ncnn.get_gpu_count() == 0:
        raise RuntimeError("ncnn finds no Vulkan device")
    net = ncnn.Net()
    net.opt.num_threads = threads
    net.opt.use_vulkan_compute = is_vulkan
    for option in filter(lambda name: "16" in name, dir(net.opt)):  # these would compute in half floats
        setattr(net.opt, option, False)
    for load, suffix in ((net.load_param, "param"), (net.load_model, "bin")):
        path = folder / f"{stem}.ncnn.{suffix}"
        if not path.exists() or load(os.fspath(path)) != 0:
            raise RuntimeError(f"pnnx wrote no {path.name} that ncnn can load")
    glue = (folder / f"{stem}_ncnn.py").read_text()
    squeezed = dict(re.findall(r'ex\.input\("(\w+)", ncnn\.Mat\(\w+(?:\.squeeze\((\d)\))?', glue))
    names = re.findall(r'ex\.extract\("(\w+)"\)', glue)
    if len(squeezed) != len(given) or len(names) != len(shapes):
        found = f"{len(squeezed)} of {len(given)} inputs and {len(names)} of {len(shapes)} results"
        raise RuntimeError(f"pnnx kept {found}")
    arrays = [
        (name, numpy.ascontiguousarray(value.squeeze(int(dim)) if dim else value))
        for (name, dim), value in zip(squeezed.items(), given, strict=True)
    ]

    def call() -> list[Any]:
        results = []
        with net.create_extractor() as extractor:
            for name, array in arrays:
                extractor.input(name, ncnn.Mat(array))
            for name, shape in zip(names, shapes, strict=True):
                code, result = extractor.extract(name)
                if code != 0:
                    raise RuntimeError(f"ncnn can't compute '{name}': code {code}")
                results.append(numpy.array(result).reshape(shape))
        return results

    return call


def compile_by_executorch(exported: Any) -> Callable[[list[Any]], list[Any]]:
    """Compiles with ExecuTorch, to XNNPACK for the ops that it has and to portable kernels for the others.

    Returns a function of tensors.
    """
    with contextlib.redirect_stdout(sys.stderr):
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        from executorch.exir import to_edge_transform_and_lower
        from executorch.runtime import Runtime

        lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        program = lowered.to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return method.execute
