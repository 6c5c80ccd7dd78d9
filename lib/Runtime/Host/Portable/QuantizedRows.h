// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inner loops over rows of packed codes: dequantization of a row, and its products with a few other rows.

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_QUANTIZEDROWS_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_QUANTIZEDROWS_H

#include <cstdint>

namespace inlay::rt::host {

/// The type of codes. `bits` is 2, 4 or 8.
struct CodeType {
  int64_t bits = 8;
  bool isSigned = false;

  int64_t bytes(int64_t codes) const { return (codes * bits + 7) / 8; }

  /// Returns code `index` of packed codes, whose first code is in the lowest bits of the first byte.
  int32_t read(const uint8_t *codes, int64_t index) const {
    int64_t bit = index * bits;
    auto code = static_cast<int32_t>(codes[bit / 8] >> bit % 8) & ((1 << bits) - 1);
    int32_t sign = 1 << (bits - 1);
    return isSigned ? (code ^ sign) - sign : code;
  }
};

/// A row of packed codes. Block i has the codes from `i * block` on.
struct QuantizedRow {
  CodeType type;
  const uint8_t *codes;
  const float *scales;  ///< One per block.
  const float *offsets; ///< One per block; null for zeros.
  bool hasMinima;       ///< True if an offset is added to the product of code and scale, not subtracted from the code.
  int64_t count, block;
};

/// Number of rows that `multiplyQuantized` takes at most.
constexpr int64_t kQuantizedRows = 4;

/// Returns the position of element `index` in an arranged row of `count` elements. Codes of 4 bits are unpacked in
/// groups of 32: the codes in the low halves of 16 bytes, then those in the high halves. Other rows keep their order.
inline int64_t arrangedPosition(CodeType type, int64_t index, int64_t count) {
  constexpr int64_t kGroup = 32;
  int64_t first = index / kGroup * kGroup, rest = index % kGroup;
  return type.bits == 4 && first + kGroup <= count ? first + rest % 2 * (kGroup / 2) + rest / 2 : index;
}

/// Writes the floats of a row to `to`. arranges: true for arranged order.
void dequantizeRow(const QuantizedRow &row, bool arranges, float *to);

/// Sets products[i] to the product of a row and row i of `x`, for `rows` <= kQuantizedRows. `x` is arranged, and its
/// rows are `row.count` elements apart. Each code is read once. `scratch` has room for `row.count` floats.
void multiplyQuantized(const QuantizedRow &row, const float *x, int64_t rows, float *scratch, float *products);

/// Converts f16, given as bits, to f32.
void widenHalves(const uint16_t *from, int64_t count, float *to);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_QUANTIZEDROWS_H
