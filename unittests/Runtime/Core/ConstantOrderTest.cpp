// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Core/Plan/ConstantOrder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

using namespace inlay::rt;

template <typename Element>
static void checkElements() {
  std::mt19937 random(3);
  auto pick = [&](uint64_t max) { return std::uniform_int_distribution<uint64_t>(0, max)(random); };
  for (int round = 0; round < 100; ++round) {
    Constant constant;
    for (uint64_t rank = 1 + pick(3); rank > 0; --rank)
      constant.dims.push_back(pick(9) == 0 ? 0 : 1 + pick(pick(4) == 0 ? 40 : 4));
    size_t rank = constant.dims.size(), count = 1;
    for (uint64_t size : constant.dims)
      count *= size;
    constant.order.resize(rank);
    std::iota(constant.order.begin(), constant.order.end(), 0);
    std::shuffle(constant.order.begin(), constant.order.end(), random);
    std::vector<Element> values(count);
    std::iota(values.begin(), values.end(), Element(0));
    constant.data = values.data();
    constant.size = count * sizeof(Element);
    ASSERT_TRUE(checkOrder(constant).isOk());
    std::vector<char> bytes(constant.size);
    putInOrder(constant, bytes.data());
    for (size_t number = 0; number < count; ++number) {
      size_t rest = number, from = 0; // `number` counts elements in the device's order
      std::vector<size_t> index(rank);
      for (size_t dim = rank; dim-- > 0;) {
        size_t size = constant.dims[constant.order[dim]];
        index[constant.order[dim]] = rest % size;
        rest /= size;
      }
      for (size_t dim = 0; dim < rank; ++dim)
        from = from * constant.dims[dim] + index[dim];
      Element value;
      std::memcpy(&value, bytes.data() + number * sizeof(value), sizeof(value));
      ASSERT_EQ(value, static_cast<Element>(from));
    }
  }
}

TEST(ConstantOrder, ElementsGoWhereTheirDimsGo) {
  checkElements<uint8_t>();
  checkElements<uint16_t>();
  checkElements<float>();
  checkElements<double>();
}

TEST(ConstantOrder, AnElementWithoutDimsIsCopied) {
  float value = 7, copied = 0;
  Constant constant{&value, sizeof(value), nullptr};
  putInOrder(constant, &copied);
  EXPECT_EQ(copied, 7);
}

TEST(ConstantOrder, IsOfAllDimsAndBytes) {
  auto error = [](std::vector<uint64_t> dims, std::vector<uint32_t> order, size_t size) {
    Constant constant{nullptr, size, nullptr, "w"};
    constant.dims = std::move(dims);
    constant.order = std::move(order);
    return checkOrder(constant).message();
  };
  EXPECT_EQ(error({}, {}, 16), "");
  EXPECT_EQ(error({2, 2}, {1, 0}, 16), "");
  EXPECT_EQ(error({2, 2}, {1, 1}, 16),
            "constant 'w': expected each dim once, but got the order [1, 1] of dims [2, 2] in 16 bytes");
  EXPECT_NE(error({2, 2}, {1, 2}, 16).find("each dim once"), std::string::npos);
  EXPECT_NE(error({2, 2}, {0}, 16).find("each dim once"), std::string::npos);
  EXPECT_NE(error({2, 2}, {}, 16).find("each dim once"), std::string::npos);
  EXPECT_NE(error({2, 3}, {1, 0}, 16).find("bytes for each element"), std::string::npos);
  EXPECT_NE(error({2, 2}, {1, 0}, 64).find("bytes for each element"), std::string::npos);
  EXPECT_NE(error({2, 0}, {1, 0}, 16).find("bytes for each element"), std::string::npos);
  EXPECT_EQ(error({2, 0}, {1, 0}, 0).find("bytes for each element"), std::string::npos);
  EXPECT_NE(error({uint64_t(1) << 40, uint64_t(1) << 40}, {1, 0}, 16).find("fewer elements"), std::string::npos);
}
