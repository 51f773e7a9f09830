// What a program is compiled for, as passes see it: what they may use and what they have to respect. Passes ask for a
// property, never for the kind of device.
#ifndef TANDEM_PASSES_TARGET_TARGET_H_
#define TANDEM_PASSES_TARGET_TARGET_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/analysis/machine_model.h"
#include "passes/exec/dialect.h"
#include "runtime/format/index.h"

namespace tandem {

// The PackWeights call for an operand of another call, and the bytes of its result.
struct WeightsPacking {
  format::LibraryCall call;
  uint64_t bytes = 0;
};

class Target {
 public:
  virtual ~Target() = default;

  // "cpu" or "gpu": of devices, their sessions and their kernel libraries.
  virtual absl::string_view device_class() const = 0;

  // Where buffers may begin in an arena, in bytes.
  virtual int64_t buffer_alignment() const = 0;
  // Threads take the rows of a replica lane by lane and microbatch by microbatch; else a device computes them at once,
  // in one lane and microbatch.
  virtual bool has_lanes() const = 0;
  // What does not change from step to step keeps its place and is not computed again.
  virtual bool keeps_invariants() const = 0;

  // Contractions may become kernels of our own: Winograd's, convolutions of few taps, weight gradients in blocks.
  virtual bool generates_contractions() const = 0;
  // The vector registers are those of AVX-512.
  virtual bool has_avx512() const { return false; }
  // Generated kernels may multiply bfloat16 numbers, in vectors or in tiles.
  virtual bool has_bfloat16_products() const { return false; }
  virtual bool has_bfloat16_tiles() const { return false; }

  // The library multiplies batches of bfloat16 matrices (attention).
  virtual bool has_bfloat16_batched_products() const { return false; }
  // Generated kernels of attention (td.attention) take heads of up to 128 numbers, of bfloat16 too; else of any size,
  // in float32, and only where scores do not fit into a cache.
  virtual bool has_small_head_attention() const { return false; }

  // Library calls may round float32 operands to TensorFloat-32.
  virtual bool has_tf32() const { return false; }
  // Every launch of a kernel takes time of its own; else threads share small kernels out among themselves.
  virtual bool has_costly_launches() const = 0;
  // Library calls take a float32 bias, whatever their result is; else one of the result's type.
  virtual bool has_float32_biases() const = 0;
  // Products take a GELU, masks of gradients and sums of columns as epilogues.
  virtual bool has_gradient_epilogues() const { return false; }
  // Generated kernels may sum products over the batch for each tap of a window.
  virtual bool sums_with_taps() const = 0;
  // Sums of two-byte elements and of their squares, as doubles, take no longer than reading the elements from memory.
  virtual bool SumsDoublesAtOnce(const MachineModel&) const { return false; }
  // Whether the call is computed in the same way when it adds a residual to its result.
  virtual bool AddsResidual(const format::LibraryCall& call, const MachineModel& machine) const = 0;
  // How weights of the call are packed once for many calls; nothing where they are read as they lie. `forced`: by the
  // algorithm that the user wants for the call.
  virtual absl::StatusOr<std::optional<WeightsPacking>> PackingOf(const format::LibraryCall& call,
                                                                  const MachineModel& machine,
                                                                  std::optional<format::Algorithm> forced) const = 0;
  // Chooses `call.algorithm`, or takes the `forced` one, and names it in `call.implementation`.
  virtual absl::Status ChooseAlgorithm(format::LibraryCall& call, const MachineModel& machine,
                                       std::optional<format::Algorithm> forced = std::nullopt) const = 0;
};

// The target in the module's configuration; of a module without one, a CPU with AVX-512.
std::shared_ptr<const Target> TargetOf(mlir::ModuleOp module);

// Gives the configuration of `module` another target.
void SetTarget(mlir::ModuleOp module, exec::TargetAttr target);

// For TargetOf.
std::shared_ptr<const Target> MakeCpuTarget(exec::TargetAttr target);
std::shared_ptr<const Target> MakeCudaTarget();

}  // namespace tandem

#endif  // TANDEM_PASSES_TARGET_TARGET_H_
