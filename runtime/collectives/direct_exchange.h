// All-reduce of large vectors in two hops: each part of a segment goes to its owner, and the owner's result to all.
#ifndef TANDEM_RUNTIME_COLLECTIVES_DIRECT_EXCHANGE_H_
#define TANDEM_RUNTIME_COLLECTIVES_DIRECT_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/collectives/gloo_exchange.h"
#include "runtime/collectives/vector_list.h"

namespace tandem {

// A segment of the vector is cut into parts, one for each rank, which owns it. Every rank that has values sends part p
// to rank p. That rank reduces the part in the order of the tree while it is in its cache, and sends the result to all.
// This moves the bytes of recursive halving and doubling in two hops instead of 2 log2(size), for any number of ranks.
// Several segments are exchanged at the same time, so that sums and both directions of the wire overlap.
class DirectExchange {
 public:
  // Messages use Gloo's slots (message tags) [slot, slot + 2^24). `on_result` is that of ProcessGroup::AllReduce.
  DirectExchange(GlooExchange* exchange, const VectorList* list, uint64_t slot,
                 const ProcessGroup::ResultFn& on_result);
  ~DirectExchange();

  // Memory that is reused from call to call.
  struct Scratch {
    std::vector<std::unique_ptr<std::byte[]>> received, packed;
  };
  absl::Status Run(Scratch* scratch);

 private:
  struct Segment;
  struct Flight;

  void MakeSegments();
  int64_t PartBegin(int64_t count, int part) const;
  absl::Status Start(int64_t segment);
  absl::Status Reduce(int64_t segment);
  absl::Status Finish(int64_t segment);
  Flight& FlightOf(int64_t segment);

  GlooExchange* const exchange_;
  const VectorList* const list_;
  const uint64_t slot_;
  const ProcessGroup::ResultFn& on_result_;
  Scratch* scratch_ = nullptr;
  std::vector<Segment> segments_;
  std::vector<Flight> flights_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_DIRECT_EXCHANGE_H_
