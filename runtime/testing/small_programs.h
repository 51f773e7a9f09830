// Two small programs for two replicas, and a way to run whatever the loader takes.
#ifndef TANDEM_RUNTIME_TESTING_SMALL_PROGRAMS_H_
#define TANDEM_RUNTIME_TESTING_SMALL_PROGRAMS_H_

#include <memory>
#include <string>

#include "runtime/executable.h"
#include "runtime/thread_pool.h"

namespace tandem {

// Files with every kind of command but kernels: products, copies, reductions, a check.
std::string ProgramOfLibraryCalls();
// The same with kernels over rows and over elements, one by one and grouped; their object file is SmallKernels().
std::string ProgramWithKernels();
std::string SmallKernels();

// Whether a program came as far as a step. Those that ask for much memory are not tried.
bool TryToRun(const std::shared_ptr<const Executable>& executable, const std::shared_ptr<ThreadPool>& pool);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_TESTING_SMALL_PROGRAMS_H_
