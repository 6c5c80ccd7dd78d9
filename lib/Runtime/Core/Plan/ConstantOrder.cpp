// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies a constant into the order of dims that the device reads fastest. Target/Vulkan/GPU/OrderWeights.cpp chooses
// the order.

#include "ConstantOrder.h"

#include <fmt/ranges.h>

#include <algorithm>
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

namespace {
/// A dim of `size` elements. `from` and `to` are the distances of its elements in bytes.
struct Loop {
  size_t size = 1, from = 0, to = 0;
};
} // namespace

/// Copies `count` elements that are `stride` bytes apart.
template <size_t width>
static void gatherRun(char *to, const char *from, size_t count, size_t stride) {
  for (size_t i = 0; i < count; ++i, to += width, from += stride)
    std::memcpy(to, from, width);
}

static void copyRun(char *to, const char *from, size_t count, size_t stride, size_t width) {
  if (stride == width)
    std::memcpy(to, from, count * width);
  else if (width == 4)
    gatherRun<4>(to, from, count, stride);
  else if (width == 2)
    gatherRun<2>(to, from, count, stride);
  else
    for (size_t i = 0; i < count; ++i, to += width, from += stride)
      std::memcpy(to, from, width);
}

/// Copies `count` elements along `last` for each position of the loop nest `loops`, innermost first. `index` has a zero
/// for each loop, before and after the call.
static void copyBlock(char *to, const char *from, const std::vector<Loop> &loops, std::vector<size_t> &index,
                      size_t count, const Loop &last) {
  for (size_t dim = 0;;) {
    copyRun(to, from, count, last.from, last.to);
    for (dim = 0; dim < loops.size(); ++dim) {
      const Loop &loop = loops[dim];
      from += loop.from;
      to += loop.to;
      if (++index[dim] < loop.size)
        break;
      from -= loop.from * loop.size;
      to -= loop.to * loop.size;
      index[dim] = 0;
    }
    if (dim == loops.size())
      return;
  }
}

void putInOrder(const Constant &constant, void *to) {
  constexpr size_t kLine = 64; // bytes written at once, while one row per element is read
  size_t rank = constant.dims.size(), elements = 1;
  for (uint64_t size : constant.dims)
    elements *= size;
  if (elements == 0)
    return;
  size_t width = constant.size / elements, stride = width;
  std::vector<Loop> loops(rank); // per dim of the constant
  for (size_t dim = rank; dim-- > 0; stride *= constant.dims[dim])
    loops[dim] = {constant.dims[dim], stride, 0};
  stride = width;
  for (size_t dim = rank; dim-- > 0;) {
    Loop &loop = loops[constant.order[dim]];
    loop.to = stride;
    stride *= loop.size;
  }
  Loop last{1, width, width};
  if (rank != 0) {
    auto place = loops.begin() + constant.order.back();
    last = *place;
    loops.erase(place);
  }
  std::reverse(loops.begin(), loops.end()); // so that the source is read front to back
  size_t block = last.from == width ? last.size : std::max<size_t>(kLine / width, 1);
  std::vector<size_t> index(loops.size());
  for (size_t first = 0; first < last.size; first += block)
    copyBlock(static_cast<char *>(to) + first * last.to, static_cast<const char *>(constant.data) + first * last.from,
              loops, index, std::min(block, last.size - first), last);
}

} // namespace inlay::rt
