// A StableHLO module as text, and the weights that it takes. Free of MLIR.
#ifndef TANDEM_PASSES_STABLEHLO_MODEL_H_
#define TANDEM_PASSES_STABLEHLO_MODEL_H_

#include <string>
#include <vector>

#include "base/host_tensor.h"

namespace tandem::stablehlo {

struct Weight {
  std::string name;
  HostTensor value;
};

struct Model {
  std::string text;
  std::vector<Weight> weights;  // what @main takes behind the inputs, in the order of its arguments
};

}  // namespace tandem::stablehlo

#endif  // TANDEM_PASSES_STABLEHLO_MODEL_H_
