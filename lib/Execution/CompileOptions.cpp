// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generates the options of a request from Support/Options.td and checks their ranges. Compile.cpp acts on them.
// tools/Common/CompileOptions.cpp makes flags of them.

#include "inlay/Execution/CompileOptions.h"

using namespace inlay;

namespace {
#define GET_kCompileOptions_IMPL
#include "inlay/Support/Options.inc"
} // namespace

llvm::ArrayRef<CompileOption> inlay::getCompileOptions() { return kCompileOptions; }

rt::Status inlay::checkRanges(const CompileRequest &request) {
  for (const CompileOption &option : kCompileOptions) {
    if (!option.minimum)
      continue;
    int64_t value = *std::get<int64_t *>(option.find(const_cast<CompileRequest &>(request)));
    std::string name = request.options.partition.names == OptionNames::Flags ? option.flag : option.keyword;
    if (value < *option.minimum)
      return {rt::StatusCode::InvalidArgument, "expected " + name + " to be at least " +
                                                   std::to_string(*option.minimum) + ", but got " +
                                                   std::to_string(value)};
  }
  return rt::Status::ok();
}
