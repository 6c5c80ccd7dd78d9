// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the runtime through its C and C++ interfaces, and of the library's symbols and dependencies.

#include "inlay-c/runtime.hpp"
#include "../../Runtime/PlanBuilder.h"
#include "FromC.h"
#include "inlay/Runtime/Container/Container.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>

using namespace inlay;

namespace {

/// Saves a program with y = x of [batch x 4] and the sine of four zeros. Returns its path.
std::string saveProgram() {
  rt::test::PlanBuilder b;
  rt::Expr batch = rt::Expr::dim(0, 0);
  b.plan->symbols.push_back({"batch", 1, 64, 0, 0});
  uint32_t x = b.input("x", {batch, rt::Expr(4)}), y = b.output("y", {batch, rt::Expr(4)});
  uint32_t zeros = b.constant("zeros", rt::MemorySpace::Host, {0, 0, 0, 0}), sine = b.output("sine", {rt::Expr(4)});
  b.copy(x, y);
  b.call(b.hostFunction("sample_sine", {rt::Access::Read, rt::Access::Write}), {zeros, sine});
  std::ifstream file(INLAY_CODE_SAMPLE, std::ios::binary);
#if defined(__x86_64__)
  b.plan->hostCode.triple = "x86_64-unknown-linux-gnu";
#else
  b.plan->hostCode.triple = "aarch64-unknown-linux-gnu";
#endif
  b.plan->hostCode.objects.push_back({"any", {}, {std::istreambuf_iterator<char>(file), {}}});
  std::string path = testing::TempDir() + "runtime-capi-" + std::to_string(getpid()) + ".inlay";
  rt::Status saved = rt::writeContainer(path, *b.plan, {R"({"segments": []})", R"({"by": "test"})"});
  EXPECT_TRUE(saved.isOk()) << saved.message();
  return path;
}

struct RuntimeCAPI : testing::Test {
  void TearDown() override { unlink(path.c_str()); }
  std::string path = saveProgram();
};

TEST_F(RuntimeCAPI, runsFromC) {
  const char *failed = runFromC(path.c_str());
  EXPECT_EQ(failed, nullptr) << failed << ": " << inlayLastError();
}

TEST_F(RuntimeCAPI, failsInCWithWords) {
  const char *failed = failFromC(path.c_str());
  EXPECT_EQ(failed, nullptr) << failed << ": " << inlayLastError();
}

TEST_F(RuntimeCAPI, runsFromCpp) {
  runtime::Program program(path);
  EXPECT_EQ(program.input(0).dims, (std::vector<int64_t>{-1, 4}));
  EXPECT_EQ(program.input(0).count(), 0u);
  EXPECT_EQ(program.output(1).count(), 4u);
  EXPECT_EQ(program.device(), "");
  EXPECT_EQ(program.report(), R"({"segments": []})");
  EXPECT_EQ(program.metadata(), R"({"by": "test"})");
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> y(8), sine(4);
  std::vector<runtime::Tensor> inputs = {runtime::view(x.data(), {2, 4})};
  EXPECT_EQ(program.outputDims(inputs, 0), (std::vector<int64_t>{2, 4}));
  program.call(inputs, {runtime::view(y.data(), {2, 4}), runtime::view(sine.data(), {4})});
  EXPECT_EQ(x, y);
  runtime::Program moved = std::move(program);
  moved.call(inputs, {runtime::view(y.data(), {2, 4}), runtime::view(sine.data(), {4})});
  try {
    moved.call({}, {});
    FAIL() << "expected an error";
  } catch (const runtime::Error &error) {
    EXPECT_EQ(error.status(), InlayStatusInvalidArgument);
    EXPECT_STREQ(error.what(), "expected 1 input, but got 0");
  }
  EXPECT_THROW(runtime::Program("nowhere.inlay"), runtime::Error);
}

TEST_F(RuntimeCAPI, resultsOfCppKeepTheirMemory) {
  auto x = std::make_shared<std::vector<float>>(8, 3.0f);
  std::vector<runtime::Tensor> results;
  {
    runtime::Program program(path);
    results = program.call({runtime::view(x->data(), {2, 4}, x)});
    EXPECT_EQ(x.use_count(), 1);
    EXPECT_THROW(program.call({runtime::view(x->data(), {2, 3}, x)}), runtime::Error);
    EXPECT_EQ(x.use_count(), 1);
    results = program.call({results[0]});
  }
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].dims, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(results[0].element, InlayElementF32);
  auto *y = static_cast<float *>(results[0].data);
  EXPECT_EQ(std::vector<float>(y, y + 8), *x);
}

/// A program that returns the input of the call before.
TEST_F(RuntimeCAPI, sessionsKeepStates) {
  rt::test::PlanBuilder b;
  rt::Expr batch = rt::Expr::dim(0, 0);
  uint32_t x = b.input("x", {batch}), y = b.output("y", {batch});
  uint32_t last = b.state("last", rt::MemorySpace::Host, {batch});
  b.copy(last, y);
  b.copy(x, last);
  ASSERT_TRUE(rt::writeContainer(path, *b.plan, {R"({"segments": []})", "{}"}).isOk());
  runtime::Program program(path);
  ASSERT_EQ(program.stateCount(), 1u);
  EXPECT_EQ(program.state(0).name, "last");
  EXPECT_THROW(program.state(1), runtime::Error);
  runtime::Session one = program.makeSession(), two = program.makeSession();
  auto call = [&](runtime::Session &session, std::vector<float> values) {
    runtime::Tensor y = program.call({runtime::view(values.data(), {int64_t(values.size())})}, session)[0];
    auto *data = static_cast<float *>(y.data);
    return std::vector<float>(data, data + values.size());
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(call(one, {1, 2}), Floats({0, 0}));
  EXPECT_EQ(call(one, {3, 4}), Floats({1, 2}));
  EXPECT_EQ(call(two, {5, 6}), Floats({0, 0}));
  EXPECT_EQ(static_cast<float *>(one.read(0).data)[1], 4);
  Floats written = {7, 8};
  one.write(0, runtime::view(written.data(), {2}));
  EXPECT_EQ(call(one, {0, 0}), written);
  EXPECT_THROW(call(one, {1, 2, 3}), runtime::Error);
  one.reset();
  EXPECT_EQ(call(one, {1, 2, 3}), Floats({0, 0, 0}));
  try {
    program.call({runtime::view(written.data(), {2})});
    FAIL() << "expected an error";
  } catch (const runtime::Error &error) {
    EXPECT_STREQ(error.what(), "the program has state: pass a session, which makeSession() makes");
  }
  EXPECT_EQ(inlaySessionMake(nullptr, nullptr), InlayStatusInvalidArgument);
  EXPECT_EQ(inlaySessionReset(nullptr), InlayStatusInvalidArgument);
  EXPECT_STREQ(inlayLastError(), "expected a session, but got null");
}

TEST_F(RuntimeCAPI, threadsCallOneProgramAndHaveErrorsOfTheirOwn) {
  runtime::Program program(path);
  std::vector<std::thread> threads;
  std::array<std::string, 4> errors;
  for (size_t i = 0; i < errors.size(); ++i)
    threads.emplace_back([&, i] {
      for (int run = 0; run < 200; ++run) {
        std::vector<float> x(4 * (i + 1), static_cast<float>(run)), y(x.size()), sine(4);
        auto rows = static_cast<int64_t>(i + 1);
        program.call({runtime::view(x.data(), {rows, 4})},
                     {runtime::view(y.data(), {rows, 4}), runtime::view(sine.data(), {4})});
        if (x != y)
          errors[i] = "wrong";
      }
      try {
        program.input(i + 10);
      } catch (const runtime::Error &error) {
        errors[i] += error.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < errors.size(); ++i)
    EXPECT_EQ(errors[i], "expected one of 1 inputs, but got " + std::to_string(i + 10));
}

//===-- The library ---------------------------------------------------------------------------------------------===//

std::string outputOf(const std::string &command) {
  std::string text;
  FILE *pipe = popen(command.c_str(), "r");
  for (int c; pipe && (c = std::fgetc(pipe)) != EOF;)
    text += static_cast<char>(c);
  EXPECT_EQ(pipe ? pclose(pipe) : -1, 0) << command;
  return text;
}

TEST(RuntimeLibrary, exportsTheFunctionsOfTheHeaderAlone) {
  std::string header = outputOf("grep -o 'inlay[A-Z][A-Za-z]*(' " INLAY_C_HEADER " | tr -d '(' | sort -u");
  std::string exported =
      outputOf(READELF " -W --dyn-syms " INLAY_RUNTIME_LIBRARY " | awk '$7 != \"UND\" && NR > 4 {print $8}' | sort -u");
  EXPECT_EQ(exported, header);
}

TEST(RuntimeLibrary, needsTheSystemsLibrariesAlone) {
  std::string needed =
      outputOf(READELF " -W -d " INLAY_RUNTIME_LIBRARY " | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p' | sort");
  for (const char *other : {"LLVM", "MLIR", "python", "vulkan", "torch", "fmt"})
    EXPECT_EQ(needed.find(other), std::string::npos) << needed;
  EXPECT_NE(needed.find("libc.so.6"), std::string::npos) << needed;
}

} // namespace
