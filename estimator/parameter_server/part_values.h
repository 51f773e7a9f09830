// Writes values that parameter servers send into the variables of a worker's store.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_PART_VALUES_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_PART_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/messages.pb.h"
#include "graph/parameter_servers.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

// The memory of a part inside of the buffer of its variable.
struct PartMemory {
  DType dtype = DType::kFloat32;
  Shape shape;  // shape of the part
  int64_t offset = 0, bytes = 0;
};
// Returns the memory of `part` in `store`. Internal if the variable has no such part.
absl::StatusOr<PartMemory> MemoryOf(const PlacedPart& part, const VariableStore& store);

// Writes the tensors of an answer to `parts`, in their order, and to all copies of these on the worker's devices.
// `rows` lists the parts of which only some rows are sent. Internal, with nothing written, if the numbers of bytes and
// rows do not fit the parts; InvalidArgument for row numbers that do not exist, in which case earlier parts have been
// written.
absl::Status WriteParts(const std::vector<PlacedPart>& parts,
                        const google::protobuf::RepeatedPtrField<parameters::Rows>& rows, FrameReader& tensors,
                        VariableStore& store);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_PART_VALUES_H_
