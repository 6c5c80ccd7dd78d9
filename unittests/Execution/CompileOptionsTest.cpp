// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The defaults of C++, and the way from CompileSpec to a request.

#include "inlay/Execution/CompileOptions.h"
#include "inlay/Execution/CompileSpec.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace inlay;

namespace {
std::string toText(bool value) { return value ? "true" : "false"; }
std::string toText(int64_t value) { return std::to_string(value); }
std::string toText(const std::string &value) { return value; }
std::string toText(const std::vector<std::string> &value) { return llvm::join(value, ","); }
std::string toText(Strategy value) { return std::string(stringifyStrategy(value)); }

std::string valueOf(const CompileOption &option, CompileRequest &request) {
  return std::visit([](const auto *value) { return toText(*value); }, option.find(request));
}

constexpr const char *kText = R"mlir(
func.func @forward(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = inlay.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("relu")
  %1 = inlay.neg %0 : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("neg")
  return %1 : tensor<2x3xf32>
}
)mlir";

/// Returns the error of a compilation with one changed setting.
template <typename T, typename Value>
std::string refusal(T CompileSpec::*member, Value value) {
  CompileSpec spec;
  spec.targets = {"host"};
  spec.*member = std::move(value);
  return compile(Module(kText), spec).status().message();
}
using Names = std::vector<std::string>;
} // namespace

TEST(CompileOptionsTest, DefaultsAreThoseOfTheTable) {
  CompileRequest request, fromSpec = makeRequest(CompileSpec());
  for (const CompileOption &option : getCompileOptions())
    if (option.find) {
      EXPECT_EQ(valueOf(option, fromSpec), option.defaultText) << option.keyword;
      if (std::string(option.keyword) != "targets") // A request without targets keeps those of the module.
        EXPECT_EQ(valueOf(option, request), option.defaultText) << option.keyword;
    }
}

TEST(CompileOptionsTest, SpecSetsTheRequest) {
  CompileSpec spec;
  spec.targets = {"host"};
  spec.enabled = false;
  spec.min_block_size = 2;
  spec.torch_executed_ops = {"a"};
  spec.torch_executed_modules = {"b"};
  spec.torch_executed_locations = {"c"};
  spec.allow_ops = {"d"};
  spec.exempt_ops = {"e"};
  spec.require_full_compilation = true;
  spec.strategy = Strategy::Cost;
  spec.cost_model = "f";
  spec.placement = "g";
  spec.save_placement = "h";
  spec.tuning = "i";
  spec.host_cpu = {"j"};
  spec.max_loop_iterations = 3;
  spec.recovery = false;
  spec.device = "k";
  CompileRequest request = makeRequest(spec), defaults = makeRequest(CompileSpec());
  std::string values;
  for (const CompileOption &option : getCompileOptions())
    if (option.find && valueOf(option, request) != valueOf(option, defaults))
      values += std::string(option.keyword) + "=" + valueOf(option, request) + " ";
  EXPECT_EQ(values, "allow_ops=d cost_model=f device=k enabled=false exempt_ops=e host_cpu=j max_loop_iterations=3 "
                    "min_block_size=2 placement=g recovery=false require_full_compilation=true save_placement=h "
                    "strategy=cost targets=host torch_executed_locations=c torch_executed_modules=b "
                    "torch_executed_ops=a tuning=i ");
}

TEST(CompileOptionsTest, ErrorsNameTheMember) {
  auto expectEnd = [](const std::string &message, const std::string &end) {
    EXPECT_TRUE(llvm::StringRef(message).ends_with(end)) << message;
  };
  EXPECT_EQ(refusal(&CompileSpec::targets, Names()), "expected targets to name at least one target, but got none");
  EXPECT_EQ(refusal(&CompileSpec::min_block_size, 0), "expected min_block_size to be at least 1, but got 0");
  EXPECT_EQ(refusal(&CompileSpec::max_loop_iterations, -1),
            "expected max_loop_iterations to be at least 1, but got -1");
  expectEnd(refusal(&CompileSpec::torch_executed_ops, Names{"aten::rleu"}),
            "'aten::rleu' in torch_executed_ops matches no op; did you mean 'aten::relu'?");
  expectEnd(refusal(&CompileSpec::torch_executed_modules, Names{"m"}),
            "'m' in torch_executed_modules matches no module");
  expectEnd(refusal(&CompileSpec::torch_executed_locations, Names{"rleu"}),
            "'rleu' in torch_executed_locations matches no op's label and no line; did you mean 'relu'?");
  expectEnd(refusal(&CompileSpec::allow_ops, Names{"aten::rleu"}),
            "'aten::rleu' in allow_ops matches no op; did you mean 'aten::relu'?");
  expectEnd(refusal(&CompileSpec::exempt_ops, Names{"aten::rleu"}),
            "'aten::rleu' in exempt_ops matches no op; did you mean 'aten::relu'?");
}

TEST(CompileOptionsTest, ContradictionsNameTheMembers) {
  CompileSpec spec;
  spec.targets = {"host"};
  spec.require_full_compilation = true;
  spec.torch_executed_locations = {"neg"};
  std::string message = compile(Module(kText), spec).status().message();
  EXPECT_NE(message.find("'require_full_compilation' contradicts 'torch_executed_locations'"), std::string::npos)
      << message;
  spec.placement = "file.json";
  message = compile(Module(kText), spec).status().message();
  EXPECT_NE(message.find("'torch_executed_locations' can't be combined with a placement"), std::string::npos)
      << message;
}

TEST(CompileOptionsTest, FlagsKeepTheirNames) {
  CompileRequest request;
  request.text = kText;
  request.targets = {"host"};
  request.maxLoopIterations = 0;
  EXPECT_EQ(compile(request).status().message(), "expected max-loop-iterations to be at least 1, but got 0");
}
