// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"

#include <fmt/format.h>
#include <spirv-tools/libspirv.h>

#include <cstdio>

namespace inlay::rt::test {

std::vector<uint32_t> assemble(const std::string &text) {
  spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_0);
  spv_binary binary = nullptr;
  spv_diagnostic diagnostic = nullptr;
  std::vector<uint32_t> words;
  if (spvTextToBinary(context, text.data(), text.size(), &binary, &diagnostic) == SPV_SUCCESS)
    words.assign(binary->code, binary->code + binary->wordCount);
  else
    std::fprintf(stderr, "%s\n", diagnostic ? diagnostic->error : "no diagnostic");
  spvBinaryDestroy(binary);
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  return words;
}

static constexpr char binaryText[] = R"(
OpCapability Shader
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "{0}" %gid
OpExecutionMode %main LocalSize 64 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %array ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %params Block
OpMemberDecorate %params 0 Offset 0
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %a NonWritable
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 1
OpDecorate %b NonWritable
OpDecorate %c DescriptorSet 0
OpDecorate %c Binding 2
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%uint3 = OpTypeVector %uint 3
%array = OpTypeRuntimeArray %float
%block = OpTypeStruct %array
%params = OpTypeStruct %uint
%pblock = OpTypePointer StorageBuffer %block
%pfloat = OpTypePointer StorageBuffer %float
%pparams = OpTypePointer PushConstant %params
%puint = OpTypePointer PushConstant %uint
%puint3 = OpTypePointer Input %uint3
%zero = OpConstant %uint 0
%a = OpVariable %pblock StorageBuffer
%b = OpVariable %pblock StorageBuffer
%c = OpVariable %pblock StorageBuffer
%push = OpVariable %pparams PushConstant
%gid = OpVariable %puint3 Input
%main = OpFunction %void None %function
%entry = OpLabel
%id = OpLoad %uint3 %gid
%i = OpCompositeExtract %uint %id 0
%pn = OpAccessChain %puint %push %zero
%n = OpLoad %uint %pn
%inside = OpULessThan %bool %i %n
OpSelectionMerge %end None
OpBranchConditional %inside %then %end
%then = OpLabel
%pa = OpAccessChain %pfloat %a %zero %i
%pb = OpAccessChain %pfloat %b %zero %i
%pc = OpAccessChain %pfloat %c %zero %i
%va = OpLoad %float %pa
%vb = OpLoad %float %pb
%vc = {1} %float %va %vb
OpStore %pc %vc
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
)";

Kernel binaryKernel(const std::string &name, const std::string &instruction) {
  Kernel kernel;
  kernel.name = name;
  kernel.spirv = assemble(fmt::format(binaryText, name, instruction));
  kernel.bindings = {Access::Read, Access::Read, Access::Write};
  kernel.pushConstants = 1;
  kernel.block = {64, 1, 1};
  return kernel;
}

static constexpr char texelText[] = R"(
OpCapability Shader
OpCapability SampledBuffer
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "{0}" %gid
OpExecutionMode %main LocalSize 64 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %array ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %params Block
OpMemberDecorate %params 0 Offset 0
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %c DescriptorSet 0
OpDecorate %c Binding 1
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%float4 = OpTypeVector %float 4
%uint3 = OpTypeVector %uint 3
%image = OpTypeImage %float Buffer 0 0 0 1 Unknown
%array = OpTypeRuntimeArray %float
%block = OpTypeStruct %array
%params = OpTypeStruct %uint
%pimage = OpTypePointer UniformConstant %image
%pblock = OpTypePointer StorageBuffer %block
%pfloat = OpTypePointer StorageBuffer %float
%pparams = OpTypePointer PushConstant %params
%puint = OpTypePointer PushConstant %uint
%puint3 = OpTypePointer Input %uint3
%zero = OpConstant %uint 0
%a = OpVariable %pimage UniformConstant
%c = OpVariable %pblock StorageBuffer
%push = OpVariable %pparams PushConstant
%gid = OpVariable %puint3 Input
%main = OpFunction %void None %function
%entry = OpLabel
%id = OpLoad %uint3 %gid
%i = OpCompositeExtract %uint %id 0
%pn = OpAccessChain %puint %push %zero
%n = OpLoad %uint %pn
%inside = OpULessThan %bool %i %n
OpSelectionMerge %end None
OpBranchConditional %inside %then %end
%then = OpLabel
%texels = OpLoad %image %a
%texel = OpImageFetch %float4 %texels %i
%va = OpCompositeExtract %float %texel 0
%pc = OpAccessChain %pfloat %c %zero %i
OpStore %pc %va
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
)";

Kernel texelKernel(const std::string &name) {
  Kernel kernel;
  kernel.name = name;
  kernel.spirv = assemble(fmt::format(texelText, name));
  kernel.bindings = {Access::Read, Access::Write};
  kernel.kinds = {BindingKind::ScalarTexels, BindingKind::Storage};
  kernel.pushConstants = 1;
  kernel.block = {64, 1, 1};
  return kernel;
}

Engine elementwiseEngine(const Kernel &kernel, const Expr &count) {
  Engine engine;
  engine.name = "engine_" + kernel.name;
  engine.arguments = static_cast<uint32_t>(kernel.bindings.size());
  engine.kernels = {kernel};
  Dispatch &dispatch = engine.dispatches.emplace_back();
  for (uint32_t i = 0; i < engine.arguments; ++i)
    dispatch.buffers.push_back(i);
  dispatch.grid = {Expr::binary(Expr::Op::CeilDiv, count, Expr(64)), Expr(1), Expr(1)};
  dispatch.pushConstants = {count};
  return engine;
}

} // namespace inlay::rt::test
