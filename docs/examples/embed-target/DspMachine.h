// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's part of the target: the machine and its runner. It does not use MLIR.

#ifndef DSP_MACHINE_H
#define DSP_MACHINE_H

#include "inlay/Runtime/Core/Runner.h"

namespace dsp {

enum class Opcode : uint32_t { Add, Mul, Relu, Splat };

/// An instruction. Instruction i writes register `inputs` + i.
struct Instruction {
  Opcode opcode = Opcode::Splat;
  uint32_t operands[2] = {0, 0};
  float value = 0;
};

/// A program. The first registers hold the inputs at the start, and `outputs` lists the registers of the outputs.
struct Code {
  uint32_t inputs = 0;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> outputs;
};

/// Converts a program to the payload of an engine.
std::string encode(const Code &code);

/// Converts a payload to a program, or returns an error unless all registers and opcodes are valid.
inlay::rt::StatusOr<Code> decode(const std::string &payload);

class DspRunner : public inlay::rt::Runner {
public:
  inlay::rt::StatusOr<std::shared_ptr<inlay::rt::LoadedForeignEngine>>
  load(const inlay::rt::ForeignEngine &engine) override;
};

} // namespace dsp

#endif // DSP_MACHINE_H
