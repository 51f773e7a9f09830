// Features of this machine's processor.
#ifndef TANDEM_BASE_CPU_FEATURES_H_
#define TANDEM_BASE_CPU_FEATURES_H_

#include <functional>
#include <map>
#include <string>

namespace tandem {

// Returns the features that targets of programs name ("avx512f", "sse4.2", "amx-tile": LLVM's names), and for each
// whether programs can use it: the processor has it, and the operating system keeps its registers.
const std::map<std::string, bool, std::less<>>& CpuFeatures();

}  // namespace tandem

#endif  // TANDEM_BASE_CPU_FEATURES_H_
