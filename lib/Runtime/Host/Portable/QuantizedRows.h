// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inner loops over rows of packed codes: dequantization of a row, and its products with a few other rows.

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_QUANTIZEDROWS_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_QUANTIZEDROWS_H

#include "inlay/Runtime/Core/Plan.h"

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

/// The format of a row of codes.
struct RowFormat {
  CodeType type;
  int64_t count, block; ///< Block i has the codes from `i * block` on.
  bool hasMinima =
      false; ///< True if an offset is added to the product of code and scale, not subtracted from the code.
  QuantizedElement floats = QuantizedElement::F32; ///< The floating-point type to which the results are rounded.
};

/// A row of packed codes.
struct QuantizedRow : RowFormat {
  const uint8_t *codes;
  const float *scales;  ///< One per block.
  const float *offsets; ///< One per block; null for zeros.
};

/// Number of rows that `multiplyQuantized` takes at most.
constexpr int64_t kQuantizedRows = 4;

/// Returns true if the kernels unpack rows of this format in arranged order. They unpack others in the order of codes.
bool isArranged(const RowFormat &format);

/// Returns the position of element `index` in an arranged row of `count` elements. Codes are unpacked in groups of 32:
/// first the codes in the lowest bits of all bytes of a group, then those in the next bits. Elements behind the last
/// full group keep their places.
inline int64_t arrangedPosition(CodeType type, int64_t index, int64_t count) {
  constexpr int64_t kGroup = 32;
  int64_t first = index / kGroup * kGroup, rest = index % kGroup, perByte = 8 / type.bits;
  return first + kGroup <= count ? first + rest % perByte * (kGroup / perByte) + rest / perByte : index;
}

/// Writes the floats of a row to `to`, in the order of the codes.
void dequantizeRow(const QuantizedRow &row, float *to);

/// Sets products[i] to the product of a row and row i of `x`, for `rows` <= kQuantizedRows. `x` is arranged if
/// isArranged(row), and its rows are `row.count` elements apart. Each code is read once. `scratch` has room for
/// `row.count` floats.
void multiplyQuantized(const QuantizedRow &row, const float *x, int64_t rows, float *scratch, float *products);

/// Converts f16, given as bits, to f32.
void widenHalves(const uint16_t *from, int64_t count, float *to);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_QUANTIZEDROWS_H
