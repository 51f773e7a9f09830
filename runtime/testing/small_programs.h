// Two small programs for two replicas, and a function that tries to run an executable that the loader accepts.
#ifndef TANDEM_RUNTIME_TESTING_SMALL_PROGRAMS_H_
#define TANDEM_RUNTIME_TESTING_SMALL_PROGRAMS_H_

#include <memory>
#include <string>

#include "runtime/executable/executable.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

// Returns an executable file with every kind of command but kernels: products, copies, reductions, a check.
std::string ProgramOfLibraryCalls();
// The same with kernels over rows and over elements, one by one and grouped; SmallKernels() returns their object file.
std::string ProgramWithKernels();
std::string SmallKernels();

// True if the program came as far as a step. Those that ask for much memory are not tried.
bool TryToRun(const std::shared_ptr<const Executable>& executable, const std::shared_ptr<ThreadPool>& pool);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_TESTING_SMALL_PROGRAMS_H_
