// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses and checks the headers, sections, symbols and relocations of an object file. ObjectLayout.cpp places the
// sections, and Relocation.cpp applies relocations.

#include "ElfObject.h"

#include <fmt/format.h>

#include <cstring>
#include <elf.h>

namespace inlay::rt::host {

static constexpr uint64_t kMaxAlignment = 4096;

/// Type of the section .eh_frame (SHT_X86_64_UNWIND of the processor supplement for x86-64).
static constexpr uint32_t kUnwind = 0x70000001;

template <typename... Args>
static Status damaged(fmt::format_string<Args...> format, Args &&...args) {
  return {StatusCode::InvalidArgument, "damaged object file: " + fmt::format(format, std::forward<Args>(args)...)};
}

namespace {
class Reader {
public:
  Reader(std::string_view bytes, Budget &budget) : bytes_(bytes), budget_(budget) {}

  StatusOr<ElfObject> read() {
    INLAY_RETURN_IF_ERROR(readHeader());
    object_.sections.resize(headers_.size());
    for (uint32_t number = 0; number < headers_.size(); ++number)
      INLAY_RETURN_IF_ERROR(readSection(number));
    for (uint32_t number = 0; number < headers_.size(); ++number)
      if (headers_[number].sh_type == SHT_SYMTAB)
        INLAY_RETURN_IF_ERROR(readSymbols(number));
    for (uint32_t number = 0; number < headers_.size(); ++number)
      INLAY_RETURN_IF_ERROR(readRelocations(number));
    return std::move(object_);
  }

private:
  bool isInside(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  /// Reads entry `number` of a table whose bounds are checked. Tables needn't be aligned.
  template <typename T>
  T at(uint64_t offset, uint64_t number) const {
    T entry;
    std::memcpy(&entry, bytes_.data() + offset + number * sizeof(T), sizeof(T));
    return entry;
  }

  /// Adds the bytes of a part to `total`. Fails if the parts together have more bytes than the file.
  Status addPart(uint64_t size, uint64_t &total, const char *parts) const {
    if (size > bytes_.size() - total)
      return damaged("{} overlap: together they exceed its {} bytes", parts, bytes_.size());
    total += size;
    return Status::ok();
  }

  Status readHeader() {
    if (bytes_.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
      return damaged("expected an ELF header");
    auto header = at<Elf64_Ehdr>(0, 0);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
      return damaged("expected 64 bits, little-endian, but got class {}, encoding {}", header.e_ident[EI_CLASS],
                     header.e_ident[EI_DATA]);
    if (header.e_type != ET_REL)
      return damaged("expected a relocatable file, but got type {}", header.e_type);
    object_.machine = header.e_machine;
    uint64_t count = header.e_shnum;
    if (header.e_shentsize != sizeof(Elf64_Shdr) || count == 0 || count >= SHN_LORESERVE)
      return damaged("expected from 1 to {} section headers of {} bytes, but got {} of {}", SHN_LORESERVE - 1,
                     sizeof(Elf64_Shdr), count, header.e_shentsize);
    if (!isInside(header.e_shoff, count * sizeof(Elf64_Shdr)))
      return damaged("{} section headers at {} exceed its {} bytes", count, header.e_shoff, bytes_.size());
    INLAY_RETURN_IF_ERROR(
        budget_.take("sections of host code", count, sizeof(Elf64_Shdr) + sizeof(ElfSection) + sizeof(uint64_t)));
    headers_.reserve(count);
    for (uint64_t number = 0; number < count; ++number)
      headers_.push_back(at<Elf64_Shdr>(header.e_shoff, number));
    return readText(header.e_shstrndx, sectionNames_);
  }

  /// Returns the strings of section `number` in `text`.
  Status readText(uint64_t number, std::string_view &text) const {
    if (number >= headers_.size() || headers_[number].sh_type != SHT_STRTAB)
      return damaged("expected section {} to hold strings", number);
    const Elf64_Shdr &header = headers_[number];
    if (!isInside(header.sh_offset, header.sh_size))
      return damaged("section {} exceeds its {} bytes", number, bytes_.size());
    text = bytes_.substr(header.sh_offset, header.sh_size);
    return Status::ok();
  }

  static Status findString(std::string_view text, uint64_t offset, std::string_view &string) {
    if (offset >= text.size())
      return damaged("a name at {} exceeds the {} bytes of names", offset, text.size());
    std::string_view rest = text.substr(offset, kMaxSymbolBytes + 1); // many names may end in the same long string
    size_t length = rest.find('\0');
    if (length == std::string_view::npos && rest.size() > kMaxSymbolBytes)
      return damaged("expected names of at most {} bytes, but the name at {} is longer", kMaxSymbolBytes, offset);
    if (length == std::string_view::npos)
      return damaged("a name at {} exceeds the {} bytes of names", offset, text.size());
    string = rest.substr(0, length);
    return Status::ok();
  }

  Status readSection(uint32_t number) {
    const Elf64_Shdr &header = headers_[number];
    ElfSection &section = object_.sections[number];
    INLAY_RETURN_IF_ERROR(findString(sectionNames_, header.sh_name, section.name));
    bool isUnwinding = header.sh_type == kUnwind || section.name == ".eh_frame";
    if (header.sh_type == SHT_NULL || !(header.sh_flags & SHF_ALLOC) || isUnwinding || header.sh_size == 0)
      return Status::ok();
    if (header.sh_flags & SHF_TLS)
      return damaged("section '{}' is thread-local storage, which host code must not have", section.name);
    if (header.sh_type != SHT_PROGBITS && header.sh_type != SHT_NOBITS && header.sh_type != SHT_NOTE)
      return damaged("expected section '{}' to hold code or data, but it has type {}", section.name, header.sh_type);
    section.alignment = header.sh_addralign ? header.sh_addralign : 1;
    if (section.alignment > kMaxAlignment || (section.alignment & (section.alignment - 1)) != 0)
      return damaged("expected section '{}' to be aligned to a power of 2, at most {}, but got {}", section.name,
                     kMaxAlignment, section.alignment);
    if (header.sh_type != SHT_NOBITS && !isInside(header.sh_offset, header.sh_size))
      return damaged("section '{}' exceeds its {} bytes", section.name, bytes_.size());
    if (header.sh_type != SHT_NOBITS)
      INLAY_RETURN_IF_ERROR(addPart(header.sh_size, loadedBytes_, "sections"));
    section.isLoaded = true;
    section.isCode = header.sh_flags & SHF_EXECINSTR;
    section.isWritable = header.sh_flags & SHF_WRITE;
    if (section.isCode && section.isWritable)
      return damaged("section '{}' is both code and writable", section.name);
    section.size = header.sh_size;
    section.bytes = header.sh_type == SHT_NOBITS ? nullptr : bytes_.data() + header.sh_offset;
    return Status::ok();
  }

  /// Checks that section `number` is a table of entries of type T and returns their number in `count`.
  template <typename T>
  Status checkTable(uint32_t number, uint64_t &count) const {
    const Elf64_Shdr &header = headers_[number];
    if (header.sh_entsize != sizeof(T) || header.sh_size % sizeof(T) != 0 ||
        !isInside(header.sh_offset, header.sh_size))
      return damaged("section '{}' is not a table of entries of {} bytes inside the file",
                     object_.sections[number].name, sizeof(T));
    count = header.sh_size / sizeof(T);
    return Status::ok();
  }

  Status readSymbols(uint32_t number) {
    if (symbolTable_ != 0)
      return damaged("expected one symbol table, but got two");
    symbolTable_ = number;
    uint64_t count = 0;
    std::string_view names;
    INLAY_RETURN_IF_ERROR(checkTable<Elf64_Sym>(number, count));
    INLAY_RETURN_IF_ERROR(readText(headers_[number].sh_link, names));
    INLAY_RETURN_IF_ERROR(budget_.take("symbols of host code", count, sizeof(ElfSymbol)));
    object_.symbols.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      auto entry = at<Elf64_Sym>(headers_[number].sh_offset, i);
      ElfSymbol symbol;
      INLAY_RETURN_IF_ERROR(findString(names, entry.st_name, symbol.name));
      INLAY_RETURN_IF_ERROR(readSymbol(entry, symbol));
      object_.symbols.push_back(symbol);
    }
    return Status::ok();
  }

  Status readSymbol(const Elf64_Sym &entry, ElfSymbol &symbol) const {
    unsigned type = ELF64_ST_TYPE(entry.st_info);
    if (type == STT_FILE)
      return Status::ok();
    if (type > STT_SECTION)
      return damaged("symbol '{}' has type {}, which host code must not have", symbol.name, type);
    symbol.isFunction = type == STT_FUNC;
    symbol.isGlobal = ELF64_ST_BIND(entry.st_info) != STB_LOCAL;
    symbol.value = entry.st_value;
    if (entry.st_shndx == SHN_UNDEF)
      return Status::ok();
    if (entry.st_shndx == SHN_ABS) {
      symbol.place = ElfPlace::Absolute;
      return Status::ok();
    }
    if (entry.st_shndx >= headers_.size())
      return damaged("expected symbol '{}' in one of {} sections, but got {}", symbol.name, headers_.size(),
                     entry.st_shndx);
    symbol.place = ElfPlace::Section;
    symbol.section = entry.st_shndx;
    if (const ElfSection &section = object_.sections[symbol.section]; section.isLoaded && symbol.value > section.size)
      return damaged("symbol '{}' at {} exceeds the {} bytes of section '{}'", symbol.name, symbol.value, section.size,
                     section.name);
    return Status::ok();
  }

  Status readRelocations(uint32_t number) {
    const Elf64_Shdr &header = headers_[number];
    std::string_view name = object_.sections[number].name;
    if (header.sh_type == SHT_INIT_ARRAY || header.sh_type == SHT_FINI_ARRAY || header.sh_type == SHT_PREINIT_ARRAY)
      return damaged("section '{}' holds initializers, which host code must not have", name);
    if (header.sh_type != SHT_RELA && header.sh_type != SHT_REL)
      return Status::ok();
    if (header.sh_info >= headers_.size())
      return damaged("section '{}' is for section {} of {}", name, header.sh_info, headers_.size());
    const ElfSection &section = object_.sections[header.sh_info];
    if (!section.isLoaded)
      return Status::ok();
    if (header.sh_type == SHT_REL || header.sh_link != symbolTable_ || symbolTable_ == 0 || !section.bytes)
      return damaged("expected section '{}' to have addends, symbols of the symbol table, and bytes to change", name);
    uint64_t count = 0;
    INLAY_RETURN_IF_ERROR(checkTable<Elf64_Rela>(number, count));
    INLAY_RETURN_IF_ERROR(addPart(header.sh_size, relocationBytes_, "tables of relocations"));
    // The list may be copied when it grows.
    INLAY_RETURN_IF_ERROR(budget_.take("relocations of host code", count, 3 * sizeof(ElfRelocation)));
    for (uint64_t i = 0; i < count; ++i) {
      auto entry = at<Elf64_Rela>(header.sh_offset, i);
      uint64_t symbol = ELF64_R_SYM(entry.r_info);
      if (symbol >= object_.symbols.size() || entry.r_offset >= section.size)
        return damaged("relocation {} of section '{}' is for symbol {} of {} at {} of {} bytes", i, section.name,
                       symbol, object_.symbols.size(), entry.r_offset, section.size);
      object_.relocations.push_back({header.sh_info, entry.r_offset, static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info)),
                                     static_cast<uint32_t>(symbol), entry.r_addend});
    }
    return Status::ok();
  }

  std::string_view bytes_;
  Budget &budget_;
  ElfObject object_;
  std::vector<Elf64_Shdr> headers_;
  std::string_view sectionNames_;
  uint32_t symbolTable_ = 0;     ///< Number of its section; 0 if there is none.
  uint64_t loadedBytes_ = 0;     ///< Bytes of the file in sections that are loaded.
  uint64_t relocationBytes_ = 0; ///< Bytes of the tables of relocations so far.
};
} // namespace

StatusOr<ElfObject> parseElf(std::string_view bytes, Budget &budget) { return Reader(bytes, budget).read(); }

} // namespace inlay::rt::host
