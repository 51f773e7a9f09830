// Makes a training step with parameter servers for the scaling study (ServedStep), either from the programs of worker
// and servers, or from a program of one process whose variables would be distributed over servers.
#ifndef TANDEM_TOOLS_SCALE_SERVED_STEP_H_
#define TANDEM_TOOLS_SCALE_SERVED_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"
#include "tools/scale/parameter_servers.h"

namespace tandem {

// Returns the files of the servers' programs, in the order of the servers, that belong to the worker's program at
// `path` (a model directory, or the worker's file). They are the newest ones in the same folder. Also returns the
// errors of FindExecutable.
absl::StatusOr<std::vector<std::string>> FindServers(const std::string& path, const Executable& worker);

// Makes the step of a worker's and the servers' programs. Bytes are those of whole tensors, because it is unknown which
// rows would not be sent. Seconds of computation and updates are 0. InvalidArgument if the programs are not the parts
// of one step.
absl::StatusOr<ServedStep> ServedStepOf(const Executable& worker,
                                        const std::vector<std::shared_ptr<const Executable>>& servers);

// Distributes the variables of `program` over `servers` servers as PlaceVariables (graph/parameter_servers.h) does,
// assuming that the rows of every variable can be divided. `update` is the seconds of all updates; each server's share
// of it follows from the bytes of its variables and their optimizer slots.
ServedStep PlacedStep(const Executable& program, int servers, double update);

// Adds to each server's update time the time of its copies: of the values that it receives into the program's memory,
// and of the values that it returns into its answer.
void AddCopies(double bytes_per_second, ServedStep* step);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_SERVED_STEP_H_
