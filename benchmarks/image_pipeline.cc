// image_pipeline DIR: reads, decodes and resizes the JPEG pictures DIR/*/*.jpeg to 224 x 224 x 3 in one thread, in
// batches, and prints pictures per second of CPU time. benchmarks/images.py runs it against tf.data.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/env.h"
#include "base/processor_time.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "data/dataset.h"
#include "data/image/decode_resize.h"

ABSL_FLAG(std::string, mode, "exact",
          "exact: decode_jpeg's INTEGER_ACCURATE; fast: its default, INTEGER_FAST; scaled: decoded to the smallest of "
          "1/1 to 1/8 that is at least 224 x 224.");
ABSL_FLAG(int64_t, batch_size, 32, "Pictures in a batch.");
ABSL_FLAG(std::string, dump, "", "File that gets the first 8 results as float32.");

namespace tandem {
namespace {

constexpr int64_t kSize = 224, kDumped = 8;

absl::StatusOr<std::vector<std::string>> Files(Env* env, const std::string& dir) {
  std::vector<std::string> files;
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> folders, env->ListDir(dir));
  for (const std::string& folder : folders) {
    TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, env->ListDir(JoinPath(dir, folder)));
    for (const std::string& name : names) {
      if (absl::EndsWith(name, ".jpeg")) files.push_back(JoinPath(JoinPath(dir, folder), name));
    }
  }
  if (files.empty()) return absl::NotFoundError(absl::StrCat(dir, ": no files */*.jpeg"));
  return files;
}

absl::Status Measure(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) return absl::InvalidArgumentError("usage: image_pipeline DIR [--mode=MODE] [--dump=FILE]");
  const std::string mode = absl::GetFlag(FLAGS_mode);
  DecodeImageOptions options = {.channels = 3, .fast_dct = mode == "fast"};
  if (mode == "scaled") options.min_height = options.min_width = kSize;
  Env* const env = Env::Default();
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> files, Files(env, arguments[0]));
  const auto load = [&](const Element& in) -> absl::StatusOr<Element> {
    DecodeImageOptions of_file = options;
    of_file.name = files[*in.components[0].data<int64_t>()];
    TD_ASSIGN_OR_RETURN(const std::string bytes, env->ReadFile(of_file.name));
    TD_ASSIGN_OR_RETURN(HostTensor resized, DecodeAndResize(bytes, kSize, kSize, of_file));
    return Element{{std::move(resized)}};
  };
  const Dataset dataset =
      Dataset::Range(files.size()).Map(load, {.names = {"image"}}).Batch(absl::GetFlag(FLAGS_batch_size));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  const double start = ProcessProcessorSeconds();
  std::string dumped;
  for (;;) {
    Element batch;
    bool end = false;
    TD_RETURN_IF_ERROR(iterator->GetNext(&batch, &end));
    if (end) break;
    if (!dumped.empty() || absl::GetFlag(FLAGS_dump).empty()) continue;
    const HostTensor& images = batch.components[0];
    const int64_t count = std::min(kDumped, images.shape()[0]) * kSize * kSize * 3;
    dumped.assign(static_cast<const char*>(images.raw()), count * sizeof(float));
  }
  absl::PrintF("%.1f\n", files.size() / (ProcessProcessorSeconds() - start));
  if (dumped.empty()) return absl::OkStatus();
  return env->WriteFile(absl::GetFlag(FLAGS_dump), {dumped});
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "decodes and resizes JPEG pictures (DIR)", tandem::Measure);
}
