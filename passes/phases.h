// The phases of the compiler: which passes run, in which order, and why in this one.
#ifndef TANDEM_PASSES_PHASES_H_
#define TANDEM_PASSES_PHASES_H_

#include <string>
#include <vector>

namespace tandem {

struct Phase {
  std::string name;
  std::string summary;              // what it does
  std::string why;                  // why it stands where it does; empty where that needs no words
  std::vector<std::string> passes;  // arguments, "td-schedule", in order; the last one verifies
};

// All phases on modules, in order. `codegen` and `executable` follow them (compile.h).
const std::vector<Phase>& Phases();

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_H_
