// The pass td-to-stablehlo, for tandem-opt: it is in no phase.
#ifndef TANDEM_PASSES_STABLEHLO_TO_STABLEHLO_PASS_H_
#define TANDEM_PASSES_STABLEHLO_TO_STABLEHLO_PASS_H_

namespace tandem::stablehlo {

// Registers the pass. Call it once.
void RegisterToStableHloPass();

}  // namespace tandem::stablehlo

#endif  // TANDEM_PASSES_STABLEHLO_TO_STABLEHLO_PASS_H_
