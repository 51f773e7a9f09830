// Pieces of the built-in kernels' PTX text; private to it. Registers: %r<32>, %rd<32>, %p<8>.
#ifndef TANDEM_RUNTIME_CUDA_KERNELS_BUILTIN_KERNELS_TEXT_H_
#define TANDEM_RUNTIME_CUDA_KERNELS_BUILTIN_KERNELS_TEXT_H_

#include <string>

namespace tandem {

// Sets %rd0 to the thread's index in the grid, and %rd1 to the number of threads of the grid.
inline constexpr char kPtxGridIndex[] = R"(
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  cvt.u64.u32 %rd0, %r2;
  mad.wide.u32 %rd0, %r0, %r1, %rd0;
  mul.wide.u32 %rd1, %r3, %r1;
)";

// Returns from the kernel when the guard, whose address is in %rd2, is set.
inline constexpr char kPtxGuard[] = R"(
  setp.eq.u64 %p0, %rd2, 0;
  @%p0 bra RUN;
  ld.global.u32 %r4, [%rd2];
  setp.ne.u32 %p0, %r4, 0;
  @%p0 ret;
RUN:
)";

// Returns an entry for blocks of 256 threads.
std::string PtxEntry(const std::string& name, const std::string& params, const std::string& body);
// Returns a loop over elements %rd0, %rd0 + %rd1, ... below %rd3; `body` handles one.
std::string PtxLoop(const std::string& body);

// Returns the kernels of scatter_kernels_ptx.cc.
std::string ScatterKernelsPtx();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_KERNELS_BUILTIN_KERNELS_TEXT_H_
