// The target of a compilation as passes see it: what they may use and which limits they have to respect. Passes ask for
// a property, never for the kind of device.
#ifndef TANDEM_PASSES_TARGET_TARGET_H_
#define TANDEM_PASSES_TARGET_TARGET_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/analysis/machine_model.h"
#include "passes/exec/dialect.h"

namespace tandem {

class Target {
 public:
  virtual ~Target() = default;

  // "cpu" or "gpu": the class of its devices, their sessions and their kernel libraries.
  virtual absl::string_view device_class() const = 0;

  // Offsets of buffers in an arena are multiples of this many bytes.
  virtual int64_t buffer_alignment() const = 0;
  // True if the rows of a replica are cut into lanes and these into microbatches, which threads compute one after
  // another; else a device computes all rows at once, as one lane and one microbatch.
  virtual bool has_lanes() const = 0;
  // True if values that do not change from step to step keep their memory and are not computed again.
  virtual bool keeps_invariants() const = 0;

  // True if contractions may become generated kernels: Winograd's, convolutions of few taps, weight gradients in
  // blocks.
  virtual bool generates_contractions() const = 0;
  // True if the vector registers are those of AVX-512.
  virtual bool has_avx512() const { return false; }
  // True if generated kernels may multiply bfloat16 numbers, in vectors or in the tiles of a matrix unit (AMX).
  virtual bool has_bfloat16_products() const { return false; }
  virtual bool has_bfloat16_tiles() const { return false; }

  // True if the library multiplies batches of bfloat16 matrices (attention).
  virtual bool has_bfloat16_batched_products() const { return false; }
  // True if generated kernels of attention (td.attention) take heads of up to 128 numbers, also in bfloat16. Else they
  // take heads of any size, in float32 only, and are used only where scores do not fit into a cache.
  virtual bool has_small_head_attention() const { return false; }

  // True if library calls may round float32 operands to TensorFloat-32.
  virtual bool has_tf32() const { return false; }
  // True if every launch of a kernel costs time of its own; else threads share small kernels out among themselves.
  virtual bool has_costly_launches() const = 0;
  // True if library calls take a float32 bias, whatever type their result has; else one of the result's type.
  virtual bool has_float32_biases() const = 0;
  // True if products take a GELU, masks of gradients and sums of columns as epilogues.
  virtual bool has_gradient_epilogues() const { return false; }
  // True if generated kernels may sum products over the batch for each tap of a window.
  virtual bool sums_with_taps() const = 0;
  // True if summing two-byte elements and their squares as doubles takes no longer than reading the elements from
  // memory.
  virtual bool SumsDoublesAtOnce(const MachineModel&) const { return false; }
  // True if the compiler chooses the algorithm of every library call; else libraries do so by themselves.
  virtual bool has_call_algorithms() const = 0;
  // True if weights are packed in the same way for a convolution and its gradients, of images of any type.
  virtual bool packs_for_all_directions() const = 0;
};

// Returns the target in the module's configuration; for a module without one, a CPU with AVX-512.
std::shared_ptr<const Target> TargetOf(mlir::ModuleOp module);

// Sets the target in the configuration of `module`.
void SetTarget(mlir::ModuleOp module, exec::TargetAttr target);

// Make a target for CPUs or for NVIDIA GPUs; TargetOf calls these.
std::shared_ptr<const Target> MakeCpuTarget(exec::TargetAttr target);
std::shared_ptr<const Target> MakeCudaTarget();

}  // namespace tandem

#endif  // TANDEM_PASSES_TARGET_TARGET_H_
