#include "runtime/cpu/commands/shorter_calls.h"

#include <bit>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/library_calls/fewer_rows.h"

namespace tandem {

ShorterCalls::ShorterCalls(const format::LibraryCall& call, int64_t rows, const OneDnnPrimitive& whole, int num_threads)
    : call_(call),
      rows_(rows),
      whole_(whole),
      num_threads_(num_threads),
      entries_(std::bit_width(static_cast<uint64_t>(rows - 1))) {}

ShorterCalls::Choice ShorterCalls::For(int64_t rows, uint64_t scratch_bytes) const {
  for (size_t i = std::bit_width(static_cast<uint64_t>(rows - 1)); i < entries_.size(); ++i) {
    const int64_t computed = int64_t{1} << i;
    const OneDnnPrimitive* primitive = Get(entries_[i], computed);
    if (primitive != nullptr && primitive->scratch_bytes() <= scratch_bytes) return {primitive, computed};
  }
  return {&whole_, rows_};
}

const OneDnnPrimitive* ShorterCalls::Get(Entry& entry, int64_t rows) const {
  const State state = entry.state.load(std::memory_order_acquire);
  if (state != State::kUnknown) return state == State::kMade ? entry.primitive.get() : nullptr;
  std::lock_guard<std::mutex> lock(making_);
  if (entry.state.load(std::memory_order_relaxed) == State::kUnknown) {
    State made = State::kUnusable;
    if (const std::optional<format::LibraryCall> call = CallForRows(call_, rows_, rows)) {
      absl::StatusOr<std::unique_ptr<OneDnnPrimitive>> primitive = OneDnnPrimitive::Create(*call, num_threads_, call_);
      if (primitive.ok() && (*primitive)->implementation() == whole_.implementation()) {
        entry.primitive = *std::move(primitive);
        made = State::kMade;
      }
    }
    entry.state.store(made, std::memory_order_release);
  }
  return entry.primitive.get();
}

}  // namespace tandem
