// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of the partition phase, from the table in Support/Options.td.

#ifndef INLAY_PARTITION_PARTITIONOPTIONS_H
#define INLAY_PARTITION_PARTITIONOPTIONS_H

#include "inlay/Partition/PartitionInfo.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <variant>

namespace inlay {

/// A pointer to the value of an option.
using OptionValue = std::variant<bool *, int64_t *, std::string *, std::vector<std::string> *, Strategy *>;

/// An option of the partition phase.
struct PartitionOption {
  const char *keyword; ///< Name in Python and C++.
  const char *flag;    ///< Name on command lines.
  const char *text;    ///< Documentation.
  OptionValue (*find)(PartitionInfo &info);
};

/// Returns the options in alphabetical order of their keywords.
llvm::ArrayRef<PartitionOption> getPartitionOptions();

/// Returns the name of the option that sets `member`, a member of `info`, as the user of `info` knows it.
llvm::StringRef getOptionName(const PartitionInfo &info, const void *member);

} // namespace inlay

#endif // INLAY_PARTITION_PARTITIONOPTIONS_H
