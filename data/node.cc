#include "data/node.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/out_of_memory.h"
#include "base/processors.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "data/dataset.h"

namespace tandem::data_internal {

namespace {

// The stop flag of the draw that this thread is in, or null. A draw is a call that determines the next element.
constinit thread_local const std::atomic<bool>* stop_of_draw = nullptr;

// The exception that ends a draw. Copying it allocates no memory.
struct DrawError : std::bad_alloc {
  explicit DrawError(absl::Status status) : status(std::move(status)) {}
  absl::Status status;
};

// Stacks the strings of `rows`, tensors of one shape, along a new dimension 0.
HostTensor StackStrings(const std::vector<HostTensor>& rows) {
  std::vector<absl::string_view> strings;
  for (const HostTensor& row : rows) {
    for (int64_t i = 0; i < row.num_elements(); ++i) strings.push_back(row.string(i));
  }
  Shape shape = rows[0].shape();
  shape.insert(shape.begin(), static_cast<int64_t>(rows.size()));
  return HostTensor::FromStrings(std::move(shape), absl::MakeConstSpan(strings));
}

}  // namespace

Node::Node(NodeInfo info) : info_(std::move(info)) {
  std::vector<std::string> names;
  for (const ComponentSpec& component : info_.spec) names.push_back(component.name);
  names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
}

PayloadPtr RowPayloads::ForBuffer(const PayloadPtr&, int64_t room) const {
  auto kept = std::make_shared<RowPayloads>();
  bool any = false;
  for (const PayloadPtr& row : rows) {
    const PayloadPtr& part = kept->rows.emplace_back(row == nullptr ? nullptr : row->ForBuffer(row, room));
    if (part == nullptr) continue;
    room -= part->bytes_in_buffer();
    any = true;
  }
  return any ? kept : nullptr;
}

int64_t RowPayloads::bytes_in_buffer() const {
  int64_t bytes = 0;
  for (const PayloadPtr& row : rows) bytes += row == nullptr ? 0 : row->bytes_in_buffer();
  return bytes;
}

void ForgetCardinality(NodeInfo* info) {
  if (info->cardinality > 0) info->cardinality = kUnknownCardinality;
}

void ForgetEpoch(NodeInfo* info) {
  if (info->epoch.elements != 0) info->epoch = {.elements = kUnknownCardinality};
}

void ShortenEpoch(NodeInfo* info, int64_t n) {
  if (info->epoch.elements <= 0) return;
  if (info->epoch.per > INT64_MAX / n) return ForgetEpoch(info);
  info->epoch.per *= n;
}

absl::Status Node::MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                                   SourceLocation location, Element* out) const {
  out->components.clear();
  std::vector<std::vector<HostTensor>> strings(info_.spec.size());  // the rows of each component of strings
  Element row;
  for (int64_t i = 0; i < count; ++i) {
    TD_RETURN_IF_ERROR(
        Materialize(tokens + i * token_width(), payloads == nullptr ? nullptr : payloads[i].get(), &row));
    for (size_t c = 0; c < row.components.size(); ++c) {
      const HostTensor& t = row.components[c];
      if (i == 0) {
        Shape shape = t.shape();
        shape.insert(shape.begin(), count);
        // Rows of strings are collected, and stacked when all are known.
        out->components.push_back(t.dtype() == DType::kString ? t : HostTensor(t.dtype(), std::move(shape)));
      }
      HostTensor& batch = out->components[c];
      const bool is_string = batch.dtype() == DType::kString;
      absl::Span<const int64_t> row_shape = absl::MakeConstSpan(batch.shape()).subspan(is_string ? 0 : 1);
      if (t.dtype() != batch.dtype() || row_shape != absl::MakeConstSpan(t.shape())) {
        return Annotate(absl::InvalidArgumentError(absl::StrCat(
                            "component '", info_.spec[c].name, "' is ", Name(t.dtype()), ShapeString(t.shape()),
                            " in row ", i, " and ", Name(batch.dtype()), ShapeString(row_shape),
                            " in row 0; bring all elements to one shape before, or use PaddedBatch")),
                        "Batch", location);
      }
      if (is_string) {
        strings[c].push_back(t);
      } else if (t.byte_size() > 0) {
        std::memcpy(static_cast<uint8_t*>(batch.raw()) + i * t.byte_size(), t.raw(), t.byte_size());
      }
    }
  }
  for (size_t c = 0; c < strings.size(); ++c) {
    if (!strings[c].empty()) out->components[c] = StackStrings(strings[c]);
  }
  return absl::OkStatus();
}

Parallelism Larger(const Parallelism& a, const Parallelism& b) {
  return {std::max(a.threads, b.threads), std::max(a.fixed_threads, b.fixed_threads), std::max(a.window, b.window),
          a.adapt_window || b.adapt_window};
}

Parallelism WithCalls(Parallelism p, int num_parallel_calls) {
  const bool automatic = num_parallel_calls == kAuto;
  const int threads = automatic ? UsableProcessors() : num_parallel_calls;
  if (threads <= 1) return p;
  return Larger(p, {threads, automatic ? 0 : threads, automatic ? 1 : threads, false});
}

absl::Status CheckParallelCalls(int num_parallel_calls) {
  if (num_parallel_calls < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_parallel_calls must be >= 0 (0 = automatic), got ", num_parallel_calls));
  }
  return CheckThreadCount("num_parallel_calls", num_parallel_calls);
}

absl::Status Annotate(const absl::Status& status, absl::string_view op, SourceLocation location) {
  return tandem::Annotate(status, absl::StrCat(location.file, ":", location.line, ": ", op, ": "));
}

void ThrowIfOutOfMemory(const absl::Status& status) {
  if (IsOutOfMemory(status)) throw DrawError(status);
}

void ThrowIfStopped() {
  if (stop_of_draw != nullptr && *stop_of_draw) throw DrawError(absl::CancelledError("the iterator is destroyed"));
}

absl::StatusOr<bool> CatchDrawErrors(absl::FunctionRef<bool()> draw, const std::atomic<bool>* stop) {
  constexpr absl::string_view kWhere = "the input pipeline";
  // A draw within user functions that this draw calls (when they make datasets) is not stopped by this flag, because
  // others may use its result.
  const absl::Cleanup restore = [outer = std::exchange(stop_of_draw, stop)] { stop_of_draw = outer; };
  return CatchResourceErrors(kWhere, [&]() -> absl::StatusOr<bool> {
    try {
      return draw();
    } catch (const DrawError& error) {
      return tandem::Annotate(error.status, absl::StrCat(kWhere, ": "));
    }
  });
}

absl::StatusOr<bool> FirstToken(const Node& node, std::vector<int64_t>* token, PayloadPtr* payload) {
  token->resize(node.token_width());
  if (node.info().cardinality == 0) return false;
  return CatchDrawErrors([&] { return node.MakeTokens()->Next(token->data(), payload); });
}

}  // namespace tandem::data_internal
