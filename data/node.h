// The stages that a Dataset is made of.
//
// Order and contents are kept apart. A *token* names an element without holding it: the source's row, or the rows of a
// batch. A stage's TokenIterator *draws* tokens, which decides the order, costs nanoseconds and has little state.
// Materialize makes the element of a token; it is a pure function and may run in any thread. So a shuffle buffer and
// prefetched elements are saved as tokens, a restore never reads the data again from its beginning, and a batch is
// gathered from the source's rows directly.
//
// Some orders depend on contents: where a record of a file ends, whether a filter keeps an element, which data set
// FlatMap puts in an element's place. Such a stage reads the contents while it draws, and its tokens are still places:
// a file and an offset, the child's token, the token of the outer element and one of the inner data set. What it has
// read or made while drawing travels with the token as a *payload*, so that the work is not done twice. A payload is
// never saved: Materialize makes the same element without it, from the place. A place where the data is broken has a
// token too, and Materialize returns the error. So errors come in order, concern one element, and are the same after a
// restore.
#ifndef TANDEM_DATA_NODE_H_
#define TANDEM_DATA_NODE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/source_location.h"
#include "data/element.h"
#include "data/epoch.h"
#include "data/stage_times.h"
#include "data/state_codec.h"

namespace tandem::data_internal {

// Data that a stage attaches to a token for its own Materialize, such as the record that it has read. Later stages pass
// it on.
class Payload;
using PayloadPtr = std::shared_ptr<const Payload>;
class Payload {
 public:
  virtual ~Payload() = default;
  // Returns what a buffer of tokens should hold of `self`, which is this payload: itself, a smaller replacement, or
  // null; with null the element is made from its token again. `room` is how many more bytes the buffer takes of data
  // that could be read again.
  virtual PayloadPtr ForBuffer(const PayloadPtr& self, int64_t room) const { return self; }
  // How many bytes of the buffer's budget this payload takes. The budget is for data that could be read again.
  virtual int64_t bytes_in_buffer() const { return 0; }
};

// The payload of a token that consists of several tokens, such as a batch: their payloads, in the same order. Some may
// be null.
class RowPayloads : public Payload {
 public:
  PayloadPtr ForBuffer(const PayloadPtr& self, int64_t room) const override;
  int64_t bytes_in_buffer() const override;

  std::vector<PayloadPtr> rows;
};

// The first and the last pass that an element has examples of; passes are those over the dataset that the last Repeat
// repeats. The numbers grow from pass to pass and can be compared within one iterator.
struct PassRange {
  int64_t first = 0, last = 0;
};

// Draws the tokens of a stage's elements, in order. A token is Node::token_width() numbers. Every call refers to the
// current pass, which begins with construction or Restart.
class TokenIterator {
 public:
  virtual ~TokenIterator() = default;

  // Writes the next token, or returns false at the end, and again in every later call. A stage whose tokens have
  // payloads sets *payload, which is null before the call; `payload` is null if the caller wants none.
  virtual bool Next(int64_t* token, PayloadPtr* payload) = 0;
  // Skips the next `n` tokens; false at the end. `scratch` has room for a token.
  virtual bool Advance(int64_t n, int64_t* scratch) {
    for (int64_t i = 0; i < n; ++i) {
      if (!Next(scratch, nullptr)) return false;
    }
    return true;
  }
  // Begins the next pass (epoch).
  virtual void Restart() = 0;
  // The passes of the last token that Next has written. Without a Repeat there is one pass. A stage that reads ahead
  // returns the passes of the elements that it has read, not of those that it has returned.
  virtual PassRange passes() const { return {}; }

  virtual void Save(StateWriter* writer) const = 0;
  // Returns false when the state is invalid; the iterator must not be used afterwards.
  virtual bool Restore(StateReader* reader) = 0;
};

// How many threads make elements ahead, and how many elements they make (`window`), as the stages request it. With 0
// threads, GetNext does all work.
struct Parallelism {
  int threads = 0;        // largest number of threads
  int fixed_threads = 0;  // threads that run from the start; the others start when the consumer has to wait
  int64_t window = 0;
  bool adapt_window = false;
};

// Combines the requests of two stages: the larger number of each kind.
Parallelism Larger(const Parallelism& a, const Parallelism& b);
// Adds to `p` the threads that a stage with this num_parallel_calls requests; for 1 it adds none.
Parallelism WithCalls(Parallelism p, int num_parallel_calls);
// InvalidArgument for a num_parallel_calls that is negative or too large.
absl::Status CheckParallelCalls(int num_parallel_calls);

// The most numbers that a token may have. Stages that make batches return an error for more.
constexpr int64_t kMaxTokenWidth = int64_t{1} << 28;

// The facts about a stage's elements.
struct NodeInfo {
  std::vector<ComponentSpec> spec;
  int64_t batch_size = 0;     // 0 if elements are not batches
  bool full_batches = false;  // true if every batch has batch_size rows
  SourceLocation batched_at;  // source line of the last Batch
  int64_t cardinality = 0;    // number of elements, or kInfiniteCardinality or kUnknownCardinality
  // Length of an epoch of the last Repeat. It has kUnknownCardinality elements if it is unknown, and 0 without a
  // Repeat.
  EpochLength epoch;
  bool repeats = false;  // true if there is a Repeat
  int64_t token_width = 1;
  bool has_payloads = false;  // true if tokens may have payloads
  // True if an element cannot be made again from its token alone, so that no later stage may buffer tokens.
  bool needs_payload = false;
  bool costly_order = false;   // true if drawing a token reads files or calls user functions
  int64_t source_bytes = 0;    // bytes of the tensors in memory that the sources refer to
  int shuffles = 0;            // number of Shuffle stages so far, which makes their random streams differ
  std::string cache_settings;  // settings of all stages so far: data/cache_settings.h
  StageList stages;            // all stages from the sources to this one, with their measured times
  StageList sources;  // the sources among `stages`, without those of data sets that FlatMap and Interleave make
};

// Called by a stage that drops some elements: a finite cardinality becomes unknown, and an infinite one stays infinite.
void ForgetCardinality(NodeInfo* info);
// Called by a stage whose number of elements per epoch is unknown. A later Repeat sets it from the cardinality.
void ForgetEpoch(NodeInfo* info);
// Called by a stage that makes one element of every `n` elements: divides the epoch's length.
void ShortenEpoch(NodeInfo* info, int64_t n);

// One stage, with references to the stages before it. Immutable. TokenIterators point into it and must not outlive it.
class Node {
 public:
  explicit Node(NodeInfo info);
  virtual ~Node() = default;

  const NodeInfo& info() const { return info_; }
  // Names of the components in the spec.
  const ComponentNames& names() const { return names_; }
  int64_t token_width() const { return info_.token_width; }

  virtual std::unique_ptr<TokenIterator> MakeTokens() const = 0;
  // False for a stage that does not change the order, whose MakeTokens returns the child's iterator.
  virtual bool makes_order() const { return true; }
  // Makes the element of a token. `payload` came with the token, or is null.
  virtual absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const = 0;
  // As Materialize, but also attaches the components' names, because a user's function may ask for a component by name.
  absl::Status MaterializeNamed(const int64_t* token, const Payload* payload, Element* out) const {
    absl::Status status = Materialize(token, payload, out);
    out->names = names_;
    return status;
  }
  // Stacks the elements of `count` >= 1 adjacent tokens along a new dimension 0. `payloads` has one entry for each
  // token, or is null. An error of the stacking itself names `location`, the source line of the Batch.
  virtual absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                                       SourceLocation location, Element* out) const;
  // Returns the number of rows of the token's batch if it is known without making the batch, otherwise -1.
  virtual int64_t Rows(const int64_t* token) const { return -1; }
  // True if some rows of a batch can be made without the other rows. Then MaterializeRange makes the `count` >= 1 rows
  // from row `first` on. They must be within the batch, whose number of rows Rows must return.
  virtual bool makes_ranges() const { return false; }
  virtual absl::Status MaterializeRange(const int64_t* token, const Payload* payload, int64_t first, int64_t count,
                                        Element* out) const {
    return absl::InternalError("rows of a batch are asked for that are made with all others only");
  }
  // Returns false for a token that Next could never write. Tokens from a saved state may be anything.
  virtual bool ValidToken(const int64_t* token) const = 0;
  virtual Parallelism parallelism() const { return {}; }
  // Describes the element of a token for messages: "element 17 of the source".
  virtual std::string Describe(const int64_t* token) const = 0;
  // Describes row `row` of the token's batch.
  virtual std::string DescribeRow(const int64_t* token, int64_t row) const {
    return absl::StrCat("row ", row, " of ", Describe(token));
  }
  // Describes everything that a saved state depends on, from the source to this stage. Positions count the elements
  // that go into batches, so they depend on the batch size only where a later stage counts or buffers whole batches.
  // Such a stage calls its child with `batch_sizes` true; the other stages pass on their own argument.
  virtual std::string Signature(bool batch_sizes) const = 0;
  // See Dataset::Fingerprint.
  virtual std::string Fingerprint() const = 0;

 private:
  NodeInfo info_;
  ComponentNames names_;
};

// Returns the error "file.cc:12: Batch: message", with the code and payloads of `status`.
absl::Status Annotate(const absl::Status& status, absl::string_view op, SourceLocation location);

// Throws if `status` says that memory ran out. It is for elements on which the order of the following elements depends,
// so that no element can follow.
void ThrowIfOutOfMemory(const absl::Status& status);

// Returns draw(), or an error if draw() threw because memory ran out or *stop was set.
absl::StatusOr<bool> CatchDrawErrors(absl::FunctionRef<bool()> draw, const std::atomic<bool>* stop = nullptr);
// Throws if the *stop flag of this thread's current CatchDrawErrors is set. Loops that may skip elements for ever call
// it.
void ThrowIfStopped();

// Draws the first token and its payload. Returns false if the stage has no elements.
absl::StatusOr<bool> FirstToken(const Node& node, std::vector<int64_t>* token, PayloadPtr* payload);

using NodePtr = std::shared_ptr<const Node>;

// Base of stages that only reorder or select elements, so that their tokens are their child's.
class OrderNode : public Node {
 public:
  OrderNode(NodePtr child, NodeInfo info) : Node(std::move(info)), child_(std::move(child)) {}

  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    return child_->Materialize(token, payload, out);
  }
  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                               SourceLocation location, Element* out) const override {
    return child_->MaterializeRows(tokens, payloads, count, location, out);
  }
  int64_t Rows(const int64_t* token) const override { return child_->Rows(token); }
  bool makes_ranges() const override { return child_->makes_ranges(); }
  absl::Status MaterializeRange(const int64_t* token, const Payload* payload, int64_t first, int64_t count,
                                Element* out) const override {
    return child_->MaterializeRange(token, payload, first, count, out);
  }
  bool ValidToken(const int64_t* token) const override { return child_->ValidToken(token); }
  std::string Describe(const int64_t* token) const override { return child_->Describe(token); }
  std::string DescribeRow(const int64_t* token, int64_t row) const override { return child_->DescribeRow(token, row); }
  Parallelism parallelism() const override { return child_->parallelism(); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }

 protected:
  const NodePtr child_;
};

// Base of stages that make one new element of each element, in up to `num_parallel_calls` calls at a time. The order
// and the tokens are the child's.
class ElementNode : public Node {
 public:
  ElementNode(NodePtr child, NodeInfo info, int num_parallel_calls)
      : Node(std::move(info)), child_(std::move(child)), num_parallel_calls_(num_parallel_calls) {}

  std::unique_ptr<TokenIterator> MakeTokens() const override { return child_->MakeTokens(); }
  bool makes_order() const override { return false; }
  int64_t Rows(const int64_t* token) const override { return child_->Rows(token); }
  bool ValidToken(const int64_t* token) const override { return child_->ValidToken(token); }
  std::string Describe(const int64_t* token) const override { return child_->Describe(token); }
  std::string DescribeRow(const int64_t* token, int64_t row) const override { return child_->DescribeRow(token, row); }
  Parallelism parallelism() const override { return WithCalls(child_->parallelism(), num_parallel_calls_); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }

 protected:
  const NodePtr child_;

 private:
  const int num_parallel_calls_;
};

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_NODE_H_
