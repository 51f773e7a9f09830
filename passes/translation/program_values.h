// What a program for predictions has besides its graph, for translations to formats of others. Free of MLIR.
#ifndef TANDEM_PASSES_TRANSLATION_PROGRAM_VALUES_H_
#define TANDEM_PASSES_TRANSLATION_PROGRAM_VALUES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"

namespace tandem::translation {

struct ProgramValues {
  // Returns a variable's value by name.
  std::function<absl::StatusOr<HostTensor>(const std::string& name)> variable;
  std::map<std::string, double> scalars;  // values of step scalars by name
  std::vector<std::string> outputs;       // names of the outputs to export, in the model's order
};

}  // namespace tandem::translation

#endif  // TANDEM_PASSES_TRANSLATION_PROGRAM_VALUES_H_
