// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a node may stand: the segments of its colour, in execution order.

#ifndef INLAY_LIB_SCHEDULING_COLOURPLACES_H
#define INLAY_LIB_SCHEDULING_COLOURPLACES_H

#include "inlay/Scheduling/ScheduleGraph.h"

#include <algorithm>

namespace inlay {

class ColourPlaces {
public:
  explicit ColourPlaces(const std::vector<Colour> &colours) : colours(colours), rank(colours.size()), places(64) {
    for (uint32_t at = 0; at < colours.size(); ++at) {
      rank[at] = static_cast<uint32_t>(places[colours[at]].size());
      places[colours[at]].push_back(at);
    }
  }

  const std::vector<uint32_t> &of(Colour colour) const { return places[colour]; }
  /// A segment's number among those of its colour.
  uint32_t rankOf(uint32_t segment) const { return rank[segment]; }

  /// The number of the first segment of that colour that is not before `at`. Where two colours take turns, that is `at`
  /// itself or the next one.
  uint32_t firstFrom(Colour colour, uint32_t at) const {
    for (uint32_t near = at; near < std::min<size_t>(at + 2, colours.size()); ++near)
      if (colours[near] == colour)
        return rank[near];
    const std::vector<uint32_t> &own = places[colour];
    return static_cast<uint32_t>(std::lower_bound(own.begin(), own.end(), at) - own.begin());
  }

private:
  const std::vector<Colour> &colours;
  std::vector<uint32_t> rank;
  std::vector<std::vector<uint32_t>> places;
};

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_COLOURPLACES_H
