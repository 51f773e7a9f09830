// The instructions that library calls and hand-written loops of this process use: those of the program's target, not
// all of the machine's.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_INSTRUCTION_SET_H_
#define TANDEM_RUNTIME_CPU_KERNELS_INSTRUCTION_SET_H_

#include "absl/status/status.h"
#include "runtime/format/index.h"

namespace tandem {

// Limits the process to the instruction set of a program. Must be called before anything asks oneDNN about that
// program, at compile or load time. oneDNN has one limit per process, which cannot change after its first use:
// FailedPrecondition (exit code 2) for a program that needs another one than the programs before it.
absl::Status UseInstructions(format::InstructionSet instructions);

// True if the process may use AVX-512. If no program has set a limit, the machine decides. Kernels with AVX-512 need
// its F, BW, DQ and VL parts.
bool UsesAvx512();
bool UsesAvx512BFloat16();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_INSTRUCTION_SET_H_
