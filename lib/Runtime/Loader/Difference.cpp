// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the largest difference of two tensors of any type. SegmentCheck.cpp has the tolerances.

#include "inlay/Runtime/Loader/Difference.h"
#include "inlay/Runtime/Host/HalfFloats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace inlay::rt {

static_assert(std::numeric_limits<long double>::digits >= 64, "expected a long double that holds all of int64");

template <typename T>
static T load(const void *data, size_t number) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + number * sizeof(T), sizeof(T));
  return value;
}

long double elementAt(const TensorView &tensor, size_t number) {
  switch (tensor.element) {
  case ElementType::F16:
    return host::halfToFloat(load<uint16_t>(tensor.data, number));
  case ElementType::BF16:
    return host::bfloatToFloat(load<uint16_t>(tensor.data, number));
  case ElementType::F32:
    return load<float>(tensor.data, number);
  case ElementType::F64:
    return load<double>(tensor.data, number);
  case ElementType::I16:
    return load<int16_t>(tensor.data, number);
  case ElementType::I32:
    return load<int32_t>(tensor.data, number);
  case ElementType::I64:
    return load<int64_t>(tensor.data, number);
  case ElementType::Bool:
    return load<uint8_t>(tensor.data, number);
  case ElementType::I8:
    break;
  }
  return load<int8_t>(tensor.data, number);
}

void Difference::add(const TensorView &actual, const TensorView &expected) {
  size_t count = 1;
  for (int64_t dim : expected.dims)
    count *= static_cast<size_t>(dim);
  long double distance = 0, largest = 0;
  for (size_t i = 0; i < count; ++i) {
    long double a = elementAt(actual, i), b = elementAt(expected, i);
    bool isSame = a == b || (std::isnan(a) && std::isnan(b));
    distance = std::max(distance, isSame ? 0.0L : std::isfinite(a - b) ? std::abs(a - b) : HUGE_VALL);
    if (std::isfinite(b))
      largest = std::max(largest, std::abs(b));
  }
  absolute = std::max(absolute, static_cast<double>(distance));
  relative = std::max(relative, static_cast<double>(largest > 0 ? distance / largest : distance));
}

} // namespace inlay::rt
