// CSV files with and without a header: elements and errors do not depend on how much is read at once, nor on batches.
#include "absl/strings/str_cat.h"
#include "data/dataset.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

constexpr size_t kMostElements = 300;

Dataset Table(const std::string& path, bool header, int64_t buffer_size) {
  return Dataset::Csv({path},
                      {{"i", DType::kInt32},
                       {"s", DType::kString, HostTensor::FromStrings({}, std::vector<std::string>{"none"})},
                       {"l", DType::kInt64, HostTensor::Scalar<int64_t>(-1)},
                       {"f", DType::kFloat32, HostTensor::Scalar(0.5f)},
                       {"d", DType::kFloat64, HostTensor::Scalar(0.25)}},
                      {.header = header, .buffer_size = buffer_size, .max_line_bytes = 5000});
}

// One line for each row, or error; without the errors if `rows_only`.
std::string Text(const Dataset& dataset, bool rows_only, int64_t* rows) {
  if (!dataset.status().ok()) return std::string(dataset.status().message());
  auto iterator = dataset.MakeIterator();
  std::string text;
  bool end = false;
  for (size_t i = 0; i < kMostElements; ++i) {
    Element e;
    if (absl::Status status = (*iterator)->GetNext(&e, &end); !status.ok()) {
      if (!rows_only) absl::StrAppend(&text, status.message(), "\n");
      continue;
    }
    if (end) break;
    for (int64_t row = 0; row < e.components[0].num_elements(); ++row, ++*rows) {
      for (const HostTensor& t : e.components) {
        const size_t bytes = t.dtype() == DType::kString ? 0 : SizeOf(t.dtype());
        if (bytes == 0) absl::StrAppend(&text, t.string(row));
        absl::StrAppend(&text, "|", absl::string_view(static_cast<const char*>(t.raw()) + row * bytes, bytes));
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> Seeds() {
  return {"l,s,i,f,d\n1,x,2,0.5,1e-3\n\n9223372036854775807,\"y \"\"z\"\",-2147483648,-inf,nan\n,,3,,\n",
          "1,a,2,0.5,1e300\r\n-5,\"multi\nline\",6,1e-45,0x10\r\n", "d,f,l,i,s,more\n,,,7,,\n1,2,3,4,5,6",
          "i,s,l,f,d\n1,2\n\"open"};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::RequireEqual;
  using tandem::fuzz::Text;
  static tandem::fuzz::MemoryFile file;
  file.Set({reinterpret_cast<const char*>(data), size});
  int64_t rows = 0, same_rows = 0, batched_rows = 0;
  for (const bool header : {false, true}) {
    const tandem::Dataset table = tandem::fuzz::Table(file.path(), header, 1 << 16);
    const tandem::Dataset small = tandem::fuzz::Table(file.path(), header, 5);
    RequireEqual(std::string(table.status().message()), std::string(small.status().message()), "headers are the same");
    if (!table.status().ok()) continue;
    RequireEqual(Text(table, false, &rows), Text(small, false, &same_rows), "rows do not depend on the buffer");
    if (Text(table.Take(100), true, &same_rows) != Text(table.Take(100).Batch(1), true, &batched_rows)) {
      tandem::fuzz::Require(false, "a batch has the values of its rows");
    }
  }
  if (rows > 0) tandem::fuzz::NoteAccepted();
  return 0;
}
