#include "frontends/parts_from_config.h"

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/config_reader.h"

namespace tandem {
namespace {

using frontends::ConfigReader;
using initializers::InitializerFn;

// A class of initialisers, with the function that makes an initialiser from its description.
struct InitializerClass {
  const char* class_name;
  const char* name;
  const char* other_name;  // a second name of the class, or null
  InitializerFn (*make)(ConfigReader&);
};

InitializerFn MakeVarianceScaling(ConfigReader& reader) {
  initializers::VarianceScalingOptions options;
  options.scale = reader.Number("scale", options.scale);
  if (!(options.scale > 0)) reader.Fail("scale", "positive");
  const std::string mode = reader.Text("mode", "fan_in");
  using initializers::FanMode;
  if (mode == "fan_out") {
    options.mode = FanMode::kFanOut;
  } else if (mode == "fan_avg") {
    options.mode = FanMode::kFanAverage;
  } else if (mode != "fan_in") {
    reader.Fail("mode", "fan_in, fan_out or fan_avg");
  }
  const std::string distribution = reader.Text("distribution", "truncated_normal");
  using initializers::Distribution;
  if (distribution == "untruncated_normal") {
    options.distribution = Distribution::kUntruncatedNormal;
  } else if (distribution == "uniform") {
    options.distribution = Distribution::kUniform;
  } else if (distribution != "truncated_normal" && distribution != "normal") {
    reader.Fail("distribution", "truncated_normal, untruncated_normal or uniform");
  }
  return initializers::VarianceScaling(options);
}

const std::array<InitializerClass, 15>& InitializerClasses() {
  static const std::array<InitializerClass, 15> classes = {{
      {"Zeros", "zeros", "zero", [](ConfigReader&) { return initializers::Zeros(); }},
      {"Ones", "ones", "one", [](ConfigReader&) { return initializers::Ones(); }},
      {"Constant", "constant", nullptr, [](ConfigReader& r) { return initializers::Constant(r.Number("value", 0)); }},
      {"RandomUniform", "random_uniform", "uniform",
       [](ConfigReader& r) {
         return initializers::RandomUniform(r.Number("minval", -0.05), r.Number("maxval", 0.05));
       }},
      {"RandomNormal", "random_normal", "normal",
       [](ConfigReader& r) { return initializers::RandomNormal(r.Number("mean", 0), r.Number("stddev", 0.05)); }},
      {"TruncatedNormal", "truncated_normal", nullptr,
       [](ConfigReader& r) { return initializers::TruncatedNormal(r.Number("mean", 0), r.Number("stddev", 0.05)); }},
      {"VarianceScaling", "variance_scaling", nullptr, MakeVarianceScaling},
      {"GlorotUniform", "glorot_uniform", nullptr, [](ConfigReader&) { return initializers::GlorotUniform(); }},
      {"GlorotNormal", "glorot_normal", nullptr, [](ConfigReader&) { return initializers::GlorotNormal(); }},
      {"HeUniform", "he_uniform", nullptr, [](ConfigReader&) { return initializers::HeUniform(); }},
      {"HeNormal", "he_normal", nullptr, [](ConfigReader&) { return initializers::HeNormal(); }},
      {"LecunUniform", "lecun_uniform", nullptr, [](ConfigReader&) { return initializers::LecunUniform(); }},
      {"LecunNormal", "lecun_normal", nullptr, [](ConfigReader&) { return initializers::LecunNormal(); }},
      {"Orthogonal", "orthogonal", "OrthogonalInitializer",
       [](ConfigReader& r) { return initializers::Orthogonal(r.Number("gain", 1)); }},
      {"Identity", "identity", "IdentityInitializer",
       [](ConfigReader& r) { return initializers::Identity(r.Number("gain", 1)); }},
  }};
  return classes;
}

}  // namespace

absl::StatusOr<InitializerFn> InitializerFromConfig(const PartConfig& config) {
  std::vector<std::string> names;
  for (const InitializerClass& known : InitializerClasses()) {
    names.push_back(known.name);
    if (config.class_name != known.class_name && config.class_name != known.name &&
        (known.other_name == nullptr || config.class_name != known.other_name)) {
      continue;
    }
    ConfigReader reader("initializer", config);
    reader.Ignore({"seed", "dtype"});
    InitializerFn initializer = known.make(reader);
    if (absl::Status status = reader.Finish(); !status.ok()) return status;
    return initializer;
  }
  return frontends::UnknownNameError("initializer", config.class_name, names);
}

absl::StatusOr<Activation> ActivationByName(absl::string_view name) {
  Activation activation{std::string(name)};
  if (absl::Status status = activation.status(); !status.ok()) return status;
  return activation;
}

absl::StatusOr<Regularizer> RegularizerFromConfig(const PartConfig& config) {
  const Regularizer named(config.class_name);
  if (absl::Status status = named.status(); !status.ok()) return status;
  frontends::ConfigReader reader("regularizer", config);
  Regularizer regularizer;
  // A missing value gets the default of the class in Keras.
  if (config.class_name != "L2" && config.class_name != "l2") regularizer.l1 = reader.Number("l1", named.l1);
  if (config.class_name != "L1" && config.class_name != "l1") regularizer.l2 = reader.Number("l2", named.l2);
  for (const auto& [key, factor] : {std::pair("l1", regularizer.l1), std::pair("l2", regularizer.l2)}) {
    if (factor < 0) reader.Fail(key, "a number >= 0");
  }
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return regularizer;
}

}  // namespace tandem
