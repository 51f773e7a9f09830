// Prints how fast files are read and parsed, for data/testdata/compare_tf_data.py, which has tf.data read the same
// files:
//   files_benchmark FOLDER write     makes the files
//   files_benchmark FOLDER read      reads each in one thread, three times, and prints the best rate
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "data/dataset.h"
#include "data/files/record_writer.h"

namespace tandem {
namespace {

constexpr int kRecords = 200000, kFiles = 4, kRows = 400000;

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string RecordFile(const std::string& folder, int i) { return absl::StrCat(folder, "/part-", i, ".tfrecord"); }
std::string TableFile(const std::string& folder) { return absl::StrCat(folder, "/table.csv"); }

absl::Status Write(const std::string& folder) {
  TD_RETURN_IF_ERROR(Env::Default()->CreateDirs(folder));
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  for (int f = 0; f < kFiles; ++f) {
    TD_ASSIGN_OR_RETURN(auto writer, RecordWriter::Create(RecordFile(folder, f)));
    for (int i = 0; i < kRecords / kFiles; ++i) {
      std::vector<float> dense(32);
      std::vector<int64_t> ids(16);
      for (float& v : dense) v = normal(rng);
      for (int64_t& v : ids) v = rng() % 100000;
      const std::string record = ExampleBuilder()
                                     .Float("dense", dense)
                                     .Int64("ids", ids)
                                     .Int64("label", rng() % 10)
                                     .Bytes("name", absl::StrCat("example ", i))
                                     .Serialize();
      TD_RETURN_IF_ERROR(writer->Write(record));
    }
    TD_RETURN_IF_ERROR(writer->Close());
  }
  TD_ASSIGN_OR_RETURN(auto table, Env::Default()->CreateFile(TableFile(folder)));
  std::string text = "id,a,b,c,d,name\n";
  for (int i = 0; i < kRows; ++i) {
    absl::StrAppend(&text, i);
    for (int c = 0; c < 4; ++c) absl::StrAppend(&text, ",", normal(rng));
    absl::StrAppend(&text, ",name", rng() % 1000, "\n");
  }
  TD_RETURN_IF_ERROR(table->Append(text));
  return table->Close();
}

// Elements a second, counted in rows of batches.
absl::Status Measure(const char* what, const Dataset& dataset) {
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    TD_ASSIGN_OR_RETURN(auto it, dataset.MakeIterator());
    const double start = Seconds();
    int64_t rows = 0;
    for (;;) {
      Element e;
      bool end = false;
      TD_RETURN_IF_ERROR(it->GetNext(&e, &end));
      if (end) break;
      rows += e.components[0].shape()[0];
    }
    best = std::max(best, rows / (Seconds() - start));
  }
  std::printf("%-28s %10.0f /s\n", what, best);
  return absl::OkStatus();
}

absl::Status Read(const std::string& folder) {
  std::vector<std::string> files;
  for (int i = 0; i < kFiles; ++i) files.push_back(RecordFile(folder, i));
  const std::vector<FeatureSpec> features = {
      FeatureSpec::FixedLen("dense", DType::kFloat32, {32}), FeatureSpec::FixedLen("ids", DType::kInt64, {16}),
      FeatureSpec::FixedLen("label", DType::kInt64), FeatureSpec::FixedLen("name", DType::kString)};
  const Dataset records = Dataset::TFRecord(files);
  TD_RETURN_IF_ERROR(Measure("tfrecord", records.Batch(256)));
  TD_RETURN_IF_ERROR(Measure("tfrecord_parse", records.Batch(256).ParseExample(features)));
  TD_RETURN_IF_ERROR(
      Measure("interleave_shuffle_parse", Dataset::ListFiles({folder + "/part-*.tfrecord"})
                                              .Interleave([](const Element& e) -> absl::StatusOr<Dataset> {
                                                return Dataset::TFRecord({std::string(e.components[0].string())});
                                              })
                                              .Shuffle(10000, {.seed = 1})
                                              .Batch(256)
                                              .ParseExample(features)));
  TD_RETURN_IF_ERROR(Measure("text", Dataset::TextLine({TableFile(folder)}).Batch(256)));
  return Measure("csv", Dataset::Csv({TableFile(folder)}, {{"id", DType::kInt64},
                                                           {"a", DType::kFloat32},
                                                           {"b", DType::kFloat32},
                                                           {"c", DType::kFloat32},
                                                           {"d", DType::kFloat32},
                                                           {"name", DType::kString}})
                            .Batch(256));
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (argc != 3 || (std::strcmp(argv[2], "write") != 0 && std::strcmp(argv[2], "read") != 0)) {
    std::fprintf(stderr, "usage: files_benchmark FOLDER write|read\n");
    return 2;
  }
  const bool write = std::strcmp(argv[2], "write") == 0;
  const absl::Status status = write ? tandem::Write(argv[1]) : tandem::Read(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "files_benchmark: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
