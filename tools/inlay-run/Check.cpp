// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the result of the segment check (`--check`). Runtime/Loader/SegmentCheck.cpp compares.

#include "Check.h"
#include "Arguments.h"

#include "inlay/Runtime/Core/Text.h"
#include "inlay/Runtime/Loader/SegmentCheck.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

Status tools::checkSegments(rt::LoadedProgram &opened, std::vector<Array> &inputs, std::vector<Array> &outputs) {
  StatusOr<rt::SegmentCheck> check = rt::checkSegments(opened, {}, views(inputs), views(outputs));
  if (!check.isOk())
    return check.status();
  std::string first;
  for (const rt::SegmentDifference &difference : check->differences) {
    if (difference.runs == 0)
      continue;
    bool isNear = difference.relative <= rt::tolerance(difference.element);
    fmt::print("segment '{}', result '{}': largest difference to the host {:.1e}, {:.1e} of the largest element{}\n",
               rt::escapeName(difference.step), rt::escapeName(difference.result), difference.absolute,
               difference.relative, isNear ? "" : ": too much");
    if (!isNear && first.empty())
      first = fmt::format(
          "segment '{}' differs from its host version: expected a difference of at most {} of the largest element in "
          "'{}', but got {:.1e}",
          difference.step, rt::tolerance(difference.element), difference.result, difference.relative);
  }
  if (!first.empty())
    return {StatusCode::Internal, first};
  if (!check->unchecked.empty())
    return {StatusCode::NotFound,
            fmt::format("option --check: segments without a host version: {}", fmt::join(check->unchecked, ", "))};
  if (check->differences.empty())
    fmt::print("no segment runs on a device\n");
  return Status::ok();
}
