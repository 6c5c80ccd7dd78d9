// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that objects as a compiler produces them run, and that damaged ones are refused with a message.

#include "inlay/Runtime/Host/ObjectLoader.h"
#include "Runtime/Host/Linker/ElfObject.h"
#include "Runtime/Host/Support/Processor.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <random>

using namespace inlay::rt;
using namespace inlay::rt::host;

namespace {

std::string readFile(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string &sample() {
  static const std::string bytes = readFile(INLAY_CODE_SAMPLE);
  return bytes;
}

StatusOr<std::shared_ptr<HostSymbolResolver>> link(std::string_view object, uint64_t memory = UINT64_MAX) {
  Budget budget(memory);
  return linkObject(object, budget);
}

StatusOr<std::shared_ptr<HostSymbolResolver>> linkCode(const HostCode &code) {
  Budget budget(UINT64_MAX);
  return linkHostCode(code, budget);
}

StatusOr<ElfObject> parse(std::string_view bytes) {
  Budget budget(UINT64_MAX);
  return parseElf(bytes, budget);
}

HostEntry find(HostSymbolResolver &library, const char *name) {
  StatusOr<HostEntry> entry = library.lookup(name);
  EXPECT_TRUE(entry.isOk()) << entry.status().message();
  return entry.isOk() ? *entry : nullptr;
}

TEST(ObjectLoader, codeCallsAndReadsItsConstants) {
  auto library = link(sample());
  ASSERT_TRUE(library.isOk()) << library.status().message();
  std::array<float, 4> x = {0, 0.5f, 1, 2}, y = {};
  void *buffers[] = {x.data(), y.data()};
  find(**library, "sample_sine")(buffers);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_FLOAT_EQ(y[i], std::sin(x[i]) * 2 + 1);
}

TEST(ObjectLoader, dataHoldsAddressesAndKeepsItsValues) {
  auto library = link(sample()), other = link(sample());
  ASSERT_TRUE(library.isOk() && other.isOk());
  std::array<float, 9> y = {};
  void *buffers[] = {y.data()};
  HostEntry function = find(**library, "sample_tables");
  function(buffers);
  function(buffers);
  EXPECT_EQ(y, (std::array<float, 9>{5, 6, 7, 8, 1, 2, 3, 4, 2}));
  find(**other, "sample_tables")(buffers); // the second copy has separate data
  EXPECT_EQ(y[8], 1);
}

TEST(ObjectLoader, jumpTablesLead) {
  auto library = link(sample());
  ASSERT_TRUE(library.isOk());
  HostEntry function = find(**library, "sample_switch");
  const float expected[] = {1, std::exp(1.0f), 30, 32, NAN, 6, -1};
  for (int x = 0; x < 7; ++x) {
    float y = 0;
    void *buffers[] = {&x, &y};
    function(buffers);
    if (x == 4)
      EXPECT_TRUE(std::isnan(y));
    else
      EXPECT_FLOAT_EQ(y, expected[x]) << x;
  }
}

/// Returns the access rights of the page at an address: "r-xp".
std::string accessOf(const void *address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0;
    char access[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, access) == 3 &&
        reinterpret_cast<uint64_t>(address) >= begin && reinterpret_cast<uint64_t>(address) < end)
      return access;
  }
  return "none";
}

TEST(ObjectLoader, codeIsNotWritable) {
  auto library = link(sample());
  ASSERT_TRUE(library.isOk());
  EXPECT_EQ(accessOf(reinterpret_cast<void *>(find(**library, "sample_sine"))), "r-xp");
}

TEST(ObjectLoader, missingFunctionIsNamed) {
  auto library = link(sample());
  ASSERT_TRUE(library.isOk());
  StatusOr<HostEntry> entry = (*library)->lookup("sample_cosine");
  EXPECT_EQ(entry.status().code(), StatusCode::NotFound);
  EXPECT_EQ(entry.status().message(), "the host code has no function 'sample_cosine'");
}

TEST(ObjectLoader, otherFunctionsCannotBeCalled) {
  auto library = link(readFile(INLAY_FORBIDDEN_SAMPLE));
  EXPECT_EQ(library.status().code(), StatusCode::NotFound);
  EXPECT_EQ(library.status().message(),
            "host code needs 'system', which is not in the list of functions that it may call");
}

//===-- Damage --------------------------------------------------------------------------------------------------===//

TEST(ObjectLoader, shortFilesAreRefused) {
  for (size_t size = 0; size < sample().size(); size += size < 256 ? 1 : 37) {
    std::string bytes = sample().substr(0, size); // a copy, so that a sanitizer detects reads beyond its end
    auto library = link(std::string_view(bytes.data(), bytes.size()));
    EXPECT_FALSE(library.isOk()) << size;
    EXPECT_FALSE(library.status().message().empty());
  }
}

TEST(ObjectLoader, damagedFilesDoNotCrash) {
  std::mt19937 random(1);
  size_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = sample();
    for (uint32_t change = 0; change <= random() % 4; ++change) {
      // Mostly in headers, tables and names, which are at both ends.
      size_t place = random() % 2 ? random() % bytes.size() : bytes.size() - 1 - random() % (bytes.size() / 2);
      bytes[place] = random() % 3 ? static_cast<char>(random()) : static_cast<char>(random() % 2 ? 0xff : 0x7f);
    }
    auto library = link(bytes);
    refused += !library.isOk();
    if (library.isOk()) // its code may be damaged, so it is not run
      (void)(*library)->lookup("sample_sine");
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_LT(refused, 20000u);
}

/// Returns the sample with `value` in a field of the section header of `name`.
template <typename T>
std::string changeSection(std::string_view name, T Elf64_Shdr::*field, T value) {
  std::string bytes = sample();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  StatusOr<ElfObject> object = parse(bytes);
  EXPECT_TRUE(object.isOk());
  for (size_t number = 0; number < object->sections.size(); ++number) {
    if (object->sections[number].name != name)
      continue;
    Elf64_Shdr section;
    char *place = bytes.data() + header.e_shoff + number * sizeof(section);
    std::memcpy(&section, place, sizeof(section));
    section.*field = value;
    std::memcpy(place, &section, sizeof(section));
    return bytes;
  }
  ADD_FAILURE() << "no section " << name;
  return bytes;
}

std::string messageOf(const std::string &bytes) { return link(bytes).status().message(); }

TEST(ObjectLoader, errorsSayWhatIsWrong) {
  EXPECT_EQ(messageOf("not a file"), "damaged object file: expected an ELF header");
  EXPECT_EQ(messageOf(changeSection<uint64_t>(".text", &Elf64_Shdr::sh_flags, SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE)),
            "damaged object file: section '.text' is both code and writable");
  EXPECT_EQ(messageOf(changeSection<uint64_t>(".data", &Elf64_Shdr::sh_flags, SHF_ALLOC | SHF_TLS)),
            "damaged object file: section '.data' is thread-local storage, which host code must not have");
  EXPECT_EQ(messageOf(changeSection<uint64_t>(".bss", &Elf64_Shdr::sh_size, uint64_t(1) << 40)),
            "expected at most 1 GiB of host code and its data");
  EXPECT_EQ(messageOf(changeSection<uint64_t>(".text", &Elf64_Shdr::sh_addralign, 3)),
            "damaged object file: expected section '.text' to be aligned to a power of 2, at most 4096, but got 3");
  EXPECT_EQ(messageOf(changeSection<uint32_t>(".data", &Elf64_Shdr::sh_type, SHT_INIT_ARRAY)),
            "damaged object file: expected section '.data' to hold code or data, but it has type 14");
  EXPECT_NE(messageOf(changeSection<uint64_t>(".text", &Elf64_Shdr::sh_offset, ~uint64_t(0))).find("exceeds its"),
            std::string::npos);
}

//===-- Limits --------------------------------------------------------------------------------------------------===//

/// Builds object files from sections.
struct ObjectFile {
  uint32_t add(const std::string &name, uint32_t type, uint64_t flags, const std::string &bytes, uint32_t link = 0,
               uint32_t info = 0, uint64_t entry = 0) {
    Elf64_Shdr header = {};
    header.sh_name = static_cast<uint32_t>(names.size());
    names += name + '\0';
    header.sh_type = type;
    header.sh_flags = flags;
    header.sh_offset = sizeof(Elf64_Ehdr) + data.size();
    header.sh_size = bytes.size();
    header.sh_link = link;
    header.sh_info = info;
    header.sh_addralign = 1;
    header.sh_entsize = entry;
    data += bytes;
    headers.push_back(header);
    return static_cast<uint32_t>(headers.size() - 1);
  }

  std::string bytes() {
    uint32_t strings = add(".shstrtab", SHT_STRTAB, 0, names + ".shstrtab" + '\0');
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_REL;
    std::memcpy(&header.e_machine, sample().data() + offsetof(Elf64_Ehdr, e_machine), sizeof(header.e_machine));
    header.e_shoff = sizeof(header) + data.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(headers.size());
    header.e_shstrndx = static_cast<uint16_t>(strings);
    return textOf(&header, 1) + data + textOf(headers.data(), headers.size());
  }

  template <typename T>
  static std::string textOf(const T *entries, size_t count) {
    return {reinterpret_cast<const char *>(entries), count * sizeof(T)};
  }

  std::vector<Elf64_Shdr> headers = {Elf64_Shdr()};
  std::string data, names = std::string(1, '\0');
};

TEST(ObjectLoader, tablesOfRelocationsMayNotOverlap) {
  ObjectFile file;
  uint32_t text = file.add(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, std::string(64, '\0'));
  Elf64_Sym symbols[2] = {};
  symbols[1].st_shndx = static_cast<uint16_t>(text);
  uint32_t strings = file.add(".strtab", SHT_STRTAB, 0, std::string(1, '\0'));
  uint32_t table = file.add(".symtab", SHT_SYMTAB, 0, ObjectFile::textOf(symbols, 2), strings, 1, sizeof(Elf64_Sym));
  std::vector<Elf64_Rela> relocations(20000, Elf64_Rela{0, ELF64_R_INFO(1, 0), 0}); // type 0 changes nothing
  uint32_t first = file.add(".rela", SHT_RELA, 0, ObjectFile::textOf(relocations.data(), relocations.size()), table,
                            text, sizeof(Elf64_Rela));
  std::string single = ObjectFile(file).bytes();
  EXPECT_EQ(messageOf(single), "");
  for (int i = 0; i < 1000; ++i)
    file.headers.push_back(file.headers[first]);
  std::string many = file.bytes();
  EXPECT_EQ(messageOf(many), "damaged object file: tables of relocations overlap: together they exceed its " +
                                 std::to_string(many.size()) + " bytes");
  auto library = link(single, 1 << 20);
  EXPECT_EQ(library.status().code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(library.status().message().find("relocations of host code exceed the memory limit"), 0u)
      << library.status().message();
}

TEST(ObjectLoader, loadedSectionsMayNotOverlap) {
  ObjectFile file;
  uint32_t text = file.add(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, std::string(100000, '\0'));
  for (int i = 0; i < 1000; ++i)
    file.headers.push_back(file.headers[text]);
  std::string bytes = file.bytes();
  EXPECT_EQ(messageOf(bytes), "damaged object file: sections overlap: together they exceed its " +
                                  std::to_string(bytes.size()) + " bytes");
}

TEST(ObjectLoader, namesThatShareAStringAreShort) {
  ObjectFile file;
  uint32_t text = file.add(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, std::string(64, '\0'));
  constexpr size_t kCount = 20000;
  std::vector<Elf64_Sym> symbols(kCount);
  for (size_t i = 1; i < kCount; ++i)
    symbols[i] = {static_cast<uint32_t>(i), ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, static_cast<uint16_t>(text), 0, 0};
  auto linked = [&](size_t length, uint64_t memory) {
    ObjectFile copy = file;
    uint32_t strings = copy.add(".strtab", SHT_STRTAB, 0, std::string(1, '\0') + std::string(length, 'f') + '\0');
    copy.add(".symtab", SHT_SYMTAB, 0, ObjectFile::textOf(symbols.data(), symbols.size()), strings, 1,
             sizeof(Elf64_Sym));
    return link(copy.bytes(), memory).status();
  };
  EXPECT_EQ(linked(1 << 20, UINT64_MAX).message(),
            "damaged object file: expected names of at most 4096 bytes, but the name at 1 is longer");
  symbols.resize(4000);
  Status status = linked(4000, 4 << 20);
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(status.message().find("names of functions of host code exceed the memory limit"), 0u) << status.message();
  EXPECT_EQ(linked(4000, 16 << 20).message(), "");
}

TEST(ObjectLoader, zerosTakeMemoryToo) {
  auto library = link(changeSection<uint64_t>(".bss", &Elf64_Shdr::sh_size, uint64_t(512) << 20), 64 << 20);
  EXPECT_EQ(library.status().code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(library.status().message().find("bytes of host code and its data exceed the memory limit"), 0u)
      << library.status().message();
}

//===-- Several processors --------------------------------------------------------------------------------------===//

HostCode codeFor(std::vector<HostObject> objects, std::string triple = "x86_64-unknown-linux-gnu") {
  HostCode code;
  code.triple = std::move(triple);
  code.objects = std::move(objects);
  return code;
}

TEST(Processor, firstObjectThatFitsIsUsed) {
  Processor processor{"x86_64", {"avx", "avx2", "fma"}};
  HostCode code =
      codeFor({{"x86-64-v4", {"avx512f", "avx2"}, {}}, {"x86-64-v3", {"fma", "avx2"}, {}}, {"any", {}, {}}});
  StatusOr<size_t> number = chooseObject(code, processor);
  ASSERT_TRUE(number.isOk());
  EXPECT_EQ(*number, 1u);
  processor.features.clear();
  EXPECT_EQ(*chooseObject(code, processor), 2u);
}

TEST(Processor, errorsListWhatIsNeeded) {
  Processor processor{"x86_64", {"avx", "avx2"}};
  StatusOr<size_t> number = chooseObject(codeFor({{"x86-64-v4", {"avx512f", "avx2", "avx512bw"}, {}}}), processor);
  EXPECT_EQ(number.status().message(), "none of the host code fits this processor: that for 'x86-64-v4' needs "
                                       "avx512bw, avx512f; the processor has avx, avx2");
  number = chooseObject(codeFor({{"any", {}, {}}}, "aarch64-unknown-linux-gnu"), processor);
  EXPECT_EQ(number.status().message(),
            "the host code is for 'aarch64-unknown-linux-gnu', but this is x86_64 with Linux");
}

#if defined(__x86_64__)
TEST(Processor, featuresAreThoseThatTheCompilerFinds) {
  const std::vector<std::string> &features = thisProcessor().features;
  auto has = [&](const char *name) { return std::find(features.begin(), features.end(), name) != features.end(); };
  EXPECT_TRUE(has("sse2"));
  EXPECT_EQ(has("sse4.2"), bool(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(has("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(has("fma"), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(has("bmi2"), bool(__builtin_cpu_supports("bmi2")));
  EXPECT_EQ(has("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(has("avx512vnni"), bool(__builtin_cpu_supports("avx512vnni")));
}

TEST(ObjectLoader, linksTheObjectThatFits) {
  std::vector<char> bytes(sample().begin(), sample().end());
  auto library = linkCode(codeFor({{"none", {"no-such-feature"}, {'x'}}, {"any", {"sse2"}, bytes}}));
  ASSERT_TRUE(library.isOk()) << library.status().message();
  EXPECT_TRUE((*library)->lookup("sample_sine").isOk());
  EXPECT_EQ(linkCode(codeFor({{"any", {}, {'x'}}})).status().message(),
            "host code for 'any': damaged object file: expected an ELF header");
}
#endif

TEST(ObjectLoader, noObjectsMakeNoLibrary) {
  auto library = linkCode({});
  ASSERT_TRUE(library.isOk());
  EXPECT_EQ(*library, nullptr);
}

} // namespace
