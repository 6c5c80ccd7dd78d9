// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads safetensors files: eight bytes with the length of the header (little-endian), a JSON header, then the data.

#include "inlay/Import/Weights.h"
#include "inlay/Support/Json.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace inlay;

static llvm::Error error(const std::string &path, const llvm::Twine &what) {
  return llvm::createStringError(llvm::Twine("weight file '") + path + "': " + what);
}

/// Returns the type of an entry, such as `F32[2,3]`, or an empty string if the entry is malformed.
static std::string readType(const llvm::json::Object &entry) {
  std::optional<llvm::StringRef> dtype = entry.getString("dtype");
  const llvm::json::Array *shape = entry.getArray("shape");
  if (!dtype || !shape)
    return "";
  std::string text = (*dtype + "[").str();
  for (const llvm::json::Value &dim : *shape) {
    std::optional<int64_t> size = dim.getAsInteger();
    if (!size || *size < 0)
      return "";
    text += (text.back() == '[' ? "" : ",") + std::to_string(*size);
  }
  return text + "]";
}

static llvm::Expected<Weight> readEntry(const std::string &path, llvm::StringRef key, const llvm::json::Value &value,
                                        llvm::StringRef data) {
  const llvm::json::Object *entry = value.getAsObject();
  const llvm::json::Array *range = entry ? entry->getArray("data_offsets") : nullptr;
  std::optional<int64_t> from, to;
  if (range && range->size() == 2) {
    from = (*range)[0].getAsInteger();
    to = (*range)[1].getAsInteger();
  }
  if (!from || !to || *from < 0 || *to < *from || static_cast<uint64_t>(*to) > data.size())
    return error(path, "tensor '" + key + "' has no data_offsets within the file's " + llvm::Twine(data.size()) +
                           " bytes of data");
  std::string type = readType(*entry);
  if (type.empty())
    return error(path, "tensor '" + key + "' has no dtype and shape");
  return Weight{key.str(), data.data() + *from, static_cast<size_t>(*to - *from), nullptr, type};
}

llvm::Expected<std::vector<Weight>> inlay::readSafetensors(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return error(path, file.getError().message());
  std::shared_ptr<llvm::MemoryBuffer> buffer = std::move(*file);
  llvm::StringRef bytes = buffer->getBuffer();
  if (bytes.size() < 8)
    return error(path, "expected at least 8 bytes, but got " + llvm::Twine(bytes.size()));
  uint64_t headerSize = llvm::support::endian::read64le(bytes.data());
  if (headerSize > bytes.size() - 8)
    return error(path, "expected a header of " + llvm::Twine(headerSize) + " bytes, but only " +
                           llvm::Twine(bytes.size() - 8) + " follow");
  llvm::StringRef data = bytes.drop_front(8 + headerSize);
  llvm::Expected<llvm::json::Value> json = parseJson(bytes.substr(8, headerSize), /*maxLevels=*/8);
  if (!json)
    return error(path, "malformed header: " + llvm::toString(json.takeError()));
  const llvm::json::Object *header = json->getAsObject();
  if (!header)
    return error(path, "expected the header to be a JSON object");
  std::vector<Weight> weights;
  for (const auto &[key, value] : *header) {
    if (key == "__metadata__")
      continue;
    llvm::Expected<Weight> weight = readEntry(path, key, value, data);
    if (!weight)
      return weight.takeError();
    weight->owner = buffer;
    weights.push_back(std::move(*weight));
  }
  return weights;
}
