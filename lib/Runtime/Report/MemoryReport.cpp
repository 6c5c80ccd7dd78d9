// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the memory use to a partition report, as JSON and text. Core/Execute/MemoryUse.cpp measures it.

#include "ReportJson.h"
#include "inlay/Runtime/Report/ReportKeys.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace inlay::rt {

namespace {
/// A part of the memory, with its key in the report and its title for users.
struct Part {
  const char *key, *title;
  SharedBytes bytes;
};
} // namespace

static std::array<Part, 5> listParts(const MemoryUse &use) {
  return {{{"host_temporaries", "host temporaries", use.hostTemporaries},
           {"host_scratch", "host scratch", use.hostScratch},
           {"device_temporaries", "device temporaries", use.deviceTemporaries},
           {"device_scratch", "device scratch", use.deviceScratch},
           {"total", "together", use.total()}}};
}

std::string formatBytes(uint64_t bytes) {
  auto value = static_cast<double>(bytes);
  const char *unit = nullptr;
  for (const char *next : {"KiB", "MiB", "GiB"})
    if (value >= 1024) {
      value /= 1024;
      unit = next;
    }
  return unit ? fmt::format("{:.1f} {}", value, unit) : fmt::format("{} B", bytes);
}

/// Returns the factor by which the memory would grow without sharing.
static double getRatio(const SharedBytes &bytes) {
  return bytes.peak ? static_cast<double>(bytes.unshared) / static_cast<double>(bytes.peak) : 1;
}

static Json toJson(const MemoryUse &use) {
  Json memory{{"host_constants", use.hostConstants},
              {"device_constants", use.deviceConstants},
              {"host_states", use.hostStates},
              {"device_states", use.deviceStates}};
  for (const Part &part : listParts(use))
    memory[part.key] = Json{{"peak", part.bytes.peak}, {"unshared", part.bytes.unshared}};
  memory["total"]["ratio"] = getRatio(use.total());
  return memory;
}

std::string describeMemory(const MemoryUse &use) { return toJson(use).dump(); }

StatusOr<std::string> addMemory(const std::string &report, const MemoryUse &use) {
  StatusOr<Json> root = parseReport(report);
  if (!root.isOk())
    return root.status();
  (*root)["summary"]["memory"] = toJson(use);
  return formatReport(*root);
}

std::string formatMemory(const MemoryUse &use) {
  constexpr const char *kRow = "  {:<18}  {:>10}  {:>10}  {:>6}\n";
  std::string text = "memory of a call\n" + fmt::format(kRow, "", "peak", "unshared", "ratio");
  for (const Part &part : listParts(use))
    if (part.bytes.unshared > 0 || std::string_view(part.key) == "total")
      text += fmt::format(kRow, part.title, formatBytes(part.bytes.peak), formatBytes(part.bytes.unshared),
                          fmt::format("{:.1f}", getRatio(part.bytes)));
  text += fmt::format("constants: {} on the host, {} on the device\n", formatBytes(use.hostConstants),
                      formatBytes(use.deviceConstants));
  if (use.hostStates + use.deviceStates > 0)
    text += fmt::format("states of a session: {} on the host, {} on the device\n", formatBytes(use.hostStates),
                        formatBytes(use.deviceStates));
  return text;
}

} // namespace inlay::rt
