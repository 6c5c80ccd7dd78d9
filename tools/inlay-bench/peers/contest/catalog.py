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
    "inductor": INLAY,
    "onnxruntime": Needs(("onnxruntime", "onnx", "onnxscript"), "onnxruntime onnx onnxscript"),
    "openvino": Needs(("openvino", "onnx", "onnxscript"), "openvino onnx onnxscript"),
    "iree": Needs(
        ("iree.compiler", "iree.runtime", "onnx", "onnxscript"), "iree-base-compiler[onnx] iree-base-runtime"
    ),
    "ncnn": Needs(("ncnn", "pnnx"), "ncnn pnnx"),
    "executorch": Needs(("executorch",), "executorch"),
}
REFERENCE = "torch"  # what every result is compared with, and whose latency is eager_ms


def canonical(peer: str) -> str:
    return SYNONYMS.get(peer, peer)


def label(contender: str) -> str:
    """What tables call it: `torch` is a list of Inlay's targets there."""
    return "eager" if contender == REFERENCE else contender.removeprefix("inlay:")


def is_inlay(contender: str) -> bool:
    return contender.startswith("inlay:")


def needs(contender: str) -> Needs:
    return INLAY if is_inlay(contender) else PEERS[contender]
