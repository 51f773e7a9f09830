// Tells the classes of pictures with what pictures.cc has exported.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "data/image/decode_resize.h"
#include "data/vocabulary.h"
#include "estimator/serving/model.h"

namespace tandem {
namespace {

absl::Status Run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return absl::InvalidArgumentError("usage: predict MODEL_DIR PICTURE...");
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, LoadModel(JoinPath(arguments[0], "export/final")));
  TD_ASSIGN_OR_RETURN(const Vocabulary classes, Vocabulary::FromFile(JoinPath(arguments[0], "classes.txt")));
  for (const std::string& file : absl::MakeSpan(arguments).subspan(1)) {
    TD_ASSIGN_OR_RETURN(const std::string bytes, Env::Default()->ReadFile(file));
    TD_ASSIGN_OR_RETURN(const HostTensor image, DecodeAndResize(bytes, 24, 24, {.name = file, .channels = 3}));
    TD_ASSIGN_OR_RETURN(const NamedTensors outputs, model->Predict({{"image", image.Reshaped({1, 24, 24, 3})}}));
    const absl::Span<const float> probabilities = outputs.at("probabilities").values<float>();
    const auto best = std::max_element(probabilities.begin(), probabilities.end());
    std::printf("%s: %s (%.3f)\n", file.c_str(), classes.tokens()[best - probabilities.begin()].c_str(), *best);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "tells the classes of pictures (MODEL_DIR PICTURE...)", tandem::Run);
}
