// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ElfObject: a relocatable object file (ELF-64, little-endian: System V gABI, chapter 4) as checked lists. Files may be
// hostile.

#ifndef INLAY_LIB_RUNTIME_HOST_LINKER_ELFOBJECT_H
#define INLAY_LIB_RUNTIME_HOST_LINKER_ELFOBJECT_H

#include "inlay/Runtime/Core/Budget.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace inlay::rt::host {

/// A section. Its number is its index in the list. Only sections that are in memory when the code runs have a `size`.
struct ElfSection {
  std::string_view name;
  const char *bytes = nullptr; ///< Null for zeros.
  uint64_t size = 0;           ///< In bytes.
  uint64_t alignment = 1;      ///< A power of 2, at most a page of 4096 bytes.
  bool isLoaded = false;
  bool isCode = false;
  bool isWritable = false;
};

enum class ElfPlace : uint8_t { Section, Absolute, Elsewhere };

struct ElfSymbol {
  std::string_view name;
  ElfPlace place = ElfPlace::Elsewhere;
  uint32_t section = 0; ///< For `Section`: its number.
  uint64_t value = 0;   ///< For `Section`: offset in bytes, at most its size.
  bool isFunction = false;
  bool isGlobal = false;
};

/// A position in a loaded section that depends on an address.
struct ElfRelocation {
  uint32_t section = 0;
  uint64_t offset = 0; ///< In bytes, less than the section's size.
  uint32_t type = 0;   ///< Defined by the machine's ABI.
  uint32_t symbol = 0;
  int64_t addend = 0;
};

/// A parsed object. It points into the bytes that it was read from.
struct ElfObject {
  uint16_t machine = 0; ///< EM_X86_64, EM_AARCH64, ...
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
  std::vector<ElfRelocation> relocations;
};

/// Parses an object file. Checks every offset, count, index and size before it is used. Sections for unwinding and
/// debugging aren't loaded. The error says what is wrong. Features that host code never uses are errors too:
/// thread-local storage and initializers. Names have at most `kMaxSymbolBytes` bytes. Sections that are loaded must not
/// overlap, nor must tables of relocations, so that time and memory are in proportion to the file's size. The memory of
/// the lists is taken from `budget`.
StatusOr<ElfObject> parseElf(std::string_view bytes, Budget &budget);

constexpr size_t kMaxSymbolBytes = 4096;

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_LINKER_ELFOBJECT_H
