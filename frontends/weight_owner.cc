#include "frontends/weight_owner.h"

namespace tandem::layers {
namespace {

thread_local WeightOwnerScope* innermost = nullptr;

}  // namespace

WeightOwner* WeightOwner::Of(GraphBuilder* graph) {
  for (const WeightOwnerScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->graph_ == graph) return scope->owner_;
  }
  return nullptr;
}

WeightOwnerScope::WeightOwnerScope(GraphBuilder* graph, WeightOwner* owner)
    : graph_(graph), owner_(owner), outer_(innermost) {
  innermost = this;
}

WeightOwnerScope::~WeightOwnerScope() { innermost = outer_; }

}  // namespace tandem::layers
