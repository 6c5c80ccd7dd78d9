// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills tensors with random numbers and compares results, with a tolerance per type. Runtime/Loader/SegmentCheck.cpp
// has the tolerances of the segment check.

#include "TensorData.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace inlay;

bool inlay::isComparable(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && (integer.getWidth() == 1 || integer.getWidth() == 8 || integer.getWidth() == 16 ||
                     integer.getWidth() == 32 || integer.getWidth() == 64);
}

static size_t byteWidth(Type element) { return std::max(1u, element.getIntOrFloatBitWidth() / 8); }

HostTensor inlay::makeTensor(RankedTensorType type) {
  return {type, std::vector<char>(type.getNumElements() * byteWidth(type.getElementType()))};
}

//===-- Elements as doubles -------------------------------------------------------------------------------------===//

static void write(HostTensor &tensor, size_t number, double value) {
  Type element = tensor.type.getElementType();
  size_t width = byteWidth(element);
  uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  if (auto type = dyn_cast<FloatType>(element)) {
    APFloat converted(value);
    bool lost;
    converted.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    bits = converted.bitcastToAPInt().getZExtValue();
  }
  std::memcpy(tensor.data.data() + number * width, &bits, width); // All supported hosts are little-endian.
}

static double read(const HostTensor &tensor, size_t number) {
  Type element = tensor.type.getElementType();
  size_t width = byteWidth(element);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data.data() + number * width, width);
  if (auto type = dyn_cast<FloatType>(element)) {
    APFloat value(type.getFloatSemantics(), APInt(type.getWidth(), bits));
    bool lost;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  return element.isInteger(1) ? static_cast<double>(bits & 1)
                              : static_cast<double>(llvm::SignExtend64(bits, 8 * width));
}

//===-- Drawing -------------------------------------------------------------------------------------------------===//

static double drawReal(Fill what, Random &random) {
  static constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::infinity(),
                                        -std::numeric_limits<double>::infinity(), 0.0, -0.0};
  switch (what) {
  case Fill::Plain:
    return random.real(-2, 2);
  case Fill::Small:
    return random.real(-2e-3, 2e-3);
  case Fill::Large:
    return random.real(-12, 12);
  case Fill::Zeros:
    return random.oneIn(2) ? 0.0 : random.real(-2, 2);
  case Fill::Special:
    return random.oneIn(8) ? random.pick(kSpecial) : random.real(-2, 2);
  }
  return 0;
}

void inlay::fill(HostTensor &tensor, Fill what, Random &random) {
  Type element = tensor.type.getElementType();
  for (size_t i = 0, e = tensor.type.getNumElements(); i < e; ++i) {
    if (isa<FloatType>(element))
      write(tensor, i, drawReal(what, random));
    else if (element.isInteger(1))
      write(tensor, i, random.below(2));
    else if (what == Fill::Large && element.getIntOrFloatBitWidth() >= 32)
      write(tensor, i, random.between(-(1 << 30), 1 << 30));
    else
      write(tensor, i, what == Fill::Zeros && random.oneIn(2) ? 0 : random.between(-9, 9));
  }
}

DenseElementsAttr inlay::toAttribute(const HostTensor &tensor) {
  if (!tensor.type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(tensor.type, tensor.data);
  SmallVector<bool> values;
  for (size_t i = 0, e = tensor.data.size(); i < e; ++i)
    values.push_back(tensor.data[i] != 0);
  return DenseElementsAttr::get(tensor.type, values);
}

//===-- Comparing -----------------------------------------------------------------------------------------------===//

/// Returns the tolerance for rounding of that type, relative to the element and to the mean of all elements.
static double getTolerance(Type element) {
  if (isa<Float64Type>(element))
    return 1e-9;
  if (isa<Float32Type>(element))
    return 2e-5;
  if (isa<Float16Type>(element))
    return 2e-2;
  return isa<BFloat16Type>(element) ? 0.1 : 0;
}

std::optional<Difference> inlay::compare(const HostTensor &expected, const HostTensor &got, double slack) {
  size_t count = expected.type.getNumElements(), finite = 0;
  double sum = 0, tolerance = std::max(slack, getTolerance(expected.type.getElementType()));
  for (size_t i = 0; i < count; ++i)
    if (double value = read(expected, i); std::isfinite(value)) {
      sum += std::abs(value);
      ++finite;
    }
  double mean = finite ? sum / finite : 0;
  for (size_t i = 0; i < count; ++i) {
    double a = read(expected, i), b = read(got, i);
    bool near = std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= tolerance * (std::abs(a) + mean);
    if (near || a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    Difference difference{{}, a, b};
    size_t rest = i;
    for (int64_t size : llvm::reverse(expected.type.getShape())) {
      difference.place.insert(difference.place.begin(), rest % size);
      rest /= size;
    }
    return difference;
  }
  return std::nullopt;
}
