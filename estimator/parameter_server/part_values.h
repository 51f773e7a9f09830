// Values of variables and their parts that parameter servers send, in a worker's store.
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
#include "runtime/variable_store.h"

namespace tandem {

// The memory of a part in the buffer of its variable.
struct PartMemory {
  DType dtype = DType::kFloat32;
  Shape shape;  // of the part
  int64_t offset = 0, bytes = 0;
};
// Internal where the variable has no such part.
absl::StatusOr<PartMemory> MemoryOf(const PlacedPart& part, const VariableStore& store);

// Writes what follows an answer to all copies of `parts`, one after the other; `rows`: which of them come by rows.
// Internal, and nothing is written, where these are not as many bytes and rows as the parts have; InvalidArgument for
// rows that are none of a part: parts before it have been written then.
absl::Status WriteParts(const std::vector<PlacedPart>& parts,
                        const google::protobuf::RepeatedPtrField<parameters::Rows>& rows, FrameReader& tensors,
                        VariableStore& store);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_PART_VALUES_H_
