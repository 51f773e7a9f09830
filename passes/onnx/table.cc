// The table of td ops that have a translator.
#include "passes/onnx/translators.h"

namespace tandem::onnx {
const TranslatorTable& Translators() {
  static const auto* table = [] {
    auto* all = new TranslatorTable;
    AddElementwise(*all);
    AddShapes(*all);
    AddReductions(*all);
    AddProducts(*all);
    AddWindows(*all);
    AddNorms(*all);
    AddLookups(*all);
    return all;
  }();
  return *table;
}

}  // namespace tandem::onnx
