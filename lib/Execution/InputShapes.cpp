// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses `--input-shape` texts and sets the symbols and ranges of a function's arguments from them. PlanSymbols.cpp
// finds out how a call determines the symbols.

#include "inlay/Execution/InputShapes.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Support/Suggest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

static constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

//===-- Text ----------------------------------------------------------------------------------------------------===//

/// Removes a number from the front of `text`. Returns false if there is none.
static bool takeNumber(StringRef &text, int64_t &number) { return !text.consumeInteger(10, number) && number >= 0; }

static bool parseDim(StringRef &text, InputShape::Dim &dim) {
  if (!text.empty() && !llvm::isDigit(text.front())) {
    auto [symbol, rest] = text.split('=');
    if (symbol.empty() || rest.data() == text.data() + text.size())
      return false;
    dim.symbol = symbol.str();
    text = rest;
  }
  if (!takeNumber(text, dim.min))
    return false;
  dim.max = dim.min;
  if (!text.consume_front(".."))
    return dim.symbol.empty();
  dim.max = kEndless;
  return text.empty() || !llvm::isDigit(text.front()) || takeNumber(text, dim.max);
}

StatusOr<InputShape> inlay::parseInputShape(StringRef text) {
  auto fail = [&] {
    return Status(StatusCode::InvalidArgument,
                  "expected a shape like x:1..8x3x224x224 or x:batch=1..8x3, but got '" + text.str() + "'");
  };
  auto [name, rest] = text.rsplit(':');
  InputShape shape;
  shape.input = name.str();
  if (name.empty() || !text.contains(':'))
    return fail();
  while (!rest.empty()) {
    InputShape::Dim dim;
    if ((!shape.dims.empty() && !rest.consume_front("x")) || !parseDim(rest, dim))
      return fail();
    if (dim.min > dim.max)
      return Status(StatusCode::InvalidArgument, "input '" + shape.input + "': expected the minimum of dim " +
                                                     std::to_string(shape.dims.size()) +
                                                     " to be at most its maximum, but got " + std::to_string(dim.min) +
                                                     ".." + std::to_string(dim.max));
    shape.dims.push_back(std::move(dim));
  }
  return shape;
}

//===-- Arguments -----------------------------------------------------------------------------------------------===//

/// Returns the name of an argument in the text, without its %. Returns an empty string if the argument is not from the
/// text.
static StringRef readName(BlockArgument argument, StringRef text) {
  auto place = argument.getLoc()->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  for (unsigned line = 1; line < place.getLine(); ++line)
    text = text.split('\n').second;
  text = text.split('\n').first;
  if (place.getColumn() == 0 || place.getColumn() > text.size())
    return "";
  text = text.drop_front(place.getColumn() - 1);
  if (!text.consume_front("%"))
    return "";
  return text.take_while([](char c) { return llvm::isAlnum(c) || StringRef("$._-").contains(c); });
}

namespace {
/// Sets the shapes of the arguments of one function.
class Setter {
public:
  Setter(func::FuncOp function, StringRef text) : function(function), text(text), symbols(getSymbols(function)) {}

  Status set(const InputShape &shape);
  void finish();

private:
  StatusOr<unsigned> find(const std::string &name);
  /// Returns the symbol of a dim. Adds it if it is new.
  StatusOr<AffineExpr> addSymbol(const InputShape &shape, size_t number);

  func::FuncOp function;
  StringRef text;
  SmallVector<SymbolAttr> symbols;
  llvm::DenseMap<unsigned, SmallVector<AffineExpr>> dims; ///< By argument number.
};
} // namespace

StatusOr<unsigned> Setter::find(const std::string &name) {
  std::vector<std::string> known;
  for (BlockArgument argument : function.getArguments()) {
    for (StringRef candidate : {getLocationName(argument.getLoc()), readName(argument, text)}) {
      if (candidate == name)
        return argument.getArgNumber();
      if (!candidate.empty())
        known.push_back(candidate.str());
    }
  }
  unsigned number;
  if (!StringRef(name).getAsInteger(10, number) && number < function.getNumArguments())
    return number;
  return Status(StatusCode::InvalidArgument, "there is no input '" + name + "'" + suggest(name, known));
}

StatusOr<AffineExpr> Setter::addSymbol(const InputShape &shape, size_t number) {
  const InputShape::Dim &dim = shape.dims[number];
  std::string name = dim.symbol.empty() ? shape.input + "[" + std::to_string(number) + "]" : dim.symbol;
  auto *known = llvm::find_if(symbols, [&](SymbolAttr symbol) { return symbol.getName() == name; });
  if (known == symbols.end()) {
    symbols.push_back(SymbolAttr::get(function.getContext(), name, dim.min, dim.max, 0));
    return getAffineSymbolExpr(symbols.size() - 1, function.getContext());
  }
  if (known->getMin() != dim.min || known->getMax() != dim.max)
    return Status(StatusCode::InvalidArgument, "input '" + shape.input + "': expected '" + name + "' to be " +
                                                   std::to_string(known->getMin()) + ".." +
                                                   std::to_string(known->getMax()) + " as before, but got " +
                                                   std::to_string(dim.min) + ".." + std::to_string(dim.max));
  return getAffineSymbolExpr(known - symbols.begin(), function.getContext());
}

Status Setter::set(const InputShape &shape) {
  StatusOr<unsigned> number = find(shape.input);
  if (!number.isOk())
    return number.status();
  std::string where = "input '" + shape.input + "': ";
  auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[*number]);
  if (!type || type.getRank() != static_cast<int64_t>(shape.dims.size()))
    return {StatusCode::InvalidArgument,
            where +
                (type ? "expected " + std::to_string(type.getRank()) + " dims as in the module"
                      : "expected no dims, because the input is not a ranked tensor") +
                ", but got " + std::to_string(shape.dims.size())};
  SmallVector<AffineExpr> exprs;
  for (auto [dim, range] : llvm::enumerate(shape.dims)) {
    int64_t size = type.getDimSize(dim);
    bool isOne = range.min == range.max && range.symbol.empty();
    if (!ShapedType::isDynamic(size) && !(isOne && range.min == size))
      return {StatusCode::InvalidArgument, where + "expected dim " + std::to_string(dim) + " to be " +
                                               std::to_string(size) + " as in the module's text, but got " +
                                               std::to_string(range.min) + ".." + std::to_string(range.max) +
                                               "; write ? in the text for an open dim"};
    if (!ShapedType::isDynamic(size)) {
      exprs.push_back(getAffineConstantExpr(size, function.getContext()));
      continue;
    }
    StatusOr<AffineExpr> symbol = addSymbol(shape, dim);
    if (!symbol.isOk())
      return symbol.status();
    exprs.push_back(*symbol);
  }
  dims[*number] = exprs;
  return Status::ok();
}

void Setter::finish() {
  if (symbols.empty())
    return;
  SmallVector<Attribute> attributes(symbols.begin(), symbols.end());
  function->setAttr(InlayDialect::kSymbolsAttr, ArrayAttr::get(function.getContext(), attributes));
  for (auto &[number, exprs] : dims)
    function.setArgAttr(number, InlayDialect::kDimsAttr, makeDimsAttr(function.getContext(), symbols.size(), exprs));
}

Status inlay::setInputShapes(ModuleOp module, ArrayRef<InputShape> shapes, StringRef text) {
  if (shapes.empty())
    return Status::ok();
  SmallVector<func::FuncOp> functions;
  llvm::copy_if(module.getOps<func::FuncOp>(), std::back_inserter(functions),
                [](func::FuncOp function) { return function.isPublic() && !function.isDeclaration(); });
  if (functions.size() != 1)
    return {StatusCode::InvalidArgument, "expected a module with one public function to set input shapes, but it has " +
                                             std::to_string(functions.size())};
  Setter setter(functions.front(), text);
  for (const InputShape &shape : shapes)
    INLAY_RETURN_IF_ERROR(setter.set(shape));
  setter.finish();
  return Status::ok();
}
