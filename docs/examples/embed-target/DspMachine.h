// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine, and its runner: the program's side of the target. It knows nothing of MLIR.

#ifndef DSP_MACHINE_H
#define DSP_MACHINE_H

#include "inlay/Runtime/Core/Runner.h"

namespace dsp {

enum class Opcode : uint32_t { Add, Mul, Relu, Splat };

/// Writes the next free register: instruction i writes register `inputs` + i.
struct Instruction {
  Opcode opcode = Opcode::Splat;
  uint32_t operands[2] = {0, 0};
  float value = 0;
};

/// A program: registers hold the inputs at first; at the end some hold the outputs.
struct Code {
  uint32_t inputs = 0;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> outputs;
};

/// A program as an engine's payload, and back. Reading checks all that running relies on.
std::string encode(const Code &code);
inlay::rt::StatusOr<Code> decode(const std::string &payload);

class DspRunner : public inlay::rt::Runner {
public:
  inlay::rt::StatusOr<std::shared_ptr<inlay::rt::LoadedForeignEngine>>
  load(const inlay::rt::ForeignEngine &engine) override;
};

} // namespace dsp

#endif // DSP_MACHINE_H
