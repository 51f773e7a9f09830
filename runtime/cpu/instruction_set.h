// The instructions that library calls and hand-written loops of this process use: those of the program's target, not
// those of the machine.
#ifndef TANDEM_RUNTIME_CPU_INSTRUCTION_SET_H_
#define TANDEM_RUNTIME_CPU_INSTRUCTION_SET_H_

#include "absl/status/status.h"
#include "runtime/format/index.h"

namespace tandem {

// Before anything asks oneDNN for a program of this instruction set, at compile or load time. oneDNN has one limit for
// a process, which cannot be moved after its first use: FailedPrecondition (exit code 2) for a program that needs
// another one than the programs before it.
absl::Status UseInstructions(format::InstructionSet instructions);

// What the process uses: the machine's instructions where no program has set a limit. Kernels of AVX-512 need its F,
// BW, DQ and VL parts.
bool UsesAvx512();
bool UsesAvx512BFloat16();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_INSTRUCTION_SET_H_
