// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of a compilation, from the table in Support/Options.td.

#ifndef INLAY_EXECUTION_COMPILEOPTIONS_H
#define INLAY_EXECUTION_COMPILEOPTIONS_H

#include "inlay/Execution/Compile.h"
#include "inlay/Partition/PartitionOptions.h"

#include <optional>

namespace inlay {

struct CompileOption {
  const char *keyword;   ///< Name in Python and C++.
  const char *flag;      ///< Name on command lines.
  const char *valueName; ///< Stands for the value in help texts; empty for a switch.
  const char *sentence;  ///< Documentation.
  const char *defaultText;
  bool isFlag;
  std::optional<int64_t> minimum;
  /// Returns the value in the request. Null for an option whose value is not in the request as such.
  OptionValue (*find)(CompileRequest &request);
};

/// Returns the options in alphabetical order of their keywords.
llvm::ArrayRef<CompileOption> getCompileOptions();

/// Returns an error for a number that is out of range. It names the option as the user of the request knows it.
rt::Status checkRanges(const CompileRequest &request);

} // namespace inlay

#endif // INLAY_EXECUTION_COMPILEOPTIONS_H
