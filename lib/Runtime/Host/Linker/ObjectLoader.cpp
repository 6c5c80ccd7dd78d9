// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps an object, links it and protects its pages. Relocation.cpp has the formulas, and Support/Processor.cpp
// chooses among the objects of several processors.

#include "inlay/Runtime/Host/ObjectLoader.h"
#include "Imports.h"
#include "ObjectLayout.h"
#include "Relocation.h"
#include "Runtime/Host/Support/Processor.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

namespace inlay::rt::host {

#if defined(__x86_64__)
static constexpr uint16_t kMachine = EM_X86_64;
#else
static constexpr uint16_t kMachine = EM_AARCH64;
#endif

namespace {
/// Pages of memory, unmapped by the destructor.
class Mapping {
public:
  Mapping() = default;
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping() {
    if (bytes_)
      munmap(bytes_, size_);
  }

  Status reserve(uint64_t size) {
    void *bytes = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
      return {StatusCode::ResourceExhausted,
              fmt::format("no memory for {} bytes of host code: {}", size, strerrordesc_np(errno))};
    bytes_ = static_cast<char *>(bytes);
    size_ = size;
    return Status::ok();
  }

  Status protect(uint64_t offset, uint64_t size, int access) {
    if (size == 0 || mprotect(bytes_ + offset, size, access) == 0)
      return Status::ok();
    return {StatusCode::Unavailable,
            fmt::format("the system refuses to run host code (mprotect: {})", strerrordesc_np(errno))};
  }

  char *at(uint64_t offset) const { return bytes_ + offset; }
  uint64_t addressOf(uint64_t offset) const { return reinterpret_cast<uint64_t>(bytes_ + offset); }

private:
  char *bytes_ = nullptr;
  uint64_t size_ = 0;
};

using Functions = std::unordered_map<std::string, uint64_t>; ///< Addresses by name.

class LoadedObject : public HostSymbolResolver {
public:
  LoadedObject(std::unique_ptr<Mapping> memory, Functions functions)
      : memory_(std::move(memory)), functions_(std::move(functions)) {}

  StatusOr<HostEntry> lookup(const std::string &symbol) override {
    auto function = functions_.find(symbol);
    if (function == functions_.end())
      return Status(StatusCode::NotFound, fmt::format("the host code has no function '{}'", symbol));
    return reinterpret_cast<HostEntry>(function->second);
  }

private:
  std::unique_ptr<Mapping> memory_;
  Functions functions_;
};

/// Loads one object into memory.
class ObjectLinker {
public:
  ObjectLinker(const ElfObject &object, Budget &budget) : object_(object), budget_(budget) {}

  StatusOr<std::shared_ptr<HostSymbolResolver>> link() {
    auto pageSize = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    // A symbol may have an entry in each of the three tables of the linker.
    INLAY_RETURN_IF_ERROR(budget_.take("symbols of host code", object_.symbols.size(), 3 * kTableEntry));
    StatusOr<ObjectLayout> layout = layOut(object_, pageSize);
    if (!layout.isOk())
      return layout.status();
    layout_ = std::move(*layout);
    INLAY_RETURN_IF_ERROR(budget_.take("bytes of host code and its data", layout_.size()));
    INLAY_RETURN_IF_ERROR(memory_->reserve(layout_.size() ? layout_.size() : pageSize));
    for (size_t number = 0; number < object_.sections.size(); ++number)
      if (const ElfSection &section = object_.sections[number]; section.isLoaded && section.bytes)
        std::memcpy(memory_->at(layout_.sections[number]), section.bytes, section.size);
    INLAY_RETURN_IF_ERROR(writeAddresses());
    for (const ElfRelocation &relocation : object_.relocations)
      INLAY_RETURN_IF_ERROR(apply(relocation));
    INLAY_RETURN_IF_ERROR(nameFunctions());
    __builtin___clear_cache(memory_->at(0), memory_->at(layout_.codeSize));
    INLAY_RETURN_IF_ERROR(memory_->protect(0, layout_.codeSize, PROT_READ | PROT_EXEC));
    INLAY_RETURN_IF_ERROR(memory_->protect(layout_.codeSize, layout_.constantSize, PROT_READ));
    return std::shared_ptr<HostSymbolResolver>(
        std::make_shared<LoadedObject>(std::move(memory_), std::move(functions_)));
  }

private:
  StatusOr<uint64_t> addressOf(uint32_t number) const {
    const ElfSymbol &symbol = object_.symbols[number];
    if (symbol.place == ElfPlace::Absolute)
      return symbol.value;
    if (symbol.place == ElfPlace::Section) {
      const ElfSection &section = object_.sections[symbol.section];
      if (!section.isLoaded)
        return Status(
            StatusCode::InvalidArgument,
            fmt::format("host code refers to '{}' in section '{}', which isn't loaded", symbol.name, section.name));
      return memory_->addressOf(layout_.sections[symbol.section]) + symbol.value;
    }
    if (uint64_t address = findImport(symbol.name))
      return address;
    return Status(
        StatusCode::NotFound,
        fmt::format("host code needs '{}', which is not in the list of functions that it may call", symbol.name));
  }

  /// Writes the table of addresses and the stubs that jump through it.
  Status writeAddresses() {
    for (auto [symbol, offset] : layout_.addresses) {
      StatusOr<uint64_t> address = addressOf(symbol);
      if (!address.isOk())
        return address.status();
      std::memcpy(memory_->at(offset), &*address, sizeof(uint64_t));
    }
    for (auto [symbol, offset] : layout_.stubs)
      INLAY_RETURN_IF_ERROR(makeStub(object_.machine, memory_->at(offset), memory_->addressOf(offset),
                                     memory_->addressOf(layout_.addresses.at(symbol))));
    return Status::ok();
  }

  StatusOr<uint64_t> targetOf(const ElfRelocation &relocation) const {
    Reference reference = referenceOf(object_.machine, relocation.type);
    if (reference == Reference::Table)
      return memory_->addressOf(layout_.addresses.at(relocation.symbol));
    bool isOutside = object_.symbols[relocation.symbol].place == ElfPlace::Elsewhere;
    if (reference == Reference::Call && isOutside)
      return memory_->addressOf(layout_.stubs.at(relocation.symbol));
    return addressOf(relocation.symbol);
  }

  Status apply(const ElfRelocation &relocation) {
    if (referenceOf(object_.machine, relocation.type) == Reference::None)
      return Status::ok();
    StatusOr<uint64_t> target = targetOf(relocation);
    if (!target.isOk())
      return target.status();
    const ElfSection &section = object_.sections[relocation.section];
    uint64_t offset = layout_.sections[relocation.section] + relocation.offset;
    Status status = relocate(object_.machine, relocation.type, memory_->at(offset), section.size - relocation.offset,
                             memory_->addressOf(offset), *target, relocation.addend);
    return status.isOk() ? status
                         : Status(status.code(),
                                  fmt::format("section '{}' at {}, symbol '{}': {}", section.name, relocation.offset,
                                              object_.symbols[relocation.symbol].name, status.message()));
  }

  Status nameFunctions() {
    for (const ElfSymbol &symbol : object_.symbols) {
      if (!symbol.isFunction || !symbol.isGlobal || symbol.place != ElfPlace::Section)
        continue;
      const ElfSection &section = object_.sections[symbol.section];
      if (!section.isCode || symbol.value >= section.size)
        return {StatusCode::InvalidArgument,
                fmt::format("expected function '{}' to be in code, but it is in section '{}' at {} of {} bytes",
                            symbol.name, section.name, symbol.value, section.size)};
      uint64_t address = memory_->addressOf(layout_.sections[symbol.section]) + symbol.value;
      INLAY_RETURN_IF_ERROR(budget_.take("names of functions of host code", symbol.name.size() + 1));
      if (!functions_.emplace(symbol.name, address).second)
        return {StatusCode::InvalidArgument, fmt::format("expected one function '{}', but got two", symbol.name)};
    }
    return Status::ok();
  }

  static constexpr uint64_t kTableEntry = 96; ///< Bytes of an entry of a hash table, with its bucket.

  const ElfObject &object_;
  Budget &budget_;
  ObjectLayout layout_;
  std::unique_ptr<Mapping> memory_ = std::make_unique<Mapping>();
  Functions functions_;
};
} // namespace

StatusOr<std::shared_ptr<HostSymbolResolver>> linkObject(std::string_view object, Budget &budget) {
  StatusOr<ElfObject> parsed = parseElf(object, budget);
  if (!parsed.isOk())
    return parsed.status();
  if (parsed->machine != kMachine)
    return Status(StatusCode::Unavailable,
                  fmt::format("expected an object file for machine {}, but got one for {}", kMachine, parsed->machine));
  return ObjectLinker(*parsed, budget).link();
}

StatusOr<std::shared_ptr<HostSymbolResolver>> linkHostCode(const HostCode &code, Budget &budget) {
  if (code.objects.empty())
    return std::shared_ptr<HostSymbolResolver>();
  StatusOr<size_t> number = chooseObject(code, thisProcessor());
  if (!number.isOk())
    return number.status();
  const HostObject &object = code.objects[*number];
  StatusOr<std::shared_ptr<HostSymbolResolver>> library = linkObject({object.code.data(), object.code.size()}, budget);
  if (!library.isOk())
    return Status(library.status().code(),
                  fmt::format("host code for '{}': {}", object.cpu, library.status().message()));
  return library;
}

} // namespace inlay::rt::host
