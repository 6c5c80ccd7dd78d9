// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relocations of host code: what each type refers to, and the bits that it changes. Types, formulas and ranges are from
// "System V ABI, AMD64 Architecture Processor Supplement" (4.4.1) and "ELF for the Arm 64-bit Architecture" (5.7).

#ifndef INLAY_LIB_RUNTIME_HOST_LINKER_RELOCATION_H
#define INLAY_LIB_RUNTIME_HOST_LINKER_RELOCATION_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <vector>

namespace inlay::rt::host {

enum class Reference : uint8_t {
  None,    ///< there is nothing to change
  Address, ///< the symbol's address
  Call,    ///< the symbol's address, or that of a stub that jumps there
  Table,   ///< the address of a word that holds the symbol's address (an entry of the GOT)
  Unknown  ///< a type that host code is not known to have
};

/// What a relocation of this type for this machine (EM_X86_64, EM_AARCH64) refers to.
Reference referenceOf(uint16_t machine, uint32_t type);

/// Changes the bytes at `bytes`, of which there are `room`, so that they lead from `place`, the address that these
/// bytes will have, to `target` + `addend`. An error where they can't reach it or don't fit.
Status relocate(uint16_t machine, uint32_t type, char *bytes, uint64_t room, uint64_t place, uint64_t target,
                int64_t addend);

/// Bytes that jump from `place` to where the word at `entry` says, within 2 GiB; kStubSize of them.
Status makeStub(uint16_t machine, char *bytes, uint64_t place, uint64_t entry);

constexpr uint64_t kStubSize = 16;

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_LINKER_RELOCATION_H
