// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays out constants in a weights file and codes the record of them in the container. WeightsFile.cpp writes the
// file.

#include "Weights.h"
#include "Bytes.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt {

std::string formatRecord(const WeightsRecord &record) {
  std::string bytes;
  appendLittle(bytes, record.bytes);
  bytes.append(record.digest.data(), record.digest.size());
  return bytes + record.name;
}

StatusOr<WeightsRecord> parseRecord(std::string_view section) {
  constexpr size_t fixed = 8 + sizeof(Digest);
  if (section.size() <= fixed)
    return Status(StatusCode::InvalidArgument,
                  fmt::format("section 'weights': expected more than {} bytes, but got {}", fixed, section.size()));
  WeightsRecord record;
  record.bytes = loadLittle<uint64_t>(section.data());
  std::copy_n(section.data() + 8, record.digest.size(), record.digest.begin());
  record.name = section.substr(fixed);
  return record;
}

namespace {
struct Tensor {
  size_t constant;
  std::string_view key, bytes;
  ElementType element = ElementType::I8;
  std::vector<int64_t> dims;
};
} // namespace

static const char *dtypeName(ElementType type) {
  static const char *const names[] = {"BOOL", "I8", "I16", "I32", "I64", "F16", "BF16", "F32", "F64"};
  return names[static_cast<size_t>(type)];
}

static std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      quoted += c;
  }
  return quoted + "\"";
}

/// Returns the constants with a key, with the type of the first buffer that refers to each; wide elements come first.
static std::vector<Tensor> findTensors(const Plan &plan) {
  std::vector<Tensor> tensors;
  std::map<std::string_view, std::string_view> seen{{"__metadata__", {}}};
  for (const Buffer &buffer : plan.buffers) {
    if (buffer.kind != BufferKind::Constant)
      continue;
    const Constant &constant = plan.constants[buffer.index];
    StatusOr<std::vector<int64_t>> dims = evaluateDims(buffer.type, {});
    std::string_view bytes(static_cast<const char *>(constant.data), constant.size);
    if (constant.key.empty() || !dims.isOk() || !seen.emplace(constant.key, bytes).second)
      continue;
    tensors.push_back({buffer.index, constant.key, bytes, buffer.type.element, *dims});
  }
  std::sort(tensors.begin(), tensors.end(), [](const Tensor &a, const Tensor &b) {
    size_t widths[] = {byteWidth(a.element), byteWidth(b.element)};
    return widths[0] != widths[1] ? widths[0] > widths[1] : a.key < b.key;
  });
  return tensors;
}

WeightsLayout layOutWeights(const Plan &plan, std::vector<ConstantPlace> &places) {
  std::vector<Tensor> tensors = findTensors(plan);
  std::string json = "{";
  uint64_t offset = 0;
  WeightsLayout layout;
  for (const Tensor &tensor : tensors) {
    json += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", json.size() > 1 ? "," : "",
                        quote(tensor.key), dtypeName(tensor.element), fmt::join(tensor.dims, ","), offset,
                        offset + tensor.bytes.size());
    layout.tensors.push_back(tensor.bytes);
    offset += tensor.bytes.size();
  }
  json += "}";
  json.append(alignTo(8 + json.size(), 64) - 8 - json.size(), ' ');
  appendLittle(layout.header, static_cast<uint64_t>(json.size()));
  layout.header += json;
  std::map<std::string_view, std::pair<std::string_view, uint64_t>> byKey;
  uint64_t at = layout.header.size();
  for (const Tensor &tensor : tensors) {
    byKey[tensor.key] = {tensor.bytes, at};
    at += tensor.bytes.size();
  }
  for (size_t i = 0; i < plan.constants.size(); ++i) {
    const Constant &constant = plan.constants[i];
    auto found = byKey.find(constant.key);
    std::string_view bytes(static_cast<const char *>(constant.data), constant.size);
    if (found != byKey.end() && found->second.first == bytes)
      places[i] = {true, found->second.second};
  }
  return layout;
}

} // namespace inlay::rt
