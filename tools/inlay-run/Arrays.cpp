// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arrays.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <random>
#include <zip.h>

using namespace inlay;
using rt::ElementType;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

static constexpr llvm::StringLiteral kMagic("\x93NUMPY");

static Status error(const std::string &place, const llvm::Twine &what) {
  return {StatusCode::InvalidArgument, (llvm::Twine("'") + place + "': " + what).str()};
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
    if (dim < 0 || llvm::MulOverflow(size, dim, size))
      return Status(StatusCode::InvalidArgument, "an array of more than 2^63 bytes can't be made");
  Array array{element, std::move(dims), nullptr};
  array.bytes.reset(new (std::nothrow) char[std::max<int64_t>(size, 1)]());
  if (!array.bytes)
    return Status(StatusCode::ResourceExhausted, "no memory for an array of " + std::to_string(size) + " bytes");
  return array;
}

//===-- Elements ------------------------------------------------------------------------------------------------===//

static const llvm::fltSemantics *semantics(ElementType element) {
  switch (element) {
  case ElementType::F16:
    return &llvm::APFloat::IEEEhalf();
  case ElementType::BF16:
    return &llvm::APFloat::BFloat();
  case ElementType::F32:
    return &llvm::APFloat::IEEEsingle();
  case ElementType::F64:
    return &llvm::APFloat::IEEEdouble();
  default:
    return nullptr;
  }
}

double tools::elementAt(const Array &array, int64_t index) {
  size_t width = rt::byteWidth(array.element);
  uint64_t bits = 0;
  std::memcpy(&bits, array.bytes.get() + index * width, width);
  if (const llvm::fltSemantics *format = semantics(array.element)) {
    llvm::APFloat value(*format, llvm::APInt(8 * width, bits));
    bool lost;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  return static_cast<double>(llvm::SignExtend64(bits, 8 * width));
}

void tools::fillRandom(Array &array, uint64_t seed) {
  std::mt19937_64 engine(seed);
  size_t width = rt::byteWidth(array.element);
  for (int64_t i = 0, e = array.count(); i < e; ++i) {
    // Sum of twelve uniforms: nearly normal, and the same on every standard library.
    double sum = -6.0;
    for (int j = 0; j < 12; ++j)
      sum += static_cast<double>(engine() >> 11) / 9007199254740992.0;
    uint64_t bits;
    if (const llvm::fltSemantics *format = semantics(array.element)) {
      llvm::APFloat value(sum);
      bool lost;
      value.convert(*format, llvm::APFloat::rmNearestTiesToEven, &lost);
      bits = value.bitcastToAPInt().getZExtValue();
    } else {
      bits = array.element == ElementType::Bool ? sum > 0 : static_cast<uint64_t>(static_cast<int64_t>(sum * 4));
    }
    std::memcpy(array.bytes.get() + i * width, &bits, width);
  }
}

//===-- The .npy format -----------------------------------------------------------------------------------------===//

static constexpr std::pair<llvm::StringLiteral, ElementType> kDtypes[] = {
    {"|b1", ElementType::Bool}, {"|i1", ElementType::I8},  {"<i2", ElementType::I16}, {"<i4", ElementType::I32},
    {"<i8", ElementType::I64},  {"<f2", ElementType::F16}, {"<f4", ElementType::F32}, {"<f8", ElementType::F64}};

/// The value after `'key': ` in the header's dict literal, up to `end`.
static llvm::StringRef field(llvm::StringRef header, llvm::StringRef key, llvm::StringRef end) {
  auto [before, after] = header.split(("'" + key + "':").str());
  return after.ltrim().split(end).first;
}

static StatusOr<tools::Array> parseNpy(const std::string &place, llvm::StringRef data) {
  if (!data.starts_with(kMagic) || data.size() < 12)
    return error(place, "is not a .npy file");
  bool wide = data[6] >= 2;
  size_t start = wide ? 12 : 10, length = 0;
  std::memcpy(&length, data.data() + 8, wide ? 4 : 2);
  if (length > data.size() - start)
    return error(place, "header is cut short");
  llvm::StringRef header = data.substr(start, length), body = data.drop_front(start + length);
  llvm::StringRef descr = field(header, "descr", ",").trim(" '\"");
  const auto *dtype = llvm::find_if(kDtypes, [&](const auto &entry) { return entry.first == descr; });
  if (dtype == std::end(kDtypes))
    return error(place, "expected a dtype of |b1, |i1, <i2, <i4, <i8, <f2, <f4 or <f8, but got '" + descr + "'");
  if (field(header, "fortran_order", ",").trim() != "False")
    return error(place, "expected row-major order, but got Fortran order");
  std::vector<int64_t> dims;
  int64_t count = 1;
  llvm::SmallVector<llvm::StringRef> parts;
  field(header, "shape", ")").ltrim("(").split(parts, ',');
  for (llvm::StringRef part : parts) {
    int64_t dim;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, dim) || dim < 0 || llvm::MulOverflow(count, dim, count))
      return error(place, "has a malformed shape");
    dims.push_back(dim);
  }
  int64_t bytes;
  if (llvm::MulOverflow<int64_t>(count, rt::byteWidth(dtype->second), bytes) ||
      bytes != static_cast<int64_t>(body.size()))
    return error(place, "expected the bytes of its shape, but got " + llvm::Twine(body.size()));
  StatusOr<tools::Array> array = tools::makeArray(dtype->second, dims);
  if (array.isOk())
    llvm::copy(body, array->bytes.get());
  return array;
}

static StatusOr<std::string> formatNpy(const std::string &place, const tools::Array &array) {
  const auto *dtype = llvm::find_if(kDtypes, [&](const auto &entry) { return entry.second == array.element; });
  if (dtype == std::end(kDtypes))
    return error(place, llvm::Twine("NumPy has no dtype for ") + rt::name(array.element));
  std::string shape;
  for (int64_t dim : array.dims)
    shape += std::to_string(dim) + ",";
  std::string header = "{'descr': '" + dtype->first.str() + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
  if (header.size() > UINT16_MAX)
    return error(place, "expected fewer dims than " + llvm::Twine(array.dims.size()));
  uint16_t length = header.size();
  std::string text = kMagic.str() + std::string("\x01\x00", 2);
  text.append(reinterpret_cast<const char *>(&length), 2).append(header);
  return text.append(array.bytes.get(), array.size());
}

StatusOr<tools::Array> tools::readNpy(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error(path, buffer.getError().message());
  return parseNpy(path, (*buffer)->getBuffer());
}

Status tools::writeNpy(const std::string &path, const Array &array) {
  StatusOr<std::string> text = formatNpy(path, array);
  if (!text.isOk())
    return text.status();
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return error(path, code.message());
  stream << *text;
  stream.close();
  if (!stream.has_error())
    return Status::ok();
  code = stream.error();
  stream.clear_error();
  return error(path, "can't be written: " + code.message());
}

//===-- The .npz format -----------------------------------------------------------------------------------------===//

static std::string describeZipError(int code) {
  zip_error_t zipError;
  zip_error_init_with_code(&zipError, code);
  std::string text = zip_error_strerror(&zipError);
  zip_error_fini(&zipError);
  return text;
}

/// More than deflate can shrink anything by: what claims to be larger is damaged, or made to fill memory.
static constexpr zip_uint64_t kMostShrunk = 1100;

static StatusOr<tools::Array> readMember(const std::string &path, zip_t *archive, zip_uint64_t number,
                                         std::string &name) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, number, 0, &stat) || (stat.valid & needed) != needed ||
      stat.size / kMostShrunk > stat.comp_size)
    return error(path, "has a damaged directory");
  name = stat.name;
  std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(zip_fopen_index(archive, number, 0), &zip_fclose);
  std::unique_ptr<char[]> data(new (std::nothrow) char[stat.size + 1]);
  if (!file || !data || zip_fread(file.get(), data.get(), stat.size) != static_cast<zip_int64_t>(stat.size))
    return error(path, "can't read '" + name + "'");
  return parseNpy(path + ":" + name, llvm::StringRef(data.get(), stat.size));
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
    llvm::StringRef stem(name);
    stem.consume_back(".npy");
    arrays[stem.str()] = std::move(*array);
  }
  return arrays;
}

Status tools::writeNpz(const std::string &path, const std::vector<std::pair<std::string, const Array *>> &arrays) {
  int code = 0;
  zip_t *archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive)
    return error(path, "can't be written: " + describeZipError(code));
  std::vector<std::string> texts; // libzip reads them when it closes
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
