// td-drop-cross-replica: removes td.cross_replica from programs for one replica (passes/Passes.td).
#include "graph/ir/dist.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"

namespace tandem {

#define GEN_PASS_DEF_DROPCROSSREPLICAPASS
#include "passes/passes.h.inc"

namespace {

class DropCrossReplicaPass : public impl::DropCrossReplicaPassBase<DropCrossReplicaPass> {
 public:
  void runOnOperation() final {
    const exec::CompileConfigAttr config = ConfigOf(getOperation());
    // A part of a step (with parameter servers) keeps the ops even if it has one replica: workers with one replica,
    // workers with several, and servers must all cut the step into the same parts.
    if (config.getReplicas() > 1 || config.getPart()) return;
    getOperation().walk(td::DropCrossReplica);
  }
};

}  // namespace

}  // namespace tandem
