// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products without a library: B in panels of two vectors' width, a block of C's rows in registers. The blocking
// is that of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM TOMS 34, 2008), without
// the blocks for outer caches, which slices of work stand in for. Each sum runs over k in ascending order.

#include "PortableGemm.h"
#include "Memory.h"
#include "Simd.h"

#include <algorithm>

namespace inlay::rt::host {

static constexpr int64_t kPanel = 2 * kLanes;
/// Rows whose sums fit the registers of AVX-512 beside two vectors of B.
static constexpr int64_t kRows = 12;

struct Panel {
  const float *a;
  int64_t aRow, aColumn;
  const float *b; ///< [k, kPanel]
  float *c;
  int64_t cRow;
  int64_t rows, columns, k;
  bool accumulates;
};

template <int64_t Rows>
static INLAY_INLINE void multiplyRows(const Panel &panel) {
  Vector sums[Rows][2] = {};
  for (int64_t k = 0; k < panel.k; ++k) {
    Vector low = load(panel.b + k * kPanel), high = load(panel.b + k * kPanel + kLanes);
#pragma GCC unroll 16
    for (int64_t row = 0; row < Rows; ++row) {
      Vector factor = broadcast(panel.a[row * panel.aRow + k * panel.aColumn]);
      sums[row][0] += factor * low;
      sums[row][1] += factor * high;
    }
  }
#pragma GCC unroll 16
  for (int64_t row = 0; row < Rows; ++row) {
    float line[kPanel];
    store(line, sums[row][0]);
    store(line + kLanes, sums[row][1]);
    float *c = panel.c + row * panel.cRow;
    for (int64_t column = 0; column < panel.columns; ++column)
      c[column] = panel.accumulates ? c[column] + line[column] : line[column];
  }
}

static INLAY_INLINE void multiplyPanelBody(Panel panel) {
  int64_t rows = panel.rows;
  for (; rows >= kRows; rows -= kRows) {
    multiplyRows<kRows>(panel);
    panel.a += kRows * panel.aRow;
    panel.c += kRows * panel.cRow;
  }
  for (; rows >= 4; rows -= 4) {
    multiplyRows<4>(panel);
    panel.a += 4 * panel.aRow;
    panel.c += 4 * panel.cRow;
  }
  for (; rows > 0; --rows) {
    multiplyRows<1>(panel);
    panel.a += panel.aRow;
    panel.c += panel.cRow;
  }
}

INLAY_MULTIVERSION(multiplyPanel, (const Panel &panel), multiplyPanelBody, (panel))

/// A row of B times many columns needs no panels: B is read once. Columns are adjacent.
struct RowProduct {
  const float *a;
  int64_t aColumn;
  const float *b;
  int64_t bRow;
  float *c;
  int64_t columns, k;
  bool accumulates;
};

static INLAY_INLINE void multiplyRowBody(const RowProduct &product) {
  constexpr int64_t kWide = 8;
  for (int64_t first = 0; first < product.columns; first += kWide * kLanes) {
    int64_t width = std::min(product.columns - first, kWide * kLanes);
    if (width == kWide * kLanes) {
      Vector sums[kWide] = {};
      for (int64_t k = 0; k < product.k; ++k) {
        Vector factor = broadcast(product.a[k * product.aColumn]);
        for (int64_t i = 0; i < kWide; ++i)
          sums[i] += factor * load(product.b + k * product.bRow + first + i * kLanes);
      }
      for (int64_t i = 0; i < kWide; ++i) {
        float *c = product.c + first + i * kLanes;
        store(c, product.accumulates ? load(c) + sums[i] : sums[i]);
      }
      continue;
    }
    float sums[kWide * kLanes] = {};
    for (int64_t k = 0; k < product.k; ++k)
      for (int64_t i = 0; i < width; ++i)
        sums[i] += product.a[k * product.aColumn] * product.b[k * product.bRow + first + i];
    for (int64_t i = 0; i < width; ++i)
      product.c[first + i] = product.accumulates ? product.c[first + i] + sums[i] : sums[i];
  }
}

INLAY_MULTIVERSION(multiplyRow, (const RowProduct &product), multiplyRowBody, (product))

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
  if (shape.m == 1 && shape.bColumn == 1 && !shape.packsB) {
    multiplyRow({a, shape.aColumn, static_cast<const float *>(b), shape.bRow, c, shape.n, shape.k, shape.accumulates});
    return Status::ok();
  }
  static thread_local Scratch scratch;
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
