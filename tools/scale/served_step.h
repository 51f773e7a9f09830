// A training step with parameter servers, as the scaling study sees it: of the programs of its parts, or of a program
// of one process whose variables would be given to servers.
#ifndef TANDEM_TOOLS_SCALE_SERVED_STEP_H_
#define TANDEM_TOOLS_SCALE_SERVED_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"
#include "tools/scale/parameter_servers.h"

namespace tandem {

// The files of the servers' programs, in their order, that belong to the newest ones beside a worker's, at `path`: a
// model directory or the worker's file. Errors: those of FindExecutable.
absl::StatusOr<std::vector<std::string>> FindServers(const std::string& path, const Executable& worker);

// Bytes are those of whole tensors: rows that are left out are not known. Seconds of computation and updates are 0.
// InvalidArgument where the programs are not the parts of one step.
absl::StatusOr<ServedStep> ServedStepOf(const Executable& worker,
                                        const std::vector<std::shared_ptr<const Executable>>& servers);

// `program`'s variables as PlaceVariables (graph/parameter_servers.h) gives them to `servers` servers, all as if they
// could be spread by rows. `update`: seconds that the updates of all take, which each server gets its part of by bytes,
// slots included.
ServedStep PlacedStep(const Executable& program, int servers, double update);

// What a server does besides the update: it copies what came into the program's memory, and values into its answer.
void AddCopies(double bytes_per_second, ServedStep* step);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_SERVED_STEP_H_
