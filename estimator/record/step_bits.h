// What is recorded of a step of training, in eight bytes: by it a step that is made again is known to be the same.
#ifndef TANDEM_ESTIMATOR_RECORD_STEP_BITS_H_
#define TANDEM_ESTIMATOR_RECORD_STEP_BITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "estimator/step_runner.h"
#include "graph/graph_builder.h"
#include "runtime/variable_store.h"

namespace tandem {

struct StepBits {
  float loss = 0;  // of a loss in float64 the nearest number
  // Fingerprints of samples, which cost next to nothing: of the first replica's batch (of each row of each component
  // some bytes, others in each step), and of the variables when the step is done. 0 where they are on another device.
  uint16_t input = 0;
  uint16_t variables = 0;

  // All three, lowest bits first the loss's. 0 stands for a step that is not recorded.
  uint64_t Word() const;
  static StepBits OfWord(uint64_t word);
  // "the loss (0.31271 against 0.31266) and the variables", what differs between two; empty: nothing.
  std::string Differences(const StepBits& other) const;
  bool operator==(const StepBits& other) const { return Word() == other.Word(); }
};

// Takes the samples. All of it depends on the step's number and the data alone: neither on threads nor on how the
// replicas are spread over processes.
class StepSampler {
 public:
  // `variables`: those of the program, in `store`. On GPUs none is looked at.
  StepSampler(const VariableStore& store, const std::vector<VariableSpec>& variables);

  uint16_t OfInput(const BatchRound& round, int64_t step) const;
  uint16_t OfVariables(int64_t step) const;

 private:
  struct Values {
    const char* bytes;
    int64_t size;
  };
  std::vector<Values> variables_;  // by name, those without elements left out
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_STEP_BITS_H_
