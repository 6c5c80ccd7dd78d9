// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses and prints shapes such as `16x16x16xf16xf32` of matrix products that a device computes at once.
// Runtime/Vulkan/Device/Limits.cpp checks them against a device.

#include "inlay/Support/MatrixShape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace inlay;

std::optional<MatrixShape> inlay::parseMatrixShape(StringRef text) {
  static constexpr StringLiteral types[] = {"f16", "f32", "f64", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"};
  constexpr int64_t kMaxSizeOfDim = 256;
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  if (parts.size() != 5 || !is_contained(types, parts[3]) || !is_contained(types, parts[4]))
    return std::nullopt;
  int64_t sizes[3];
  for (auto [size, part] : zip(sizes, parts))
    if (!llvm::all_of(part, isDigit) || part.getAsInteger(10, size) || size < 1 || size > kMaxSizeOfDim ||
        !isPowerOf2_64(size))
      return std::nullopt;
  return MatrixShape{sizes[0], sizes[1], sizes[2], parts[3].str(), parts[4].str()};
}

std::string inlay::formatMatrixShape(const MatrixShape &shape) {
  std::string text;
  for (int64_t size : {shape.rows, shape.columns, shape.depth})
    text += std::to_string(size) + "x";
  return text + shape.element + "x" + shape.sum;
}
