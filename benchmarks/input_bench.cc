// input_bench: measures input pipelines that read files, in one thread.
//
//   input_bench FOLDER --write                 makes the files
//   input_bench FOLDER --pipeline=parse        prints examples per second of processor time
// With --worker it runs in turns with tf.data (benchmarks/peers, --device=input), and a step is one batch.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "base/env.h"
#include "base/processor_time.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "benchmarks/worker.h"
#include "data/dataset.h"
#include "data/files/record_writer.h"
#include "data/image/decode_resize.h"
#include "data/image/jpeg.h"
#include "nlohmann/json.hpp"
#include "tools/textures/textures.h"

ABSL_FLAG(bool, write, false, "Make the files in FOLDER.");
ABSL_FLAG(std::string, pipeline, "parse",
          "tfrecord, parse, interleave, text, csv, jpeg_grey_50, jpeg_grey_90 or jpeg_colour_90");
ABSL_FLAG(bool, scaled, false,
          "Pictures: decoded to the smallest of 1/1 to 1/8 of their size that is at least 224 x 224.");
ABSL_FLAG(int64_t, batch, 0, "Examples in a batch; 0: the pipeline's own.");
ABSL_FLAG(bool, worker, false, "Obey commands on standard input.");
ABSL_FLAG(double, seconds, 3, "Without --worker: how long to read.");

namespace tandem::benchmarks {
namespace {

constexpr int kFiles = 4, kRecords = 200000, kRows = 400000, kPictures = 200;
constexpr int64_t kPictureSize = 224;

// A folder of generated pictures, with the quality and the channels of its files.
struct Pictures {
  const char* folder;
  int quality;
  bool colour;
};
constexpr Pictures kPictureSets[] = {
    {"jpeg_grey_50", 50, false}, {"jpeg_grey_90", 90, false}, {"jpeg_colour_90", 90, true}};

std::string TableFile(const std::string& folder) { return JoinPath(folder, "table.csv"); }
std::string RecordFile(const std::string& folder, int i) {
  return JoinPath(folder, absl::StrCat("part-", i, ".tfrecord"));
}

absl::Status WriteRecords(const std::string& folder) {
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  for (int f = 0; f < kFiles; ++f) {
    TD_ASSIGN_OR_RETURN(auto writer, RecordWriter::Create(RecordFile(folder, f)));
    for (int i = 0; i < kRecords / kFiles; ++i) {
      std::vector<float> dense(32);
      std::vector<int64_t> ids(16);
      for (float& v : dense) v = normal(rng);
      for (int64_t& v : ids) v = rng() % 100000;
      TD_RETURN_IF_ERROR(writer->Write(ExampleBuilder()
                                           .Float("dense", dense)
                                           .Int64("ids", ids)
                                           .Int64("label", rng() % 10)
                                           .Bytes("name", absl::StrCat("example ", i))
                                           .Serialize()));
    }
    TD_RETURN_IF_ERROR(writer->Close());
  }
  return absl::OkStatus();
}

absl::Status WriteTable(const std::string& folder) {
  std::mt19937 rng(2);
  std::normal_distribution<float> normal;
  std::string text = "id,a,b,c,d,name\n";
  for (int i = 0; i < kRows; ++i) {
    absl::StrAppend(&text, i);
    for (int c = 0; c < 4; ++c) absl::StrAppend(&text, ",", normal(rng));
    absl::StrAppend(&text, ",name", rng() % 1000, "\n");
  }
  return Env::Default()->WriteFile(TableFile(folder), {text});
}

// Returns a generated texture; if `colour`, three textures mixed with different weights.
HostTensor Picture(int index, bool colour) {
  const TextureOptions options;
  const int texture_class = index % 4;
  const HostTensor grey = MakeTexture(options, texture_class, index);
  if (!colour) return grey;
  const HostTensor others[] = {MakeTexture(options, texture_class, kPictures + 2 * index),
                               MakeTexture(options, texture_class, kPictures + 2 * index + 1)};
  HostTensor rgb(DType::kUInt8, {options.height, options.width, 3});
  for (int64_t i = 0; i < grey.num_elements(); ++i) {
    const int first = grey.data<uint8_t>()[i];
    rgb.data<uint8_t>()[3 * i] = first;
    for (int c = 0; c < 2; ++c) {
      rgb.data<uint8_t>()[3 * i + 1 + c] = (7 * first + 3 * others[c].data<uint8_t>()[i]) / 10;
    }
  }
  return rgb;
}

absl::Status WritePictures(const std::string& folder) {
  Env* const env = Env::Default();
  for (const Pictures& set : kPictureSets) {
    TD_RETURN_IF_ERROR(env->CreateDirs(JoinPath(folder, set.folder)));
    for (int i = 0; i < kPictures; ++i) {
      TD_ASSIGN_OR_RETURN(const std::string bytes, EncodeJpeg(Picture(i, set.colour), {.quality = set.quality}));
      const std::string name = absl::StrFormat("%s/%06d.jpeg", set.folder, i);
      TD_RETURN_IF_ERROR(env->WriteFile(JoinPath(folder, name), {bytes}));
    }
  }
  return absl::OkStatus();
}

Dataset ParsedBatches(const Dataset& records, int64_t batch) {
  return records.Repeat().Batch(batch).ParseExample(
      {FeatureSpec::FixedLen("dense", DType::kFloat32, {32}), FeatureSpec::FixedLen("ids", DType::kInt64, {16}),
       FeatureSpec::FixedLen("label", DType::kInt64), FeatureSpec::FixedLen("name", DType::kString)});
}

Dataset PictureBatches(const std::string& folder, bool scaled, int64_t batch) {
  DecodeImageOptions options;
  if (scaled) options.min_height = options.min_width = kPictureSize;
  const auto load = [options](const Element& in, absl::Span<const ComponentBuffer> out) -> absl::Status {
    DecodeImageOptions of_file = options;
    of_file.name = std::string(in.components[0].string());
    TD_ASSIGN_OR_RETURN(const std::string bytes, Env::Default()->ReadFile(of_file.name));
    return DecodeAndResizeInto(bytes, out[0], of_file);
  };
  return Dataset::ListFiles({JoinPath(folder, "*.jpeg")})
      .MapInto(load, {.spec = {{"image", DType::kFloat32, {kPictureSize, kPictureSize, 3}}}})
      .Repeat()
      .Batch(batch);
}

struct Pipeline {
  Dataset batches;
  int64_t batch;
};

absl::StatusOr<Pipeline> MakePipeline(const std::string& folder, const std::string& name) {
  const int64_t wanted = absl::GetFlag(FLAGS_batch);
  if (wanted < 0) return absl::InvalidArgumentError(absl::StrCat("--batch: ", wanted, " is below 0"));
  for (const Pictures& set : kPictureSets) {
    if (name != set.folder) continue;
    const int64_t batch = wanted == 0 ? 16 : wanted;
    return Pipeline{PictureBatches(JoinPath(folder, name), absl::GetFlag(FLAGS_scaled), batch), batch};
  }
  std::vector<std::string> files;
  for (int i = 0; i < kFiles; ++i) files.push_back(RecordFile(folder, i));
  const int64_t batch = wanted == 0 ? 256 : wanted;
  if (name == "tfrecord") return Pipeline{Dataset::TFRecord(files).Repeat().Batch(batch), batch};
  if (name == "parse") return Pipeline{ParsedBatches(Dataset::TFRecord(files), batch), batch};
  if (name == "interleave") {
    const auto records = [](const Element& file) -> absl::StatusOr<Dataset> {
      return Dataset::TFRecord({std::string(file.components[0].string())});
    };
    const Dataset shuffled =
        Dataset::ListFiles({JoinPath(folder, "part-*.tfrecord")}).Interleave(records).Shuffle(10000, {.seed = 1});
    return Pipeline{ParsedBatches(shuffled, batch), batch};
  }
  if (name == "text") return Pipeline{Dataset::TextLine({TableFile(folder)}).Repeat().Batch(batch), batch};
  if (name == "csv") {
    const std::vector<CsvColumn> columns = {{"id", DType::kInt64},  {"a", DType::kFloat32}, {"b", DType::kFloat32},
                                            {"c", DType::kFloat32}, {"d", DType::kFloat32}, {"name", DType::kString}};
    return Pipeline{Dataset::Csv({TableFile(folder)}, columns).Repeat().Batch(batch), batch};
  }
  return absl::InvalidArgumentError(absl::StrCat("--pipeline: there is no \"", name, "\"; --help lists them"));
}

template <typename T>
double Mean(const HostTensor& tensor) {
  double sum = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) sum += static_cast<double>(tensor.data<T>()[i]);
  return sum / static_cast<double>(tensor.num_elements());
}

// Returns the sum, over all components of the batch, of the mean of the component's numbers, or of the mean length of
// its strings. All programs that read the same data get the same sum.
double Checksum(const Element& batch) {
  double sum = 0;
  for (const HostTensor& tensor : batch.components) {
    if (tensor.dtype() == DType::kFloat32) sum += Mean<float>(tensor);
    if (tensor.dtype() == DType::kInt64) sum += Mean<int64_t>(tensor);
    if (tensor.dtype() != DType::kString) continue;
    double length = 0;
    for (int64_t i = 0; i < tensor.num_elements(); ++i) length += static_cast<double>(tensor.string(i).size());
    sum += length / static_cast<double>(tensor.num_elements());
  }
  return sum;
}

absl::StatusOr<Element> Next(Iterator& iterator) {
  Element batch;
  bool end = false;
  TD_RETURN_IF_ERROR(iterator.GetNext(&batch, &end));
  if (end) return absl::OutOfRangeError("the pipeline has ended");
  return batch;
}

// Reads `steps` batches and returns the processor time for each.
absl::StatusOr<double> Read(Iterator& iterator, int64_t steps) {
  const double start = ProcessProcessorSeconds();
  for (int64_t i = 0; i < steps; ++i) TD_RETURN_IF_ERROR(Next(iterator).status());
  return (ProcessProcessorSeconds() - start) / static_cast<double>(steps);
}

absl::Status Obey(const std::string& name, const Pipeline& pipeline, Iterator& iterator) {
  TD_ASSIGN_OR_RETURN(Element first, Next(iterator));
  const double checksum = Checksum(first);
  first = Element();  // frees the memory for the next batches
  Answer({{"event", "first_step"}});
  TD_ASSIGN_OR_RETURN(const double second, Read(iterator, 1));
  nlohmann::json ready = {{"event", "ready"},
                          {"model", name},
                          {"batch", pipeline.batch},
                          {"seconds_per_step", second},
                          {"peak_rss_bytes", PeakRssBytes()}};
  // The pipeline "interleave" shuffles, and each program shuffles in its own order, so the programs' first batches
  // differ and no checksum is compared.
  if (name != "interleave") ready["checksum"] = checksum;
  Answer(ready);
  return ObeyCommands([&](int64_t steps) -> absl::StatusOr<nlohmann::json> {
    TD_ASSIGN_OR_RETURN(const double seconds, Read(iterator, steps));
    return nlohmann::json{{"seconds_per_step", seconds}};
  });
}

absl::Status Run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) return absl::InvalidArgumentError("usage: input_bench FOLDER [--write] [--pipeline=NAME]");
  const std::string& folder = arguments[0];
  if (absl::GetFlag(FLAGS_write)) {
    TD_RETURN_IF_ERROR(Env::Default()->CreateDirs(folder));
    TD_RETURN_IF_ERROR(WriteRecords(folder));
    TD_RETURN_IF_ERROR(WriteTable(folder));
    return WritePictures(folder);
  }
  const std::string name = absl::GetFlag(FLAGS_pipeline);
  TD_ASSIGN_OR_RETURN(const Pipeline pipeline, MakePipeline(folder, name));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, pipeline.batches.MakeIterator());
  if (absl::GetFlag(FLAGS_worker)) return Obey(name, pipeline, *iterator);
  TD_ASSIGN_OR_RETURN(const double one, Read(*iterator, 2));
  const int64_t steps = std::max<int64_t>(1, static_cast<int64_t>(absl::GetFlag(FLAGS_seconds) / one));
  TD_ASSIGN_OR_RETURN(const double seconds, Read(*iterator, steps));
  absl::PrintF("%s: %.1f examples per second of processor time\n", name, static_cast<double>(pipeline.batch) / seconds);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem::benchmarks

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "reads files with input pipelines (FOLDER)", tandem::benchmarks::Run);
}
