// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tuning files: the instruction costs of a device, as `inlay-bench --tune` measured them.

#ifndef INLAY_SUPPORT_TUNING_H
#define INLAY_SUPPORT_TUNING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace inlay {

/// Returns the names of the costs in a tuning file. The costs of instructions are relative to the cost of a
/// multiplication and an addition.
///
///     load, quad   cost of loading an element, and of loading an aligned vector of four
///     broadcast    cost of broadcasting a value to the lanes of a subgroup
///     launch       cost of one more kernel
///     points       maximum number of results per invocation
///     subgroups    number of subgroups that keep the device busy
llvm::ArrayRef<llvm::StringRef> getTuningKeys();

struct Tuning {
  std::string device, driver;                        ///< Device and driver that were measured.
  std::vector<std::pair<std::string, double>> costs; ///< Costs by key, each above 0. Missing keys have default costs.
};

/// Reads a tuning file. Unknown keys and malformed values are errors that name the file, the key and the expected
/// value.
llvm::Expected<Tuning> readTuning(const std::string &path);

/// Reads the text of a tuning file. `path` is its name in errors.
llvm::Expected<Tuning> parseTuning(llvm::StringRef text, llvm::StringRef path);

/// Returns the text of a tuning file.
std::string formatTuning(const Tuning &tuning);

} // namespace inlay

#endif // INLAY_SUPPORT_TUNING_H
