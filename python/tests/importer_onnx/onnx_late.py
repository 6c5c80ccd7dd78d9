# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models whose structure is known only at a call: sizes, axes, conditions and sequences that depend on data."""

import torch

X = torch.arange(6.0).reshape(2, 3) - 2
I = torch.tensor
BOXES = torch.tensor([[[0.0, 0, 1, 1], [0, 0.1, 1, 1.1], [1, 1, 0.2, 0.1], [5, 5, 6, 6]]])
SCORES = torch.tensor([[[0.9, 0.8, 0.7, 0.2], [0.3, 0.3, 0.95, 0.5]]])

# Name -> text of the model, sets of inputs. Each model is compiled once for all sets.
MODELS = {
    "reshape": (
        "g (float[2,3] x, int64[2] s) => (float[a,b] y) { r = Reshape(x, s)  y = Mul(r, r) }",
        [(X, I([3, 2])), (X, I([-1, 1]))],
    ),
    "expand": ("g (float[2,3] x, int64[3] s) => (float[a,b,c] y) { y = Expand(x, s) }", [(X, I([4, 1, 1]))]),
    "tile": ("g (float[2,3] x, int64[2] s) => (float[a,b] y) { y = Tile(x, s) }", [(X, I([2, 1])), (X, I([0, 3]))]),
    "slice": (
        "g (float[2,3] x, int64[1] s, int64[1] e, int64[1] a, int64[1] t) => (float[a,b] y)"
        " { y = Slice(x, s, e, a, t) }",
        [(X, I([1]), I([9]), I([1]), I([1])), (X, I([-1]), I([-9]), I([0]), I([-1]))],
    ),
    "pad": (
        'g (float[2,3] x, int64[4] p) => (float[a,b] y) { y = Pad <mode = "reflect"> (x, p) }',
        [(X, I([1, 2, 0, 1])), (X, I([0, 0, 0, 0]))],
    ),
    "top k": ("g (float[2,3] x, int64[1] k) => (float[a,b] v, int64[a,b] i) { v, i = TopK(x, k) }", [(X, I([2]))]),
    "squeeze": ("g (float[1,3,1] x, int64[1] a) => (float[b,c] y) { y = Squeeze(x, a) }", [(X[:1, :, None], I([2]))]),
    "unsqueeze": ("g (float[2,3] x, int64[1] a) => (float[b,c,d] y) { y = Unsqueeze(x, a) }", [(X, I([-1]))]),
    "reduce": (
        "g (float[2,3] x, int64[1] a) => (float[b] y, float[c,d] z)"
        " { y = ReduceSum <keepdims = 0> (x, a)  z = ReduceMax(x, a) }",
        [(X, I([0])), (X, I([-1]))],
    ),
    "constant of shape": ("g (int64[2] s) => (float[a,b] y) { y = ConstantOfShape(s) }", [(I([2, 3]),), (I([0, 1]),)]),
    "range": ("g (int64 a, int64 b, int64 c) => (int64[n] y) { y = Range(a, b, c) }", [(I(1), I(9), I(3))]),
    "one hot": (
        "g (int64[2] x, int64 d, float[2] v) => (float[2,n] y) { y = OneHot(x, d, v) }",
        [(I([1, -1]), I(3), X[0, :2])],
    ),
    "split": (
        "g (float[2,3] x, int64[2] s) => (float[2,a] y, float[2,b] z) { y, z = Split <axis = 1> (x, s) }",
        [(X, I([1, 2])), (X, I([3, 0]))],
    ),
    "cumulative sum": ("g (float[2,3] x, int64 a) => (float[2,3] y) { y = CumSum(x, a) }", [(X, I(0)), (X, I(-1))]),
    "triangle": ("g (float[2,3] x, int64 k) => (float[2,3] y) { y = Trilu(x, k) }", [(X, I(1)), (X, I(-1))]),
    "dims of other calls": (
        "g (float[2,3] x, int64[2] s) => (int64[2] t, float[b,c] z)"
        " { y = Tile(x, s)  t = Shape(y)  u = Expand(x, s)  z = Reshape(y, t) }",
        [(X, I([2, 3]))],
    ),
    "rank": (
        """
        g (float[2,3] x, bool c) => (float[n] z) <int64[1] flat = {-1}, int64[1] zero = {0}> {
          y = If(c) <
            then_branch = one () => (float[2,3] a) { a = Relu(x) },
            else_branch = two () => (float[3] b) { b = ReduceSum <keepdims = 0> (x, zero) }
          >
          z = Reshape(y, flat)
        }
        """,
        [(X, I(True)), (X, I(False))],
    ),
    "branches of other dims": (
        """
        g (float[2,3] x, bool c) => (float[n,3] y) {
          z = If(c) <
            then_branch = one () => (float[2,3] a) { a = Relu(x) },
            else_branch = two () => (float[4,3] b) <float[4,3] w = {0,1,2,3,4,5,6,7,8,9,10,11}> {
              d = Concat <axis = 0> (x, x)
              b = Add(d, w)
            }
          >
          y = Neg(z)
        }
        """,
        [(X, I(True)), (X, I(False))],
    ),
    "a loop that grows": (
        """
        g (float[2,3] x, int64 n) => (float[b,3] y) <bool go = {1}> {
          y = Loop(n, go, x) <
            body = round (int64 i, bool goes, float[c,3] v) => (bool on, float[d,3] new) {
              on = Identity(goes)
              new = Concat <axis = 0> (v, v)
            }
          >
        }
        """,
        [(X, I(2)), (X, I(0))],
    ),
    "a loop of a known number that grows": (
        """
        g (float[2,3] x) => (float[b,3] y) <bool go = {1}, int64 n = {3}> {
          y = Loop(n, go, x) <
            body = round (int64 i, bool goes, float[c,3] v) => (bool on, float[d,3] new) {
              on = Identity(goes)
              new = Concat <axis = 0> (v, x)
            }
          >
        }
        """,
        [(X,)],
    ),
    "outputs of a loop that ends early": (
        """
        g (float[2,3] x, int64 n, float most) => (float[2,3] y, float[m,2,3] all) <bool go = {1}, float two = {2}> {
          y, all = Loop(n, go, x) <
            body = round (int64 i, bool goes, float[2,3] v) => (bool on, float[2,3] new, float[2,3] made) {
              new = Mul(v, two)
              made = Neg(new)
              top = ReduceMax <keepdims = 0> (new)
              on = Less(top, most)
            }
          >
        }
        """,
        [(X, I(9), I(20.0)), (X, I(2), I(100.0)), (X, I(0), I(1.0))],
    ),
    "sequences of a loop": (
        """
        g (float[2,3] x, int64 n) => (float[b,3] y, int64 count) <bool go = {1}> {
          empty = SequenceEmpty()
          all = Loop(n, go, empty) <
            body = round (int64 i, bool goes, seq(float[2,3]) v) => (bool on, seq(float[2,3]) new) {
              on = Identity(goes)
              f = Cast <to = 1> (i)
              part = Add(x, f)
              new = SequenceInsert(v, part)
            }
          >
          y = ConcatFromSequence <axis = 0> (all)
          count = SequenceLength(all)
        }
        """,
        [(X, I(2)), (X, I(4))],
    ),
    "sequences": (
        """
        g (float[2,3] x) => (float[3] y, float[4,3] z, int64 count) <int64 one = {1}, int64 last = {-1}> {
          parts = SplitToSequence <keepdims = 0> (x)
          first = SequenceAt(parts, last)
          more = SequenceInsert(parts, first, one)
          less = SequenceErase(more, last)
          both = SequenceConstruct(x, x)
          y = SequenceAt(less, one)
          z = ConcatFromSequence <axis = 0> (both)
          count = SequenceLength(less)
        }
        """,
        [(X,)],
    ),
    "non zero": ("g (float[2,3] x) => (int64[2,n] y) { p = Relu(x)  y = NonZero(p) }", [(X,), (-X,)]),
    "compress": (
        "g (float[2,3] x, bool[2] c) => (float[n] y, float[2,m] z)"
        " { y = Compress(x, c)  z = Compress <axis = 1> (x, c) }",
        [(X, I([True, False])), (X, I([False, False]))],
    ),
    "unique": (
        "g (float[2,3] x) => (float[n] a, int64[n] b, int64[m] c, int64[n] d, float[2,k] e, int64[k] f, int64[3] h)"
        " { y = Mul(x, x)  a, b, c, d = Unique <sorted = 0> (y)  e, f, h = Unique <axis = 1> (y) }",
        [(X,), (X * 0,)],
    ),
    "boxes": (
        """
        g (float[1,4,4] x, float[1,2,4] s, int64[1] n, float[1] i, float[1] t) => (int64[a,3] y, int64[b,3] z) {
          y = NonMaxSuppression(x, s, n, i, t)
          z = NonMaxSuppression <center_point_box = 1> (x, s, n, i)
        }
        """,
        [(BOXES, SCORES, I([3]), I([0.4]), I([0.25])), (BOXES, SCORES, I([1]), I([0.0]), I([0.9]))],
    ),
    "calls on sizes that data decides": (
        """
        g (float[2,3] x) => (float[k,3] y, float[k,k] z, float s, int64[k,1] p, float[a,b] r)
          <float zero = {0}, int64[1] ax = {1}, int64[2] flat = {-1, 1}, int64 one = {1}> {
          row = ReduceMax <keepdims = 0> (x, ax)
          keep = GreaterOrEqual(row, zero)
          y = Compress <axis = 0> (x, keep)
          t = Transpose(y)
          z = MatMul(y, t)
          places = NonZero(keep)
          p = Reshape(places, flat)
          s = ReduceSum <keepdims = 0> (z)
          dims = Shape(y)
          width = Gather(dims, one)
          e = Expand(width, dims)
          f = Cast <to = 1> (e)
          r = Add(f, y)
        }
        """,
        [(X,), (-X,), (X - 9,)],
    ),
    "the best boxes": (
        """
        g (float[1,4,4] x, float[1,2,4] s) => (float[k,4] boxes, float[m] top)
          <int64[1] n = {3}, float[1] i = {0.4}, float[1] t = {0.25}, int64[1] zero = {0}, int64[1] one = {1},
          int64[1] three = {3}, int64 two = {2}> {
          chosen = NonMaxSuppression(x, s, n, i, t)
          numbers = Gather <axis = 1> (chosen, two)
          all = Squeeze(x, zero)
          boxes = Gather <axis = 0> (all, numbers)
          pairs = Slice(chosen, one, three, one)
          scores = Squeeze(s, zero)
          kept = GatherND(scores, pairs)
          count = Shape(kept)
          most = Min(count, three)
          top, order = TopK(kept, most)
        }
        """,
        [(BOXES, SCORES), (BOXES, SCORES * 0.5), (BOXES, SCORES * 0)],
    ),
    "sizes in branches that data decides": (
        """
        g (float[2,3] x, bool c, bool[2] k, int64[2] s) => (float[3] y, float[2,3] w) <int64[1] ax = {0}> {
          y = If(c) <
            then_branch = one () => (float[3] a) {
              p = Compress <axis = 0> (x, k)
              q = Mul(p, p)
              a = ReduceSum <keepdims = 0> (q, ax)
            },
            else_branch = two () => (float[3] b) {
              t = Reshape(x, s)
              u = ReduceSum <keepdims = 0> (t, ax)
              v = ReduceMax <keepdims = 0> (u)
              z = ReduceSum <keepdims = 0> (x, ax)
              b = Add(z, v)
            }
          >
          w = Relu(x)
        }
        """,
        [(X, I(True), I([True, False]), I([6, 1])), (X, I(False), I([True, True]), I([-1, 2]))],
    ),
}
