# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models with control flow in the text form of ONNX."""

import onnx.parser
import torch

X = torch.arange(6, dtype=torch.float32).reshape(2, 3) - 2
YES, NO = torch.tensor(True), torch.tensor(False)


def integer(value):
    return torch.tensor(value)


def parse(text, opset=20):
    """Returns the model for the text of its graph."""
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]>\n{text}')


# name -> (text, sets of arguments, expected ops with regions)
MODELS = {
    "if": (
        """
        g (float[2,3] x, bool c) => (float[2,3] y) <float[3] w = {1.0, 2.0, 3.0}> {
          k = Add(x, w)
          [choose] y = If(c) <
            then_branch = one () => (float[2,3] a) { t = Mul(x, k)
              a = Relu(t) },
            else_branch = two () => (float[2,3] b) <float[3] v = {5.0, 6.0, 7.0}> { b = Sub(k, v) }
          >
        }
        """,
        [(X, YES), (X, NO)],
        ["if"],
    ),
    "if of a known condition": (
        """
        g (float[2,3] x) => (float[2,3] y) <bool c = {1}> {
          y = If(c) <
            then_branch = one () => (float[2,3] a) { a = Relu(x) },
            else_branch = two () => (float[4] b) { b = Constant <value = float[4] {1.0, 2.0, 3.0, 4.0}> () }
          >
        }
        """,
        [(X,)],
        [],
    ),
    "if of one element": (
        """
        g (float[2,3] x, bool[1] c) => (float[2,3] y, float s) {
          y, s = If(c) <
            then_branch = one () => (float[2,3] a, float p) { a = Identity(x)
              p = ReduceSum <keepdims = 0> (x) },
            else_branch = two () => (float[2,3] b, float q) { b = Neg(x)
              q = ReduceMax <keepdims = 0> (x) }
          >
        }
        """,
        [(X, YES[None]), (X, NO[None])],
        ["if"],
    ),
    "nested ifs": (
        """
        g (float[2,3] x, bool c, bool d) => (float[2,3] y) <float two = {2.0}> {
          y = If(c) <
            then_branch = one () => (float[2,3] a) {
              k = Mul(x, two)
              a = If(d) <
                then_branch = three () => (float[2,3] e) { e = Add(k, x) },
                else_branch = four () => (float[2,3] f) { f = Sub(k, two) }
              >
            },
            else_branch = other () => (float[2,3] b) { b = Neg(x) }
          >
        }
        """,
        [(X, YES, YES), (X, YES, NO), (X, NO, NO)],
        ["if", "if"],
    ),
    "loop of a known number": (
        """
        g (float[2,3] x) => (float[2,3] y, float[4,2,3] all) <int64 n = {4}, bool go = {1}, float half = {0.5}> {
          y, all = Loop(n, go, x) <
            body = round (int64 i, bool goes, float[2,3] v) => (bool on, float[2,3] new, float[2,3] made) {
              on = Identity(goes)
              f = Cast <to = 1> (i)
              t = Mul(v, half)
              new = Add(t, f)
              made = Sub(new, x)
            }
          >
        }
        """,
        [(X,)],
        ["for"],
    ),
    "loop of a number": (
        """
        g (float[2,3] x, int64 n) => (float[2,3] y) <bool go = {1}> {
          y = Loop(n, go, x) <
            body = round (int64 i, bool goes, float[2,3] v) => (bool on, float[2,3] new) {
              on = Identity(goes)
              f = Cast <to = 1> (i)
              new = Add(v, f)
            }
          >
        }
        """,
        [(X, integer(3)), (X, integer(0))],
        ["while"],
    ),
    "loop without a condition": (
        """
        g (float[2,3] x, int64 n) => (float[2,3] y) {
          y = Loop(n, , x) <
            body = round (int64 i, bool goes, float[2,3] v) => (bool on, float[2,3] new) {
              new = Add(v, v)
              s = ReduceMax <keepdims = 0> (new)
              most = Constant <value = float {10.0}> ()
              on = Less(s, most)
            }
          >
        }
        """,
        [(X, integer(2)), (X, integer(9)), (X, integer(0))],
        ["while"],
    ),
    "loop of a condition": (
        """
        g (float[2,3] x, bool c) => (float[2,3] y, int64 count)
        <float most = {40.0}, int64 zero = {0}, int64 one = {1}> {
          y, count = Loop(, c, x, zero) <
            body = round (int64 i, bool goes, float[2,3] v, int64 k) => (bool on, float[2,3] new, int64 next) {
              new = Add(v, v)
              s = ReduceMax <keepdims = 0> (new)
              on = Less(s, most)
              next = Add(k, one)
            }
          >
        }
        """,
        [(X, YES), (X, NO), (-X, YES)],
        ["while"],
    ),
    "loop of both": (
        """
        g (float[2,3] x, int64[1] n, bool[1] c) => (float[2,3] y) <float most = {40.0}> {
          y = Loop(n, c, x) <
            body = round (int64 i, bool[1] goes, float[2,3] v) => (bool[1] on, float[2,3] new) {
              new = Add(v, v)
              s = ReduceMax <keepdims = 0> (new)
              less = Less(s, most)
              shape = Constant <value = int64[1] {1}> ()
              on = Reshape(less, shape)
            }
          >
        }
        """,
        [(X, integer([9]), YES[None]), (X, integer([2]), YES[None]), (X, integer([2]), NO[None])],
        ["while"],
    ),
    "if in a loop": (
        """
        g (float[2,3] x, int64 n) => (float[2,3] y) <bool go = {1}, float zero = {0.0}> {
          k = Mul(x, x)
          y = Loop(n, go, x) <
            body = round (int64 i, bool goes, float[2,3] v) => (bool on, float[2,3] new) {
              on = Identity(goes)
              s = ReduceSum <keepdims = 0> (v)
              positive = Greater(s, zero)
              new = If(positive) <
                then_branch = one () => (float[2,3] a) { t = Sub(v, k)
                  a = Sub(t, x) },
                else_branch = two () => (float[2,3] b) { b = Add(v, k) }
              >
            }
          >
        }
        """,
        [(X, integer(5)), (X, integer(0)), (-X, integer(1))],
        ["if", "while"],
    ),
    "a name of an own": (
        """
        g (float[2,3] x, bool c) => (float[2,3] y) {
          t = Relu(x)
          y = If(c) <
            then_branch = one () => (float[2,3] a) { u = Neg(t)
              a = Add(u, x) },
            else_branch = two () => (float[2,3] a2) { u = Abs(t)
              a2 = Sub(u, x) }
          >
        }
        """,
        [(X, YES), (X, NO)],
        ["if"],
    ),
    "scan": (
        """
        g (float[3] start, float[2,3] x) => (float[3] last, float[2,3] all) {
          last, all = Scan <num_scan_inputs = 1,
            body = round (float[3] v, float[3] part) => (float[3] new, float[3] made) {
              new = Add(v, part)
              made = Mul(new, part)
            }
          > (start, x)
        }
        """,
        [(X[0], X)],
        ["for"],
    ),
    "scan of other dims, backwards": (
        """
        g (float[2] start, float[2,3] x, float[3,2] z) => (float[2] last, float[2,3] all, float[3] sums) {
          last, all, sums = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0], scan_input_directions = [1, 0],
            scan_output_axes = [1, 0], scan_output_directions = [0, 1],
            body = round (float[2] v, float[2] part, float[2] other) => (float[2] new, float[2] made, float s) {
              t = Add(v, part)
              new = Sub(t, other)
              made = Mul(new, part)
              s = ReduceSum <keepdims = 0> (new)
            }
          > (start, x, z)
        }
        """,
        [(X[0, :2], X, X.t().contiguous())],
        ["for"],
    ),
}

# name -> (text, expected error)
REFUSED = {
    "other shapes": (
        """
        g (float[2,3] x, bool c) => (float[n,3] y) {
          [choose] y = If(c) <
            then_branch = one () => (float[2,3] a) { a = Relu(x) },
            else_branch = two () => (float[4,3] b) { b = Concat <axis = 0> (x, x) }
          >
        }
        """,
        r"only the target 'torch'.*node 0, 'choose' \(If .*output 0 is float32\[2x3\] in one branch and float32\[4x3\]",
    ),
    "no end": (
        """
        g (float[2,3] x) => (float[2,3] y) {
          [endless] y = Loop(, , x) <
            body = round (int64 i, bool goes, float[2,3] v) => (bool on, float[2,3] new) {
              on = Identity(goes)
              new = Relu(v)
            }
          >
        }
        """,
        r"node 0, 'endless' \(Loop .*does not end",
    ),
    "an op in a branch": (
        """
        g (float[2,3] x, bool c) => (float[2,3] y) {
          [choose] y = If(c) <
            then_branch = one () => (float[2,3] a) { a = Relu(x) },
            else_branch = two () => (float[2,3] b) { u = Neg(x)
              [unknown] b = Unknown(u) }
          >
        }
        """,
        r"node 1, 'unknown' \(Unknown of domain 'ai.onnx'\), in else_branch of node 0, 'choose' .*no op of this name",
    ),
}
