#ifndef TANDEM_RUNTIME_COMMANDS_LIBRARY_FLOPS_H_
#define TANDEM_RUNTIME_COMMANDS_LIBRARY_FLOPS_H_

#include "runtime/executable_generated.h"

namespace tandem {

// Operations of a library call for the rows it was compiled for: 2 per multiply-add; none for reordering weights.
double LibraryFlops(const fb::LibraryCallT& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_LIBRARY_FLOPS_H_
