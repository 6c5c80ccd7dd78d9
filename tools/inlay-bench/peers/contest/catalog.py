# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contenders by name, with the modules that each one needs. This module imports nothing heavy."""

from dataclasses import dataclass

SYNONYMS = {"torch.compile": "inductor"}


@dataclass(frozen=True)
class Needs:
    """The modules that an interpreter must have to run a contender."""

    modules: tuple[str, ...]
    packages: str  # names for pip

    def hint(self) -> str:
        return f"pip install {self.packages}"


EVERY = ("torch", "transformers", "numpy", "inlay")  # each worker creates the model itself
INLAY = Needs(EVERY, "torch transformers numpy, and have inlay on PYTHONPATH")
PEERS = {
    "torch": INLAY,
    "torch-cuda": INLAY,
    "inductor": INLAY,
    "onnxruntime": Needs(("onnxruntime", "onnx", "onnxscript"), "onnxruntime onnx onnxscript"),
    "openvino": Needs(("openvino", "onnx", "onnxscript"), "openvino onnx onnxscript"),
    "iree": Needs(
        ("iree.compiler", "iree.runtime", "onnx", "onnxscript"), "iree-base-compiler[onnx] iree-base-runtime"
    ),
    "iree-vulkan": Needs(
        ("iree.compiler", "iree.runtime", "onnx", "onnxscript"), "iree-base-compiler[onnx] iree-base-runtime"
    ),
    "ncnn": Needs(("ncnn", "pnnx"), "ncnn pnnx"),
    "ncnn-vulkan": Needs(("ncnn", "pnnx"), "ncnn pnnx"),
    "executorch": Needs(("executorch",), "executorch"),
}
# Ops that a route with @activations keeps off its first target. They stand between products and convolutions, so the
# model is split into many segments.
ACTIVATIONS = frozenset(f"aten::{name}" for name in ("relu", "gelu", "silu", "hardswish", "hardsigmoid", "hardtanh"))
REFERENCE = "torch"  # its results are the expected ones, and its latency is eager_ms


def canonical(peer: str) -> str:
    return SYNONYMS.get(peer, peer)


def label(contender: str) -> str:
    """Returns the name of a contender in tables, where `torch` is a list of Inlay's targets."""
    return "eager" if contender == REFERENCE else contender.removeprefix("inlay:")


def is_inlay(contender: str) -> bool:
    return contender.startswith("inlay:")


@dataclass(frozen=True)
class Route:
    """A list of Inlay's targets. If `is_forced`, activations must not run on the first one."""

    targets: tuple[str, ...]
    is_forced: bool


def read_route(contender: str) -> Route:
    targets, _, forced = contender.removeprefix("inlay:").partition("@")
    if forced not in ("", "activations"):
        raise ValueError(f"expected a route to end in a target or in '@activations', but got '@{forced}'")
    return Route(tuple(targets.split("+")), bool(forced))


def needs(contender: str) -> Needs:
    return INLAY if is_inlay(contender) else PEERS[contender]
