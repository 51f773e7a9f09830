// td-drop-cross-replica, as Passes.td describes it.
#include "graph/ir/dist.h"
#include "passes/pass_util.h"
#include "passes/passes.h"

namespace tandem {

#define GEN_PASS_DEF_DROPCROSSREPLICAPASS
#include "passes/passes.h.inc"

namespace {

class DropCrossReplicaPass : public impl::DropCrossReplicaPassBase<DropCrossReplicaPass> {
 public:
  void runOnOperation() final {
    const exec::CompileConfigAttr config = ConfigOf(getOperation());
    // A worker of several replicas and its servers must find the same parts.
    if (config.getReplicas() > 1 || config.getPart()) return;
    getOperation().walk(td::DropCrossReplica);
  }
};

}  // namespace

}  // namespace tandem
