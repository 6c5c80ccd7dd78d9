// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of a container: a header of fixed size, a table of sections, the sections. See docs/container.md.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_LAYOUT_H
#define INLAY_LIB_RUNTIME_CONTAINER_LAYOUT_H

#include "Hash.h"
#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::rt {

constexpr std::string_view kMagic("\x89INLAY\r\n", 8);
constexpr uint16_t kMajor = 3, kMinor = 0;
constexpr size_t kHeaderBytes = 64, kDigestAt = 48, kSectionBytes = 40;
constexpr size_t kNameBytes = 16; ///< of processors and sections, padded with zeros
constexpr size_t kMaxSections = 64;
/// Where sections start: the constants on a page, so that they can be mapped, others on a cache line.
constexpr uint64_t kPageBytes = 4096, kSectionAlignment = 64;

namespace section {
constexpr const char *kPlan = "plan", *kSpirv = "spirv", *kHost = "host", *kForeign = "foreign", *kWeights = "weights",
                     *kReport = "report", *kMetadata = "metadata", *kConstants = "constants";
} // namespace section

struct Header {
  uint16_t major = kMajor, minor = kMinor;
  uint16_t needed = kMinor; ///< the least minor version that a reader must know
  uint32_t sections = 0;
  std::string arch;
  uint64_t fileBytes = 0;
  Digest digest = {};
};

struct Section {
  std::string name;
  uint64_t offset = 0, bytes = 0;
  bool isRequired = false; ///< a reader that doesn't know it must refuse the file
};

/// Checks the first bytes of a file of `fileBytes`, kHeaderBytes of them if it has so many: magic, version, byte order,
/// length, processor.
StatusOr<Header> parseHeader(std::string_view bytes, uint64_t fileBytes);

/// Checks the table, which `bytes` is: sections in the file, in order, none over another, none of them twice, none that
/// is required and unknown; the constants, if there are any, last and on a page.
StatusOr<std::vector<Section>> parseSections(std::string_view bytes, const Header &header);

/// The header and the table.
std::string formatPreamble(const Header &header, const std::vector<Section> &sections);

/// Where the first section may start.
uint64_t preambleBytes(size_t sections);

/// The section of that name; null if there is none.
const Section *findSection(const std::vector<Section> &sections, std::string_view name);

/// The hash over all of a file besides the hash itself; `head` is the file's start, the header and more.
Digest hashFile(std::string_view preamble, std::string_view tail);

/// The processor that this was built for: "x86_64", "aarch64".
std::string thisArch();

/// The same of a target triple.
std::string archOf(const std::string &triple);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_LAYOUT_H
