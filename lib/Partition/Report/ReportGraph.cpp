// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The drawing of the segment graph: a box per segment, frames for regions in the box of the segment that owns them, and
// arrows with bytes.

#include "ReportHtml.h"
#include "ReportLayout.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace inlay;

namespace {
constexpr double kWidth = 208, kHeight = 58, kPadding = 12, kFrameTitle = 18, kMargin = 6, kRoomForBytes = 70;
constexpr unsigned kMaxBoxes = 400, kMaxDepth = 6;
/// Larger values count as this, so that sums stay in range.
constexpr int64_t kMaxValueBytes = int64_t(1) << 40;
/// Bytes from which an arrow is wide.
constexpr int64_t kMinWideBytes = 1 << 20;

struct Carried {
  int64_t bytes = 0;
  bool allKnown = true;
  std::vector<std::string> names;
};

struct Frame;

/// The segments of one block with their layout.
struct DrawnBlock {
  std::vector<unsigned> segments;
  std::vector<std::vector<Frame>> frames; ///< Of each segment.
  std::vector<Carried> carried;           ///< Of each edge.
  GraphLayout layout;
};

struct Frame {
  std::string title;
  DrawnBlock block;
};

class GraphWriter {
public:
  GraphWriter(llvm::raw_ostream &os, const Report &report, const Tones &tones, const SegmentsByRegion &regions,
              StringRef prefix)
      : os(os), report(report), tones(tones), regions(regions), prefix(prefix) {}

  void write() {
    auto top = regions.find("");
    if (top == regions.end())
      return;
    DrawnBlock block = layOut(top->second.begin()->second, 0);
    os << llvm::formatv(
        "<svg class=\"graph\" role=\"img\" aria-label=\"graph of segments\" width=\"{0:f0}\" height=\"{1:f0}\" "
        "viewBox=\"0 0 {0:f0} {1:f0}\">\n",
        block.layout.width + 2 * kMargin + kRoomForBytes, block.layout.height + 2 * kMargin);
    writeBlock(block, kMargin + kRoomForBytes / 2, kMargin);
    os << "</svg>\n";
    if (boxes < report.segments.size())
      os << "<p class=\"soft\">" << boxes << " of " << report.segments.size() << " segments are drawn.</p>\n";
    if (notDrawn > 0)
      os << "<p class=\"soft\">" << notDrawn << " arrows that pass many segments are left out.</p>\n";
  }

private:
  DrawnBlock layOut(ArrayRef<unsigned> segments, unsigned depth) {
    DrawnBlock block;
    std::vector<LayoutBox> sizes;
    llvm::DenseMap<unsigned, unsigned> places;
    for (unsigned segment : segments) {
      if (boxes == kMaxBoxes)
        break;
      ++boxes;
      places[segment] = static_cast<unsigned>(block.segments.size());
      block.segments.push_back(segment);
      block.frames.push_back(layOutRegions(report.segments[segment], depth));
      sizes.push_back(measure(block.frames.back()));
    }
    block.layout = layOutGraph(std::move(sizes), findEdges(block, places));
    notDrawn += block.layout.notDrawn;
    return block;
  }

  std::vector<Frame> layOutRegions(const SegmentedBlock &segment, unsigned depth) {
    std::vector<Frame> frames;
    if (!segment.doNotMerge || depth == kMaxDepth)
      return frames;
    for (const std::string &label : segment.ops)
      if (auto owned = regions.find(label); owned != regions.end())
        for (auto &[number, inner] : owned->second)
          frames.push_back({"region " + std::to_string(number), layOut(inner, depth + 1)});
    return frames;
  }

  static LayoutBox measure(ArrayRef<Frame> frames) {
    double width = kPadding, height = 0;
    for (const Frame &frame : frames) {
      width += frame.block.layout.width + 3 * kPadding;
      height = std::max(height, frame.block.layout.height + kFrameTitle + 2 * kPadding);
    }
    return {std::max(width, kWidth), kHeight + height, {}};
  }

  std::vector<LayoutEdge> findEdges(DrawnBlock &block, const llvm::DenseMap<unsigned, unsigned> &places) {
    std::map<std::pair<unsigned, unsigned>, Carried> found;
    for (auto [to, number] : llvm::enumerate(block.segments))
      for (const BorderValue &value : report.segments[number].inputs) {
        auto from = value.segment ? places.find(*value.segment) : places.end();
        if (from == places.end() || from->second >= to)
          continue;
        Carried &carried = found[{from->second, static_cast<unsigned>(to)}];
        carried.allKnown &= value.bytes.has_value();
        carried.bytes += std::min(value.bytes.value_or(0), kMaxValueBytes);
        carried.names.push_back(value.from);
      }
    std::vector<LayoutEdge> edges;
    for (auto &[ends, carried] : found) {
      edges.push_back({ends.first, ends.second, {}});
      block.carried.push_back(std::move(carried));
    }
    return edges;
  }

  void writeBlock(const DrawnBlock &block, double x, double y) {
    for (auto [edge, carried] : llvm::zip(block.layout.edges, block.carried))
      if (!edge.way.empty())
        writeWay(edge, carried, block, x, y);
    for (auto [place, segment] : llvm::enumerate(block.segments))
      writeBox(report.segments[segment], block.layout.boxes[place], block.frames[place], x, y);
    writeBytes(block, x, y);
  }

  /// Returns a smooth curve for three points, else lines with round corners.
  static std::string makePath(ArrayRef<LayoutPoint> way, double x, double y) {
    auto point = [&](double px, double py) { return llvm::formatv("{0:f1} {1:f1} ", px + x, py + y).str(); };
    std::string path = "M" + point(way[0].x, way[0].y);
    if (way.size() == 3) {
      double middle = (way[1].y + way[2].y) / 2;
      return path + "L" + point(way[1].x, way[1].y) + "C" + point(way[1].x, middle) + point(way[2].x, middle) +
             point(way[2].x, way[2].y);
    }
    constexpr double kRadius = 5;
    for (size_t at = 1; at + 1 < way.size(); ++at) {
      auto towards = [&](const LayoutPoint &other) {
        double dx = other.x - way[at].x, dy = other.y - way[at].y, length = std::abs(dx) + std::abs(dy);
        double part = length > 0 ? std::min(kRadius, length / 2) / length : 0;
        return point(way[at].x + dx * part, way[at].y + dy * part);
      };
      path += "L" + towards(way[at - 1]) + "Q" + point(way[at].x, way[at].y) + towards(way[at + 1]);
    }
    return path + "L" + point(way.back().x, way.back().y);
  }

  void writeWay(const LayoutEdge &edge, const Carried &carried, const DrawnBlock &block, double x, double y) {
    double tipX = edge.way.back().x + x, tipY = edge.way.back().y + y;
    os << "<g><title>" << escapeHtml(describe(edge, carried, block)) << "</title><path class=\"way"
       << (carried.bytes >= kMinWideBytes ? " wide" : "") << "\" d=\"" << makePath(edge.way, x, y) << "\"/>"
       << llvm::formatv("<path class=\"tip\" d=\"M{0:f1} {1:f1}h8l-4 7z\"/></g>\n", tipX - 4, tipY - 7);
  }

  std::string describe(const LayoutEdge &edge, const Carried &carried, const DrawnBlock &block) {
    return "#" + std::to_string(block.segments[edge.from]) + " to #" + std::to_string(block.segments[edge.to]) + ": " +
           formatCarried(carried) + " in " + listSome(carried.names, 12);
  }

  static std::string formatCarried(const Carried &carried) {
    return (carried.allKnown ? ""
            : carried.bytes  ? "at least "
                             : "unknown bytes") +
           (carried.allKnown || carried.bytes ? formatBytes(carried.bytes) : std::string());
  }

  /// Writes the bytes of each straight arrow, and one text for all arrows that reach a box through lanes.
  void writeBytes(const DrawnBlock &block, double x, double y) {
    auto write = [&](double atX, double atY, const std::string &text) {
      os << llvm::formatv("<text class=\"bytes\" x=\"{0:f1}\" y=\"{1:f1}\">{2}</text>\n", atX + x, atY + y, text);
    };
    struct Arrival {
      LayoutPoint tip;
      std::vector<std::string> texts;
    };
    std::map<uint32_t, Arrival> arrivals;
    for (auto [edge, carried] : llvm::zip(block.layout.edges, block.carried)) {
      if (edge.way.empty())
        continue;
      std::string text = carried.allKnown ? formatBytes(carried.bytes)
                         : carried.bytes  ? "≥ " + formatBytes(carried.bytes)
                                          : "?";
      const LayoutPoint &last = edge.way.back(), &before = edge.way[edge.way.size() - 2];
      if (edge.way.size() == 3) {
        write((before.x + last.x) / 2 + 6, (before.y + last.y) / 2 + 3, text);
        continue;
      }
      Arrival &arrival = arrivals[edge.to];
      if (arrival.texts.empty() || last.x > arrival.tip.x)
        arrival.tip = last;
      arrival.texts.push_back(text);
    }
    for (auto &[box, arrival] : arrivals)
      write(arrival.tip.x + 7, arrival.tip.y - 3,
            arrival.texts.size() > 2
                ? arrival.texts.front() + " + " + std::to_string(arrival.texts.size() - 1) + " more"
                : llvm::join(arrival.texts, " + "));
  }

  void writeBox(const SegmentedBlock &segment, const LayoutBox &box, ArrayRef<Frame> frames, double x, double y) {
    x += box.at.x;
    y += box.at.y;
    std::string count = countOf(segment.ops.size(), "op");
    os << "<a";
    writeLink(os, prefix, segment.id);
    os << " class=\"" << tones.get(segment.target) << "\"><title>"
       << escapeHtml("#" + std::to_string(segment.id) + " on " + segment.target + ": " + listSome(segment.ops, 24))
       << "</title>"
       << llvm::formatv("<rect class=\"box\" x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" height=\"{3:f1}\" rx=\"7\"/>",
                        x, y, box.width, box.height);
    auto line = [&](double down, StringRef kind, StringRef words) {
      os << llvm::formatv("<text class=\"{0}\" x=\"{1:f1}\" y=\"{2:f1}\">{3}</text>", kind, x + kPadding, y + down,
                          escapeHtml(words));
    };
    line(18, "title", abbreviate("#" + std::to_string(segment.id) + " " + segment.target, 26));
    std::string carried = formatBytes(segment.bytesIn, segment.bytesInByDims) + " in, " +
                          formatBytes(segment.bytesOut, segment.bytesOutByDims) + " out";
    line(34, "small", abbreviate(count + ", " + carried, 34));
    line(50, "small", abbreviate(listSome(segment.ops, 4), 31));
    os << "</a>\n";
    for (const Frame &frame : frames) {
      double top = y + kHeight;
      os << llvm::formatv(
          "<rect class=\"frame\" x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" height=\"{3:f1}\" rx=\"5\"/>"
          "<text class=\"small\" x=\"{4:f1}\" y=\"{5:f1}\">{6}</text>\n",
          x + kPadding, top, frame.block.layout.width + 2 * kPadding,
          frame.block.layout.height + kFrameTitle + kPadding, x + 1.5 * kPadding, top + 14, frame.title);
      writeBlock(frame.block, x + 2 * kPadding, top + kFrameTitle);
      x += frame.block.layout.width + 3 * kPadding;
    }
  }

  llvm::raw_ostream &os;
  const Report &report;
  const Tones &tones;
  const SegmentsByRegion &regions;
  StringRef prefix;
  unsigned boxes = 0, notDrawn = 0;
};
} // namespace

void inlay::writeGraph(llvm::raw_ostream &os, const Report &report, const Tones &tones, const SegmentsByRegion &regions,
                       StringRef prefix) {
  GraphWriter(os, report, tones, regions, prefix).write();
}
