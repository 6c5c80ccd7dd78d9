// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConstantOrder.h"

#include <fmt/ranges.h>

#include <cstring>
#include <new>

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

/// Copies `count` elements that are `apart` bytes from each other.
template <size_t width>
static void copyRun(char *to, const char *from, size_t count, size_t apart) {
  for (size_t i = 0; i < count; ++i, to += width, from += apart)
    std::memcpy(to, from, width);
}

static void copyRun(char *to, const char *from, size_t count, size_t apart, size_t width) {
  if (width == 4)
    return copyRun<4>(to, from, count, apart);
  for (size_t i = 0; i < count; ++i, to += width, from += apart)
    std::memcpy(to, from, width);
}

std::unique_ptr<char[]> putInOrder(const Constant &constant, const void *data) {
  std::unique_ptr<char[]> result(new (std::nothrow) char[constant.size]);
  size_t rank = constant.dims.size(), elements = 1;
  for (uint64_t size : constant.dims)
    elements *= size;
  if (!result || elements == 0 || rank == 0)
    return result;
  std::vector<size_t> strides(rank), sizes(rank), apart(rank), index(rank); // bytes, but for sizes and indices
  size_t width = constant.size / elements, stride = width;
  for (size_t dim = rank; dim-- > 0; stride *= constant.dims[dim])
    strides[dim] = stride;
  for (size_t dim = 0; dim < rank; ++dim) {
    sizes[dim] = constant.dims[constant.order[dim]];
    apart[dim] = strides[constant.order[dim]];
  }
  const char *from = static_cast<const char *>(data);
  size_t run = sizes.back() * width;
  for (char *to = result.get(), *end = to + constant.size; to != end; to += run) {
    copyRun(to, from, sizes.back(), apart.back(), width);
    for (size_t dim = rank - 1; dim-- > 0;) {
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
