# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists the versions of each ONNX op that its handler takes, and finds the handler of a node.

An op of ONNX has a new version whenever its specification changes. A handler is written for the newest version. Here,
each older version is listed that means the same, and `upgrades` has a function for each that doesn't. A version in
neither list is an error, so a handler never runs for a version that nobody compared with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import onnx

from ....errors import UnsupportedError, did_you_mean
from ..call import Handler
from ..domains import DEFAULT, DOMAINS, Op, domain_name, has_function, op_of
from .upgrades import UPGRADES

OLDEST = 1

# Op -> the versions that its handler takes.
TAKEN: dict[str, tuple[int, ...]] = {
    "Abs": (6, 13),
    "Acos": (7, 22),
    "Acosh": (9, 22),
    "Add": (7, 13, 14),
    "And": (7,),
    "ArgMax": (1, 11, 12, 13),
    "ArgMin": (1, 11, 12, 13),
    "Asin": (7, 22),
    "Asinh": (9, 22),
    "Atan": (7, 22),
    "Atanh": (9, 22),
    "Attention": (23, 24, 25),
    "AveragePool": (7, 10, 11, 19, 22),
    "BatchNormalization": (14, 15),
    "BitCast": (26,),
    "BitShift": (11, 28),
    "BitwiseAnd": (18,),
    "BitwiseNot": (18,),
    "BitwiseOr": (18,),
    "BitwiseXor": (18,),
    "Cast": (6, 9, 13, 19, 21, 23, 24, 25, 28),
    "CastLike": (15, 19, 21, 23, 24, 25),
    "Ceil": (6, 13),
    "Celu": (12, 28),
    "Clip": (11, 12, 13),
    "Col2Im": (18,),
    "Compress": (9, 11, 28),
    "Concat": (4, 11, 13),
    "ConcatFromSequence": (11,),
    "Constant": (1, 9, 11, 12, 13, 19, 21, 23, 24, 25),
    "ConstantOfShape": (9, 20, 21, 23, 24, 25),
    "Conv": (1, 11, 22),
    "ConvInteger": (10,),
    "ConvTranspose": (1, 11, 22),
    "Cos": (7, 22),
    "Cosh": (9, 22),
    "CumProd": (26,),
    "CumSum": (11, 14),
    "DFT": (20,),
    "DeformConv": (19, 22),
    "DepthToSpace": (1, 11, 13, 28),
    "DequantizeLinear": (10, 13, 19, 21, 23, 24, 25, 28),
    "Det": (11, 22),
    "Div": (7, 13, 14),
    "Dropout": (12, 13, 22),
    "Einsum": (12, 28),
    "Elu": (6, 22),
    "Equal": (7, 11, 13, 19),
    "Erf": (9, 13),
    "Exp": (6, 13),
    "Expand": (8, 13),
    "EyeLike": (9, 22),
    "Flatten": (1, 9, 11, 13, 21, 23, 24, 25),
    "Floor": (6, 13),
    "GRU": (7, 14, 22),
    "Gather": (1, 11, 13),
    "GatherElements": (11, 13),
    "GatherND": (11, 12, 13),
    "Gelu": (20,),
    "Gemm": (7, 9, 11, 13),
    "GlobalAveragePool": (1, 22),
    "GlobalLpPool": (2, 22),
    "GlobalMaxPool": (1, 22),
    "Greater": (7, 9, 13),
    "GreaterOrEqual": (12, 16),
    "GridSample": (20, 22),
    "GroupNormalization": (21,),
    "HardSigmoid": (6, 22),
    "HardSwish": (14, 22),
    "Hardmax": (13,),
    "Identity": (1, 13, 14, 16, 19, 21, 23, 24, 25),
    "If": (1, 11, 13, 16, 19, 21, 23, 24, 25),
    "InstanceNormalization": (6, 22),
    "IsInf": (10, 20),
    "IsNaN": (9, 13, 20),
    "LRN": (1, 13),
    "LSTM": (7, 14, 22),
    "LayerNormalization": (17,),
    "LeakyRelu": (6, 16),
    "Less": (7, 9, 13),
    "LessOrEqual": (12, 16),
    "Log": (6, 13),
    "LogSoftmax": (13,),
    "Loop": (1, 11, 13, 16, 19, 21, 23, 24, 25),
    "LpNormalization": (1, 22),
    "LpPool": (2, 11, 18, 22),
    "MatMul": (1, 9, 13),
    "MatMulInteger": (10,),
    "Max": (6, 8, 12, 13),
    "MaxPool": (1, 8, 10, 11, 12, 22),
    "MaxRoiPool": (1, 22),
    "MaxUnpool": (9, 11, 22),
    "Mean": (6, 8, 13),
    "MeanVarianceNormalization": (9, 13),
    "MelWeightMatrix": (17,),
    "Min": (6, 8, 12, 13),
    "Mish": (18, 22),
    "Mod": (10, 13, 28),
    "Mul": (7, 13, 14),
    "Multinomial": (7, 22),
    "Neg": (6, 13),
    "NonMaxSuppression": (10, 11),
    "NonZero": (9, 13),
    "Not": (1,),
    "OneHot": (11, 28),
    "Optional": (15, 28),
    "OptionalGetElement": (15, 18, 28),
    "OptionalHasElement": (15, 18, 28),
    "Or": (7,),
    "PRelu": (7, 9, 16),
    "Pad": (11, 13, 18, 19, 21, 23, 24, 25),
    "Pow": (7, 12, 13, 15),
    "QLinearConv": (10,),
    "QLinearMatMul": (10, 21),
    "QuantizeLinear": (10, 13, 19, 21, 23, 24, 25, 28),
    "RMSNormalization": (23,),
    "RNN": (7, 14, 22),
    "RandomNormal": (1, 22),
    "RandomNormalLike": (1, 22),
    "RandomUniform": (1, 22),
    "RandomUniformLike": (1, 22),
    "Range": (11, 27),
    "Reciprocal": (6, 13),
    "ReduceL1": (18,),
    "ReduceL2": (18,),
    "ReduceLogSum": (18, 28),
    "ReduceLogSumExp": (18, 28),
    "ReduceMax": (18, 20),
    "ReduceMean": (18,),
    "ReduceMin": (18, 20),
    "ReduceProd": (18,),
    "ReduceSum": (13,),
    "ReduceSumSquare": (18,),
    "Relu": (6, 13, 14),
    "Reshape": (5, 13, 14, 19, 21, 23, 24, 25),
    "Resize": (11, 13, 18, 19),
    "ReverseSequence": (10, 28),
    "RoiAlign": (10, 16, 22),
    "Round": (11, 22),
    "STFT": (17,),
    "Scan": (9, 11, 16, 19, 21, 23, 24, 25),
    "ScatterElements": (11, 13, 16, 18),
    "ScatterND": (11, 13, 16, 18),
    "Selu": (6, 22),
    "SequenceAt": (11,),
    "SequenceConstruct": (11,),
    "SequenceEmpty": (11,),
    "SequenceErase": (11,),
    "SequenceInsert": (11,),
    "SequenceLength": (11,),
    "SequenceMap": (17,),
    "Shape": (1, 13, 15, 19, 21, 23, 24, 25),
    "Sigmoid": (6, 13),
    "Sign": (9, 13),
    "Sin": (7, 22),
    "Sinh": (9, 22),
    "Size": (1, 13, 19, 21, 23, 24, 25),
    "Slice": (10, 11, 13),
    "Softmax": (13,),
    "Softplus": (1, 22),
    "Softsign": (1, 22),
    "SpaceToDepth": (1, 13, 28),
    "Split": (13, 18),
    "SplitToSequence": (11, 24),
    "Sqrt": (6, 13),
    "Squeeze": (13, 21, 23, 24, 25),
    "Sub": (7, 13, 14),
    "Sum": (6, 8, 13),
    "Swish": (24,),
    "Tan": (7, 22),
    "Tanh": (6, 13),
    "TensorScatter": (24,),
    "TfIdfVectorizer": (9,),
    "ThresholdedRelu": (10, 22),
    "Tile": (6, 13),
    "TopK": (10, 11, 24),
    "Transpose": (1, 13, 21, 23, 24, 25),
    "Trilu": (14,),
    "Unique": (11, 28),
    "Unsqueeze": (13, 21, 23, 24, 25),
    "Where": (9, 16),
    "Xor": (7,),
}


class OpTable:
    """Finds the handlers of nodes."""

    def __init__(self, handlers: Mapping[Op, Handler], fallback: Handler, version: int) -> None:
        """fallback: the handler of ops that the specification defines as functions. version: of ONNX's own ops."""
        self._handlers, self._fallback, self.version = handlers, fallback, version
        self._found: dict[Op, Handler] = {}

    def with_version(self, version: int) -> OpTable:
        """Returns a table for another version of ONNX's own ops."""
        return self if version == self.version else OpTable(self._handlers, self._fallback, version)

    def find(self, node: onnx.NodeProto, place: str) -> Handler:
        """Returns the handler of a node. place: the node, for messages.

        Raises UnsupportedError if there is none for the op, or none for the version of the op.
        """
        op = op_of(node)
        if op not in self._found:
            self._found[op] = self._find_own(op, place) if op.domain == DEFAULT else self._find_foreign(op, place)
        return self._found[op]

    def _find_foreign(self, op: Op, place: str) -> Handler:
        """Returns the handler of an op of another domain."""
        if op.domain not in DOMAINS:
            *domains, last = (repr(domain_name(domain)) for domain in DOMAINS)
            raise UnsupportedError(
                f"{place}: Inlay has no ops of the domain {op.domain!r}, only those of {', '.join(domains)} and {last}"
            )
        return self._handlers[op] if op in self._handlers else self._find_function(op, place)

    def _find_function(self, op: Op, place: str) -> Handler:
        """Returns the handler of an op that the specification defines as a function."""
        if not has_function(op, self.version):
            raise self._unknown(op, place, "Inlay can't import this op")
        return self._fallback

    def _find_own(self, op: Op, place: str) -> Handler:
        """Returns the handler of one of ONNX's own ops, with the steps from older versions before it."""
        schema = self._schema(op.name)
        if schema is None:
            raise self._unknown(op, place, f"version {self.version} of ONNX has no op of this name")
        name, since, steps = op.name, schema.since_version, []
        while (name, since) in UPGRADES:
            step = UPGRADES[name, since]
            steps.append(step.apply)
            name, since = step.op or name, step.version
        newest = Op(DEFAULT, name)
        if newest not in self._handlers:
            return self._find_function(op, place)
        if since not in TAKEN.get(name, ()):
            raise UnsupportedError(f"{place}: Inlay can't import version {since} of this op")
        handler = self._handlers[newest]
        for apply in reversed(steps):
            handler = partial(apply, handler)
        return handler

    def _schema(self, name: str) -> onnx.defs.OpSchema | None:
        """Returns the specification of an op in the model's version. None if there is none.

        ONNX withdrew some versions, which files still have. They are valid here if there is a step to a newer version.
        """
        try:
            schema = onnx.defs.get_schema(name, self.version, DEFAULT)
        except onnx.defs.SchemaError:
            return None
        withdrawn = schema.deprecated and (name, schema.since_version) not in UPGRADES
        return None if withdrawn else schema

    def _unknown(self, op: Op, place: str, reason: str) -> UnsupportedError:
        """Returns the exception for an op that is not known."""
        names = [known.name for known in self._handlers if known.domain == op.domain]
        return UnsupportedError(f"{place}: {reason}{did_you_mean(op.name, names)}")
