// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the entry point and the needed properties of a SPIR-V module, and rejects others.
// Core/Plan/EngineChecker.cpp checks the rest of an engine.

#include "SpirvEntry.h"

#include <fmt/format.h>

#include <cstring>

namespace inlay::rt::vulkan {

namespace {

constexpr uint32_t magicNumber = 0x07230203, headerWords = 5;
constexpr uint32_t opEntryPoint = 15, opExecutionMode = 16;
constexpr uint32_t modelGLCompute = 5, modeLocalSize = 17;

struct Found {
  uint32_t id;
  SpirvEntry entry;
};

} // namespace

static Status invalid(std::string message) {
  return {StatusCode::InvalidArgument, "SPIR-V module: " + std::move(message)};
}

/// Reads the null-terminated string in words [begin, end). Words hold four bytes each, lowest first.
static std::string readString(const std::vector<uint32_t> &words, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) {
    for (int shift = 0; shift < 32; shift += 8) {
      char c = static_cast<char>(words[i] >> shift);
      if (!c)
        return text;
      text.push_back(c);
    }
  }
  return text;
}

static Status collect(const std::vector<uint32_t> &words, std::vector<Found> &entries) {
  for (size_t at = headerWords; at < words.size();) {
    uint32_t count = words[at] >> 16, opcode = words[at] & 0xffff;
    if (count == 0 || count > words.size() - at)
      return invalid(fmt::format("the instruction at word {} has a length of {} with {} words left", at, count,
                                 words.size() - at));
    if (opcode == opEntryPoint && count > 3 && words[at + 1] == modelGLCompute)
      entries.push_back({words[at + 2], {readString(words, at + 3, at + count), std::nullopt}});
    if (opcode == opExecutionMode && count == 6 && words[at + 2] == modeLocalSize)
      for (Found &found : entries)
        if (found.id == words[at + 1])
          found.entry.localSize = {words[at + 3], words[at + 4], words[at + 5]};
    at += count;
  }
  return Status::ok();
}

StatusOr<SpirvEntry> findEntry(const std::vector<uint32_t> &words, const std::string &name) {
  if (words.size() < headerWords || words[0] != magicNumber)
    return invalid(fmt::format("expected the magic number {:#010x} and a header of {} words, but got {} words",
                               magicNumber, headerWords, words.size()));
  std::vector<Found> entries;
  INLAY_RETURN_IF_ERROR(collect(words, entries));
  for (Found &found : entries)
    if (found.entry.name == name)
      return found.entry;
  if (entries.size() == 1)
    return entries[0].entry;
  return invalid(
      fmt::format("expected a compute entry point '{}', but none of its {} has this name", name, entries.size()));
}

} // namespace inlay::rt::vulkan
