// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Built-in matrix products. B is packed into panels that are two vectors wide, and a block of C's rows is kept in
// registers. The blocking is that of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM
// TOMS 34, 2008), without the blocks for outer caches: slices of work take their place. Each sum runs over k in
// ascending order.

#include "PortableGemm.h"
#include "Runtime/Host/Support/Memory.h"
#include "Simd.h"

#include <algorithm>

namespace inlay::rt::host {

static constexpr int64_t kPanel = 2 * kLanes;
/// Number of rows whose sums fit the registers of AVX-512 beside two vectors of B.
static constexpr int64_t kRows = 12;

struct Panel {
  const float *a;
  int64_t aRow, aColumn;
  const float *b; ///< Elements [k, kPanel].
  float *c;
  int64_t cRow;
  int64_t rows, columns, k;
  bool accumulates;
};

/// The product of one row and B. It needs no panels, because B is read once. B's columns or rows must be adjacent.
struct RowProduct {
  const float *a;
  int64_t aColumn;
  const float *b;
  int64_t bRow, bColumn;
  float *c;
  int64_t columns, k;
  bool accumulates;
};

} // namespace inlay::rt::host

#define INLAY_PER_TARGET "PortableGemm.inc"
#include "PerTarget.inc"

namespace inlay::rt::host {

static void multiplyPanel(const Panel &panel) { INLAY_DISPATCH(multiplyPanel, (panel)) }
static void multiplyRow(const RowProduct &product) { INLAY_DISPATCH(multiplyRow, (product)) }
static void multiplyDots(const RowProduct &product) { INLAY_DISPATCH(multiplyDots, (product)) }

namespace {
class PortableGemm : public Gemm {
public:
  explicit PortableGemm(const GemmShape &shape) : shape(shape) {}

  std::string packFormat() const override {
    const int64_t format[] = {shape.n, shape.k, shape.bRow, shape.bColumn};
    return "panels" + std::string(reinterpret_cast<const char *>(format), sizeof(format));
  }
  size_t packedBytes() const override {
    return static_cast<size_t>((shape.n + kPanel - 1) / kPanel * kPanel * shape.k) * sizeof(float);
  }
  Status pack(const float *b, void *packed) const override {
    for (int64_t first = 0; first < shape.n; first += kPanel)
      packPanel(b, first, static_cast<float *>(packed) + first * shape.k);
    return Status::ok();
  }
  Status run(const float *a, const void *b, float *c) const override;

private:
  void packPanel(const float *b, int64_t first, float *panel) const;

  GemmShape shape;
};
} // namespace

void PortableGemm::packPanel(const float *b, int64_t first, float *panel) const {
  int64_t columns = std::min(kPanel, shape.n - first);
  for (int64_t k = 0; k < shape.k; ++k) {
    const float *from = b + k * shape.bRow + first * shape.bColumn;
    float *to = panel + k * kPanel;
    if (shape.bColumn == 1)
      std::memcpy(to, from, static_cast<size_t>(columns) * sizeof(float));
    else
      for (int64_t column = 0; column < columns; ++column)
        to[column] = from[column * shape.bColumn];
    std::fill(to + columns, to + kPanel, 0.0f);
  }
}

Status PortableGemm::run(const float *a, const void *b, float *c) const {
  if (shape.m == 1 && !shape.packsB) {
    RowProduct product{a,       shape.aColumn,    static_cast<const float *>(b), shape.bRow, shape.bColumn, c, shape.n,
                       shape.k, shape.accumulates};
    if (shape.bColumn == 1) {
      multiplyRow(product);
      return Status::ok();
    }
    if (shape.bRow == 1 && shape.aColumn == 1) {
      multiplyDots(product);
      return Status::ok();
    }
  }
  static Scratch scratch;
  float *panel = nullptr;
  if (!shape.packsB) {
    panel = static_cast<float *>(scratch.reserve(static_cast<size_t>(shape.k * kPanel) * sizeof(float)));
    if (!panel)
      return {StatusCode::ResourceExhausted, "no memory for a panel of a matrix"};
  }
  for (int64_t first = 0; first < shape.n; first += kPanel) {
    const float *from = static_cast<const float *>(b);
    if (panel)
      packPanel(from, first, panel);
    multiplyPanel({a, shape.aRow, shape.aColumn, panel ? panel : from + first * shape.k, c + first, shape.cRow, shape.m,
                   std::min(kPanel, shape.n - first), shape.k, shape.accumulates});
  }
  return Status::ok();
}

std::shared_ptr<Gemm> makePortableGemm(const GemmShape &shape) { return std::make_shared<PortableGemm>(shape); }

} // namespace inlay::rt::host
