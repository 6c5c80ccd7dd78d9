// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns offsets to sections, stubs and addresses. ObjectLoader.cpp reserves and fills the memory.

#include "ObjectLayout.h"
#include "Relocation.h"

#include <fmt/format.h>

namespace inlay::rt::host {

static constexpr uint64_t kMaxBytes = uint64_t(1) << 30;

/// Allocates `size` aligned bytes at `end` and advances `end`.
static uint64_t take(uint64_t &end, uint64_t size, uint64_t alignment) {
  uint64_t begin = (end + alignment - 1) / alignment * alignment;
  end = begin + size;
  return begin;
}

/// Finds the symbols that need a stub or an entry in the table of addresses. Their offsets are assigned later.
static Status findReferences(const ElfObject &object, ObjectLayout &layout) {
  for (const ElfRelocation &relocation : object.relocations) {
    bool isOutside = object.symbols[relocation.symbol].place == ElfPlace::Elsewhere;
    switch (referenceOf(object.machine, relocation.type)) {
    case Reference::Call:
      if (isOutside) {
        layout.stubs[relocation.symbol] = 0;
        layout.addresses[relocation.symbol] = 0;
      }
      break;
    case Reference::Table:
      layout.addresses[relocation.symbol] = 0;
      break;
    case Reference::Unknown:
      return {StatusCode::InvalidArgument,
              fmt::format("expected relocations of host code in section '{}', but got type {}",
                          object.sections[relocation.section].name, relocation.type)};
    case Reference::None:
    case Reference::Address:
      break;
    }
  }
  return Status::ok();
}

StatusOr<ObjectLayout> layOut(const ElfObject &object, uint64_t pageSize) {
  ObjectLayout layout;
  INLAY_RETURN_IF_ERROR(findReferences(object, layout));
  layout.sections.resize(object.sections.size());
  uint64_t total = (layout.stubs.size() * kStubSize) + (layout.addresses.size() * sizeof(uint64_t)) + 3 * pageSize;
  for (const ElfSection &section : object.sections) {
    // Neither sum can overflow, because both were limited before.
    if (section.size > kMaxBytes || (total += section.size + section.alignment) > kMaxBytes)
      return Status(StatusCode::InvalidArgument, "expected at most 1 GiB of host code and its data");
  }
  uint64_t end = 0;
  auto place = [&](bool isCode, bool isWritable) {
    for (size_t number = 0; number < object.sections.size(); ++number)
      if (const ElfSection &section = object.sections[number];
          section.isLoaded && section.isCode == isCode && section.isWritable == isWritable)
        layout.sections[number] = take(end, section.size, section.alignment);
  };
  place(true, false);
  for (auto &[symbol, offset] : layout.stubs)
    offset = take(end, kStubSize, kStubSize);
  layout.codeSize = take(end, 0, pageSize);
  place(false, false);
  for (auto &[symbol, offset] : layout.addresses)
    offset = take(end, sizeof(uint64_t), sizeof(uint64_t));
  layout.constantSize = take(end, 0, pageSize) - layout.codeSize;
  place(false, true);
  layout.dataSize = take(end, 0, pageSize) - layout.codeSize - layout.constantSize;
  return layout;
}

} // namespace inlay::rt::host
