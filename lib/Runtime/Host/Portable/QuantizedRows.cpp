// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unpacks rows of codes and multiplies them. The loops are in QuantizedRows.inc. Kernels/QuantizedProduct.cpp has the
// slices and threads.

#include "QuantizedRows.h"
#include "Simd.h"
#include "inlay/Runtime/Host/HalfFloats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#if INLAY_X86
#include <immintrin.h>
#endif

namespace inlay::rt::host {

/// Number of codes that are unpacked at a time, into two vectors.
static constexpr int64_t kGroup = 2 * kLanes;

/// Returns true if each half of a group is a block.
static bool hasHalfBlocks(const RowFormat &row) { return row.block == kLanes && row.block < row.count; }

/// Returns true if each group lies in one block, or in one block per half.
static bool hasWideBlocks(const RowFormat &row) {
  return row.block % kGroup == 0 || row.block >= row.count || hasHalfBlocks(row);
}

/// Returns the float for code `index`, before it is rounded.
static INLAY_INLINE float dequantizeOne(const QuantizedRow &row, int64_t index) {
  auto code = static_cast<float>(row.type.read(row.codes, index));
  int64_t block = index / row.block;
  float offset = row.offsets ? row.offsets[block] : 0.0f;
  return row.hasMinima ? code * row.scales[block] + offset : (code - offset) * row.scales[block];
}

} // namespace inlay::rt::host

#define INLAY_PER_TARGET "QuantizedRows.inc"
#include "PerTarget.inc"

namespace inlay::rt::host {

static void dequantizeGroups(const QuantizedRow &row, bool arranges, float *to) {
  INLAY_DISPATCH(dequantizeGroups, (row, arranges, to))
}

static void unpackGroups(const QuantizedRow &row, float *to) { INLAY_DISPATCH(unpackGroups, (row, to)) }

static void scaleBlocks(const QuantizedRow &row, float *floats) { INLAY_DISPATCH(scaleBlocks, (row, floats)) }

static void roundFloats(QuantizedElement type, int64_t count, float *floats) {
  INLAY_DISPATCH(roundFloats, (type, count, floats))
}

static void multiplyFloats(const float *row, int64_t count, const float *x, int64_t rows, float *products) {
  INLAY_DISPATCH(multiplyFloats, (row, count, x, rows, products))
}

static void multiplyGroups(const QuantizedRow &row, const float *x, int64_t rows, float *products) {
  INLAY_DISPATCH(multiplyGroups, (row, x, rows, products))
}

/// Writes the floats of a row to `to`. arranges: true for arranged order, which needs wide blocks.
static void dequantize(const QuantizedRow &row, bool arranges, float *to) {
  int64_t grouped = row.count / kGroup * kGroup;
  if (hasWideBlocks(row)) {
    dequantizeGroups(row, arranges, to);
    for (int64_t i = grouped; i < row.count; ++i)
      to[i] = dequantizeOne(row, i);
  } else {
    unpackGroups(row, to);
    for (int64_t i = grouped; i < row.count; ++i)
      to[i] = static_cast<float>(row.type.read(row.codes, i));
    scaleBlocks(row, to);
  }
  if (row.floats != QuantizedElement::F32)
    roundFloats(row.floats, row.count, to);
}

bool isArranged(const RowFormat &format) { return format.type.bits < 8 && hasWideBlocks(format); }

void dequantizeRow(const QuantizedRow &row, float *to) { dequantize(row, /*arranges=*/false, to); }

void multiplyQuantized(const QuantizedRow &row, const float *x, int64_t rows, float *scratch, float *products) {
  if (!hasWideBlocks(row) || row.floats != QuantizedElement::F32) {
    dequantize(row, isArranged(row), scratch);
    multiplyFloats(scratch, row.count, x, rows, products);
    return;
  }
  multiplyGroups(row, x, rows, products);
  for (int64_t i = row.count / kGroup * kGroup; i < row.count; ++i) {
    float weight = dequantizeOne(row, i);
    for (int64_t other = 0; other < rows; ++other)
      products[other] += x[other * row.count + i] * weight;
  }
}

void widenHalves(const uint16_t *from, int64_t count, float *to) { INLAY_DISPATCH(widenHalves, (from, count, to)) }

} // namespace inlay::rt::host
