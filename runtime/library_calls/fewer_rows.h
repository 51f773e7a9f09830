// The same library call for fewer rows of the batch.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_FEWER_ROWS_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_FEWER_ROWS_H_

#include <cstdint>
#include <optional>

#include "runtime/format/index.h"

namespace tandem {

// Returns `call`, which is made for `all` rows of the batch, for `rows` of them. Returns nothing for a call whose
// result is a sum over the rows, and for one whose sizes are not those of `all` rows. The first operand and the result
// must have the batch, the weights of a convolution or of a MatMul must not.
std::optional<format::LibraryCall> CallForRows(const format::LibraryCall& call, int64_t all, int64_t rows);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_FEWER_ROWS_H_
