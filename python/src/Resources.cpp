// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Resources.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace inlay;

/// Returns the string literal at the start of `text`, without quotes and escapes.
static std::string readString(StringRef text) {
  std::string result;
  for (size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      result += text[i];
    } else if (i + 2 < text.size() && llvm::isHexDigit(text[i + 1]) && llvm::isHexDigit(text[i + 2])) {
      result += static_cast<char>(llvm::hexFromNibbles(text[i + 1], text[i + 2]));
      i += 2;
    } else {
      char escaped = text[++i];
      result += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    }
  }
  return result;
}

using Keys = llvm::SetVector<std::string, std::vector<std::string>, std::set<std::string>>;

/// Returns the keys in a text in order, without duplicates.
static Keys findKeys(StringRef text) {
  static constexpr StringLiteral kMark = "dense_resource<";
  Keys keys;
  for (size_t place = text.find(kMark); place != StringRef::npos; place = text.find(kMark, place + 1)) {
    StringRef rest = text.drop_front(place + kMark.size()).ltrim();
    keys.insert(rest.starts_with("\"") ? readString(rest)
                                       : rest.take_until([](char c) { return c == '>' || c == ' '; }).str());
  }
  return keys;
}

void python::keepResourceKeys(ModuleOp module, StringRef text) {
  Keys wanted = findKeys(text), given;
  if (wanted.empty())
    return;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    op->getAttrDictionary().walk<WalkOrder::PreOrder>(
        [&](DenseResourceElementsAttr attribute) { given.insert(attribute.getRawHandle().getKey().str()); });
  });
  if (wanted.size() != given.size()) // Other text looks like a key.
    return;
  llvm::StringMap<std::string> names;
  for (auto [key, name] : llvm::zip_equal(wanted, given))
    if (key != name && StringRef(name).starts_with(key))
      names[name] = key;
  if (names.empty())
    return;
  auto *dialect = module.getContext()->getLoadedDialect<BuiltinDialect>();
  auto &blobs = DenseResourceElementsHandle::getManagerInterface(module.getContext()).getBlobManager();
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](DenseResourceElementsAttr attribute) -> std::optional<Attribute> {
    auto name = names.find(attribute.getRawHandle().getKey());
    auto *entry = name == names.end() ? nullptr : blobs.lookup(name->second);
    if (!entry || entry->getBlob() || attribute.getRawHandle().getBlob())
      return attribute;
    return DenseResourceElementsAttr::get(attribute.getType(), DenseResourceElementsHandle(entry, dialect));
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true);
}
