// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodes a plan, field by field as PlanFields.h lists them. Write.cpp writes the file around it.

#include "PlanWriter.h"
#include "Bytes.h"
#include "PlanFields.h"

#include <cstring>
#include <type_traits>

namespace inlay::rt {

uint64_t BytePool::add(std::string_view bytes, uint64_t alignment) {
  if (bytes.empty())
    return 0;
  Digest digest = hash(bytes);
  auto [first, last] = byHash_.equal_range(digest);
  for (; first != last; ++first) {
    const Piece &piece = pieces_[first->second];
    if (piece.bytes == bytes && piece.offset % alignment == 0)
      return piece.offset;
  }
  uint64_t offset = alignTo(size_, alignment);
  byHash_.emplace(digest, pieces_.size());
  pieces_.push_back({offset, bytes});
  size_ = offset + bytes.size();
  return offset;
}

namespace {

class Writer {
public:
  template <typename T>
  using Ref = const T &;

  Writer(EncodedPlan &result, const std::vector<ConstantPlace> &places) : result_(result), places_(places) {}

  template <typename... Values>
  void operator()(const Values &...values) {
    (put(values), ...);
  }

  template <typename T>
  void choice(T value, T, const char *) {
    put(static_cast<uint8_t>(value));
  }

  template <typename List>
  void pooled(Pool pool, const List &list) {
    BytePool *pools[] = {&result_.spirv, &result_.host, &result_.foreign};
    constexpr uint64_t alignments[] = {4, 16, 1};
    auto number = static_cast<size_t>(pool);
    std::string_view bytes(reinterpret_cast<const char *>(list.data()), list.size() * sizeof(list[0]));
    put(pools[number]->add(bytes, alignments[number]));
    put(static_cast<uint64_t>(bytes.size()));
  }

private:
  template <typename T>
  void put(const T &value) {
    if constexpr (std::is_floating_point_v<T>)
      putBits(value);
    else if constexpr (std::is_same_v<T, bool>)
      put(static_cast<uint8_t>(value));
    else if constexpr (std::is_integral_v<T>)
      appendLittle(result_.plan, value);
    else
      fields(*this, value);
  }
  void put(const std::string &text) {
    put(static_cast<uint32_t>(text.size()));
    result_.plan += text;
  }
  template <typename T>
  void put(const std::vector<T> &list) {
    put(static_cast<uint32_t>(list.size()));
    for (const T &element : list)
      put(element);
  }
  template <typename T, size_t size>
  void put(const std::array<T, size> &list) {
    for (const T &element : list)
      put(element);
  }
  void put(const Expr &expr) {
    put(static_cast<uint32_t>(expr.code().size()));
    for (const Expr::Instruction &instruction : expr.code()) {
      put(static_cast<uint8_t>(instruction.op));
      if (instruction.op == Expr::Op::Constant || instruction.op == Expr::Op::Dim)
        put(instruction.a);
      if (instruction.op == Expr::Op::Dim)
        put(instruction.b);
    }
  }
  void put(const Constant &constant) {
    const ConstantPlace &place = places_[constants_++];
    put(constant.key);
    put(place.isOutside);
    put(place.offset);
    put(static_cast<uint64_t>(constant.size));
    put(constant.dims);
    put(constant.order);
  }
  template <typename T>
  void putBits(T value) {
    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits;
    static_assert(sizeof(bits) == sizeof(value));
    std::memcpy(&bits, &value, sizeof(bits));
    put(bits);
  }

  EncodedPlan &result_;
  const std::vector<ConstantPlace> &places_;
  size_t constants_ = 0;
};

} // namespace

EncodedPlan encodePlan(const Plan &plan, const std::vector<ConstantPlace> &places) {
  EncodedPlan result;
  Writer writer(result, places);
  writer(plan);
  return result;
}

} // namespace inlay::rt
