// A way to compute contractions: matrix products, convolutions and their gradients. Every candidate is one file of this
// folder: what it can compute, how long that is expected to take, and what the op becomes. td-choose-contractions asks
// them and notes its choice on the op (choice.h); td-expand-contractions and td-lower-contractions carry the choice
// out.
#ifndef TANDEM_PASSES_CONTRACTION_CANDIDATE_H_
#define TANDEM_PASSES_CONTRACTION_CANDIDATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "graph/ir/interfaces.h"
#include "passes/analysis/machine_model.h"
#include "passes/exec/dialect.h"
#include "passes/target/target.h"

namespace tandem {

// How a step's rows are cut into microbatches.
struct Microbatches {
  int64_t rows = 1;    // rows of one microbatch
  int64_t count = 1;   // microbatches of a step, over all lanes and devices
  bool known = false;  // true once maps are formed; before, both numbers are estimates
};

// A contraction, with everything that the choice of its algorithm depends on.
struct Contraction {
  mlir::Operation* op;  // a td::LibraryOp
  td::LibraryCallSpec spec;
  Microbatches microbatches;
  exec::CompileConfigAttr config;
  const Target& target;
  const MachineModel& machine;
  int64_t tile = 0;  // Winograd's tile that TANDEM_FLAGS asks for; 0: any
};

// A candidate's verdict on a contraction.
struct Weighing {
  bool able = false;    // it can compute this contraction
  std::string why_not;  // why it cannot, or why another is expected to be faster; empty: it should be taken
  double seconds = 0;   // expected time of a microbatch; 0: no estimate
  int64_t tile = 0, block = 0;
};

inline Weighing Unable(std::string why_not) { return {false, std::move(why_not)}; }
inline Weighing NotProfitable(std::string why_not, double seconds = 0) { return {true, std::move(why_not), seconds}; }
inline Weighing Profitable(double seconds = 0) { return {true, "", seconds}; }

// Which pass replaces the ops that a candidate takes.
enum class Lowering {
  kBeforeMaps,  // td-expand-contractions: other td ops, or ops behind the maps
  kInMaps,      // td-lower-contractions
  kLibrary,     // td-select-libraries; or no pass: the op itself becomes part of a generated kernel
};

struct Candidate {
  exec::Algorithm algorithm;
  Lowering lowering;
  // Returns the verdict, or nothing for kinds of ops or targets that the candidate is not meant for.
  std::optional<Weighing> (*weigh)(const Contraction& contraction);
  // Replaces an op that `weigh` was able to take. Null with kLibrary.
  void (*lower)(const Contraction& contraction, exec::ContractionAttr choice);
};

// Also used by the weight gradients in blocks, which must be faster than Winograd's (weight_grad_blocks.cc).
extern const Candidate kWinograd;

// Returns all candidates in the order in which they are asked. The last one, a library call, takes every contraction.
llvm::ArrayRef<const Candidate*> Candidates();

// Returns the candidate of an algorithm; for the algorithms of library calls, that of library calls.
const Candidate& CandidateFor(exec::Algorithm algorithm);

// Returns the expected seconds of the library's primitive for a microbatch.
double LibrarySeconds(const Contraction& contraction);

// True if all operands and results are float32.
bool IsFloat32(mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_CANDIDATE_H_
