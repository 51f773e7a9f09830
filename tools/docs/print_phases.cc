// print_phases: prints the compiler's phases as JSON, for docs/reference/passes.md.
#include <iostream>
#include <nlohmann/json.hpp>

#include "passes/pipeline/phases.h"

int main() {
  auto phases = nlohmann::json::array();
  for (const tandem::Phase& phase : tandem::Phases()) {
    phases.push_back({{"name", phase.name}, {"summary", phase.summary}, {"why", phase.why}, {"passes", phase.passes}});
  }
  std::cout << phases.dump() << "\n";
}
