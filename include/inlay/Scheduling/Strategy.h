// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The strategies that form segments.

#ifndef INLAY_SCHEDULING_STRATEGY_H
#define INLAY_SCHEDULING_STRATEGY_H

#include <string_view>
#include <utility>

namespace inlay {

/// How segments are formed.
enum class Strategy {
  Levels,        ///< fewest segments, whatever order the ops are written in
  InOrder,       ///< a new segment whenever the next op in program order has another target; for comparison
  Cost,          ///< the least time under a cost model, which decides what each target gets
  TorchTensorRT, ///< an open segment per target, closed by what depends on it, in program order; for comparison
};

/// Strategies by the names that options give them, the default first.
inline constexpr std::pair<std::string_view, Strategy> kStrategies[] = {{"levels", Strategy::Levels},
                                                                        {"cost", Strategy::Cost},
                                                                        {"in-order", Strategy::InOrder},
                                                                        {"torch-tensorrt", Strategy::TorchTensorRT}};

} // namespace inlay

#endif // INLAY_SCHEDULING_STRATEGY_H
