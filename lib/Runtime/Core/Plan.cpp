// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about element types and tensor types.

#include "inlay/Runtime/Core/Plan.h"

#include <fmt/format.h>

#include <limits>

namespace inlay::rt {

size_t byteWidth(ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::I8:
    return 1;
  case ElementType::I16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::I32:
  case ElementType::F32:
    return 4;
  case ElementType::I64:
  case ElementType::F64:
    return 8;
  }
  return 0;
}

const char *name(ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return "bool";
  case ElementType::I8:
    return "int8";
  case ElementType::I16:
    return "int16";
  case ElementType::I32:
    return "int32";
  case ElementType::I64:
    return "int64";
  case ElementType::F16:
    return "float16";
  case ElementType::BF16:
    return "bfloat16";
  case ElementType::F32:
    return "float32";
  case ElementType::F64:
    return "float64";
  }
  return "unknown";
}

StatusOr<size_t> byteSize(ElementType element, const std::vector<int64_t> &dims) {
  int64_t bytes = static_cast<int64_t>(byteWidth(element));
  if (bytes == 0)
    return Status(StatusCode::InvalidArgument, fmt::format("unknown element type {}", static_cast<int>(element)));
  for (int64_t dim : dims) {
    if (dim < 0)
      return Status(StatusCode::InvalidArgument,
                    fmt::format("{} has a dim of {}, but each must be at least 0", toString(element, dims), dim));
    if (__builtin_mul_overflow(bytes, dim, &bytes))
      return Status(StatusCode::InvalidArgument,
                    fmt::format("the byte size of {} overflows 64 bits", toString(element, dims)));
  }
  return static_cast<size_t>(bytes);
}

std::string toString(ElementType element, const std::vector<int64_t> &dims) {
  std::string text = name(element);
  for (size_t i = 0; i < dims.size(); ++i)
    text += fmt::format("{}{}", i ? "x" : "[", dims[i]);
  return dims.empty() ? text : text + "]";
}

std::string toString(const TensorType &type) {
  std::string text = name(type.element);
  for (size_t i = 0; i < type.dims.size(); ++i) {
    int64_t value = 0;
    text += i ? "x" : "[";
    text += type.dims[i].isConstant(value) ? fmt::format("{}", value) : "?";
  }
  return type.dims.empty() ? text : text + "]";
}

StatusOr<std::vector<int64_t>> evaluateDims(const TensorType &type, const InputDims &inputs) {
  std::vector<int64_t> dims;
  for (const Expr &dim : type.dims) {
    StatusOr<int64_t> value = dim.evaluate(inputs);
    if (!value.isOk())
      return value.status();
    dims.push_back(*value);
  }
  return dims;
}

} // namespace inlay::rt
