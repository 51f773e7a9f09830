// Operations and bytes of one execution of a command.
#ifndef TANDEM_RUNTIME_COMMANDS_EXECUTION_WORK_H_
#define TANDEM_RUNTIME_COMMANDS_EXECUTION_WORK_H_

#include <cstdint>

namespace tandem {

// Amounts that grow with the rows of the batch are counted per row.
//
// Operations are counted as in mathematics, a multiply-add as two: those of a convolution or matmul as defined,
// whatever algorithm runs it; those of generated kernels as their ops count themselves (td's cost interface). Bytes are
// those of the distinct operands, each read or written once: the traffic of a memory without caches above the operand.
struct ExecutionWork {
  double flops_per_row = 0, flops = 0;
  double bytes_per_row = 0, bytes = 0;

  double Flops(int64_t rows) const { return flops + flops_per_row * static_cast<double>(rows); }
  double Bytes(int64_t rows) const { return bytes + bytes_per_row * static_cast<double>(rows); }
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_EXECUTION_WORK_H_
