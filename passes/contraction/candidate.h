// A candidate is a way to compute contractions: matrix products, convolutions and their gradients. Every candidate is
// one file of this folder, which says what it can compute, how long that is expected to take, and by what it replaces
// the op. The pass td-choose-contractions asks all candidates and records its choice as an attribute of the op
// (choice.h). The passes td-expand-contractions, td-lower-contractions and td-select-libraries carry the choice out.
// For an op that becomes a library call the candidates are then asked again, because the algorithm of the call depends
// on its epilogue and on packed weights.
#ifndef TANDEM_PASSES_CONTRACTION_CANDIDATE_H_
#define TANDEM_PASSES_CONTRACTION_CANDIDATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/ir/interfaces.h"
#include "passes/analysis/machine_model.h"
#include "passes/exec/dialect.h"
#include "passes/target/target.h"
#include "runtime/format/index.h"
#include "runtime/session/kernel_library.h"

namespace tandem {

// How a step's rows are cut into microbatches.
struct Microbatches {
  int64_t rows = 1;    // rows of one microbatch
  int64_t count = 1;   // microbatches of a step, over all lanes and devices
  bool known = false;  // true once maps (loops over microbatches) are formed; before, both numbers are estimates
};

// A contraction, with everything that the choice of its algorithm depends on.
struct Contraction {
  mlir::Operation* op;  // the contraction, a td::LibraryOp
  td::LibraryCallSpec spec;
  Microbatches microbatches;
  exec::CompileConfigAttr config;
  const Target& target;
  const MachineModel& machine;
  int64_t tile = 0;  // side, in pixels, of Winograd's tile that TANDEM_FLAGS asks for; 0: any
};

// What the choice of a library call's algorithm depends on, besides the call itself.
struct CallContext {
  const MachineModel& machine;
  bool avx512;  // the target has AVX-512
  const KernelLibrary& library;
};

// The answer of a candidate to the question whether it should compute a contraction.
struct Weighing {
  bool able = false;    // the candidate can compute this contraction
  std::string why_not;  // why it cannot, or why another candidate is expected to be faster; empty: it should be chosen
  double seconds = 0;   // expected time of a microbatch in seconds; 0: no estimate
  int64_t tile = 0, block = 0;
};

inline Weighing Unable(std::string why_not) { return {false, std::move(why_not)}; }
inline Weighing NotProfitable(std::string why_not, double seconds = 0) { return {true, std::move(why_not), seconds}; }
inline Weighing Profitable(double seconds = 0) { return {true, "", seconds}; }

inline constexpr char kNoAvx512[] = "the target has no AVX-512";

// Which pass replaces the ops for which a candidate is chosen.
enum class Lowering {
  kBeforeMaps,  // td-expand-contractions: by other td ops, or by ops behind the maps
  kInMaps,      // td-lower-contractions, once maps (loops over microbatches) are formed: by generated code
  kLibrary,     // td-select-libraries: by a library call
  kInCall,      // none: the candidate is an algorithm of library calls only
};

struct Candidate {
  exec::Algorithm algorithm;
  Lowering lowering;
  // Returns the verdict on an op, or nothing for kinds of ops or targets that the candidate is not meant for. The
  // pointer is null for a candidate with Lowering::kInCall.
  std::optional<Weighing> (*weigh)(const Contraction& contraction);
  // Replaces an op that `weigh` was able to take. Emits an error where that cannot be done. The pointer is null for a
  // candidate with Lowering::kInCall.
  mlir::LogicalResult (*lower)(const Contraction& contraction, exec::ContractionAttr choice);
  // Returns the verdict on a library call that the candidate can compute (runtime/library_calls/library_algorithm.h).
  // Null for algorithms of generated kernels.
  Weighing (*weigh_call)(const format::LibraryCall& call, const CallContext& context) = nullptr;
};

// Other candidates read these two: weight gradients in blocks must be faster than Winograd's (weight_grad_blocks.cc),
// and a strided gradient may be a product once it is dense (dense_pointwise.cc).
extern const Candidate kWinograd, kPointwiseProduct;

// Returns all candidates, one for each algorithm, in the order in which they are asked. The last one, a library call,
// can compute every contraction.
llvm::ArrayRef<const Candidate*> Candidates();
const Candidate& CandidateFor(exec::Algorithm algorithm);

struct Verdict {
  const Candidate* candidate;
  Weighing weighing;
};

// Returns the verdicts of all candidates that are meant for this kind of op.
std::vector<Verdict> WeighOp(const Contraction& contraction);
// Returns the verdicts of all candidates that can compute a call on a CPU. `call` is valid (CheckLibraryCall); its own
// algorithm does not matter.
std::vector<Verdict> WeighCall(const format::LibraryCall& call, const CallContext& context);

// Returns the first verdict whose candidate should be chosen (`why_not` is empty).
const Verdict& Taken(llvm::ArrayRef<Verdict> verdicts);
// Returns why the candidate of `verdict` was not chosen, but the one called `taken`.
std::string WhyNot(const Verdict& verdict, absl::string_view taken);

// Returns the expected seconds of the library's primitive for a microbatch.
double LibrarySeconds(const Contraction& contraction);

// For `lower`: replaces the op by the exec.contraction of generated code that computes the same.
mlir::LogicalResult LowerToContraction(const Contraction& contraction, exec::ContractionAttr choice);

// True if all operands and results are float32.
bool IsFloat32(mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_CANDIDATE_H_
