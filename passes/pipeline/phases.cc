#include "passes/pipeline/phases.h"

namespace tandem {

const std::vector<Phase>& Phases() {
  static const auto* phases = new std::vector<Phase>{
      {"input",
       "verify, canonicalise, lift variables to arguments and results, take one task's part",
       "Nothing later sees variables as state: after lifting, a step is a pure function that CSE and DCE understand. "
       "What a task of a cluster with parameter servers does not compute is gone from here on.",
       {"td-drop-cross-replica", "canonicalize", "cse", "td-lift-variables", "canonicalize", "td-warn-batch-constants",
        "td-partition-step", "td-verify-input"}},
      {"precision",
       "attention as one op, weights that batch norm scales, element types",
       "Weights are scaled before they are rounded. Element types are final from here on: all-reduce counts bytes, and "
       "library ops and kernels are chosen by type.",
       {"td-form-attention", "td-fold-batch-norm", "td-choose-contractions", "td-paint-precision",
        "td-verify-precision"}},
      {"distribute",
       "microbatch map, all-reduce, buckets, numbers, replicas",
       "Composite ops fall apart before the maps are formed, because batch statistics become reductions over the "
       "batch. Collectives are numbered before replicas are made, so that their order is equal on all ranks.",
       {"td-sum-moments-at-once", "td-decompose", "td-choose-contractions", "td-expand-contractions", "canonicalize",
        "cse", "td-record-pool-argmax", "td-form-microbatch-map", "td-rematerialize", "td-insert-all-reduce",
        "td-bucket-all-reduce", "td-insert-finite-check", "td-number-collectives", "td-replicate",
        "td-verify-distribute"}},
      {"layout",
       "library primitives, epilogues and weight layouts",
       "Activations are NHWC everywhere; weights are packed once per step, outside the maps, for the primitive that "
       "reads them. Library ops take their epilogues before loops are fused, since a fused loop costs another pass "
       "over memory.",
       {"td-choose-contractions", "td-lower-contractions", "td-lower-attention", "td-select-libraries",
        "td-take-gpu-epilogues", "cse", "td-verify-layout"}},
      {"fusion",
       "clusters, outlined kernels, grouped updates",
       "Collectives are numbered again: one may have come to stand in front of another that it does not depend on.",
       {"td-outline-contractions", "td-form-fusions", "td-fuse-sum-epilogues", "td-number-collectives",
        "td-outline-kernels", "td-group-updates", "td-verify-fusion"}},
      {"schedule", "order of execution", "", {"td-schedule", "td-verify-schedule"}},
      {"memory",
       "copies, arenas and offsets, kernels that overwrite operands",
       "Copies stand where nothing could write a value in the place that it is wanted in, so that offsets follow from "
       "life times. Which operands kernels overwrite follows from the offsets.",
       {"td-insert-copies", "td-assign-buffers", "td-separate-aliases", "td-check-memory", "td-verify-memory"}},
      {"commands",
       "how commands of CPU programs run: not in every step, several at once, block by block",
       "What the runtime need not do in every step, and what it may do at once, depends on where values lie.",
       {"td-insert-lane-reductions", "td-mark-invariants", "td-mark-inline", "td-join-lanes", "td-group-preparations",
        "td-update-by-blocks", "td-check-in-reductions", "td-overlap-collectives", "td-verify-commands"}},
  };
  return *phases;
}

}  // namespace tandem
