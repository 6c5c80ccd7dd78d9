// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes containers: checks the plan, lays out its sections and writes them.

#include "Bytes.h"
#include "Layout.h"
#include "PlanReader.h"
#include "PlanWriter.h"
#include "WeightsFile.h"
#include "inlay/Runtime/Container/Container.h"
#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/PlanChecker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace inlay::rt {

/// Returns a step with its origin: "'callback 0' (segment 2: relu, add)".
static std::string describeStep(const Step &step) {
  std::string origin = step.segment < 0 ? "" : fmt::format("segment {}", step.segment);
  if (!step.calls.empty())
    origin += fmt::format("{}{}", origin.empty() ? "" : ": ", fmt::join(step.calls, ", "));
  return origin.empty() ? fmt::format("'{}'", step.name) : fmt::format("'{}' ({})", step.name, origin);
}

/// Returns an error that lists the steps which call the framework, if there are any.
static Status refuseFramework(const Plan &plan) {
  std::string list;
  size_t count = 0;
  constexpr size_t maxListed = 20;
  for (const Step &step : plan.steps)
    if (step.kind == StepKind::Callback && ++count <= maxListed)
      list += (list.empty() ? "" : ", ") + describeStep(step);
  if (count == 0)
    return Status::ok();
  if (count > maxListed)
    list += fmt::format(" and {} more", count - maxListed);
  return invalid(fmt::format("{} of the program's {} steps call the framework, which isn't saved: {}", count,
                             plan.steps.size(), list));
}

static Status checkSavable(const Plan &plan, const ContainerWriteOptions &options) {
  if (!options.allowFramework)
    INLAY_RETURN_IF_ERROR(refuseFramework(plan));
  if (Status status = checkPlan(plan); !status.isOk())
    return {status.code(), fmt::format("the plan is invalid: {}", status.message())};
  for (size_t i = 0; i < plan.constants.size(); ++i)
    if (!plan.constants[i].data && plan.constants[i].size > 0)
      return invalid(fmt::format("constant {} ('{}') has no data", i, plan.constants[i].key));
  return checkLimits(plan);
}

/// Puts the constants that aren't in the weights file into a pool. Small ones are aligned to a cache line, others to a
/// page.
static BytePool placeConstants(const Plan &plan, std::vector<ConstantPlace> &places) {
  BytePool pool;
  for (size_t i = 0; i < places.size(); ++i) {
    std::string_view bytes(static_cast<const char *>(plan.constants[i].data), plan.constants[i].size);
    if (!places[i].isOutside)
      places[i].offset = pool.add(bytes, bytes.size() < kPageBytes ? kSectionAlignment : kPageBytes);
  }
  return pool;
}

static std::string join(const BytePool &pool) {
  std::string bytes;
  for (const BytePool::Piece &piece : pool.pieces()) {
    bytes.resize(piece.offset, '\0');
    bytes += piece.bytes;
  }
  return bytes;
}

/// Calls `take` with the pieces of a pool and the zeros between them, in order.
template <typename Take>
static Status eachPart(const BytePool &pool, Take take) {
  static constexpr std::array<char, kPageBytes> zeros = {};
  uint64_t at = 0;
  for (const BytePool::Piece &piece : pool.pieces()) {
    INLAY_RETURN_IF_ERROR(take({zeros.data(), piece.offset - at}));
    INLAY_RETURN_IF_ERROR(take(piece.bytes));
    at = piece.offset + piece.bytes.size();
  }
  return Status::ok();
}

namespace {
struct NamedBytes {
  const char *name;
  std::string bytes;
  bool isRequired;
};
} // namespace

/// Returns everything before the constants. The hash in it covers the constants too.
static StatusOr<std::string> makePreamble(const std::string &arch, std::vector<NamedBytes> parts,
                                          const BytePool &constants) {
  parts.erase(std::remove_if(parts.begin() + 1, parts.end(), [](const NamedBytes &part) { return part.bytes.empty(); }),
              parts.end());
  std::vector<Section> sections;
  uint64_t at = preambleBytes(parts.size() + (constants.size() > 0 ? 1 : 0));
  for (const NamedBytes &part : parts) {
    at = alignTo(at, kSectionAlignment);
    sections.push_back({part.name, at, part.bytes.size(), part.isRequired});
    at += part.bytes.size();
  }
  if (constants.size() > 0) {
    at = alignTo(at, kPageBytes);
    sections.push_back({section::kConstants, at, constants.size(), true});
  }
  Header header;
  header.sections = static_cast<uint32_t>(sections.size());
  header.arch = arch;
  header.fileBytes = at + constants.size();
  std::string preamble = formatPreamble(header, sections);
  for (size_t i = 0; i < parts.size(); ++i) {
    preamble.resize(sections[i].offset, '\0');
    preamble += parts[i].bytes;
  }
  preamble.resize(at, '\0');
  Hasher hasher;
  hasher.add(std::string_view(preamble).substr(0, kDigestAt));
  hasher.add(std::string_view(preamble).substr(kDigestAt + sizeof(Digest)));
  INLAY_RETURN_IF_ERROR(eachPart(constants, [&](std::string_view part) {
    hasher.add(part);
    return Status::ok();
  }));
  Digest digest = hasher.digest();
  std::copy(digest.begin(), digest.end(), preamble.begin() + kDigestAt);
  return preamble;
}

static Status checkWeightsName(const std::string &path, const std::string &name) {
  if (!isPlainName(name))
    return invalid(fmt::format("weights file '{}': expected the name of a file in the container's folder", name));
  if (folderOf(path) + "/" + name == folderOf(path) + "/" + path.substr(path.rfind('/') + 1))
    return invalid(fmt::format("weights file '{}': expected another name than the container's", name));
  if (folderOf(path) + "/" + name == folderOf(path) + "/" + path.substr(path.rfind('/') + 1) + ".sig")
    return invalid(fmt::format("weights file '{}': expected another name than the signature's", name));
  return Status::ok();
}

static Status write(const std::string &path, const Plan &plan, const ContainerExtras &extras,
                    const ContainerWriteOptions &options) {
  INLAY_RETURN_IF_ERROR(checkSavable(plan, options));
  std::vector<ConstantPlace> places(plan.constants.size());
  std::string record;
  std::optional<WeightsFile> weights;
  if (!options.weightsFile.empty()) {
    INLAY_RETURN_IF_ERROR(checkWeightsName(path, options.weightsFile));
    StatusOr<WeightsFile> prepared =
        WeightsFile::prepare(path, options.weightsFile, layOutWeights(plan, places), options.replaceWeights);
    if (!prepared.isOk())
      return prepared.status();
    record = formatRecord(prepared->record());
    weights.emplace(std::move(*prepared));
  }
  BytePool constants = placeConstants(plan, places);
  EncodedPlan encoded = encodePlan(plan, places);
  std::string arch = plan.hostCode.objects.empty() ? "" : archOf(plan.hostCode.triple);
  if (arch.size() > kNameBytes)
    return invalid(fmt::format("expected a processor's name of at most {} bytes, but got '{}'", kNameBytes, arch));
  StatusOr<std::string> preamble = makePreamble(arch,
                                                {{section::kPlan, std::move(encoded.plan), true},
                                                 {section::kSpirv, join(encoded.spirv), true},
                                                 {section::kHost, join(encoded.host), true},
                                                 {section::kForeign, join(encoded.foreign), true},
                                                 {section::kWeights, std::move(record), true},
                                                 {section::kReport, extras.report, false},
                                                 {section::kMetadata, extras.metadata, false}},
                                                constants);
  if (!preamble.isOk())
    return preamble.status();
  StatusOr<OutputFile> file = OutputFile::create(path);
  if (!file.isOk())
    return file.status();
  INLAY_RETURN_IF_ERROR(file->write(*preamble));
  INLAY_RETURN_IF_ERROR(eachPart(constants, [&](std::string_view part) { return file->write(part); }));
  INLAY_RETURN_IF_ERROR(file->finish()); // little can fail from here on, so the two files are replaced together
  if (weights)
    INLAY_RETURN_IF_ERROR(weights->commit());
  return file->commit();
}

Status writeContainer(const std::string &path, const Plan &plan, const ContainerExtras &extras,
                      const ContainerWriteOptions &options) {
  return guard([&] { return write(path, plan, extras, options); });
}

} // namespace inlay::rt
