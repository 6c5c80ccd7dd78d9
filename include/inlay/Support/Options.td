// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of a compilation, each described once for all interfaces:
// - the keywords of `inlay.compile` and `inlay.partition` in Python, and the `options` of `torch.compile`;
// - the members of `CompileSpec` in C++;
// - the flags of inlay-compile, which inlay-run passes on;
// - the options of the pipeline `inlay-partition` and of its passes.
//
// Generated from this file: the flags, the pipeline's and the passes' options, the fields of the request of the Python
// extension, the checks of ranges, the copies from `CompileSpec` to a request, and docs/reference/options.md. Compared
// with it by tests: what Python declares (python/tests/compile/test_options.py), the members of `CompileSpec` and
// inlay-run (test/Tools/options.test), and the defaults of C++ (unittests/Execution/CompileOptionsTest.cpp).

#ifndef INLAY_SUPPORT_OPTIONS_TD
#define INLAY_SUPPORT_OPTIONS_TD

include "llvm/TableGen/SearchableTable.td"

class OptionType<string name, string cpp, string value> {
  string Name = name;
  string CppType = cpp;
  string ValueName = value; ///< Stands for the value in help texts; empty for a switch.
}
def BoolType : OptionType<"bool", "bool", "">;
def IntType : OptionType<"int", "int64_t", "number">;
def StringType : OptionType<"string", "std::string", "string">;
def PathType : OptionType<"path", "std::string", "file">;
def NamesType : OptionType<"names", "std::string", "names">;
def ObjectType : OptionType<"object", "", "">; ///< An object in Python.
def StrategyType : OptionType<"strategy", "::inlay::Strategy", "name">;

/// An option. The name of the record is the keyword in Python and the member of CompileSpec. `Default` separates names
/// by commas. It is empty for an empty list, an empty string and no path. `Path` is the member of CompileRequest that
/// the option sets, or empty if no member stores the value unchanged.
class CompileOption<OptionType type, string default, string path, string text> {
  string Keyword = NAME;
  string Flag = !subst("_", "-", NAME);
  OptionType Type = type;
  string Default = default;
  string PythonDefault = default; ///< Differs if the default in Python also uses PyTorch.
  string Path = path;
  string Text = text; ///< No quotation marks: the text becomes a string in C++.
  string Sentence = !toupper(!substr(text, 0, 1)) # !substr(text, 1);
  code Minimum = [{std::nullopt}]; ///< Minimum value of an int option.
  list<string> Synonyms = []; ///< Further keywords in Python.

  bit InPython = true;
  bit InCpp = true;
  bit IsFlag = true;
  bit InPipeline = false;
  string Remark = ""; ///< Why interfaces lack the option, for users who look for it there.

  string ValueName = type.ValueName;
  code Find = !if(!empty(path), [{nullptr}],
                  [{[](CompileRequest &request) -> OptionValue { return &request.}] # path # [{; } }]);
  code CopySpec =
      [{[](const CompileSpec &spec, CompileRequest &request) { request.}] # path # [{ = spec.}] # NAME # [{; } }];
}

/// An option of the partition phase, which sets a member of PartitionInfo.
class PartitionOption<OptionType type, string default, string member, string text>
    : CompileOption<type, default, "options.partition." # member, text> {
  string Member = member;
  let InPipeline = true;
  code FindMember = [{[](PartitionInfo &info) -> OptionValue { return &info.}] # member # [{; } }];
}

//===-- Targets and devices -----------------------------------------------------------------------------------------===//

def targets : CompileOption<NamesType, "vulkan,host", "targets",
    "targets in priority order: vulkan, host, torch"> {
  let PythonDefault = "vulkan,host,torch";
  let Remark = "Without the flag, the tools use the targets that the module lists, if it lists any.";
}
def device : CompileOption<StringType, "", "device",
    "Vulkan device: a number, a part of its name or none; default: INLAY_DEVICE"> {
  let InPython = false;
  let Remark = "Python compiles for the device of `INLAY_DEVICE`; `inlay.load` takes `device`.";
}
def require_device : CompileOption<BoolType, "false", "",
    "fail without a Vulkan device instead of running on the host alone"> {
  let InPython = false;
  let InCpp = false;
  let Remark = "In Python and C++, a notice says that there is no device.";
}
def tuning : CompileOption<PathType, "", "tuning",
    "tuning file of the Vulkan device, from inlay-bench --tune; default: costs of its kind">;
def host_cpu : CompileOption<NamesType, "", "hostCpus",
    "processors to compile host code for, such as x86-64-v3,native; default: native">;
def recovery : CompileOption<BoolType, "true", "options.recovery",
    "compile device segments for the host too, which runs them if the device fails">;

//===-- Inputs and loops --------------------------------------------------------------------------------------------===//

def input_shape : CompileOption<NamesType, "", "",
    "sizes of an input whose dims are ? in the module, as x:1..8x3x224x224 or x:batch=1..8x3"> {
  let ValueName = "name:dims";
  let InPython = false;
  let InCpp = false;
  let Remark = "Python takes the sizes from `inputs` and `dynamic_shapes`, C++ from the constructor of `CompileSpec`.";
}
def dynamic_shapes : CompileOption<ObjectType, "", "",
    "dims that may differ from call to call, as for torch.export"> {
  let InCpp = false;
  let IsFlag = false;
  let Remark = "The export uses it. A module for C++ or the tools has its symbols already.";
}
def states : CompileOption<NamesType, "", "",
    "arguments that the model writes and the program keeps between calls, by name"> {
  let InCpp = false;
  let IsFlag = false;
  let Remark = "A module for C++ or the tools has its states already, `inlay.states`.";
}
def out_of_range : CompileOption<StringType, "error", "",
    "what a call with other sizes does: error, or torch to run the module itself"> {
  let InCpp = false;
  let IsFlag = false;
  let Remark = "Only Python has the PyTorch module to run.";
}
// The default is that of `kDefaultMaxLoopIterations` in Dialect/Inlay/IR/InlayDialect.td.
def max_loop_iterations : CompileOption<IntType, "16777216", "maxLoopIterations",
    "number of iterations after which a loop of the model fails as endless"> {
  let Minimum = [{1}];
}

//===-- Partitioning ------------------------------------------------------------------------------------------------===//

def enabled : PartitionOption<BoolType, "true", "enabled",
    "if false, nothing is partitioned: the first target runs the graph as one segment, or an error lists the ops that "
    "prevent it">;
def require_full_compilation : PartitionOption<BoolType, "false", "requireFullCompilation",
    "the whole graph must run on the first target; the error lists the ops that can't">;
def min_block_size : PartitionOption<IntType, "1", "minBlockSize",
    "minimum number of ops of an accelerator segment; smaller ones go to the next target that can run them"> {
  let Minimum = [{1}];
}
def exempt_ops : PartitionOption<NamesType, "", "exemptOps",
    "ops by name whose segments may be smaller than the minimum block size">;
def torch_executed_ops : PartitionOption<NamesType, "", "fallbackOps",
    "ops by name that go to the last listed target that can run them; a name that matches no op is an error"> {
  let Flag = "fallback-ops";
  let Synonyms = ["forced_fallback_ops"];
}
def torch_executed_modules : PartitionOption<NamesType, "", "fallbackModules",
    "modules by instance path or class (globs) whose ops go to the last target too; a glob that matches no module is an "
    "error"> {
  let Flag = "fallback-modules";
}
def torch_executed_locations : PartitionOption<NamesType, "", "fallbackLocations",
    "ops by label (globs) or file:line that go to the last target too; an entry that matches no op is an error"> {
  let Flag = "fallback-locations";
}
def allow_ops : PartitionOption<NamesType, "", "allowOps",
    "the only ops that accelerators may run: aten::add for all of them, or aten::add@npu for one">;
def strategy : PartitionOption<StrategyType, "levels", "strategy",
    "how segments are formed: levels (the fewest), cost (the least time under the cost model), or, for comparison, "
    "in-order (a new one whenever the next op has another target) or torch-tensorrt (the walk of its TorchScript front "
    "end)">;
def cost_model : PartitionOption<PathType, "", "costModel",
    "file of the cost model, from inlay-bench --calibrate, or `default` for the costs that the targets state">;
def fewest_bytes : PartitionOption<BoolType, "true", "fewestBytes",
    "ops may run later than they could, to carry fewer bytes from segment to segment"> {
  let InPython = false;
  let InCpp = false;
  let IsFlag = false;
  let Remark = "For tests and experiments with the partition phase.";
}
def placement : PartitionOption<PathType, "", "placement",
    "placement file whose segments are formed instead of new ones">;
def save_placement : PartitionOption<PathType, "", "savePlacement",
    "file for the placement; - is standard output">;

//===-- Outputs -----------------------------------------------------------------------------------------------------===//

class OutputOption<OptionType type, string member, string text>
    : PartitionOption<type, !if(!eq(type.Name, "bool"), "false", ""), member, text> {
  let InPython = false;
  let InCpp = false;
  let Remark = "Python and C++ have the report as an object: `CompiledModule.report` and `inlay.partition`.";
}
def report : OutputOption<PathType, "report",
    "file for the partition report: text for .txt, a page for .html, else JSON; - is standard output">;
def what_if : OutputOption<BoolType, "whatIf",
    "report the partitions if the first target could run ops that it has no code for">;
def sweep : OutputOption<BoolType, "sweep",
    "report the partitions with other minimum block sizes: 1, 2, 3, 5, 8, ...">;
def dump_dir : CompileOption<StringType, "", "options.dumpDirectory",
    "folder for the module after each phase"> {
  let ValueName = "folder";
  let InPython = false;
  let InCpp = false;
  let Remark = "For work on the compiler.";
}
def cache : CompileOption<ObjectType, "", "", "not supported yet"> {
  let InCpp = false;
  let IsFlag = false;
  let Remark = "Reserved in Python: a value is an error.";
}

//===-- Tables for C++ ----------------------------------------------------------------------------------------------===//

def kPartitionOptions : GenericTable {
  let FilterClass = "PartitionOption";
  let CppTypeName = "PartitionOption";
  let Fields = ["Keyword", "Flag", "Text", "FindMember"];
}

def kCompileOptions : GenericTable {
  let FilterClass = "CompileOption";
  let CppTypeName = "CompileOption";
  let Fields = ["Keyword", "Flag", "ValueName", "Sentence", "Default", "IsFlag", "Minimum", "Find"];
}

def kSpecCopies : GenericTable {
  let FilterClass = "CompileOption";
  let FilterClassField = "InCpp";
  let CppTypeName = "SpecCopy";
  let Fields = ["CopySpec"];
}

#endif // INLAY_SUPPORT_OPTIONS_TD
