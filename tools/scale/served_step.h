// A training step with parameter servers for the scaling study: made from the programs of its parts, or from a program
// of one process whose variables would be distributed over servers.
#ifndef TANDEM_TOOLS_SCALE_SERVED_STEP_H_
#define TANDEM_TOOLS_SCALE_SERVED_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"
#include "tools/scale/parameter_servers.h"

namespace tandem {

// Returns the files of the servers' programs, in order, that belong to the worker's program at `path` (a model
// directory or the worker's file): the newest beside it. Errors: those of FindExecutable.
absl::StatusOr<std::vector<std::string>> FindServers(const std::string& path, const Executable& worker);

// Bytes are those of whole tensors, because rows that would be left out are unknown. Seconds of computation and updates
// are 0. InvalidArgument if the programs are not the parts of one step.
absl::StatusOr<ServedStep> ServedStepOf(const Executable& worker,
                                        const std::vector<std::shared_ptr<const Executable>>& servers);

// Distributes `program`'s variables over `servers` servers as PlaceVariables (graph/parameter_servers.h) does, as if
// all could be spread by rows. `update` is the seconds of all updates; each server gets a share by its bytes, slots
// included.
ServedStep PlacedStep(const Executable& program, int servers, double update);

// Adds a server's copies to its update time: of received values into the program's memory, and of values into its
// answer.
void AddCopies(double bytes_per_second, ServedStep* step);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_SERVED_STEP_H_
