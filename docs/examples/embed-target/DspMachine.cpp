// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DspMachine.h"

#include <algorithm>
#include <cstring>

using inlay::rt::LoadedForeignEngine;
using inlay::rt::Status;
using inlay::rt::StatusCode;
using inlay::rt::StatusOr;
using inlay::rt::TensorView;

namespace dsp {

//===-- Payloads: words with the counts first -------------------------------------------------------------------===//

std::string encode(const Code &code) {
  std::vector<uint32_t> words = {code.inputs, static_cast<uint32_t>(code.instructions.size()),
                                 static_cast<uint32_t>(code.outputs.size())};
  for (const Instruction &instruction : code.instructions) {
    uint32_t value;
    std::memcpy(&value, &instruction.value, sizeof(value));
    words.insert(words.end(),
                 {static_cast<uint32_t>(instruction.opcode), instruction.operands[0], instruction.operands[1], value});
  }
  words.insert(words.end(), code.outputs.begin(), code.outputs.end());
  return std::string(reinterpret_cast<const char *>(words.data()), words.size() * sizeof(uint32_t));
}

StatusOr<Code> decode(const std::string &payload) {
  Status damaged(StatusCode::InvalidArgument, "expected the payload of the engine to be a program of the machine");
  std::vector<uint32_t> words(payload.size() / sizeof(uint32_t));
  std::memcpy(words.data(), payload.data(), words.size() * sizeof(uint32_t));
  if (words.size() < 3 || words.size() != 3 + 4 * uint64_t(words[1]) + words[2])
    return damaged;
  Code code;
  code.inputs = words[0];
  for (uint32_t i = 0; i < words[1]; ++i) {
    const uint32_t *word = &words[3 + 4 * i];
    Instruction instruction{static_cast<Opcode>(word[0]), {word[1], word[2]}, 0};
    std::memcpy(&instruction.value, &word[3], sizeof(uint32_t));
    uint64_t written = uint64_t(code.inputs) + i;
    if (instruction.opcode > Opcode::Splat)
      return damaged;
    if (instruction.opcode != Opcode::Splat && (word[1] >= written || word[2] >= written))
      return damaged;
    if (instruction.opcode == Opcode::Splat && (word[1] || word[2]))
      return damaged;
    code.instructions.push_back(instruction);
  }
  code.outputs.assign(words.end() - words[2], words.end());
  for (uint32_t output : code.outputs)
    if (output >= uint64_t(code.inputs) + code.instructions.size())
      return damaged;
  return code;
}

//===-- Running -------------------------------------------------------------------------------------------------===//

static float apply(const Instruction &instruction, float a, float b) {
  switch (instruction.opcode) {
  case Opcode::Add:
    return a + b;
  case Opcode::Mul:
    return a * b;
  case Opcode::Relu:
    return std::max(a, 0.0f);
  case Opcode::Splat:
    break;
  }
  return instruction.value;
}

namespace {
class DspEngine : public LoadedForeignEngine {
public:
  explicit DspEngine(Code code) : code(std::move(code)) {}

  Status run(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) override {
    size_t length = 1;
    for (int64_t dim : outputs.front().dims)
      length *= static_cast<size_t>(dim);
    std::vector<float> registers(code.inputs + code.instructions.size());
    for (size_t lane = 0; lane < length; ++lane) {
      for (uint32_t i = 0; i < code.inputs; ++i)
        registers[i] = static_cast<const float *>(inputs[i].data)[lane];
      uint32_t next = code.inputs;
      for (const Instruction &instruction : code.instructions) {
        float value = apply(instruction, registers[instruction.operands[0]], registers[instruction.operands[1]]);
        registers[next++] = value;
      }
      for (size_t i = 0; i < outputs.size(); ++i)
        static_cast<float *>(outputs[i].data)[lane] = registers[code.outputs[i]];
    }
    return Status::ok();
  }

private:
  Code code;
};
} // namespace

StatusOr<std::shared_ptr<LoadedForeignEngine>> DspRunner::load(const inlay::rt::ForeignEngine &engine) {
  StatusOr<Code> code = decode(engine.payload);
  if (!code.isOk())
    return code.status();
  if (code->inputs != engine.inputs || code->inputs + code->outputs.size() != engine.arguments || code->outputs.empty())
    return Status(StatusCode::InvalidArgument,
                  "the program in the payload has other inputs or outputs than the engine");
  return std::shared_ptr<LoadedForeignEngine>(std::make_shared<DspEngine>(std::move(*code)));
}

} // namespace dsp
