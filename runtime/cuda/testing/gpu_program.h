// Hand-made programs for GPUs, with kernels that are C++ functions on the fake driver.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_GPU_PROGRAM_H_
#define TANDEM_RUNTIME_CUDA_TESTING_GPU_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/executable/executable.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {

// One call of a kernel: for index i in [begin, end), args[k] is argument k's first element.
struct GpuKernelCall {
  std::vector<float*> args;
  int64_t begin = 0, end = 0, row_offset = 0;
};
using GpuKernelFunction = std::function<void(const GpuKernelCall&)>;

// Registers `function` for the entry `symbol` with `num_args` buffers, which is called like generated kernels
// (GpuLaunch in runtime/format/index.td); a guard that is set keeps it from running. Also registers its group entry,
// which calls it block by block.
void RegisterGpuKernel(FakeDriver& driver, const std::string& symbol, int num_args, GpuKernelFunction function);

// Returns PTX with an empty entry for each kernel of the executable, for architecture `sm`; `groups`: one more for the
// kernels of grouped launches.
std::string GpuProgramPtx(const format::Index& index, int sm, bool groups = true);

// Makes an executable of the builder's program, for devices gpu:0, gpu:1, ..., or for gpu:0 alone (`shared`): launches
// for the kernels, images for `sms` (ascending) with `ptx` or, where that is empty, with entries that do nothing, and a
// schedule in which every collective is on the communication stream and runs of other commands are captured. The
// builder must have one lane per replica and one microbatch per lane.
std::shared_ptr<const Executable> FinishGpuProgram(ExecutableBuilder& builder, const std::vector<int>& sms = {75, 90},
                                                   const std::string& ptx = "", bool shared = false,
                                                   bool groups = true);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_GPU_PROGRAM_H_
