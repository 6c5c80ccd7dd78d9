// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generates the list of options of the phase from Support/Options.td. Passes/Pipeline.cpp reads them from text.

#include "inlay/Partition/PartitionOptions.h"

#include "llvm/Support/ErrorHandling.h"

using namespace inlay;

namespace {
#define GET_kPartitionOptions_IMPL
#include "inlay/Support/Options.inc"
} // namespace

llvm::ArrayRef<PartitionOption> inlay::getPartitionOptions() { return kPartitionOptions; }

llvm::StringRef inlay::getOptionName(const PartitionInfo &info, const void *member) {
  for (const PartitionOption &option : kPartitionOptions) {
    OptionValue value = option.find(const_cast<PartitionInfo &>(info));
    if (std::visit([](const void *pointer) { return pointer; }, value) == member)
      return info.names == OptionNames::Flags ? option.flag : option.keyword;
  }
  llvm_unreachable("no option sets this member");
}
