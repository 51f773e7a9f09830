// Decides which ops of a block become one kernel.
#ifndef TANDEM_PASSES_PHASES_FUSION_FUSION_CLUSTERS_H_
#define TANDEM_PASSES_PHASES_FUSION_FUSION_CLUSTERS_H_

#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "passes/codegen/op_weight.h"

namespace tandem {

// Most operands and results of a kernel together: a launch has no room for more.
constexpr unsigned kMaxKernelBuffers = 30;

// Clusters of the ElementalOps of one block.
//
// Index maps and cheap ops with several users are not members: they are computed again in every cluster that needs
// them, which reads no more memory than storing their results would. All other ElementalOps are members of one cluster
// each. Clusters grow from consumers to producers, then between siblings that read the same value, as long as
//   - no path leaves a cluster and comes back,
//   - all members run over the rows of the batch, or none does,
//   - a sum over the batch is not used in the cluster that computes it,
//   - windows that overlap do not recompute their producers, except casts to wider types where launches are costly:
//     such a cast reads less than its result would take in memory; nor do they compute paddings where launches are
//     cheap,
//   - at most one optimizer update is among them, and scalar arithmetic stays apart from large tensors.
class FusionClusters {
 public:
  // `costly_launches`: launches are expensive, so siblings (ops that read the same value) without batch share kernels
  // too.
  FusionClusters(mlir::Block& block, bool costly_launches);

  // Returns the members of each cluster in block order; clusters are ordered by their first member.
  std::vector<std::vector<mlir::Operation*>> Clusters();
  // True if `op` is computed again in every cluster that uses it.
  bool IsInlined(mlir::Operation* op) const;
  // True if `value` must be stored: something outside of its defining op's cluster needs it.
  bool IsOutput(mlir::Value value);
  // Returns why no kernel computes both `producer` and `consumer`, which reads one of its results; "" when one does.
  std::string WhyApart(mlir::Operation* producer, mlir::Operation* consumer);
  // True for an op that no other op may be moved across.
  static bool IsBorder(mlir::Operation* op);

 private:
  struct Node {
    mlir::Operation* op = nullptr;
    bool fusible = false;  // may be part of a kernel
    bool inlined = false;
    bool member = false;
    bool batched = false, batch_reduce = false, row_reduce = false, window = false, elementwise = false, tied = false;
    int64_t result_size = 1;  // elements per row of the result, or all if it is unbatched
    OpWeight weight;
    int64_t cumulative = 0;  // weight (arithmetic per element) of the op and of the producers inlined into it
    // What the op reads, with the operands of inlined ops in place of their results.
    llvm::SmallVector<mlir::Value, 4> leaves;
    llvm::SmallVector<unsigned, 4> users;  // nodes that have a result of this op among their leaves
    unsigned parent = 0;                   // number of the parent node in the union-find of clusters
  };

  void Classify(mlir::Block& block);
  void ChooseInlined();
  bool IsTopLevelView(mlir::Block& block, mlir::Operation* op) const;
  // True if the windows of the op overlap so much that each element of operand `operand` is read more than one and a
  // half times.
  static bool ReadsAgain(const Node& window, unsigned operand);
  // True if windows that overlap read the result of `op` and launches are cheap: then `op` gets a kernel of its own.
  bool IsReadByWindows(mlir::Operation* op) const;
  void Connect();
  void Expand(mlir::Value value, llvm::SmallVectorImpl<mlir::Value>& leaves) const;
  int Find(mlir::Value value) const;  // returns the node that defines `value`, or -1
  unsigned Root(unsigned node);
  void MergeProducers();
  void MergeSiblings();
  bool TryMerge(unsigned a, unsigned b);
  // Returns why these nodes cannot be one kernel; null when they can.
  const char* Incompatible(const std::vector<unsigned>& members);
  const char* IncompatibleStatic(const std::vector<unsigned>& members);
  const char* IncompatibleBatched(const std::vector<unsigned>& members);
  bool MakesCycle(unsigned a, unsigned b);
  bool ReadsMembers(const Node& node, const std::vector<unsigned>& members) const;
  bool LeavesCluster(const Node& node, const std::vector<unsigned>& members) const;

  const bool costly_launches_;
  std::vector<Node> nodes_;
  llvm::DenseMap<mlir::Operation*, unsigned> index_;
  std::vector<std::vector<unsigned>> members_;  // members of each cluster, at the index of its root node
  std::vector<unsigned> seen_;  // by root of a cluster: number of the last search for a cycle that visited it
  unsigned search_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_FUSION_FUSION_CLUSTERS_H_
