// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tuning file: what a device's instructions cost, as `inlay-bench --tune` measured it there.

#ifndef INLAY_SUPPORT_TUNING_H
#define INLAY_SUPPORT_TUNING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace inlay {

/// Names of what may be tuned. Costs are relative to that of a multiplication and an addition.
///
///     load, quad   of loading an element, and an aligned vector of four
///     broadcast    of handing a value to a subgroup's lanes
///     launch       of one kernel more
///     points       results of an invocation, at most
///     subgroups    that keep the device busy
llvm::ArrayRef<llvm::StringRef> getTuningKeys();

struct Tuning {
  std::string device, driver;                        ///< that it was measured on
  std::vector<std::pair<std::string, double>> costs; ///< by key, each above 0; what isn't there is as by default
};

/// Reads a file strictly; the error names the file, the key and what was expected.
llvm::Expected<Tuning> readTuning(const std::string &path);

/// The file's text.
std::string formatTuning(const Tuning &tuning);

} // namespace inlay

#endif // INLAY_SUPPORT_TUNING_H
