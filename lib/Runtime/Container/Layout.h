// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a container: a header of fixed size, a section table and the sections. See docs/container.md.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_LAYOUT_H
#define INLAY_LIB_RUNTIME_CONTAINER_LAYOUT_H

#include "Hash.h"
#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::rt {

/// Returns the error of a container that is malformed.
inline Status invalid(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }

constexpr std::string_view kMagic("\x89INLAY\r\n", 8);
constexpr uint16_t kMajor = 6, kMinor = 0;
constexpr size_t kHeaderBytes = 64, kDigestAt = 48, kSectionBytes = 40;
constexpr size_t kNameBytes = 16; ///< Bytes of a processor or section name, padded with zeros.
constexpr size_t kMaxSections = 64;
/// Alignment of the constants, which are mapped, and of the other sections (a cache line).
constexpr uint64_t kPageBytes = 4096, kSectionAlignment = 64;

namespace section {
constexpr const char *kPlan = "plan", *kSpirv = "spirv", *kHost = "host", *kForeign = "foreign", *kWeights = "weights",
                     *kReport = "report", *kMetadata = "metadata", *kConstants = "constants";
} // namespace section

struct Header {
  uint16_t major = kMajor, minor = kMinor;
  uint16_t needed = kMinor; ///< Smallest minor version that a reader must support.
  uint32_t sections = 0;
  std::string arch;
  uint64_t fileBytes = 0;
  Digest digest = {};
};

struct Section {
  std::string name;
  uint64_t offset = 0, bytes = 0;
  bool isRequired = false; ///< True if a reader that doesn't know the section must refuse the file.
};

/// Parses the start of a file of `fileBytes` bytes: kHeaderBytes of it, or all if it is shorter. Checks magic, version,
/// byte order, length and processor.
StatusOr<Header> parseHeader(std::string_view bytes, uint64_t fileBytes);

/// Parses the section table, which is all of `bytes`. Checks that the sections lie in the file, in order and without
/// overlap, that no name occurs twice, that all required sections are known, and that the constants, if there are any,
/// come last and start on a page.
StatusOr<std::vector<Section>> parseSections(std::string_view bytes, const Header &header);

/// Returns the bytes of the header and the table.
std::string formatPreamble(const Header &header, const std::vector<Section> &sections);

/// Returns the smallest offset of the first section.
uint64_t preambleBytes(size_t sections);

/// Returns the section of that name; null if there is none.
const Section *findSection(const std::vector<Section> &sections, std::string_view name);

/// Returns the hash over a file without the hash itself. `preamble` is the file's start and `tail` the rest.
Digest hashFile(std::string_view preamble, std::string_view tail);

/// Returns the processor that this code was built for: "x86_64", "aarch64".
std::string thisArch();

/// Returns the processor of a target triple.
std::string archOf(const std::string &triple);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_LAYOUT_H
