// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies one relocation, by architecture and type, and makes stubs for far calls. ElfObject.cpp reads the
// relocations.

#include "Relocation.h"

#include <fmt/format.h>

#include <cstring>
#include <elf.h>

namespace inlay::rt::host {

/// Type for code that uses the registers of APX. The headers of some systems do not define it.
static constexpr uint32_t kCode4GotPcRelX = 43;

static bool fitsSigned(int64_t value, unsigned bits) {
  int64_t limit = int64_t(1) << (bits - 1);
  return value >= -limit && value < limit;
}

static Status outOfRange(uint32_t type, int64_t value) {
  return {StatusCode::InvalidArgument,
          fmt::format("a relocation of type {} can't reach as far as {} bytes", type, value)};
}

static Status tooShort(uint32_t type) {
  return {StatusCode::InvalidArgument, fmt::format("a relocation of type {} exceeds its section", type)};
}

/// Returns target + addend - place, modulo 2^64 as the ABIs define it.
static int64_t distance(uint64_t place, uint64_t target, int64_t addend) {
  return static_cast<int64_t>(target + static_cast<uint64_t>(addend) - place);
}

//===-- x86-64 --------------------------------------------------------------------------------------------------===//

static Reference x86Reference(uint32_t type) {
  switch (type) {
  case R_X86_64_NONE:
    return Reference::None;
  case R_X86_64_64:
  case R_X86_64_32:
  case R_X86_64_32S:
  case R_X86_64_PC64:
    return Reference::Address;
  case R_X86_64_PC32: // older assemblers emit it for calls too
  case R_X86_64_PLT32:
    return Reference::Call;
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
  case kCode4GotPcRelX:
    return Reference::Table;
  default:
    return Reference::Unknown;
  }
}

static Status relocateX86(uint32_t type, char *bytes, uint64_t room, uint64_t place, uint64_t target, int64_t addend) {
  bool isAbsolute = type == R_X86_64_64 || type == R_X86_64_32 || type == R_X86_64_32S;
  bool isWide = type == R_X86_64_64 || type == R_X86_64_PC64;
  uint64_t width = isWide ? 8 : 4;
  if (room < width)
    return tooShort(type);
  int64_t value = distance(isAbsolute ? 0 : place, target, addend);
  bool fits = type == R_X86_64_32 ? static_cast<uint64_t>(value) <= UINT32_MAX : isWide || fitsSigned(value, 32);
  if (!fits)
    return outOfRange(type, value);
  std::memcpy(bytes, &value, width); // both are little-endian
  return Status::ok();
}

//===-- AArch64 -------------------------------------------------------------------------------------------------===//

/// The bits of an instruction that hold a number without its lowest `shift` bits.
namespace {
struct Field {
  unsigned bits, position, shift;
  bool isSigned; ///< True if the number is signed and must fit. Otherwise its low bits are taken.
};
} // namespace

static constexpr uint64_t kPage = ~uint64_t(0xfff);

static Reference aarch64Reference(uint32_t type) {
  switch (type) {
  case R_AARCH64_NONE:
    return Reference::None;
  case R_AARCH64_ABS64:
  case R_AARCH64_ABS32:
  case R_AARCH64_PREL64:
  case R_AARCH64_PREL32:
  case R_AARCH64_ADR_PREL_PG_HI21:
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
  case R_AARCH64_LDST16_ABS_LO12_NC:
  case R_AARCH64_LDST32_ABS_LO12_NC:
  case R_AARCH64_LDST64_ABS_LO12_NC:
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return Reference::Address;
  case R_AARCH64_JUMP26:
  case R_AARCH64_CALL26:
    return Reference::Call;
  case R_AARCH64_ADR_GOT_PAGE:
  case R_AARCH64_LD64_GOT_LO12_NC:
    return Reference::Table;
  default:
    return Reference::Unknown;
  }
}

static Status setField(uint32_t type, char *bytes, int64_t value, Field field) {
  bool isAligned = (value & ((int64_t(1) << field.shift) - 1)) == 0;
  if (!isAligned || (field.isSigned && !fitsSigned(value, field.bits + field.shift)))
    return outOfRange(type, value);
  uint32_t mask = ((uint32_t(1) << field.bits) - 1), instruction;
  std::memcpy(&instruction, bytes, 4);
  uint32_t part = static_cast<uint32_t>(value >> field.shift) & mask;
  instruction = (instruction & ~(mask << field.position)) | (part << field.position);
  std::memcpy(bytes, &instruction, 4);
  return Status::ok();
}

/// Sets the page number of ADRP, which has two parts.
static Status setPages(uint32_t type, char *bytes, int64_t value) {
  if (!fitsSigned(value, 33))
    return outOfRange(type, value);
  INLAY_RETURN_IF_ERROR(setField(type, bytes, (value >> 12) & 3, {2, 29, 0, false}));
  return setField(type, bytes, (value >> 14) & 0x7ffff, {19, 5, 0, false});
}

static Status relocateData(uint32_t type, char *bytes, uint64_t room, uint64_t place, uint64_t target, int64_t addend) {
  bool isWide = type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64;
  bool isAbsolute = type == R_AARCH64_ABS64 || type == R_AARCH64_ABS32;
  if (room < (isWide ? 8 : 4))
    return tooShort(type);
  int64_t value = distance(isAbsolute ? 0 : place, target, addend);
  if (!isWide && !fitsSigned(value, 32) && static_cast<uint64_t>(value) > UINT32_MAX)
    return outOfRange(type, value);
  std::memcpy(bytes, &value, isWide ? 8 : 4);
  return Status::ok();
}

static Status relocateAarch64(uint32_t type, char *bytes, uint64_t room, uint64_t place, uint64_t target,
                              int64_t addend) {
  if (room < 4)
    return tooShort(type);
  uint64_t address = target + static_cast<uint64_t>(addend);
  auto low = static_cast<int64_t>(address & ~kPage);
  switch (type) {
  case R_AARCH64_ADR_PREL_PG_HI21:
  case R_AARCH64_ADR_GOT_PAGE:
    return setPages(type, bytes, static_cast<int64_t>((address & kPage) - (place & kPage)));
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return setField(type, bytes, low, {12, 10, 0, false});
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return setField(type, bytes, low, {12, 10, 1, false});
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return setField(type, bytes, low, {12, 10, 2, false});
  case R_AARCH64_LDST64_ABS_LO12_NC:
  case R_AARCH64_LD64_GOT_LO12_NC:
    return setField(type, bytes, low, {12, 10, 3, false});
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return setField(type, bytes, low, {12, 10, 4, false});
  case R_AARCH64_JUMP26:
  case R_AARCH64_CALL26:
    return setField(type, bytes, distance(place, target, addend), {26, 0, 2, true});
  default:
    return relocateData(type, bytes, room, place, target, addend);
  }
}

//===-- Both machines -------------------------------------------------------------------------------------------===//

Reference referenceOf(uint16_t machine, uint32_t type) {
  return machine == EM_X86_64    ? x86Reference(type)
         : machine == EM_AARCH64 ? aarch64Reference(type)
                                 : Reference::Unknown;
}

Status relocate(uint16_t machine, uint32_t type, char *bytes, uint64_t room, uint64_t place, uint64_t target,
                int64_t addend) {
  if (Reference reference = referenceOf(machine, type); reference == Reference::None)
    return Status::ok();
  else if (reference == Reference::Unknown)
    return {StatusCode::InvalidArgument, fmt::format("expected no relocation of type {}", type)};
  return machine == EM_X86_64 ? relocateX86(type, bytes, room, place, target, addend)
                              : relocateAarch64(type, bytes, room, place, target, addend);
}

Status makeStub(uint16_t machine, char *bytes, uint64_t place, uint64_t entry) {
  if (machine == EM_X86_64) {
    const unsigned char jump[kStubSize] = {0xff, 0x25, 0,    0,    0,    0,    0xcc, 0xcc, // jmp *entry(%rip)
                                           0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
    std::memcpy(bytes, jump, kStubSize);
    return relocate(machine, R_X86_64_PC32, bytes + 2, 4, place + 2, entry, -4);
  }
  const uint32_t jump[] = {0x90000010,  // adrp x16, entry
                           0xf9400210,  // ldr x16, [x16, entry]
                           0xd61f0200,  // br x16
                           0xd4200000}; // brk
  static_assert(sizeof(jump) == kStubSize, "");
  std::memcpy(bytes, jump, kStubSize);
  INLAY_RETURN_IF_ERROR(relocate(machine, R_AARCH64_ADR_GOT_PAGE, bytes, 4, place, entry, 0));
  return relocate(machine, R_AARCH64_LD64_GOT_LO12_NC, bytes + 4, 4, place + 4, entry, 0);
}

} // namespace inlay::rt::host
