# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small ONNX models for tests, and their results."""

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator


class Known:
    """An operand that is an initializer of the model."""

    def __init__(self, value, dtype=None):
        if isinstance(value, torch.Tensor | np.ndarray):
            self.array = np.asarray(value)
            return
        self.array = np.array(value, dtype=dtype or (np.int64 if np.array(value).dtype.kind == "i" else np.float32))


def array_of(tensor):
    """Returns a tensor or a Known as a NumPy array."""
    return tensor.array if isinstance(tensor, Known) else tensor.numpy()


def model_of(nodes, inputs, outputs, initializers=(), opset=20, **more):
    """Returns a model, which may be invalid.

    inputs: (TensorProto type, dims) by name. outputs: names, or a dict as of the inputs. initializers: TensorProtos or
    (name, array).
    """
    infos = [helper.make_tensor_value_info(name, *one) for name, one in inputs.items()]
    types = outputs if isinstance(outputs, dict) else dict.fromkeys(outputs)
    results = [
        helper.make_tensor_value_info(name, *one) if one else onnx.ValueInfoProto(name=name)
        for name, one in types.items()
    ]
    tensors = [numpy_helper.from_array(one[1], one[0]) if isinstance(one, tuple) else one for one in initializers]
    graph = helper.make_graph(nodes, "graph", infos, results, tensors)
    opsets = more.pop("opsets", [helper.make_opsetid("", opset)])
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, **more)


def model_of_op(op, operands, attributes, opset=20, outputs=1, domain=""):
    """Returns a model of a node and its arguments.

    operands: tensors (inputs), Knowns (initializers) or None. outputs: their count or the numbers of those in use.
    """
    wanted = range(outputs) if isinstance(outputs, int) else outputs
    inputs, initializers, arguments, names = {}, [], [], []
    for number, operand in enumerate(operands):
        names.append("" if operand is None else f"x{number}")
        if isinstance(operand, Known):
            initializers.append((names[-1], operand.array))
        elif operand is not None:
            array = operand.numpy()
            inputs[names[-1]] = (helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            arguments.append(operand)
    results = [f"y{number}" if number in wanted else "" for number in range(max(wanted) + 1)]
    node = helper.make_node(op, names, results, name="it", domain=domain, **attributes)
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    model = model_of([node], inputs, [name for name in results if name], initializers, opsets=opsets)
    for info, array in zip(model.graph.output, run_onnxruntime(model, arguments), strict=True):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        info.CopyFrom(helper.make_tensor_value_info(info.name, kind, array.shape))
    return model, arguments


def narrow(weights):
    """Returns int8 numbers with 7 bits of `weights`.

    On processors without VNNI, ONNX Runtime saturates the sums of two products of uint8 by int8 at 16 bits. Numbers of
    7 bits stay below.
    """
    return weights >> 1


def run_onnxruntime(model, arguments):
    """Returns the results of ONNX Runtime without optimization, or of the reference of ONNX if it lacks an op."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        names = [one.name for one in session.get_inputs()]
        return session.run(None, {name: one.numpy() for name, one in zip(names, arguments, strict=True)})
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        names = [one.name for one in model.graph.input]
        return ReferenceEvaluator(model).run(None, {n: one.numpy() for n, one in zip(names, arguments, strict=True)})


def difference(got, expected):
    """Returns the largest difference relative to the largest finite element. Non-finite elements must be equal."""
    got = list(got) if isinstance(got, (tuple, list)) else [got]
    assert len(got) == len(expected)
    shares = [0.0]
    for ours, theirs in zip(got, expected, strict=True):
        theirs = torch.from_numpy(np.asarray(theirs))
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        ours, theirs = ours.double(), theirs.double()
        finite = theirs.isfinite()
        assert torch.equal(ours.isfinite(), finite)
        torch.testing.assert_close(ours[~finite], theirs[~finite], equal_nan=True, rtol=0, atol=0)
        if finite.any():
            largest = max(float(theirs[finite].abs().max()), 1e-6)
            shares.append(float((ours - theirs)[finite].abs().max()) / largest)
    return max(shares)
