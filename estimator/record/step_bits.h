// StepBits: eight bytes recorded of each training step. They show whether a step that is made again is the same.
#ifndef TANDEM_ESTIMATOR_RECORD_STEP_BITS_H_
#define TANDEM_ESTIMATOR_RECORD_STEP_BITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "estimator/loop/step_runner.h"
#include "graph/graph_builder.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

struct StepBits {
  float loss = 0;  // a float64 loss is rounded to the nearest number
  // Fingerprints of samples, which cost next to nothing. `input` is of the first replica's batch: some bytes of each
  // row of each component, other ones in each step. `variables` is of the variables after the step; 0 if they are on a
  // GPU.
  uint16_t input = 0;
  uint16_t variables = 0;

  // Returns loss, input and variables as one word, the loss in its lowest bits. 0 stands for a step that is not
  // recorded.
  uint64_t Word() const;
  static StepBits OfWord(uint64_t word);
  // Returns what differs, such as "the loss (0.31271 against 0.31266) and the variables"; "" if nothing does.
  std::string Differences(const StepBits& other) const;
  bool operator==(const StepBits& other) const { return Word() == other.Word(); }
};

// Takes the samples of a step's input and variables. They depend on the step's number and the data alone, not on
// threads or on how the replicas are spread over processes.
class StepSampler {
 public:
  // `variables` are those of the program, in `store`. On GPUs they are not sampled.
  StepSampler(const VariableStore& store, const std::vector<VariableSpec>& variables);

  uint16_t OfInput(const BatchRound& round, int64_t step) const;
  uint16_t OfVariables(int64_t step) const;

 private:
  struct Values {
    const char* bytes;
    int64_t size;
  };
  std::vector<Values> variables_;  // sorted by name, without variables that have no elements
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_STEP_BITS_H_
