// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relocations of host code: the target of each type and the bits that it changes. Types, formulas and ranges are from
// "System V ABI, AMD64 Architecture Processor Supplement" (4.4.1) and "ELF for the Arm 64-bit Architecture" (5.7).

#ifndef INLAY_LIB_RUNTIME_HOST_LINKER_RELOCATION_H
#define INLAY_LIB_RUNTIME_HOST_LINKER_RELOCATION_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <vector>

namespace inlay::rt::host {

enum class Reference : uint8_t {
  None,    ///< No change is needed.
  Address, ///< The symbol's address.
  Call,    ///< The symbol's address, or that of a stub that jumps there.
  Table,   ///< The address of a word that holds the symbol's address (a GOT entry).
  Unknown  ///< An unsupported type.
};

/// Returns what a relocation of this type refers to on this machine (EM_X86_64, EM_AARCH64).
Reference referenceOf(uint16_t machine, uint32_t type);

/// Relocates the bytes at `bytes`, of which there are `room`. `place` is the address that they will have, and they
/// refer to `target` + `addend`. Fails if the target is out of reach or the relocation exceeds `room`.
Status relocate(uint16_t machine, uint32_t type, char *bytes, uint64_t room, uint64_t place, uint64_t target,
                int64_t addend);

/// Writes a stub of kStubSize bytes for address `place`. It jumps to the address in the word at `entry`, which must be
/// within 2 GiB.
Status makeStub(uint16_t machine, char *bytes, uint64_t place, uint64_t entry);

constexpr uint64_t kStubSize = 16;

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_LINKER_RELOCATION_H
