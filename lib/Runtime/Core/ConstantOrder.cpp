// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConstantOrder.h"

#include <fmt/ranges.h>

#include <cstring>

namespace inlay::rt {

Status checkOrder(const Constant &constant) {
  if (constant.order.empty() && constant.dims.empty())
    return Status::ok();
  size_t rank = constant.dims.size();
  auto invalid = [&](const std::string &what) {
    return Status{StatusCode::InvalidArgument,
                  fmt::format("constant '{}': expected {}, but got the order [{}] of dims [{}] in {} bytes",
                              constant.key, what, fmt::join(constant.order, ", "), fmt::join(constant.dims, ", "),
                              constant.size)};
  };
  std::vector<bool> seen(rank, false);
  for (uint32_t dim : constant.order) {
    if (dim >= rank || seen[dim])
      return invalid("each dim once");
    seen[dim] = true;
  }
  if (constant.order.size() != rank)
    return invalid("each dim once");
  uint64_t elements = 1;
  for (uint64_t size : constant.dims)
    if (__builtin_mul_overflow(elements, size, &elements))
      return invalid("fewer elements");
  uint64_t width = elements ? constant.size / elements : 1;
  if (width < 1 || width > sizeof(double) || elements * width != constant.size)
    return invalid("bytes for each element");
  return Status::ok();
}

std::vector<char> putInOrder(const Constant &constant, const void *data) {
  size_t rank = constant.dims.size();
  std::vector<size_t> strides(rank), sizes(rank), apart(rank), index(rank); // bytes, but for sizes and indices
  size_t elements = 1;
  for (uint64_t size : constant.dims)
    elements *= size;
  std::vector<char> result(constant.size);
  if (elements == 0)
    return result;
  size_t width = constant.size / elements, stride = width;
  for (size_t dim = rank; dim-- > 0; stride *= constant.dims[dim])
    strides[dim] = stride;
  for (size_t dim = 0; dim < rank; ++dim) {
    sizes[dim] = constant.dims[constant.order[dim]];
    apart[dim] = strides[constant.order[dim]];
  }
  const char *from = static_cast<const char *>(data);
  for (char *to = result.data(), *end = to + result.size(); to != end; to += width) {
    std::memcpy(to, from, width);
    for (size_t dim = rank; dim-- > 0;) {
      from += apart[dim];
      if (++index[dim] < sizes[dim])
        break;
      from -= apart[dim] * sizes[dim];
      index[dim] = 0;
    }
  }
  return result;
}

} // namespace inlay::rt
