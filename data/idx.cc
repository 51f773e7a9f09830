#include "data/idx.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "data/files/idx_format.h"
#include "data/files/inflate_stream.h"
#include "data/gzip_file.h"

namespace tandem {
namespace {

constexpr int64_t kChunk = 1 << 20;
// The bytes that are read while mutex_ is held, which takes an eighth of a millisecond. A thread that needs the first
// rows waits at most this much longer for the background thread.
constexpr int64_t kReadChunk = InflateStream::kBlockBytes;
// Open reads the data of files up to this size, in bytes, before it returns.
constexpr int64_t kReadAtOnce = 1 << 20;
// For a compressed file with up to this many bytes of data, memory is allocated as the header says, since untouched
// memory costs nothing. For a larger one, the data is counted first.
constexpr int64_t kTrustedBytes = int64_t{256} << 20;

absl::StatusOr<IdxHeader> ReadHeader(GzipFile& in) {
  const auto read = [&](uint8_t* to, int64_t bytes) { return in.Read(to, bytes); };
  const auto damaged = [&](int64_t offset, absl::string_view what) { return in.Damaged(offset - in.offset(), what); };
  return ReadIdxHeader({read, damaged, in.max_bytes()});
}

absl::Status Truncated(const GzipFile& in, const IdxHeader& header, int64_t got) {
  return in.Damaged(0, absl::StrCat("the file ends after ", got, " of ", header.data_bytes, " bytes of data (shape ",
                                    ShapeString(header.shape), ")"));
}

// Inflates the whole file without storing the data, to check that it really is as large as the header says.
absl::Status VerifySize(GzipFile& in, const IdxHeader& header) {
  std::vector<uint8_t> chunk(kChunk);
  const int64_t start = in.offset();
  for (int64_t got = 0; got < header.data_bytes;) {
    TD_ASSIGN_OR_RETURN(int64_t n, in.Read(chunk.data(), std::min(kChunk, header.data_bytes - got)));
    if (n == 0) return Truncated(in, header, got);
    got += n;
  }
  in.Rewind();
  return in.Read(chunk.data(), start).status();
}

}  // namespace

struct IdxReader::State {
  explicit State(const std::string& path) : in(path) {}

  // Reads the next chunk of elements into `tensor`. After the last element, checks that the file ends.
  absl::Status ReadChunk(HostTensor& tensor);

  GzipFile in;
  IdxHeader header;
  int64_t elements = 0;         // elements read so far
  std::vector<uint8_t> narrow;  // a chunk of int8 or int16 elements, which are widened to int32 afterwards
};

absl::Status IdxReader::State::ReadChunk(HostTensor& tensor) {
  const int64_t bytes = header.element_bytes, wide = SizeOf(header.dtype);
  // Each chunk ends where a block of InflateStream ends, so that blocks are inflated directly into the tensor.
  const int64_t turn = kReadChunk - (elements == 0 ? header.header_bytes : 0);
  const int64_t count = std::min(turn / bytes, tensor.num_elements() - elements);
  uint8_t* const to = static_cast<uint8_t*>(tensor.raw()) + elements * wide;
  if (bytes != wide) narrow.resize(kReadChunk);
  uint8_t* const raw = bytes != wide ? narrow.data() : to;
  TD_ASSIGN_OR_RETURN(const int64_t got, in.Read(raw, count * bytes));
  if (got < count * bytes) return Truncated(in, header, elements * bytes + got);
  DecodeIdx(header, count, raw, to);
  elements += count;
  if (elements < tensor.num_elements()) return absl::OkStatus();
  // Trying to read past the end also makes the inflater compare gzip's checksum.
  uint8_t extra;
  TD_ASSIGN_OR_RETURN(const int64_t more, in.Read(&extra, 1));
  if (more == 0) return absl::OkStatus();
  return in.Damaged(-1, absl::StrCat("there is more data than the ", header.data_bytes, " bytes of shape ",
                                     ShapeString(header.shape)));
}

IdxReader::IdxReader(const std::string& path) : state_(std::make_unique<State>(path)) {}

IdxReader::~IdxReader() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::shared_ptr<IdxReader>> IdxReader::Open(const std::string& path) {
  std::shared_ptr<IdxReader> reader(new IdxReader(path));
  State& state = *reader->state_;
  TD_RETURN_IF_ERROR(state.in.Open());
  TD_ASSIGN_OR_RETURN(state.header, ReadHeader(state.in));
  const IdxHeader& header = state.header;
  if (state.in.compressed() && header.data_bytes > kTrustedBytes) TD_RETURN_IF_ERROR(VerifySize(state.in, header));
  TD_RETURN_IF_ERROR(CatchResourceErrors(path, [&] {
    reader->tensor_ = HostTensor(header.dtype, header.shape);
    return absl::OkStatus();
  }));
  const Shape& shape = header.shape;
  reader->row_elements_ = 1;
  for (size_t d = 1; d < shape.size(); ++d) reader->row_elements_ *= shape[d];
  reader->rows_ = shape.empty() ? 1 : shape[0];
  if (header.data_bytes <= kReadAtOnce) TD_RETURN_IF_ERROR(reader->WaitForRows(reader->rows_));
  return reader;
}

absl::Status IdxReader::ReadMore() {
  absl::Status status = CatchResourceErrors("reading an IDX file", [&] { return state_->ReadChunk(tensor_); });
  // The last rows become ready only when the end of the file was checked. A file whose rows have no elements is ready
  // then, too.
  const bool all = state_->elements == tensor_.num_elements();
  ready_ = !status.ok() ? kFailed : all ? kAll : state_->elements / std::max<int64_t>(row_elements_, 1);
  return status;
}

absl::Status IdxReader::WaitForRows(int64_t rows) {
  if (ready_ >= rows) return absl::OkStatus();
  ++waiting_;
  std::lock_guard<std::mutex> lock(mutex_);
  --waiting_;
  while (status_.ok() && ready_ < rows) status_ = ReadMore();
  return status_;
}

void IdxReader::FinishInBackground() {
  if (ready_ == kAll || thread_.joinable()) return;
  absl::StatusOr<std::thread> thread = StartThread("reading ahead", [this] {
    // This thread gets the lowest priority, so that threads that compile or run a step come first. The scheduler treats
    // a core that runs only SCHED_IDLE threads as idle, so that it places woken threads there and not on a busy core.
    const sched_param none = {};
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
    while (!stop_ && ready_ != kAll) {
      if (waiting_ > 0) {
        // std::mutex is not fair: without a pause this thread would lock the mutex again before the waiting thread gets
        // it.
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        continue;
      }
      std::lock_guard<std::mutex> lock(mutex_);
      if (!status_.ok()) return;
      if (ready_ != kAll) status_ = ReadMore();
    }
  });
  if (thread.ok()) {
    thread_ = *std::move(thread);
  } else {
    TD_LOG(WARNING) << "rows are read when they are needed, not ahead: " << thread.status().message();
  }
}

absl::StatusOr<HostTensor> ReadIdx(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<IdxReader> reader, IdxReader::Open(path));
  TD_RETURN_IF_ERROR(reader->WaitForRows(reader->rows()));
  return reader->tensor();
}

}  // namespace tandem
