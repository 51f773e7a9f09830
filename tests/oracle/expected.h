// What a training step must give, in double precision.
#ifndef TANDEM_TESTS_ORACLE_EXPECTED_H_
#define TANDEM_TESTS_ORACLE_EXPECTED_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/oracle/models.h"
#include "tests/oracle/optimizer_cases.h"
#include "tests/oracle/reference_layers.h"

namespace tandem::oracle {

struct Bounded {
  std::vector<double> values;
  std::vector<double> bounds;  // how far float32 may be off, element by element
};

struct Expected {
  double loss = 0, loss_bound = 0;
  // Variables and slots that the step assigns, by full name.
  std::map<std::string, Bounded> assigned;
  // Of the nearest choice (a relu, a largest element): where it is small, rounding may choose otherwise.
  double margin = 0;
};

struct StepData {
  ref::NumbersMap variables;  // and slots, before the step
  ref::NumbersMap inputs;     // of the global batch
  std::vector<int64_t> rows_per_replica;
  ref::NumbersMap uniforms;
  std::vector<std::string> trained;  // variables that the optimizer updates
  int64_t step = 0;
};

// The bounds come from an error of some 1e-5 of each gradient's largest element, taken through clipping and the
// optimizer's formula: where that divides a small gradient by its own root, the result is known as little as it is.
Expected ExpectedStep(const Model& model, const OptimizerCase& optimizer, const ClipOptions& clip,
                      const StepData& data);

}  // namespace tandem::oracle

#endif  // TANDEM_TESTS_ORACLE_EXPECTED_H_
