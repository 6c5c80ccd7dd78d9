// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReportObject.h"
#include "inlay/Execution/ReportKeys.h"

#include "llvm/Support/FormatVariadic.h"

#include <array>

using namespace inlay;
using rt::StatusOr;
namespace json = llvm::json;

namespace {
/// A part of the memory by its key in the report and for people.
struct Part {
  const char *key, *title;
  rt::SharedBytes bytes;
};
} // namespace

static std::array<Part, 5> listParts(const rt::MemoryUse &use) {
  return {{{"host_temporaries", "host temporaries", use.hostTemporaries},
           {"host_scratch", "host scratch", use.hostScratch},
           {"device_temporaries", "device temporaries", use.deviceTemporaries},
           {"device_scratch", "device scratch", use.deviceScratch},
           {"total", "together", use.total()}}};
}

static std::string formatBytes(uint64_t bytes) {
  double value = static_cast<double>(bytes);
  llvm::StringRef unit = "B";
  for (llvm::StringRef next : {"KiB", "MiB", "GiB"})
    if (value >= 1024) {
      value /= 1024;
      unit = next;
    }
  return unit == "B" ? llvm::formatv("{0} B", bytes).str() : llvm::formatv("{0:f1} {1}", value, unit).str();
}

/// How many times more it would be without sharing.
static double getRatio(const rt::SharedBytes &bytes) {
  return bytes.peak ? static_cast<double>(bytes.unshared) / static_cast<double>(bytes.peak) : 1;
}

static json::Object toObject(const rt::MemoryUse &use) {
  json::Object memory{{"host_constants", use.hostConstants}, {"device_constants", use.deviceConstants}};
  for (const Part &part : listParts(use))
    memory[part.key] = json::Object{{"peak", part.bytes.peak}, {"unshared", part.bytes.unshared}};
  (*memory.getObject("total"))["ratio"] = getRatio(use.total());
  return memory;
}

std::string inlay::describeMemory(const rt::MemoryUse &use) {
  return llvm::formatv("{0}", json::Value(toObject(use))).str();
}

StatusOr<std::string> inlay::addMemory(const std::string &report, const rt::MemoryUse &use) {
  StatusOr<json::Object> root = parseReport(report);
  if (!root.isOk())
    return root.status();
  (*root->getObject("summary"))["memory"] = toObject(use);
  return formatReport(std::move(*root));
}

std::string inlay::formatMemory(const rt::MemoryUse &use) {
  constexpr const char *kRow = "  {0,-18}  {1,10}  {2,10}  {3,6}\n";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "memory of a call\n" << llvm::formatv(kRow, "", "peak", "unshared", "ratio");
  for (const Part &part : listParts(use))
    if (part.bytes.unshared > 0 || llvm::StringRef(part.key) == "total")
      os << llvm::formatv(kRow, part.title, formatBytes(part.bytes.peak), formatBytes(part.bytes.unshared),
                          llvm::formatv("{0:f1}", getRatio(part.bytes)).str());
  os << "constants: " << formatBytes(use.hostConstants) << " on the host, " << formatBytes(use.deviceConstants)
     << " on the device\n";
  return text;
}
