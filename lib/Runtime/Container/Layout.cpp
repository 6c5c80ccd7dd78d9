// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes the header and the section table. PlanReader.cpp and PlanWriter.cpp code the section of the plan,
// and Weights.cpp the weights.

#include "Layout.h"
#include "Bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace inlay::rt {

static constexpr uint32_t kByteOrder = 0x01020304, kOtherByteOrder = 0x04030201;
static constexpr uint32_t kRequiredFlag = 1;

std::string thisArch() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#else
  return "unknown";
#endif
}

std::string archOf(const std::string &triple) {
  std::string arch = triple.substr(0, triple.find('-'));
  return arch == "arm64" ? "aarch64" : arch == "amd64" ? "x86_64" : arch;
}

static void appendName(std::string &bytes, const std::string &name) {
  bytes += name.substr(0, kNameBytes);
  bytes.append(kNameBytes - std::min(name.size(), kNameBytes), '\0');
}

/// Reads a name from a field of kNameBytes. It has letters, digits, '_' and '-', and is padded with zeros.
static bool readName(const char *bytes, std::string &name) {
  name.assign(bytes, kNameBytes);
  name.resize(std::min(name.find('\0'), name.size()));
  bool isPadded = std::all_of(bytes + name.size(), bytes + kNameBytes, [](char c) { return c == '\0'; });
  return isPadded && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

static Status checkVersion(const Header &header) {
  std::string file = fmt::format("{}.{}", header.major, header.minor), reader = fmt::format("{}.{}", kMajor, kMinor);
  if (header.major != kMajor)
    return invalid(
        fmt::format("expected format version {}.x, but got {}; this reader is of version {}", kMajor, file, reader));
  if (header.needed > kMinor)
    return invalid(fmt::format("has format version {} and needs a reader of version {}.{} or newer, but this reader is "
                               "of version {}",
                               file, kMajor, header.needed, reader));
  return Status::ok();
}

/// Checks that `mark` is the byte order mark of this format and that this machine is little-endian.
static Status checkByteOrder(uint32_t mark) {
  const uint16_t probe = 1;
  bool isLittle = *reinterpret_cast<const unsigned char *>(&probe) == 1;
  if (mark == kOtherByteOrder)
    return invalid("expected little-endian numbers, but got a file with big-endian ones");
  if (mark != kByteOrder)
    return invalid(fmt::format("expected byte order mark {:#010x}, but got {:#010x}", kByteOrder, mark));
  return isLittle ? Status::ok() : invalid("its constants are little-endian, but this machine is big-endian");
}

StatusOr<Header> parseHeader(std::string_view bytes, uint64_t fileBytes) {
  if (fileBytes == 0)
    return invalid("is empty");
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, bytes.size()))
    return invalid("is not an inlay container: it starts with other bytes");
  if (bytes.size() < kHeaderBytes)
    return invalid(
        fmt::format("is truncated: expected a header of {} bytes, but got {} bytes", kHeaderBytes, bytes.size()));
  const char *data = bytes.data();
  Header header;
  header.major = loadLittle<uint16_t>(data + 8);
  header.minor = loadLittle<uint16_t>(data + 10);
  header.needed = loadLittle<uint16_t>(data + 12);
  header.sections = loadLittle<uint32_t>(data + 20);
  header.fileBytes = loadLittle<uint64_t>(data + 40);
  std::copy_n(data + kDigestAt, header.digest.size(), header.digest.begin());
  INLAY_RETURN_IF_ERROR(checkByteOrder(loadLittle<uint32_t>(data + 16)));
  INLAY_RETURN_IF_ERROR(checkVersion(header));
  if (header.fileBytes != fileBytes)
    return invalid(fmt::format("{}: its header says {} bytes, but the file has {}",
                               fileBytes < header.fileBytes ? "is truncated" : "is damaged", header.fileBytes,
                               fileBytes));
  if (!readName(data + 24, header.arch))
    return invalid("is damaged: its processor name is malformed");
  if (!header.arch.empty() && header.arch != thisArch())
    return invalid(fmt::format("its host code is for {}, but this machine is {}", header.arch, thisArch()));
  if (header.sections > kMaxSections || preambleBytes(header.sections) > fileBytes)
    return invalid(fmt::format("expected at most {} sections, with a table in the file, but got {}", kMaxSections,
                               header.sections));
  return header;
}

static bool isKnown(const std::string &name) {
  using namespace section;
  const char *known[] = {kPlan, kSpirv, kHost, kForeign, kWeights, kReport, kMetadata, kConstants};
  return std::any_of(std::begin(known), std::end(known), [&](const char *section) { return name == section; });
}

static Status parseSection(const char *data, const Header &header, uint64_t minOffset, Section &section) {
  if (!readName(data, section.name) || section.name.empty())
    return invalid("the name of a section is malformed");
  section.offset = loadLittle<uint64_t>(data + 16);
  section.bytes = loadLittle<uint64_t>(data + 24);
  auto flags = loadLittle<uint32_t>(data + 32);
  section.isRequired = flags & kRequiredFlag;
  if ((flags & ~kRequiredFlag) != 0)
    return invalid(fmt::format("section '{}': unknown flags {:#x}", section.name, flags));
  if (section.offset < minOffset || section.offset > header.fileBytes ||
      section.bytes > header.fileBytes - section.offset)
    return invalid(fmt::format("section '{}': expected bytes between {} and {}, but got {} bytes at offset {}",
                               section.name, minOffset, header.fileBytes, section.bytes, section.offset));
  if (section.isRequired && !isKnown(section.name))
    return invalid(fmt::format("section '{}' is required, but this reader, of version {}.{}, doesn't know it",
                               section.name, kMajor, kMinor));
  return Status::ok();
}

StatusOr<std::vector<Section>> parseSections(std::string_view bytes, const Header &header) {
  std::vector<Section> sections;
  std::set<std::string> names;
  uint64_t minOffset = preambleBytes(header.sections);
  for (size_t at = 0; at + kSectionBytes <= bytes.size(); at += kSectionBytes) {
    Section &section = sections.emplace_back();
    INLAY_RETURN_IF_ERROR(parseSection(bytes.data() + at, header, minOffset, section));
    if (!names.insert(section.name).second)
      return invalid(fmt::format("section '{}' occurs more than once", section.name));
    minOffset = section.offset + section.bytes;
  }
  const Section *constants = findSection(sections, section::kConstants);
  if (constants && (constants != &sections.back() || constants->offset % kPageBytes != 0))
    return invalid(fmt::format("expected the constants to be the last section and to start at a multiple of {}, but "
                               "they start at {}",
                               kPageBytes, constants->offset));
  return sections;
}

std::string formatPreamble(const Header &header, const std::vector<Section> &sections) {
  std::string bytes(kMagic);
  appendLittle(bytes, header.major);
  appendLittle(bytes, header.minor);
  appendLittle(bytes, header.needed);
  appendLittle(bytes, uint16_t(0));
  appendLittle(bytes, kByteOrder);
  appendLittle(bytes, static_cast<uint32_t>(sections.size()));
  appendName(bytes, header.arch);
  appendLittle(bytes, header.fileBytes);
  bytes.append(header.digest.data(), header.digest.size());
  for (const Section &section : sections) {
    appendName(bytes, section.name);
    appendLittle(bytes, section.offset);
    appendLittle(bytes, section.bytes);
    appendLittle(bytes, section.isRequired ? kRequiredFlag : 0);
    appendLittle(bytes, uint32_t(0));
  }
  return bytes;
}

uint64_t preambleBytes(size_t sections) { return kHeaderBytes + kSectionBytes * sections; }

const Section *findSection(const std::vector<Section> &sections, std::string_view name) {
  auto found =
      std::find_if(sections.begin(), sections.end(), [&](const Section &section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

Digest hashFile(std::string_view preamble, std::string_view tail) {
  Hasher hasher;
  hasher.add(preamble.substr(0, kDigestAt));
  hasher.add(preamble.substr(kDigestAt + sizeof(Digest)));
  hasher.add(tail);
  return hasher.digest();
}

} // namespace inlay::rt
