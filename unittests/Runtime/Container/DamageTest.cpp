// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that damaged files are refused. If the hash is corrected they are refused or give a plan that can be checked.
// The tests find most under a sanitizer.

#include "../PlanBuilder.h"

#include "ContainerFixture.h"
#include "PlanWriter.h"
#include "inlay/Runtime/Core/PlanChecker.h"

#include <functional>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

bool isFull() {
  const char *full = std::getenv("INLAY_FULL");
  return full && *full && std::string(full) != "0";
}

/// Changes some bytes of an image at a random position.
void damage(std::string &image, const std::string &other, std::mt19937 &random) {
  auto place = [&] { return random() % image.size(); };
  size_t at = place();
  static const uint64_t numbers[] = {0, 1, 0x7f, 0xff, 0x7fffffff, 0xffffffff, UINT64_MAX, uint64_t(1) << 63};
  switch (random() % 8) {
  case 0:
    image[at] = static_cast<char>(image[at] ^ (1 << random() % 8));
    return;
  case 1:
    image[at] = static_cast<char>(random());
    return;
  case 2: {
    std::string number;
    appendLittle(number, numbers[random() % 8]);
    image.replace(at, std::min<size_t>(number.size(), image.size() - at), number.substr(0, image.size() - at));
    return;
  }
  case 3:
    image.resize(std::max<size_t>(at, 1));
    return;
  case 4:
    image.insert(at, std::string(1 + random() % 64, static_cast<char>(random())));
    return;
  case 5:
    image.erase(at, 1 + random() % 64);
    image.resize(std::max<size_t>(image.size(), 1));
    return;
  case 6: { // copy a piece of the image to another position
    std::string piece = image.substr(place(), 1 + random() % 100);
    image.replace(at, piece.size(), piece);
    return;
  }
  default:
    image.replace(at, 100, other.substr(std::min<size_t>(random() % other.size(), at), 100));
  }
}

} // namespace

TEST_F(ContainerTest, EachFlippedByteIsRefused) {
  std::string good = write(*randomPlan(3), {"{}", "{}"});
  ASSERT_TRUE(readImage(good).isOk());
  for (size_t i = 0; i < good.size(); ++i)
    for (int mask : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      EXPECT_FALSE(readImage(bad).isOk()) << "byte " << i << " ^ " << mask;
    }
}

TEST_F(ContainerTest, EachTruncationIsRefused) {
  std::string good = write(*randomPlan(3), {"{}", "{}"});
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(readImage(good.substr(0, size)).isOk()) << size;
  EXPECT_FALSE(readImage(good + '\0').isOk());
  for (size_t size : {0, 1, 7, 8, 20, 63, 64, 100, 1000})
    EXPECT_NE(refusal(good.substr(0, size)), "") << size << " bytes in a file";
}

TEST_F(ContainerTest, RandomDamageIsRefused) {
  std::string good[] = {write(*randomPlan(4), {"{}", "{}"}), write(*randomPlan(9)), write(*smallPlan())};
  std::mt19937 random(1);
  int count = isFull() ? 100000 : 4000;
  for (int i = 0; i < count; ++i) {
    std::string bad = good[i % 3];
    for (uint32_t times = 1 + random() % 3; times > 0; --times)
      damage(bad, good[random() % 3], random);
    bool isGood = bad == good[0] || bad == good[1] || bad == good[2];
    ASSERT_TRUE(isGood || !readImage(bad).isOk()) << i;
  }
}

TEST_F(ContainerTest, DamageWithARightHashIsRefusedOrGivesAPlan) {
  std::string good[] = {write(*randomPlan(4), {"{}", "{}"}), write(*randomPlan(9)), write(*smallPlan())};
  std::mt19937 random(2);
  int count = isFull() ? 100000 : 4000, refused = 0, read = 0, sound = 0;
  for (int i = 0; i < count; ++i) {
    std::string bad = good[i % 3];
    for (uint32_t times = 1 + random() % 3; times > 0; --times)
      damage(bad, good[random() % 3], random);
    seal(bad);
    auto saved = readImage(bad);
    if (!saved.isOk()) {
      ASSERT_NE(saved.status().message(), "");
      ++refused;
      continue;
    }
    ++read;
    Status status = checkPlan(*saved->plan);
    ASSERT_TRUE(status.isOk() || !status.message().empty());
    sound += status.isOk();
  }
  EXPECT_GT(refused, count / 10);
  EXPECT_GT(read, count / 20) << "too few images reach the decoder";
  EXPECT_GT(sound, count / 50);
}

TEST_F(ContainerTest, MemoryIsLimitedBeforeItIsAllocated) {
  std::string image = write(*randomPlan(4), {std::string(100000, ' '), ""});
  EXPECT_TRUE(readImage(image, 1 << 20).isOk());
  auto saved = readImage(image, 10000);
  EXPECT_EQ(saved.status().code(), StatusCode::ResourceExhausted);
  EXPECT_NE(saved.status().message().find("exceed the memory limit"), std::string::npos);
  // The preamble fits the limit, the decoded plan does not.
  saved = readImage(image, 6 * 100000 + 5000);
  EXPECT_EQ(saved.status().code(), StatusCode::ResourceExhausted) << saved.status().message();
  saved = readImage(write(*smallPlan(), {"", std::string(100000, ' ')}), 3 * 100000);
  EXPECT_EQ(saved.status().code(), StatusCode::ResourceExhausted) << "the metadata is escaped when it is printed";
  ContainerReadOptions options;
  options.memoryLimit = 10000;
  EXPECT_EQ(readContainer(at("a.inlay"), options).status().code(), StatusCode::ResourceExhausted);
}

TEST_F(ContainerTest, ListsAndStringsTakeMemory) {
  auto refusal = [&](const std::function<void(Plan &)> &enlarge, uint64_t memory) {
    PlanBuilder b;
    uint32_t x = b.input("x", {Expr(4)}), y = b.output("y", {Expr(4)});
    b.copy(x, y);
    enlarge(*b.plan);
    std::string image = write(*b.plan);
    EXPECT_TRUE(readImage(image).isOk());
    auto saved = readImage(image, image.size() + memory);
    EXPECT_EQ(saved.status().code(), StatusCode::ResourceExhausted);
    return saved.status().message();
  };
  constexpr uint64_t kMemory = 100000; // enough for a small plan
  auto expectNamed = [](const std::string &message) {
    EXPECT_EQ(message.find("section 'plan', byte "), 0u) << message;
    EXPECT_NE(message.find("more bytes of memory, which exceeds the memory limit"), std::string::npos) << message;
  };
  expectNamed(refusal([](Plan &plan) { plan.name.assign(kMemory, 'n'); }, kMemory));
  expectNamed(refusal([](Plan &plan) { plan.buffers[0].type.dims.resize(4000, Expr(1)); }, kMemory));
  expectNamed(refusal([](Plan &plan) { plan.steps[0].calls.assign(4000, ""); }, kMemory));
  expectNamed(
      refusal([](Plan &plan) { plan.hostCode.objects.push_back({"", {}, std::vector<char>(kMemory)}); }, kMemory));
}

TEST_F(ContainerTest, CountsThatDoNotFitAreRefusedWithTheirPlace) {
  std::string image = write(*smallPlan());
  size_t plan = image.find("plan");                                                // in the table
  auto offset = static_cast<size_t>(static_cast<unsigned char>(image[plan + 16])); // of the section, below 256
  std::string huge = image;
  huge.replace(offset, 4, std::string("\xff\xff\0\0", 4)); // the length of the plan's name
  seal(huge);
  auto saved = readImage(huge);
  ASSERT_FALSE(saved.isOk());
  std::string message = saved.status().message();
  EXPECT_EQ(message.find("section 'plan', byte 4: expected at most"), 0u) << message;
  EXPECT_NE(message.find("bytes of a string, as many bytes follow, but got 65535"), std::string::npos) << message;
}

namespace {

/// Returns the error of decoding a small plan after `change` has changed its bytes; empty if there is none.
std::string decoded(const std::function<void(std::string &plan)> &change) {
  std::shared_ptr<Plan> plan = smallPlan();
  static const int64_t value = 7;
  plan->constants.push_back({&value, 8, nullptr, "key"});
  EncodedPlan encoded = encodePlan(*plan, {ConstantPlace{false, 0}});
  change(encoded.plan);
  Budget budget(1 << 20);
  std::string_view constants(reinterpret_cast<const char *>(&value), 8);
  auto result = decodePlan({encoded.plan, "", "", "", {constants, nullptr}, {}}, budget);
  return result.isOk() ? "" : result.status().message();
}

} // namespace

TEST_F(ContainerTest, NumbersOutOfRangeAreRefusedByWhatTheyAre) {
  // After the key: a flag for the weights file, offset, length.
  auto constant = [](bool outside, uint64_t offset, uint64_t size) {
    return decoded([&](std::string &plan) {
      std::string place(1, static_cast<char>(outside));
      appendLittle(place, offset);
      appendLittle(place, size);
      plan.replace(plan.find("key") + 3, place.size(), place);
    });
  };
  auto contains = [](const std::string &message, const std::string &part) {
    return message.find(part) != std::string::npos;
  };
  EXPECT_EQ(constant(false, 0, 8), "");
  EXPECT_EQ(constant(false, 8, 0), "");
  for (auto [offset, size] :
       {std::pair<uint64_t, uint64_t>{0, 9}, {1, 8}, {8, 1}, {9, 0}, {UINT64_MAX - 3, 8}, {4, UINT64_MAX - 3}})
    EXPECT_TRUE(contains(constant(false, offset, size), "expected a range in the 8 bytes of section 'constants'"))
        << offset << ", " << size;
  EXPECT_TRUE(contains(constant(true, 0, 1), "expected a range in the 0 bytes of the weights file"));
  EXPECT_TRUE(
      contains(decoded([](std::string &plan) { plan[plan.find("key") + 3] = 2; }), "expected 0 or 1, but got 2"));
  // Before the step's name: its length, an empty list of steps, a list of two buffers, the callee, the kind.
  auto kind = [](char number) { return decoded([&](std::string &plan) { plan[plan.find("step0") - 25] = number; }); };
  EXPECT_EQ(kind(7), "");
  EXPECT_TRUE(contains(kind(8), "expected a kind of step up to 7, but got 8"));
  EXPECT_TRUE(contains(decoded([](std::string &plan) { plan += '\0'; }), "1 bytes are left over"));
  EXPECT_TRUE(contains(decoded([](std::string &plan) { plan.pop_back(); }), "expected 8 bytes more, but got 7"));
}

TEST_F(ContainerTest, ARangeWithAPartOfAWordIsRefused) {
  PlanBuilder builder;
  builder.engine("double", 2);
  builder.plan->engines[0].kernels[0].spirv = {1, 2, 3, 4, 5};
  EncodedPlan encoded = encodePlan(*builder.plan, {});
  std::string range;
  appendLittle(range, uint64_t(0));
  appendLittle(range, uint64_t(20));
  size_t at = encoded.plan.find(range);
  ASSERT_NE(at, std::string::npos);
  encoded.plan[at + 8] = 18;
  Budget budget(1 << 20);
  EXPECT_EQ(decodePlan({encoded.plan, std::string(20, '\1'), "", "", {}, {}}, budget).status().message(),
            "section 'plan', byte " + std::to_string(at + 16) +
                ": expected a multiple of 4 bytes of section 'spirv', but got 18");
}

TEST_F(ContainerTest, NothingIsReadBehindATruncatedPlan) {
  std::string plan = encodePlan(*smallPlan(), {}).plan;
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), pages = plan.size() / page + 2;
  void *memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  char *end = static_cast<char *>(memory) + (pages - 1) * page; // a read from here on crashes
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  for (size_t size = 0; size <= plan.size(); ++size) {
    std::copy_n(plan.begin(), size, end - size);
    Budget budget(1 << 20);
    EXPECT_EQ(decodePlan({{end - size, size}, "", "", "", {}, {}}, budget).isOk(), size == plan.size()) << size;
  }
  munmap(memory, pages * page);
}

TEST_F(ContainerTest, SeedsOfTheFuzzTargetCanBeRead) {
  if (thisArch() != "x86_64")
    GTEST_SKIP() << "the seeds have host code for x86_64";
  int count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(INLAY_FUZZ_CORPUS)) {
    auto saved = readContainer(entry.path());
    EXPECT_TRUE(saved.isOk()) << saved.status().message() << ": make fuzz-seeds creates them for a new format";
    ++count;
  }
  EXPECT_GE(count, 5);
}
