// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads containers: opens and checks the parts of a file and decodes them.

#include "Open.h"
#include "Weights.h"
#include "inlay/Runtime/Core/Guard.h"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

namespace inlay::rt {

std::string_view MappedContainer::bytes(const char *name) const {
  const Section *section = findSection(sections, name);
  return section ? std::string_view(preamble).substr(section->offset, section->bytes) : std::string_view();
}

/// Parses the header and the section table at the start of `bytes`, which may end after the header.
static Status parseFrame(std::string_view bytes, uint64_t fileBytes, MappedContainer &opened) {
  StatusOr<Header> header = parseHeader(bytes.substr(0, kHeaderBytes), fileBytes);
  if (!header.isOk())
    return header.status();
  opened.header = *header;
  size_t table = kSectionBytes * header->sections;
  StatusOr<std::vector<Section>> sections = parseSections(bytes.substr(kHeaderBytes, table), *header);
  if (!sections.isOk())
    return sections.status();
  opened.sections = std::move(*sections);
  return Status::ok();
}

/// Returns the offset at which the preamble ends.
static uint64_t preambleEnd(const MappedContainer &opened) {
  const Section *constants = findSection(opened.sections, section::kConstants);
  return constants ? constants->offset : opened.header.fileBytes;
}

/// Returns the length of a file's preamble and takes it from `budget`.
static StatusOr<uint64_t> measurePreamble(const MappedContainer &opened, Budget &budget) {
  uint64_t bytes = preambleEnd(opened);
  if (!budget.take(bytes))
    return Status(StatusCode::ResourceExhausted,
                  fmt::format("its {} bytes besides the constants exceed the memory limit", bytes));
  return bytes;
}

/// Parses the preamble. Its length was measured before it was copied.
static Status checkPreamble(uint64_t fileBytes, MappedContainer &opened) {
  INLAY_RETURN_IF_ERROR(parseFrame(opened.preamble, fileBytes, opened));
  if (preambleEnd(opened) != opened.preamble.size())
    return invalid("changed while it was read");
  return Status::ok();
}

static Status checkDigest(const MappedContainer &opened) {
  if (hashFile(opened.preamble, opened.constants.bytes) != opened.header.digest)
    return invalid("is damaged: its bytes don't match its hash");
  return Status::ok();
}

static Status openWeights(const std::string &path, MappedContainer &opened) {
  if (!findSection(opened.sections, section::kWeights))
    return Status::ok();
  StatusOr<WeightsRecord> record = parseRecord(opened.bytes(section::kWeights));
  if (!record.isOk())
    return record.status();
  auto bad = [&](const Status &status) {
    return Status(status.code(), fmt::format("weights file '{}': {}", record->name, status.message()));
  };
  StatusOr<InputFile> file = InputFile::openBeside(path, record->name);
  if (!file.isOk())
    return bad(file.status());
  if (file->size() != record->bytes)
    return bad(
        invalid(fmt::format("expected {} bytes, but got {}: it is not the file that was saved with the container",
                            record->bytes, file->size())));
  StatusOr<Mapping> mapping = file->mapFrom(0);
  if (!mapping.isOk())
    return bad(mapping.status());
  if (hash(mapping->bytes) != record->digest)
    return bad(invalid(
        "its bytes don't match the hash in the container: it is not the file that was saved with the container"));
  opened.weights = std::move(*mapping);
  return Status::ok();
}

StatusOr<MappedContainer> openContainer(const std::string &path, Budget &budget) {
  StatusOr<InputFile> file = InputFile::open(path);
  if (!file.isOk())
    return file.status();
  MappedContainer opened;
  for (size_t bytes : {kHeaderBytes, kHeaderBytes + kMaxSections * kSectionBytes}) {
    opened.preamble.resize(std::min<uint64_t>(bytes, file->size()));
    INLAY_RETURN_IF_ERROR(file->read(0, opened.preamble.data(), opened.preamble.size()));
    INLAY_RETURN_IF_ERROR(parseFrame(opened.preamble, file->size(), opened));
  }
  StatusOr<uint64_t> preamble = measurePreamble(opened, budget);
  if (!preamble.isOk())
    return preamble.status();
  opened.preamble.resize(*preamble);
  INLAY_RETURN_IF_ERROR(file->read(0, opened.preamble.data(), opened.preamble.size()));
  INLAY_RETURN_IF_ERROR(checkPreamble(file->size(), opened));
  StatusOr<Mapping> constants = file->mapFrom(*preamble);
  if (!constants.isOk())
    return constants.status();
  opened.constants = std::move(*constants);
  INLAY_RETURN_IF_ERROR(checkDigest(opened));
  INLAY_RETURN_IF_ERROR(openWeights(path, opened));
  return opened;
}

StatusOr<MappedContainer> openImage(std::string_view image, Budget &budget) {
  MappedContainer opened;
  INLAY_RETURN_IF_ERROR(parseFrame(image, image.size(), opened));
  StatusOr<uint64_t> preamble = measurePreamble(opened, budget);
  if (!preamble.isOk())
    return preamble.status();
  opened.preamble = image.substr(0, *preamble);
  opened.constants.bytes = image.substr(*preamble);
  INLAY_RETURN_IF_ERROR(checkDigest(opened));
  if (findSection(opened.sections, section::kWeights))
    return invalid("needs a weights file, but the container is in memory");
  return opened;
}

/// Bytes of memory for each byte of the report and the metadata: the copy, and its escaped text in a description.
static constexpr uint64_t kTextFactor = 5;

StatusOr<ContainerContents> decodeContainer(const MappedContainer &opened, Budget &budget) {
  if (!findSection(opened.sections, section::kPlan))
    return invalid("has no section 'plan'");
  PlanBytes bytes;
  bytes.plan = opened.bytes(section::kPlan);
  bytes.spirv = opened.bytes(section::kSpirv);
  bytes.host = opened.bytes(section::kHost);
  bytes.foreign = opened.bytes(section::kForeign);
  if (const Section *constants = findSection(opened.sections, section::kConstants))
    bytes.inside = {opened.constants.bytes.substr(0, constants->bytes), opened.constants.owner};
  bytes.outside = {opened.weights.bytes, opened.weights.owner};
  StatusOr<std::shared_ptr<Plan>> plan = decodePlan(bytes, budget);
  if (!plan.isOk())
    return plan.status();
  ContainerContents contents;
  contents.info = {opened.header.major, opened.header.minor, opened.header.arch, {}, "", "", {}};
  INLAY_RETURN_IF_ERROR(budget.take("bytes of the report", kTextFactor * opened.bytes(section::kReport).size()));
  INLAY_RETURN_IF_ERROR(budget.take("bytes of metadata", kTextFactor * opened.bytes(section::kMetadata).size()));
  contents.info.report = opened.bytes(section::kReport);
  contents.info.metadata = opened.bytes(section::kMetadata);
  for (const Section &section : opened.sections)
    contents.info.sections.push_back({section.name, section.offset, section.bytes});
  std::set<std::string> requirements;
  for (const Engine &engine : (*plan)->engines)
    for (const Kernel &kernel : engine.kernels)
      requirements.insert(kernel.requirements.begin(), kernel.requirements.end());
  contents.info.requirements.assign(requirements.begin(), requirements.end());
  if (!(*plan)->hostCode.objects.empty() && archOf((*plan)->hostCode.triple) != opened.header.arch)
    return invalid(fmt::format("its header says that host code is for '{}', but the code's triple is '{}'",
                               opened.header.arch, (*plan)->hostCode.triple));
  contents.plan = std::move(*plan);
  return contents;
}

static StatusOr<ContainerContents> read(const std::string &path, const ContainerReadOptions &options) {
  Budget own(options.memoryLimit ? options.memoryLimit : kDefaultMemoryLimit);
  Budget &budget = options.budget ? *options.budget : own;
  StatusOr<MappedContainer> opened = openContainer(path, budget);
  if (!opened.isOk())
    return opened.status();
  const char *fromEnvironment = std::getenv("INLAY_PUBLIC_KEY");
  if (options.publicKeyFile.empty() && fromEnvironment && !*fromEnvironment)
    return Status(StatusCode::InvalidArgument, "expected INLAY_PUBLIC_KEY to name a file, but it is empty");
  std::string key = options.publicKeyFile.empty() && fromEnvironment ? fromEnvironment : options.publicKeyFile;
  if (!key.empty())
    INLAY_RETURN_IF_ERROR(verifySignature(path, *opened, key));
  if (options.memoryLimit == 0) // a product of a file's size can't overflow
    budget.lowerTo(kBaseMemory + kMemoryPerByte * opened->preamble.size());
  return decodeContainer(*opened, budget);
}

StatusOr<ContainerContents> readContainer(const std::string &path, const ContainerReadOptions &options) {
  return guard([&]() -> StatusOr<ContainerContents> {
    StatusOr<ContainerContents> contents = read(path, options);
    if (!contents.isOk())
      return Status(contents.status().code(), fmt::format("'{}': {}", path, contents.status().message()));
    return contents;
  });
}

bool isContainer(const std::string &path) {
  StatusOr<InputFile> file = InputFile::open(path);
  char start[kMagic.size()] = {};
  return file.isOk() && file->read(0, start, sizeof(start)).isOk() && std::string_view(start, sizeof(start)) == kMagic;
}

bool hasDeviceKernels(const std::string &path) {
  StatusOr<InputFile> file = InputFile::open(path);
  if (!file.isOk())
    return false;
  MappedContainer opened;
  opened.preamble.resize(std::min<uint64_t>(kHeaderBytes + kMaxSections * kSectionBytes, file->size()));
  if (!file->read(0, opened.preamble.data(), opened.preamble.size()).isOk() ||
      !parseFrame(opened.preamble, file->size(), opened).isOk())
    return false;
  const Section *kernels = findSection(opened.sections, section::kSpirv);
  return kernels && kernels->bytes > 0;
}

} // namespace inlay::rt
