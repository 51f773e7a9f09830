// Options of the translation to StableHLO.
#ifndef TANDEM_PASSES_STABLEHLO_TRANSLATE_OPTIONS_H_
#define TANDEM_PASSES_STABLEHLO_TRANSLATE_OPTIONS_H_

#include <cstdint>

namespace tandem::stablehlo {

struct TranslateOptions {
  int64_t rows = 1;  // the size of the batch
  // Makes constants of the weights, which are arguments otherwise.
  bool weights_as_constants = false;
};

}  // namespace tandem::stablehlo

#endif  // TANDEM_PASSES_STABLEHLO_TRANSLATE_OPTIONS_H_
