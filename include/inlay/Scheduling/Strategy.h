// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The strategies that form segments.

#ifndef INLAY_SCHEDULING_STRATEGY_H
#define INLAY_SCHEDULING_STRATEGY_H

#include <optional>
#include <string_view>
#include <utility>

namespace inlay {

/// The way in which segments are formed.
enum class Strategy {
  Levels,        ///< The fewest segments, for any order in which the ops are written.
  InOrder,       ///< A new segment whenever the next op in program order has another target. For comparison.
  Cost,          ///< The least time under a cost model, which also decides the target of each op.
  TorchTensorRT, ///< An open segment per target, which is closed by the first op in program order that depends on it.
                 ///< For comparison.
};

/// The strategies and their names in options. The default comes first.
inline constexpr std::pair<std::string_view, Strategy> kStrategies[] = {{"levels", Strategy::Levels},
                                                                        {"cost", Strategy::Cost},
                                                                        {"in-order", Strategy::InOrder},
                                                                        {"torch-tensorrt", Strategy::TorchTensorRT}};

/// Returns the strategy of that name, or std::nullopt if there is none.
constexpr std::optional<Strategy> symbolizeStrategy(std::string_view wanted) {
  for (auto [name, strategy] : kStrategies)
    if (name == wanted)
      return strategy;
  return std::nullopt;
}

constexpr std::string_view stringifyStrategy(Strategy wanted) {
  for (auto [name, strategy] : kStrategies)
    if (strategy == wanted)
      return name;
  return {};
}

} // namespace inlay

#endif // INLAY_SCHEDULING_STRATEGY_H
