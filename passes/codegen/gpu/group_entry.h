// Adds an entry that runs a flat kernel for many sets of operands in one launch.
#ifndef TANDEM_PASSES_CODEGEN_GPU_GROUP_ENTRY_H_
#define TANDEM_PASSES_CODEGEN_GPU_GROUP_ENTRY_H_

#include <cstdint>
#include <string>

#include "llvm/IR/Module.h"

namespace tandem {

// Adds `name`(ptr members, ptr blocks, ptr guard), as GroupedLaunch in runtime/format/index.td says, which runs the
// kernel `symbol` of the module. `items_per_block` is that of the kernel, whose blocks must share nothing (split 1, no
// scratch memory).
void AddGroupEntry(llvm::Module& module, const std::string& symbol, const std::string& name, int64_t items_per_block);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_GROUP_ENTRY_H_
