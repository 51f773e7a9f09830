#include "passes/phases/fusion/fusion_clusters.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/shape.h"
#include "graph/ir/unary.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/codegen/reduction.h"

namespace tandem {
namespace {

// An op of up to this weight is computed again for each user; a heavier one is stored.
constexpr int64_t kCheap = 10;
constexpr unsigned kMaxMembers = 64;
// The largest row that a kernel with reductions keeps on its stack, in elements.
constexpr int64_t kMaxRow = 1 << 16;
// Most sums per column of a kernel with taps: on GPUs a thread has them in registers.
constexpr int64_t kMaxTaps = 64;
// A constant with at least this many numbers may be a table, which kernels read from memory (IsTable).
constexpr int64_t kMinTable = 16;

using td::TypeOf;

// Returns the elements per row, or of the whole tensor when it has no batch.
int64_t SizeOf(mlir::Value v) {
  int64_t size = 1;
  for (int64_t d : TypeOf(v).getShape()) size *= mlir::ShapedType::isDynamic(d) ? 1 : d;
  return size;
}

bool IsConstant(mlir::Operation* op) { return op->hasTrait<mlir::OpTrait::ConstantLike>(); }

// True for a constant of many different numbers. It is data of the program, which kernels read as they read a variable;
// constants of fewer numbers are part of a kernel's code.
bool IsTable(mlir::Operation* op) {
  mlir::DenseElementsAttr elements;
  return mlir::matchPattern(op, mlir::m_Constant(&elements)) && !elements.isSplat() &&
         elements.getNumElements() >= kMinTable;
}

bool IsReshape(mlir::Operation* op) { return op->getName().getStringRef() == "td.reshape"; }

// True for a cast whose operand has smaller elements in memory than its result.
bool IsWidening(mlir::Operation* op) {
  const auto bits = [](mlir::Value v) { return TypeOf(v).getElementTypeBitWidth(); };
  return mlir::isa<td::CastOp>(op) && bits(op->getOperand(0)) < bits(op->getResult(0));
}

}  // namespace

FusionClusters::FusionClusters(mlir::Block& block, bool costly_launches) : costly_launches_(costly_launches) {
  Classify(block);
  ChooseInlined();
  Connect();
  for (unsigned i = 0; i < nodes_.size(); ++i) {
    nodes_[i].parent = i;
    members_.push_back({i});
  }
  seen_.resize(nodes_.size());
  MergeProducers();
  MergeSiblings();
  // If two windowed ops have come into one cluster, an op that both read can now join them.
  MergeProducers();
}

void FusionClusters::MergeSiblings() {
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> readers;
  std::vector<mlir::Value> order;
  for (unsigned i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].member) continue;
    // Updates of variables stay apart: td-group-updates groups launches of the same kernel.
    if (!nodes_[i].batched && (!costly_launches_ || nodes_[i].tied)) continue;
    const auto add = [&](mlir::Value key) {
      if (!readers.count(key)) order.push_back(key);
      readers[key].push_back(i);
    };
    // An op on single numbers costs little but its launch, so all of them count as siblings, whatever they read.
    const bool number = !nodes_[i].batched && TypeOf(nodes_[i].op->getResult(0)).getRank() == 0;
    if (number && nodes_[i].elementwise) add(mlir::Value());
    for (mlir::Value leaf : nodes_[i].leaves) {
      // Reading the same single number (or, with a batch, the same unbatched value) is not enough to be siblings.
      if (nodes_[i].batched ? !td::IsBatched(leaf.getType()) : SizeOf(leaf) == 1) continue;
      add(leaf);
    }
  }
  for (mlir::Value leaf : order) {
    const auto& all = readers[leaf];
    for (unsigned i = 0; i < all.size(); ++i) {
      for (unsigned k = i + 1; k < all.size(); ++k) TryMerge(all[i], all[k]);
    }
  }
}

void FusionClusters::MergeProducers() {
  // Goes from the last op to the first, so that all consumers of a producer are in clusters before it is considered.
  for (unsigned p = nodes_.size(); p-- > 0;) {
    if (!nodes_[p].member) continue;
    for (unsigned c : nodes_[p].users) {
      if (nodes_[c].member) TryMerge(p, c);
    }
  }
}

void FusionClusters::Classify(mlir::Block& block) {
  for (mlir::Operation& op : block) {
    Node node;
    node.op = &op;
    const td::FusionKind kind = td::FusionKindOf(&op);
    node.fusible =
        kind != td::FusionKind::kNone && op.getNumResults() > 0 && !IsTable(&op) && !IsTopLevelView(block, &op);
    if (node.fusible) {
      bool batched_operand = llvm::any_of(op.getOperandTypes(), td::IsBatched);
      bool batched_result = llvm::all_of(op.getResultTypes(), td::IsBatched);
      node.batched = batched_operand || batched_result;
      node.batch_reduce = IsBatchReduce(&op);
      if (batched_operand && !batched_result && (!node.batch_reduce || op.getNumResults() > 1)) node.fusible = false;
      node.row_reduce = kind == td::FusionKind::kReduce && !node.batch_reduce;
      node.window = kind == td::FusionKind::kWindow && !node.batch_reduce;
      node.elementwise = kind == td::FusionKind::kElementwise;
      node.result_size = SizeOf(op.getResult(0));
      if (auto tied = mlir::dyn_cast<td::TiedOp>(op)) node.tied = tied.getTiedOperand(0) >= 0;
    }
    if (node.fusible) node.weight = WeightOf(&op);
    index_[&op] = nodes_.size();
    nodes_.push_back(std::move(node));
  }
}

// True if `op` is a reshape without batch at the top level that remains a view of memory, so that kernels have it as an
// operand. The kernel that computes the tensor then has one shape and can be flat, and so can the update of a variable
// by a gradient of another shape. A reshape of a constant is no view: it is computed where it is read.
bool FusionClusters::IsTopLevelView(mlir::Block& block, mlir::Operation* op) const {
  if (!IsReshape(op) || td::IsBatched(op->getResult(0).getType())) return false;
  if (!mlir::isa<mlir::func::FuncOp>(block.getParentOp())) return false;
  const int def = Find(op->getOperand(0));
  if (def < 0 || !nodes_[def].fusible) return true;
  return !IsConstant(nodes_[def].op);
}

int FusionClusters::Find(mlir::Value value) const {
  mlir::Operation* op = value.getDefiningOp();
  auto it = op ? index_.find(op) : index_.end();
  return it == index_.end() ? -1 : static_cast<int>(it->second);
}

void FusionClusters::Expand(mlir::Value value, llvm::SmallVectorImpl<mlir::Value>& leaves) const {
  int def = Find(value);
  if (def < 0 || !nodes_[def].inlined) {
    if (!llvm::is_contained(leaves, value)) leaves.push_back(value);
    return;
  }
  for (mlir::Value operand : nodes_[def].op->getOperands()) Expand(operand, leaves);
}

bool FusionClusters::ReadsAgain(const Node& window, unsigned operand) {
  const int64_t reads = window.weight.reads.empty() ? 1 : window.weight.reads[operand];
  return 2 * reads * window.result_size > 3 * SizeOf(window.op->getOperand(operand));
}

// If a padding were computed inside a window, the code would test for every element whether it lies outside, which
// keeps loops from being vectorized.
bool FusionClusters::IsReadByWindows(mlir::Operation* op) const {
  return !costly_launches_ && llvm::any_of(op->getUses(), [&](mlir::OpOperand& use) {
    const auto it = index_.find(use.getOwner());
    return it != index_.end() && nodes_[it->second].window && ReadsAgain(nodes_[it->second], use.getOperandNumber());
  });
}

void FusionClusters::ChooseInlined() {
  for (Node& node : nodes_) {
    if (!node.fusible) continue;
    node.cumulative = node.weight.ops;
    for (mlir::Value operand : node.op->getOperands()) {
      int def = Find(operand);
      if (def >= 0 && nodes_[def].inlined) node.cumulative += nodes_[def].cumulative;
    }
    const td::FusionKind kind = td::FusionKindOf(node.op);
    bool cheap = node.cumulative <= kCheap && !node.tied;
    if (IsConstant(node.op)) {
      node.inlined = true;
    } else if (kind == td::FusionKind::kInjective) {
      node.inlined = node.weight.ops <= kCheap && !(mlir::isa<td::PadOp>(node.op) && IsReadByWindows(node.op));
    } else if (kind == td::FusionKind::kElementwise && cheap && node.batched) {
      bool stored_anyway = llvm::any_of(node.op->getUsers(), [&](mlir::Operation* user) {
        auto it = index_.find(user);
        return it == index_.end() || !nodes_[it->second].fusible;
      });
      llvm::SmallVector<mlir::Value> leaves;
      for (mlir::Value operand : node.op->getOperands()) Expand(operand, leaves);
      int large = llvm::count_if(
          leaves, [&](mlir::Value v) { return td::IsBatched(v.getType()) && 2 * SizeOf(v) >= node.result_size; });
      node.inlined = !stored_anyway && large <= 1;
    }
  }
  // Inlining an elementwise op pays if several ops then read its one large operand instead of its result. It pays for
  // an op with one user only if that user is inlined too; otherwise the op is an ordinary member of the user's cluster.
  for (Node& node : llvm::reverse(nodes_)) {
    if (!node.inlined || !node.elementwise || !node.op->hasOneUse()) continue;
    const Node& user = nodes_[index_[*node.op->user_begin()]];
    node.inlined = user.inlined && user.elementwise;
  }
  for (Node& node : nodes_) {
    if (!node.fusible || IsConstant(node.op)) continue;
    node.member = !node.inlined;
    if (!node.inlined) continue;
    for (mlir::Operation* user : node.op->getUsers()) {
      auto it = index_.find(user);
      node.member |= it == index_.end() || !nodes_[it->second].fusible;
    }
    // A reshape of a value that no kernel computes is a view of the same memory, so it is in no cluster.
    if (!IsReshape(node.op)) continue;
    int def = Find(node.op->getOperand(0));
    if (def < 0 || !nodes_[def].fusible || (IsReshape(nodes_[def].op) && !nodes_[def].member)) node.member = false;
  }
}

void FusionClusters::Connect() {
  for (unsigned i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    bool only_inlined = node.fusible && !node.member && llvm::all_of(node.op->getUsers(), [&](mlir::Operation* user) {
                          auto it = index_.find(user);
                          return it != index_.end() && nodes_[it->second].fusible;
                        });
    if (only_inlined) continue;
    auto read = [&](mlir::Value v) {
      if (node.member) {
        Expand(v, node.leaves);
      } else if (!llvm::is_contained(node.leaves, v)) {
        node.leaves.push_back(v);
      }
    };
    for (mlir::Value operand : node.op->getOperands()) read(operand);
    // Values from outside that the op's regions use are operands too.
    for (mlir::Region& region : node.op->getRegions()) {
      region.walk([&](mlir::Operation* inner) {
        for (mlir::Value v : inner->getOperands()) {
          if (Find(v) >= 0) read(v);
        }
      });
    }
    for (mlir::Value leaf : node.leaves) {
      int def = Find(leaf);
      if (def >= 0 && !llvm::is_contained(nodes_[def].users, i)) nodes_[def].users.push_back(i);
    }
  }
  // An op that only has an effect (a check) is a border, across which no op may move: it depends on all ops before it,
  // and all ops behind it depend on it.
  for (unsigned i = 0; i < nodes_.size(); ++i) {
    if (!IsBorder(nodes_[i].op)) continue;
    for (unsigned k = 0; k < nodes_.size(); ++k) {
      if (k < i && !llvm::is_contained(nodes_[k].users, i)) nodes_[k].users.push_back(i);
      if (k > i) nodes_[i].users.push_back(k);
    }
  }
}

bool FusionClusters::IsBorder(mlir::Operation* op) {
  return op->getNumResults() == 0 && !op->hasTrait<mlir::OpTrait::IsTerminator>();
}

unsigned FusionClusters::Root(unsigned node) {
  while (nodes_[node].parent != node) node = nodes_[node].parent = nodes_[nodes_[node].parent].parent;
  return node;
}

bool FusionClusters::MakesCycle(unsigned a, unsigned b) {
  // Searches for a path that leaves the union of both clusters and comes back into it through another cluster.
  ++search_;
  llvm::SmallVector<unsigned, 64> work;
  auto push = [&](unsigned cluster, bool start) {
    for (unsigned m : members_[cluster]) {
      for (unsigned user : nodes_[m].users) {
        unsigned next = Root(user);
        if (start && (next == a || next == b)) continue;
        if (std::exchange(seen_[next], search_) != search_) work.push_back(next);
      }
    }
  };
  push(a, true);
  push(b, true);
  while (!work.empty()) {
    unsigned cluster = work.back();
    work.pop_back();
    if (cluster == a || cluster == b) return true;
    push(cluster, false);
  }
  return false;
}

bool FusionClusters::ReadsMembers(const Node& node, const std::vector<unsigned>& members) const {
  return llvm::any_of(node.leaves, [&](mlir::Value leaf) {
    const int def = Find(leaf);
    return def >= 0 && llvm::is_contained(members, static_cast<unsigned>(def));
  });
}

bool FusionClusters::LeavesCluster(const Node& node, const std::vector<unsigned>& members) const {
  return llvm::any_of(node.users, [&](unsigned user) {
    return !llvm::is_contained(members, user) &&
           llvm::any_of(nodes_[user].leaves, [&](mlir::Value leaf) { return leaf.getDefiningOp() == node.op; });
  });
}

const char* FusionClusters::Incompatible(const std::vector<unsigned>& members) {
  if (members.size() > kMaxMembers) return "together they would have too many ops for one kernel";
  unsigned tied = 0;
  std::set<void*> buffers;
  for (unsigned m : members) {
    const Node& node = nodes_[m];
    tied += node.tied;
    if (node.batched != nodes_[members[0]].batched)
      return "one runs over the rows of the batch, the other once per step";
    for (mlir::Value leaf : node.leaves) {
      int def = Find(leaf);
      if (def < 0 || !llvm::is_contained(members, static_cast<unsigned>(def)))
        buffers.insert(leaf.getAsOpaquePointer());
    }
    if (LeavesCluster(node, members)) buffers.insert(node.op);
  }
  if (tied > 1) return "each updates a variable of its own";
  if (buffers.size() > kMaxKernelBuffers) return "together they would read and write too many buffers for one kernel";
  return nodes_[members[0]].batched ? IncompatibleBatched(members) : IncompatibleStatic(members);
}

const char* FusionClusters::IncompatibleStatic(const std::vector<unsigned>& members) {
  const Node* reduce = nullptr;
  unsigned scalars = 0;
  for (unsigned m : members) {
    const Node& node = nodes_[m];
    if (node.row_reduce) {
      if (reduce != nullptr) return "a kernel without batch holds one reduction";
      reduce = &node;
    } else {
      scalars += TypeOf(node.op->getResult(0)).getRank() == 0;
    }
  }
  if (reduce != nullptr) {
    // A kernel with a reduction without batch runs on one thread. Only ops whose results no other kernel reads join it.
    if (scalars != 0) return "scalars stay apart from a reduction of a large tensor";
    const bool alone =
        llvm::all_of(members, [&](unsigned m) { return &nodes_[m] == reduce || !LeavesCluster(nodes_[m], members); });
    return alone ? nullptr : "a reduction without batch runs on one thread, and another kernel needs what it reads";
  }
  if (scalars != 0) return scalars == members.size() ? nullptr : "scalars stay apart from tensors";
  auto shape = TypeOf(nodes_[members[0]].op->getResult(0)).getShape();
  const bool flat = llvm::all_of(members, [&](unsigned m) {
    return nodes_[m].elementwise && TypeOf(nodes_[m].op->getResult(0)).getShape() == shape;
  });
  return flat ? nullptr : "without a batch only elementwise ops of one shape share a kernel";
}

const char* FusionClusters::IncompatibleBatched(const std::vector<unsigned>& members) {
  bool rows = false, windows = false, sums = false, plain_sums = true, same_size = true;
  int64_t size = -1, largest = 1, taps = 0, columns = -1;
  bool same_columns = true;
  auto agree = [&](int64_t n) {
    same_size &= size < 0 || size == n;
    size = n;
  };
  for (unsigned m : members) {
    const Node& node = nodes_[m];
    largest = std::max(largest, node.result_size);
    rows |= node.row_reduce;
    windows |= node.window;
    if (node.row_reduce && SizeOf(node.op->getOperand(0)) > kMaxRow)
      return members.size() == 1 ? nullptr : "a row that is reduced is too large to be kept between stages";
    if (node.batch_reduce) {
      sums = true;
      const std::optional<Reduction> reduction = ReductionOf(node.op);
      plain_sums &= reduction && reduction->axes.size() == 1;
      const int64_t kept = reduction ? ColumnsOf(node.op, *reduction) : 1;
      same_size &= kept > 1;
      same_columns &= columns < 0 || columns == kept;
      columns = kept;
      taps += reduction ? reduction->taps : 0;
      agree(SizeOf(node.op->getOperand(0)));
      largest = std::max(largest, SizeOf(node.op->getOperand(0)));
    } else if (LeavesCluster(node, members)) {
      agree(node.result_size);
    }
    for (unsigned operand = 0; operand < node.op->getNumOperands(); ++operand) {
      llvm::SmallVector<mlir::Value> leaves;
      Expand(node.op->getOperand(operand), leaves);
      for (mlir::Value leaf : leaves) {
        int def = Find(leaf);
        if (def < 0 || !llvm::is_contained(members, static_cast<unsigned>(def))) continue;
        const Node& producer = nodes_[def];
        if (producer.batch_reduce) return "it reads a sum over the batch, which is known when all rows are done";
        if (!node.window) continue;
        if (ReadsAgain(node, operand) &&
            !(costly_launches_ && IsWidening(producer.op) && !ReadsMembers(producer, members)))
          return "windows that overlap would compute what they read several times";
        if (LeavesCluster(producer, members)) return "another kernel needs what the windows read";
      }
    }
  }
  if (rows && windows) return "reductions of rows and windows do not share a kernel";
  if (!sums) return nullptr;
  if (taps > 0 && !same_columns) return "sums of taps share a kernel with sums for the same columns only";
  if (taps > kMaxTaps && members.size() > 1) return "together they would sum up too many taps for one kernel";
  if (!rows && same_size) return nullptr;
  if (!plain_sums) return "sums over the batch and pixels share a kernel with results of the same size only";
  return largest <= kMaxRow ? nullptr : "a row that is summed over the batch is too large to be kept between stages";
}

bool FusionClusters::TryMerge(unsigned a, unsigned b) {
  a = Root(a);
  b = Root(b);
  if (a == b) return true;
  std::vector<unsigned> both = members_[a];
  both.insert(both.end(), members_[b].begin(), members_[b].end());
  std::sort(both.begin(), both.end());
  if (Incompatible(both) != nullptr || MakesCycle(a, b)) return false;
  nodes_[b].parent = a;
  members_[a] = std::move(both);
  members_[b].clear();
  return true;
}

std::string FusionClusters::WhyApart(mlir::Operation* producer, mlir::Operation* consumer) {
  if (IsTable(producer)) return "constants of many numbers are data that kernels read";
  for (mlir::Operation* op : {producer, consumer}) {
    auto it = index_.find(op);
    if (it != index_.end() && nodes_[it->second].fusible) continue;
    return absl::StrCat(op->getName().getStringRef().str(), " is no op of a generated kernel");
  }
  const unsigned p = index_[producer], c = index_[consumer];
  // The producer is computed again in every kernel that reads it.
  if (nodes_[p].inlined && !nodes_[p].member) return "";
  if (nodes_[c].inlined && !nodes_[c].member) {
    // The consumer is inlined into the kernels of its users. It is apart from the producer if none of them has both.
    std::string why;
    for (mlir::Operation* user : consumer->getUsers()) {
      if (user->getBlock() != consumer->getBlock()) continue;
      why = WhyApart(producer, user);
      if (why.empty()) return "";
    }
    return why;
  }
  if (!nodes_[p].member || !nodes_[c].member) return "a reshape of what no kernel makes is a view of the same memory";
  const unsigned a = Root(p), b = Root(c);
  if (a == b) return "";
  std::vector<unsigned> both = members_[a];
  both.insert(both.end(), members_[b].begin(), members_[b].end());
  std::sort(both.begin(), both.end());
  if (const char* reason = Incompatible(both)) return reason;
  return MakesCycle(a, b) ? "a value leaves the kernel and comes back through another op"
                          : "they would fit together only now that other ops have joined (kernels grow once)";
}

std::vector<std::vector<mlir::Operation*>> FusionClusters::Clusters() {
  std::vector<std::vector<unsigned>> sorted;
  for (const auto& members : members_) {
    if (!members.empty() && nodes_[members[0]].member) sorted.push_back(members);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::vector<mlir::Operation*>> clusters;
  for (const auto& members : sorted) {
    clusters.emplace_back();
    for (unsigned m : members) clusters.back().push_back(nodes_[m].op);
  }
  return clusters;
}

bool FusionClusters::IsInlined(mlir::Operation* op) const {
  auto it = index_.find(op);
  return it != index_.end() && nodes_[it->second].inlined;
}

bool FusionClusters::IsOutput(mlir::Value value) {
  int def = Find(value);
  if (def < 0) return false;
  return llvm::any_of(nodes_[def].users, [&](unsigned user) {
    return Root(user) != Root(def) && llvm::is_contained(nodes_[user].leaves, value);
  });
}

}  // namespace tandem
