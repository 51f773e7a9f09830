// tandem-records COMMAND ...: writes, lists, checks and divides TFRecord files.
#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/flag_table.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "data/files/example.h"
#include "data/files/record_reader.h"
#include "data/files/record_writer.h"
#include "data/idx.h"
#include "tools/command_problem.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct RecordsFlags : FlagTable {
  Flag<std::string> compression{this, "compression", "none",
                                "of the files that are read, and those that are written: none, gzip or zlib"};
  Flag<std::string> images{this, "images", "", "write: an IDX file (perhaps .gz) of unsigned bytes, one image a row"};
  Flag<std::string> labels{this, "labels", "", "write: an IDX file of as many labels"};
  Flag<int64_t> limit{this, "limit", 10, "list: how many records of each file; -1: all"};
  Flag<int> shards{this, "shards", 2, "split: how many files to make"};
};

constexpr char kUsage[] =
    "tandem-records COMMAND ...\n"
    "  list FILES...            the records' offsets, sizes and features\n"
    "  verify FILES...          reads every record and compares every checksum\n"
    "  write OUT                Examples of --images and --labels: image (bytes), shape, label\n"
    "  split FILE PREFIX        record i goes to file i modulo --shards: PREFIX-00000-of-00002 and so on";

absl::StatusOr<Compression> CompressionOf(const RecordsFlags& flags) {
  const std::string name = *flags.compression;
  for (Compression c : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    if (Name(c) == name) return c;
  }
  return absl::InvalidArgumentError(absl::StrCat("--compression=", name, ": it must be none, gzip or zlib"));
}

// Calls `visit` for each record of the file after checking its checksum.
template <typename Visit>
absl::Status ForEachRecord(const RecordsFlags& flags, const std::string& path, const Visit& visit) {
  TD_ASSIGN_OR_RETURN(const Compression compression, CompressionOf(flags));
  TD_ASSIGN_OR_RETURN(auto reader, RecordReader::Open(path, {.compression = compression}));
  for (int64_t number = 0;; ++number) {
    Record record;
    bool end = false;
    TD_RETURN_IF_ERROR(reader->Next(&record, &end));
    if (end) return absl::OkStatus();
    TD_RETURN_IF_ERROR(reader->CheckBytes(record));
    TD_ASSIGN_OR_RETURN(const bool more, visit(number, record));
    if (!more) return absl::OkStatus();
  }
}

absl::Status List(const RecordsFlags& flags, const std::string& path) {
  const int64_t limit = *flags.limit;
  std::cout << PrintableLine(path) << "\n";
  return ForEachRecord(flags, path, [&](int64_t number, const Record& record) -> absl::StatusOr<bool> {
    if (limit >= 0 && number >= limit) return false;
    std::cout << "  record " << number << " at byte " << record.offset << ", " << record.bytes.size() << " bytes:";
    const absl::StatusOr<std::vector<FeatureSummary>> features = ListFeatures(record.bytes);
    if (!features.ok()) std::cout << " no Example";
    for (size_t i = 0; features.ok() && i < features->size(); ++i) {
      const FeatureSummary& f = (*features)[i];
      std::cout << (i == 0 ? " " : ", ") << PrintableLine(f.key) << ":" << Name(f.dtype) << "[" << f.count << "]";
    }
    std::cout << "\n";
    return true;
  });
}

absl::Status Verify(const RecordsFlags& flags, const std::string& path) {
  int64_t records = 0, bytes = 0;
  TD_RETURN_IF_ERROR(ForEachRecord(flags, path, [&](int64_t, const Record& record) -> absl::StatusOr<bool> {
    ++records;
    bytes += static_cast<int64_t>(record.bytes.size());
    return true;
  }));
  std::cout << PrintableLine(path) << ": " << records << " records of " << bytes << " bytes, all right\n";
  return absl::OkStatus();
}

absl::Status Write(const RecordsFlags& flags, const std::string& path) {
  TD_ASSIGN_OR_RETURN(const Compression compression, CompressionOf(flags));
  if (flags.images->empty() || flags.labels->empty()) {
    return absl::InvalidArgumentError("write needs --images and --labels");
  }
  TD_ASSIGN_OR_RETURN(const HostTensor images, ReadIdx(*flags.images));
  TD_ASSIGN_OR_RETURN(const HostTensor labels, ReadIdx(*flags.labels));
  if (images.dtype() != DType::kUInt8 || labels.dtype() != DType::kUInt8 || images.rank() < 1 || labels.rank() != 1 ||
      images.shape()[0] != labels.shape()[0]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the images are ", Name(images.dtype()), ShapeString(images.shape()), " and the labels ", Name(labels.dtype()),
        ShapeString(labels.shape()), "; they must be bytes, with one label for each image"));
  }
  const Shape shape(images.shape().begin() + 1, images.shape().end());
  const int64_t rows = images.shape()[0], width = NumElements(shape);
  TD_ASSIGN_OR_RETURN(auto writer, RecordWriter::Create(path, {.compression = compression}));
  for (int64_t i = 0; i < rows; ++i) {
    const char* row = static_cast<const char*>(images.raw()) + i * width;
    TD_RETURN_IF_ERROR(writer->Write(ExampleBuilder()
                                         .Bytes("image", absl::string_view(row, width))
                                         .Int64("shape", shape)
                                         .Int64("label", labels.data<uint8_t>()[i])
                                         .Serialize()));
  }
  TD_RETURN_IF_ERROR(writer->Close());
  std::cout << PrintableLine(path) << ": " << rows << " records\n";
  return absl::OkStatus();
}

absl::Status Split(const RecordsFlags& flags, const std::string& path, const std::string& prefix) {
  TD_ASSIGN_OR_RETURN(const Compression compression, CompressionOf(flags));
  const int shards = *flags.shards;
  if (shards < 1 || shards > 1000) {
    return absl::InvalidArgumentError(absl::StrCat("--shards=", shards, ": it must be between 1 and 1000"));
  }
  std::vector<std::unique_ptr<RecordWriter>> writers;
  for (int i = 0; i < shards; ++i) {
    TD_ASSIGN_OR_RETURN(auto writer, RecordWriter::Create(absl::StrFormat("%s-%05d-of-%05d", prefix, i, shards),
                                                          {.compression = compression}));
    writers.push_back(std::move(writer));
  }
  absl::Status status = ForEachRecord(flags, path, [&](int64_t number, const Record& record) -> absl::StatusOr<bool> {
    TD_RETURN_IF_ERROR(writers[number % shards]->Write(record.bytes));
    return true;
  });
  int64_t records = 0;
  // All writers are closed even after an error, so that everything that was read before it is complete.
  for (auto& writer : writers) {
    const absl::Status closed = writer->Close();
    if (status.ok()) status = closed;
    records += writer->records();
  }
  if (status.ok()) std::cout << records << " records in " << shards << " files\n";
  return status;
}

absl::Status Run(const RecordsFlags& flags, const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  const std::vector<std::string> rest(arguments.begin() + std::min<size_t>(1, arguments.size()), arguments.end());
  if ((command == "list" || command == "verify") && !rest.empty()) {
    for (const std::string& path : rest) {
      TD_RETURN_IF_ERROR(command == "list" ? List(flags, path) : Verify(flags, path));
    }
    return absl::OkStatus();
  }
  if (command == "write" && rest.size() == 1) return Write(flags, rest[0]);
  if (command == "split" && rest.size() == 2) return Split(flags, rest[0], rest[1]);
  return absl::InvalidArgumentError(
      absl::StrCat(CommandProblem(arguments, {"list", "verify", "write", "split"}), "; usage:\n", kUsage));
}

}  // namespace

int TandemRecords(int argc, char** argv) { return RunToolProgram<RecordsFlags>(argc, argv, kUsage, Run); }

}  // namespace tandem
