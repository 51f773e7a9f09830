// The table of td ops that have a translator.
#include "passes/stablehlo/translators.h"

namespace tandem::stablehlo {

const TranslatorTable& Translators() {
  static const auto* table = [] {
    auto* all = new TranslatorTable;
    AddElementwise(*all);
    AddActivations(*all);
    AddShapes(*all);
    AddReductions(*all);
    AddProducts(*all);
    AddConvolutions(*all);
    AddPooling(*all);
    AddLookups(*all);
    return all;
  }();
  return *table;
}

}  // namespace tandem::stablehlo
