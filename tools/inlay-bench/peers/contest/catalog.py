# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contenders by name: what each needs to be installed. Nothing heavy is imported here."""

from dataclasses import dataclass

SYNONYMS = {"torch.compile": "inductor"}


@dataclass(frozen=True)
class Needs:
    """What an interpreter must have to run a contender."""

    modules: tuple[str, ...]
    packages: str  # as pip names them

    def hint(self) -> str:
        return f"pip install {self.packages}"


EVERY = ("torch", "transformers", "numpy", "inlay")  # each worker makes the model itself
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
# What a route that ends in @activations leaves to the target after the first: between products and convolutions, so
# that a model falls into many segments.
ACTIVATIONS = frozenset(f"aten::{name}" for name in ("relu", "gelu", "silu", "hardswish", "hardsigmoid", "hardtanh"))
REFERENCE = "torch"  # what every result is compared with, and whose latency is eager_ms


def canonical(peer: str) -> str:
    return SYNONYMS.get(peer, peer)


def label(contender: str) -> str:
    """What tables call it: `torch` is a list of Inlay's targets there."""
    return "eager" if contender == REFERENCE else contender.removeprefix("inlay:")


def is_inlay(contender: str) -> bool:
    return contender.startswith("inlay:")


@dataclass(frozen=True)
class Route:
    """A list of Inlay's targets, and whether activations are kept from the first."""

    targets: tuple[str, ...]
    is_forced: bool


def read_route(contender: str) -> Route:
    targets, _, forced = contender.removeprefix("inlay:").partition("@")
    if forced not in ("", "activations"):
        raise ValueError(f"expected a route to end in @activations or in targets alone, but got '@{forced}'")
    return Route(tuple(targets.split("+")), bool(forced))


def needs(contender: str) -> Needs:
    return INLAY if is_inlay(contender) else PEERS[contender]
