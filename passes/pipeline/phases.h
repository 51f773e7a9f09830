// The phases of the compiler: which passes run, in which order, and the reasons for this order.
#ifndef TANDEM_PASSES_PIPELINE_PHASES_H_
#define TANDEM_PASSES_PIPELINE_PHASES_H_

#include <string>
#include <vector>

namespace tandem {

struct Phase {
  std::string name;
  std::string summary;              // what the phase does
  std::string why;                  // why it comes at this place of the order; empty where that is obvious
  std::vector<std::string> passes;  // names of the passes, such as "td-schedule", in order; the last one verifies
};

// Returns all phases that work on MLIR modules, in order. `codegen` and `executable` follow them (compile.h).
const std::vector<Phase>& Phases();

}  // namespace tandem

#endif  // TANDEM_PASSES_PIPELINE_PHASES_H_
