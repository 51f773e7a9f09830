// The compiler's model of a machine: rates, bandwidths, cache sizes and overheads. Free of MLIR types.
#ifndef TANDEM_PASSES_ANALYSIS_MACHINE_MODEL_H_
#define TANDEM_PASSES_ANALYSIS_MACHINE_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// SI units: operations per second, bytes per second, bytes, seconds. In the text form each line has the unit behind the
// value (see targets/*.txt). The number of cores is left out on purpose: programs must not depend on it.
struct MachineModel {
  std::string name;
  // Rates of one core, in operations per second. A multiply-add is two operations.
  double library_f32 = 0;   // rate for matmul-like library code
  double library_bf16 = 0;  // rate for matmul-like library code on bfloat16 operands
  double library_tf32 = 0;  // rate for matmul-like library code on operands rounded to TensorFloat-32, on GPUs
  double vector_f32 = 0;    // rate for generated elementwise code, operands in L1
  double vector_f64 = 0;    // rate for generated elementwise code on doubles, operands in L1
  // Generated products of pairs of bfloat16 numbers (vdpbf16ps); equal to vector_f32 for CPUs without that instruction.
  double vector_bf16 = 0;
  double transcendentals = 0;  // exp, log, tanh, ... of generated code: calls per second
  // Sizes: L1 and L2 of a core, L3 of all cores together.
  double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  // Bandwidth of one core that streams from each level; in the line below, of all cores together from levels that they
  // share.
  double l1_bandwidth = 0, l2_bandwidth = 0, l3_bandwidth = 0, dram_bandwidth = 0;
  double l3_bandwidth_machine = 0, dram_bandwidth_machine = 0;
  // Seconds that a call costs before it computes anything.
  double library_call_overhead = 0;
  double kernel_call_overhead = 0;
  // Seconds in which all threads start and meet at a barrier: for a section of commands, or one global command.
  double section_overhead = 0;
  // Width of images, in pixels, up to which direct filter gradients are faster than the library's. At 13 or less only
  // those that stay in the second-level cache are.
  double direct_filter_grad_width = 0;
};

// Reads the text form: one `name = value  # unit` a line, with comment lines that begin with '#'. Each field must be
// there exactly once, except that library_tf32 (default: library_f32) and vector_f64 (default: half of vector_f32) may
// be missing. Units must be those of targets/*.txt, values positive. `file` is the name in messages. InvalidArgument:
// "FILE:LINE: what is wrong and what is expected".
absl::StatusOr<MachineModel> ParseMachineModel(absl::string_view file, absl::string_view text);

// Returns the text form, which ParseMachineModel reads back.
std::string MachineModelText(const MachineModel& model);

// Returns one of the built-in models, the files targets/*.txt: "generic-avx2", "generic-avx512", "zen4",
// "sapphirerapids" and so on. InvalidArgument, listing all, when there is none of that name.
absl::StatusOr<MachineModel> BuiltInMachineModel(absl::string_view name);
std::vector<std::string> BuiltInMachineModelNames();

// Returns the name of the built-in model for a CPU: by LLVM's name of it ("znver4"); else the one for CPUs with a
// matrix unit (AMX), whose names virtual machines hide; else the generic one for its vector registers.
std::string MachineModelNameFor(absl::string_view cpu, int vector_bits, bool has_matrix_unit = false);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_MACHINE_MODEL_H_
