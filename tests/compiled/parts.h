// A step that is shared between a worker and parameter servers, all of them sessions of this process.
#ifndef TANDEM_TESTS_COMPILED_PARTS_H_
#define TANDEM_TESTS_COMPILED_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/parameter_servers.h"
#include "graph/reference/reference.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {

class Parts {
 public:
  // Compiles the parts of `build`'s step, as `options` say for the whole.
  static absl::StatusOr<Parts> Make(const BuildFn& build, const Options& options, int servers);

  // The variables of all parts that have them.
  absl::Status Assign(const TensorMap& values);
  // One step: the worker's part, then the servers'. The worker's result, whose outputs are those of the whole step in
  // front of the values for servers.
  absl::StatusOr<StepResult> Run(const StepInputs& inputs);
  // Variables on servers that differ from `values`, and those that no server has: a line for each.
  std::vector<std::string> Differences(const TensorMap& values) const;

  // Of a variable's value.
  static HostTensor ValueOf(const PlacedPart& part, const HostTensor& whole);

  const Program& worker() const { return worker_; }
  const std::vector<Program>& servers() const { return servers_; }

 private:
  Program worker_;
  std::vector<Program> servers_;
};

}  // namespace tandem::compiled

#endif  // TANDEM_TESTS_COMPILED_PARTS_H_
