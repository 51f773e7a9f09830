// A way to compute contractions: matrix products, convolutions and their gradients. Every candidate is one file of this
// folder: what it can compute, how long that is expected to take, and what the op becomes. td-choose-contractions asks
// them and notes the answer on the op (choice.h); td-expand-contractions and td-lower-contractions do it.
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

// How a step's rows are cut.
struct Microbatches {
  int64_t rows = 1;    // of one
  int64_t count = 1;   // in a step, over all lanes and devices
  bool known = false;  // maps are formed; before, both are estimates
};

// A contraction, with what its algorithm depends on.
struct Contraction {
  mlir::Operation* op;  // a td::LibraryOp
  td::LibraryCallSpec spec;
  Microbatches microbatches;
  exec::CompileConfigAttr config;
  const Target& target;
  const MachineModel& machine;
  int64_t tile = 0;  // Winograd's that TANDEM_FLAGS asks for; 0: any
};

// What a candidate says of a contraction.
struct Weighing {
  bool able = false;    // it can compute this one
  std::string why_not;  // why it cannot, or why another is expected to be faster; empty: it should be taken
  double seconds = 0;   // expected for a microbatch; 0: no estimate
  int64_t tile = 0, block = 0;
};

inline Weighing Unable(std::string why_not) { return {false, std::move(why_not)}; }
inline Weighing NotProfitable(std::string why_not, double seconds = 0) { return {true, std::move(why_not), seconds}; }
inline Weighing Profitable(double seconds = 0) { return {true, "", seconds}; }

// Where a candidate's ops become what it makes of them.
enum class Lowering {
  kBeforeMaps,  // td-expand-contractions: other td ops, or ops behind the maps
  kInMaps,      // td-lower-contractions
  kLibrary,     // td-select-libraries, or none: the op is part of a generated kernel as it is
};

struct Candidate {
  exec::Algorithm algorithm;
  Lowering lowering;
  // Nothing for ops of a kind, or targets, that it is not for.
  std::optional<Weighing> (*weigh)(const Contraction& contraction);
  // Replaces an op that `weigh` was able to take. Null with kLibrary.
  void (*lower)(const Contraction& contraction, exec::ContractionAttr choice);
};

// That others ask too.
extern const Candidate kWinograd;

// All of them, in the order in which they are asked. The last one, a library call, takes every contraction.
llvm::ArrayRef<const Candidate*> Candidates();

// The one of an algorithm; of a library call's, the library call.
const Candidate& CandidateFor(exec::Algorithm algorithm);

// Expected seconds of a library's primitive for a microbatch.
double LibrarySeconds(const Contraction& contraction);

// Whether all operands and results are float32.
bool IsFloat32(mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_CANDIDATE_H_
