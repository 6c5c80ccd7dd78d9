// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the difference of two placement files, for inlay-partition-diff. PlacementFile.cpp reads the files.

#include "inlay/Partition/PlacementFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace inlay;
using namespace llvm;

namespace {
/// The placement of one function, by label.
struct Index {
  explicit Index(const PlacedFunction &function) {
    for (const PlacedOp &op : function.ops)
      ops[op.label] = &op;
    for (const SegmentedBlock &segment : function.segments)
      for (const std::string &label : segment.ops)
        segments[label] = &segment;
  }
  StringMap<const PlacedOp *> ops;
  StringMap<const SegmentedBlock *> segments;
};

/// The properties that two equal segments share. The position does not count.
using SegmentKey = std::tuple<std::string, bool, std::string, unsigned, std::vector<std::string>,
                              std::vector<std::string>, std::optional<int64_t>, std::optional<int64_t>>;

class Comparer {
public:
  Comparer(const PlacedFunction &before, const PlacedFunction &after, raw_ostream &os)
      : before(before), after(after), was(before), is(after), os(os) {}

  void compare() {
    if (!before.fingerprint.empty() && !after.fingerprint.empty() && before.fingerprint != after.fingerprint)
      os << "  the graphs differ\n";
    for (const PlacedOp &op : before.ops)
      if (!is.ops.contains(op.label))
        os << "  - " << op.label << " (" << op.name << ")\n";
    for (const PlacedOp &op : after.ops)
      compareOp(op);
    compareSegments();
  }

private:
  void compareOp(const PlacedOp &op) {
    const PlacedOp *old = was.ops.lookup(op.label);
    const SegmentedBlock *now = is.segments.lookup(op.label), *then = was.segments.lookup(op.label);
    if (!old || !then) {
      os << "  + " << op.label << " (" << op.name << ") on " << now->target << "\n";
      return;
    }
    bool moved = then->target != now->target;
    bool otherReason = std::tie(op.code, op.text, op.causedBy) != std::tie(old->code, old->text, old->causedBy);
    if (!moved && !otherReason)
      return;
    os << "  " << op.label << " (" << op.name << "): " << then->target;
    if (moved)
      os << " -> " << now->target;
    os << ": " << describeReason(op) << " (was " << describeReason(*old) << ")\n";
  }

  static std::string describeReason(const PlacedOp &op) {
    return op.code + (op.text.empty() ? "" : ": " + op.text) +
           (op.causedBy.empty() ? "" : ", caused by " + op.causedBy);
  }

  static SegmentKey makeKey(const SegmentedBlock &segment) {
    std::vector<std::string> ops = segment.ops, clones = segment.clones;
    llvm::sort(ops);
    llvm::sort(clones);
    return {segment.target, segment.doNotMerge, segment.parent,  segment.region, ops,
            clones,         segment.bytesIn,    segment.bytesOut};
  }

  void compareSegments() {
    std::vector<SegmentKey> keysBefore, keysAfter;
    for (const SegmentedBlock &segment : before.segments)
      keysBefore.push_back(makeKey(segment));
    for (const SegmentedBlock &segment : after.segments)
      keysAfter.push_back(makeKey(segment));
    if (keysBefore == keysAfter)
      return;
    std::set<SegmentKey> setBefore(keysBefore.begin(), keysBefore.end()), setAfter(keysAfter.begin(), keysAfter.end());
    for (auto [key, segment] : llvm::zip(keysBefore, before.segments))
      if (!setAfter.count(key))
        print("-", segment);
    for (auto [key, segment] : llvm::zip(keysAfter, after.segments))
      if (!setBefore.count(key))
        print("+", segment);
    if (setBefore == setAfter)
      os << "  the same segments in another order\n";
    os << "  segments: " << before.segments.size() << " -> " << after.segments.size() << "\n";
    os << "  bytes into and out of segments: " << sumBytes(before) << " -> " << sumBytes(after) << "\n";
  }

  void print(StringRef sign, const SegmentedBlock &segment) {
    os << "  " << sign << " segment " << segment.id << " on " << segment.target << ":";
    constexpr size_t kMaxShown = 8;
    for (const std::string &label : ArrayRef(segment.ops).take_front(kMaxShown))
      os << " " << label;
    if (segment.ops.size() > kMaxShown)
      os << " and " << segment.ops.size() - kMaxShown << " more";
    os << "\n";
  }

  static std::string sumBytes(const PlacedFunction &function) {
    uint64_t sum = 0;
    bool known = true;
    for (const SegmentedBlock &segment : function.segments)
      for (std::optional<int64_t> bytes : {segment.bytesIn, segment.bytesOut}) {
        known &= bytes.has_value();
        sum += static_cast<uint64_t>(bytes.value_or(0));
      }
    return (known ? "" : "at least ") + std::to_string(sum);
  }

  const PlacedFunction &before, &after;
  Index was, is;
  raw_ostream &os;
};
} // namespace

std::string inlay::comparePlacements(const PlacementFile &before, const PlacementFile &after) {
  std::string result;
  raw_string_ostream os(result);
  auto find = [](const PlacementFile &file, StringRef name) {
    return llvm::find_if(file, [&](const PlacedFunction &function) { return function.function == name; });
  };
  for (const PlacedFunction &function : before)
    if (find(after, function.function) == after.end())
      os << "- function " << function.function << "\n";
  for (const PlacedFunction &function : after) {
    auto old = find(before, function.function);
    if (old == before.end()) {
      os << "+ function " << function.function << "\n";
      continue;
    }
    std::string differences;
    raw_string_ostream stream(differences);
    Comparer(*old, function, stream).compare();
    if (!differences.empty())
      os << "function " << function.function << ":\n" << differences;
  }
  return result;
}
