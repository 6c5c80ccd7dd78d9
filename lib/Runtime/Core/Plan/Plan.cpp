// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of element types, tensor types and the enumerations of plans.

#include "inlay/Runtime/Core/Plan.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

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

const char *name(HostKernelKind kind) {
  switch (kind) {
  case HostKernelKind::Loops:
    return "loops";
  case HostKernelKind::Contraction:
    return "contraction";
  case HostKernelKind::Convolution:
    return "convolution";
  case HostKernelKind::Attention:
    return "attention";
  case HostKernelKind::QuantizedProduct:
    return "quantized_product";
  case HostKernelKind::IntegerProduct:
    return "integer_product";
  }
  return "unknown";
}

const char *name(PostOpKind kind) {
  static constexpr const char *words[] = {"relu",    "clip",         "gelu",        "gelu_tanh",    "silu",
                                          "sigmoid", "tanh",         "hard_swish",  "hard_sigmoid", "add",
                                          "mul",     "add_channels", "mul_channels"};
  return kind <= PostOpKind::MulChannels ? words[static_cast<size_t>(kind)] : "unknown";
}

const char *name(StepKind kind) {
  switch (kind) {
  case StepKind::LaunchEngine:
    return "engine";
  case StepKind::CallHost:
    return "host";
  case StepKind::Copy:
    return "copy";
  case StepKind::Callback:
    return "callback";
  case StepKind::RunForeign:
    return "foreign";
  case StepKind::Branch:
    return "branch";
  case StepKind::While:
    return "while";
  case StepKind::For:
    return "for";
  }
  return "unknown";
}

size_t bodyCount(StepKind kind) {
  switch (kind) {
  case StepKind::Branch:
  case StepKind::While:
    return 2;
  case StepKind::For:
    return 1;
  default:
    return 0;
  }
}

size_t countSteps(const Step &step) { return std::accumulate(step.bodies.begin(), step.bodies.end(), size_t(1)); }

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

std::string toString(const TensorType &type, const std::vector<Symbol> &symbols) {
  std::vector<std::string> dims;
  const char *times = "x";
  for (const Expr &dim : type.dims) {
    int64_t value = 0;
    bool isConstant = dim.isConstant(value);
    dims.push_back(isConstant ? fmt::format("{}", value) : symbols.empty() ? "?" : spell(dim, symbols));
    times = isConstant || symbols.empty() ? times : " x ";
  }
  return dims.empty() ? name(type.element) : fmt::format("{}[{}]", name(type.element), fmt::join(dims, times));
}

StatusOr<std::vector<int64_t>> evaluateDims(const TensorType &type, const InputDims &inputs) {
  std::vector<int64_t> dims;
  dims.reserve(type.dims.size());
  for (const Expr &dim : type.dims) {
    StatusOr<int64_t> value = dim.evaluate(inputs);
    if (!value.isOk())
      return value.status();
    dims.push_back(*value);
  }
  return dims;
}

/// Computes the dims that define symbols first, then the dims that depend on them.
StatusOr<InputDims> inputDimsFor(const Plan &plan, const std::vector<int64_t> &values) {
  InputDims dims;
  for (uint32_t input : plan.inputs)
    dims.emplace_back(plan.buffers[input].type.dims.size());
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    const Symbol &symbol = plan.symbols[i];
    int64_t &dim = dims[symbol.input][symbol.dim];
    if (__builtin_mul_overflow(symbol.scale, values[i], &dim) || __builtin_add_overflow(dim, symbol.offset, &dim))
      return Status(StatusCode::InvalidArgument,
                    fmt::format("'{}' of {} leads to dims that overflow 64 bits", symbol.name, values[i]));
  }
  InputDims result;
  for (uint32_t input : plan.inputs) {
    StatusOr<std::vector<int64_t>> all = evaluateDims(plan.buffers[input].type, dims);
    if (!all.isOk())
      return all.status();
    result.push_back(std::move(*all));
  }
  return result;
}

} // namespace inlay::rt
