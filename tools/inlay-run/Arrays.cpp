// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes .npy and .npz files. Arguments.cpp says which file is which input.

#include "Arrays.h"
#include "Files.h"

#include "inlay/Runtime/Host/HalfFloats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string_view>
#include <zip.h>

using namespace inlay;
using rt::ElementType;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

static constexpr std::string_view kMagic = "\x93NUMPY";

static Status error(const std::string &place, const std::string &what) {
  return {StatusCode::InvalidArgument, fmt::format("'{}': {}", place, what)};
}

int64_t tools::Array::count() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

StatusOr<tools::Array> tools::makeArray(ElementType element, std::vector<int64_t> dims) {
  int64_t size = rt::byteWidth(element);
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(size, dim, &size))
      return Status(StatusCode::InvalidArgument, "expected an array of less than 2^63 bytes");
  Array array{element, std::move(dims), nullptr};
  array.bytes.reset(new (std::nothrow) char[std::max<int64_t>(size, 1)]());
  if (!array.bytes)
    return Status(StatusCode::ResourceExhausted, "no memory for an array of " + std::to_string(size) + " bytes");
  return array;
}

//===-- Elements ------------------------------------------------------------------------------------------------===//

template <typename T>
static void store(char *bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

static void setElement(char *bytes, ElementType element, double value) {
  switch (element) {
  case ElementType::F16:
    return store(bytes, rt::host::doubleToHalf(value));
  case ElementType::BF16:
    return store(bytes, rt::host::doubleToBfloat(value));
  case ElementType::F32:
    return store(bytes, static_cast<float>(value));
  case ElementType::F64:
    return store(bytes, value);
  case ElementType::Bool:
    return store(bytes, static_cast<uint8_t>(value > 0));
  default:
    break;
  }
  auto number = static_cast<int64_t>(value * 4); // fits any integer type
  std::memcpy(bytes, &number, rt::byteWidth(element));
}

void tools::fillRandom(Array &array, uint64_t seed) {
  std::mt19937_64 engine(seed);
  size_t width = rt::byteWidth(array.element);
  for (int64_t i = 0, e = array.count(); i < e; ++i) {
    // The sum of twelve uniform values is nearly normal, and the same with every standard library.
    double sum = -6.0;
    for (int j = 0; j < 12; ++j)
      sum += static_cast<double>(engine() >> 11) / 9007199254740992.0;
    setElement(array.bytes.get() + i * width, array.element, sum);
  }
}

//===-- The .npy format -----------------------------------------------------------------------------------------===//

static constexpr std::pair<std::string_view, ElementType> kDtypes[] = {
    {"|b1", ElementType::Bool}, {"|i1", ElementType::I8},  {"<i2", ElementType::I16}, {"<i4", ElementType::I32},
    {"<i8", ElementType::I64},  {"<f2", ElementType::F16}, {"<f4", ElementType::F32}, {"<f8", ElementType::F64}};

static std::string_view trim(std::string_view text, std::string_view blanks = " \t\n") {
  size_t begin = text.find_first_not_of(blanks);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Returns the value after `'key': ` in the header's dict literal, up to `end`; empty if it is missing.
static std::string_view field(std::string_view header, std::string_view key, std::string_view end) {
  std::string name = fmt::format("'{}':", key);
  size_t place = header.find(name);
  std::string_view after = place == header.npos ? "" : trim(header.substr(place + name.size()));
  return after.substr(0, after.find(end));
}

/// Reads the numbers of "(2, 3,". Returns false if one is malformed or the product overflows.
static bool parseShape(std::string_view text, std::vector<int64_t> &dims, int64_t &count) {
  count = 1;
  text.remove_prefix(std::min<size_t>(text.substr(0, 1) == "(", text.size()));
  while (!text.empty()) {
    size_t end = std::min(text.find(','), text.size());
    std::string_view part = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    int64_t dim = 0;
    if (part.empty())
      continue;
    if (!tools::parseNumber(part, dim) || dim < 0 || __builtin_mul_overflow(count, dim, &count))
      return false;
    dims.push_back(dim);
  }
  return true;
}

static StatusOr<tools::Array> parseNpy(const std::string &place, std::string_view data) {
  if (data.substr(0, kMagic.size()) != kMagic || data.size() < 12)
    return error(place, "is not a .npy file");
  bool wide = data[6] >= 2;
  size_t start = wide ? 12 : 10, length = 0;
  std::memcpy(&length, data.data() + 8, wide ? 4 : 2);
  if (length > data.size() - start)
    return error(place, "header is truncated");
  std::string_view header = data.substr(start, length), body = data.substr(start + length);
  std::string_view descr = trim(field(header, "descr", ","), " '\"");
  const auto *dtype =
      std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const auto &entry) { return entry.first == descr; });
  if (dtype == std::end(kDtypes))
    return error(place,
                 fmt::format("expected a dtype of |b1, |i1, <i2, <i4, <i8, <f2, <f4 or <f8, but got '{}'", descr));
  if (trim(field(header, "fortran_order", ",")) != "False")
    return error(place, "expected row-major order, but got Fortran order");
  std::vector<int64_t> dims;
  int64_t count, bytes;
  if (!parseShape(field(header, "shape", ")"), dims, count))
    return error(place, "has a malformed shape");
  if (__builtin_mul_overflow(count, static_cast<int64_t>(rt::byteWidth(dtype->second)), &bytes) ||
      bytes != static_cast<int64_t>(body.size()))
    return error(place, fmt::format("expected as many bytes as its shape needs, but got {}", body.size()));
  StatusOr<tools::Array> array = tools::makeArray(dtype->second, dims);
  if (array.isOk())
    std::copy(body.begin(), body.end(), array->bytes.get());
  return array;
}

static StatusOr<std::string> formatNpy(const std::string &place, const tools::Array &array) {
  const auto *dtype = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                   [&](const auto &entry) { return entry.second == array.element; });
  if (dtype == std::end(kDtypes))
    return error(place, fmt::format("NumPy has no dtype for {}", rt::name(array.element)));
  std::string shape;
  for (int64_t dim : array.dims)
    shape += std::to_string(dim) + ",";
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype->first, shape);
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
  if (header.size() > UINT16_MAX)
    return error(place, fmt::format("expected fewer dims than {}", array.dims.size()));
  uint16_t length = header.size();
  std::string text = std::string(kMagic) + std::string("\x01\x00", 2);
  text.append(reinterpret_cast<const char *>(&length), 2).append(header);
  return text.append(array.bytes.get(), array.size());
}

StatusOr<tools::Array> tools::readNpy(const std::string &path) {
  StatusOr<std::string> text = readFile(path);
  return text.isOk() ? parseNpy(path, *text) : StatusOr<Array>(text.status());
}

Status tools::writeNpy(const std::string &path, const Array &array) {
  StatusOr<std::string> text = formatNpy(path, array);
  if (!text.isOk())
    return text.status();
  return writeFile(path, *text);
}

//===-- The .npz format -----------------------------------------------------------------------------------------===//

static std::string describeZipError(int code) {
  zip_error_t zipError;
  zip_error_init_with_code(&zipError, code);
  std::string text = zip_error_strerror(&zipError);
  zip_error_fini(&zipError);
  return text;
}

/// Upper bound of deflate's compression ratio. An entry with a higher ratio is damaged or meant to exhaust memory.
static constexpr zip_uint64_t kMaxRatio = 1100;

static StatusOr<tools::Array> readMember(const std::string &path, zip_t *archive, zip_uint64_t number,
                                         std::string &name) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kRequired = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, number, 0, &stat) || (stat.valid & kRequired) != kRequired ||
      stat.size / kMaxRatio > stat.comp_size)
    return error(path, "has a damaged directory");
  name = stat.name;
  std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(zip_fopen_index(archive, number, 0), &zip_fclose);
  std::unique_ptr<char[]> data(new (std::nothrow) char[stat.size + 1]);
  if (!file || !data || zip_fread(file.get(), data.get(), stat.size) != static_cast<zip_int64_t>(stat.size))
    return error(path, "can't read '" + name + "'");
  return parseNpy(path + ":" + name, std::string_view(data.get(), stat.size));
}

StatusOr<std::map<std::string, tools::Array>> tools::readNpz(const std::string &path) {
  int code = 0;
  std::unique_ptr<zip_t, decltype(&zip_discard)> archive(zip_open(path.c_str(), ZIP_RDONLY, &code), &zip_discard);
  if (!archive)
    return error(path, "can't be opened as a zip archive: " + describeZipError(code));
  std::map<std::string, Array> arrays;
  for (zip_int64_t i = 0, e = zip_get_num_entries(archive.get(), 0); i < e; ++i) {
    std::string name;
    StatusOr<Array> array = readMember(path, archive.get(), i, name);
    if (!array.isOk())
      return array.status();
    if (constexpr std::string_view suffix = ".npy"; endsWith(name, suffix))
      name.resize(name.size() - suffix.size());
    arrays[name] = std::move(*array);
  }
  return arrays;
}

Status tools::writeNpz(const std::string &path, const std::vector<std::pair<std::string, const Array *>> &arrays) {
  int code = 0;
  zip_t *archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive)
    return error(path, "can't be written: " + describeZipError(code));
  std::vector<std::string> texts; // libzip reads them in zip_close
  texts.reserve(arrays.size());
  for (const auto &[name, array] : arrays) {
    StatusOr<std::string> text = formatNpy(path + ":" + name, *array);
    if (!text.isOk()) {
      zip_discard(archive);
      return text.status();
    }
    texts.push_back(std::move(*text));
    zip_source_t *source = zip_source_buffer(archive, texts.back().data(), texts.back().size(), 0);
    if (!source || zip_file_add(archive, (name + ".npy").c_str(), source, ZIP_FL_OVERWRITE) < 0) {
      zip_discard(archive);
      return error(path, "can't add '" + name + "'");
    }
  }
  if (zip_close(archive)) {
    std::string reason = zip_strerror(archive);
    zip_discard(archive);
    return error(path, "can't be written: " + reason);
  }
  return Status::ok();
}
