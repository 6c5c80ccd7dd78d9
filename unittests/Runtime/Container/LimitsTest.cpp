// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests each limit in the table of docs/container.md: the limit itself is accepted, and the next value is refused with
// the message in the table.

#include "../PlanBuilder.h"
#include "ContainerFixture.h"
#include "PlanWriter.h"
#include "Runtime/Host/Linker/ObjectLayout.h"
#include "inlay/Runtime/Core/PlanChecker.h"

#include <fmt/format.h>

#include <elf.h>
#include <map>
#include <regex>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// A row of the table.
struct Row {
  std::string name;
  uint64_t value = 0; ///< 0 if the table has no number.
  std::string message;
};

/// Returns the rows of the table of limits.
std::vector<Row> readTable() {
  std::ifstream file(INLAY_CONTAINER_PAGE);
  std::vector<Row> rows;
  std::regex pattern(R"(\| ([^|]+) \| ([^|]+) \| `([^|]+)` \|)");
  bool isInside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0)
      isInside = line == "## Limits";
    std::smatch match;
    if (!isInside || !std::regex_match(line, match, pattern))
      continue;
    std::string number = match[2];
    number.erase(std::remove(number.begin(), number.end(), ','), number.end());
    rows.push_back({match[1], std::strtoull(number.c_str(), nullptr, 10), match[3]});
  }
  return rows;
}

/// The test of a limit.
struct Case {
  /// Returns the error for something of this size; empty if it is accepted.
  std::function<std::string(uint64_t)> refusal;
  /// Returns the next possible size.
  uint64_t (*next)(uint64_t) = [](uint64_t value) { return value + 1; };
};

/// Returns an image with the sections of a plan, and `count` sections in all.
std::string imageOf(const Plan &plan, size_t count = 1) {
  EncodedPlan encoded = encodePlan(plan, {});
  Header header;
  header.sections = static_cast<uint32_t>(count);
  uint64_t at = alignTo(preambleBytes(count), kSectionAlignment), end = at + encoded.plan.size();
  std::vector<Section> sections = {{section::kPlan, at, encoded.plan.size(), true}};
  for (size_t i = 1; i < count; ++i)
    sections.push_back({fmt::format("unknown-{}", i), end, 0, false});
  std::string image = formatPreamble(header, sections);
  image.resize(at, '\0');
  image += encoded.plan;
  seal(image);
  return image;
}

std::string refusalOfImage(const std::string &image) { return readImage(image, uint64_t(1) << 30).status().message(); }

/// Returns an object file with `count` sections, of which one is code of this alignment, and a symbol with a name of
/// this length.
std::string objectFile(uint64_t alignment, uint64_t nameBytes, uint64_t count) {
  const std::string code(8, '\xc3'), names = std::string(1, '\0') + std::string(nameBytes, 'f') + '\0';
  const std::string sectionNames("\0.text\0.symtab\0.strtab\0.shstrtab", 33);
  Elf64_Sym symbols[2] = {};
  symbols[1].st_name = 1;
  symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbols[1].st_shndx = 1;
  std::string bytes(sizeof(Elf64_Ehdr), '\0');
  auto append = [&](const void *data, size_t size) {
    bytes.resize(alignTo(bytes.size(), 8), '\0');
    bytes.append(static_cast<const char *>(data), size);
    return bytes.size() - size;
  };
  std::vector<Elf64_Shdr> sections(std::max<uint64_t>(count, 5));
  sections[1] = {
      1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, append(code.data(), code.size()), code.size(), 0, 0, alignment, 0};
  sections[2] = {7, SHT_SYMTAB, 0, 0, append(symbols, sizeof(symbols)), sizeof(symbols), 3, 1, 8, sizeof(Elf64_Sym)};
  sections[3] = {15, SHT_STRTAB, 0, 0, append(names.data(), names.size()), names.size(), 0, 0, 1, 0};
  sections[4] = {23, SHT_STRTAB, 0, 0, append(sectionNames.data(), sectionNames.size()), sectionNames.size(),
                 0,  0,          1, 0};
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = 4;
  header.e_shoff = append(sections.data(), sections.size() * sizeof(Elf64_Shdr));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

std::string refusalOfObject(uint64_t alignment, uint64_t nameBytes, uint64_t sections = 5) {
  Budget budget(UINT64_MAX);
  return host::parseElf(objectFile(alignment, nameBytes, sections), budget).status().message();
}

/// Returns the error of laying out an object that takes this many bytes in memory.
std::string refusalOfLayout(uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  host::ElfSection section;
  section.size = bytes - 3 * kPage - section.alignment;
  section.isLoaded = section.isCode = true;
  host::ElfObject object;
  object.machine = EM_X86_64;
  object.sections = {section};
  return host::layOut(object, kPage).status().message();
}

/// Returns a plan with branches inside of each other.
std::shared_ptr<Plan> nestedPlan(uint64_t levels) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  uint32_t condition = builder.number("condition", ElementType::Bool);
  std::function<void(uint64_t)> add = [&](uint64_t left) {
    if (left > 0)
      builder.control(StepKind::Branch, {condition}, {[&] { add(left - 1); }, [] {}});
    else
      builder.copy(x, y);
  };
  add(levels);
  return builder.plan;
}

/// Returns a plan whose callback takes a size of at most `count` instructions. Their number is odd.
std::shared_ptr<Plan> longExpressionPlan(uint64_t count) {
  std::vector<Expr::Instruction> code = {{Expr::Op::Constant, 0, 0}};
  while (code.size() + 2 <= count)
    code.insert(code.end(), {{Expr::Op::Constant, 0, 0}, {Expr::Op::Add, 0, 0}});
  std::shared_ptr<Plan> plan = smallPlan();
  plan->callbacks.push_back({"f", 0, {Expr(code)}});
  return plan;
}

struct LimitsTest : ContainerTest {
  /// Returns the error of reading a plan. The writer must refuse it with the same words.
  std::string refusalOf(const Plan &plan) {
    std::string written = writeContainer(at("a.inlay"), plan, {}, {"", true}).message();
    std::string read = refusalOfImage(imageOf(plan));
    EXPECT_EQ(written.empty(), read.empty()) << written << read;
    EXPECT_NE(read.find(written), std::string::npos) << read;
    return read;
  }

  std::map<std::string, Case> cases() {
    std::map<std::string, Case> cases;
    cases["sections"].refusal = [](uint64_t count) { return refusalOfImage(imageOf(*smallPlan(), count)); };
    cases["bytes of the name of a processor"].refusal = [this](uint64_t bytes) {
      std::shared_ptr<Plan> plan = smallPlan();
      plan->hostCode.triple = std::string(bytes, 'a') + "-linux-gnu";
      plan->hostCode.objects.push_back({"any", {}, {1}});
      return writeContainer(at("a.inlay"), *plan, {}).message();
    };
    cases["bytes of a string of the plan"].refusal = [this](uint64_t bytes) {
      std::shared_ptr<Plan> plan = smallPlan();
      plan->name.assign(bytes, 'n');
      return refusalOf(*plan);
    };
    cases["instructions of an expression"] = {[this](uint64_t count) { return refusalOf(*longExpressionPlan(count)); }};
    cases["arguments of an engine"].refusal = [](uint64_t count) {
      PlanBuilder builder;
      builder.copy(builder.input("x", {Expr(4)}), builder.output("y", {Expr(4)}));
      builder.engine("double", 2);
      builder.plan->engines[0].arguments = static_cast<uint32_t>(count);
      return checkPlan(*builder.plan).message();
    };
    cases["levels of nested bodies"].refusal = [](uint64_t levels) { return checkPlan(*nestedPlan(levels)).message(); };
    cases["number of a segment"].refusal = [](uint64_t number) {
      std::shared_ptr<Plan> plan = smallPlan();
      plan->steps[0].segment = static_cast<int32_t>(number);
      return checkPlan(*plan).message();
    };
    cases["sections of an object of host code"].refusal = [](uint64_t count) { return refusalOfObject(16, 1, count); };
    cases["alignment of a section of host code"] = {[](uint64_t bytes) { return refusalOfObject(bytes, 1); },
                                                    [](uint64_t bytes) { return 2 * bytes; }};
    cases["bytes of a name in host code"].refusal = [](uint64_t bytes) { return refusalOfObject(16, bytes); };
    cases["bytes of host code in memory"].refusal = refusalOfLayout;
    cases["bytes of a key file"].refusal = [this](uint64_t bytes) {
      std::string key = "-----BEGIN PRIVATE KEY-----\n"
                        "MC4CAQAwBQYDK2VwBCIEIM7b2ap4qbYfO+NO1U8HzWQqA4gTeyLMiP/s1Bi0MPUp\n"
                        "-----END PRIVATE KEY-----\n";
      store(at("key.pem"), key + std::string(bytes - key.size(), '\n'));
      write(*smallPlan());
      return signContainer(at("a.inlay"), at("key.pem")).message();
    };
    cases["links to a file that is written"].refusal = [this](uint64_t count) {
      std::filesystem::remove_all(at("links"));
      std::filesystem::create_directory(at("links"));
      for (uint64_t i = 0; i < count; ++i)
        std::filesystem::create_symlink(std::to_string(i + 1), at("links/" + std::to_string(i)));
      return writeContainer(at("links/0"), *smallPlan(), {}).message();
    };
    cases["bytes of memory"].refusal = [this](uint64_t bytes) {
      write(*smallPlan());
      auto isEnough = [&](uint64_t limit) { return readContainer(at("a.inlay"), {"", limit}).isOk(); };
      uint64_t low = 0, high = 1 << 20; // the limit is the least memory that is enough
      while (high - low > 1)
        (isEnough((low + high) / 2) ? high : low) = (low + high) / 2;
      return readContainer(at("a.inlay"), {"", high - bytes}).status().message();
    };
    return cases;
  }
};

} // namespace

TEST_F(LimitsTest, EachLimitOfThePageIsAcceptedAndTheNextValueRefused) {
  std::map<std::string, Case> cases = this->cases();
  for (const Row &row : readTable()) {
    SCOPED_TRACE(row.name);
    auto found = cases.find(row.name);
    ASSERT_NE(found, cases.end()) << "the limit has no test";
    EXPECT_EQ(found->second.refusal(row.value), "");
    EXPECT_NE(found->second.refusal(found->second.next(row.value)).find(row.message), std::string::npos)
        << found->second.refusal(found->second.next(row.value));
    cases.erase(found);
  }
  for (const auto &[name, tested] : cases)
    ADD_FAILURE() << "the page doesn't list the limit '" << name << "'";
}
