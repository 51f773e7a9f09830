#include "frontends/testing.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/reference/reference.h"
#include "gtest/gtest.h"

namespace tandem::frontends {

HostTensor Floats(Shape shape, const Values& values) {
  return HostTensor::FromVector<float>(std::move(shape), std::vector<float>(values.begin(), values.end()));
}

HostTensor Ints(Shape shape, const Values& values) {
  return HostTensor::FromVector<int32_t>(std::move(shape), std::vector<int32_t>(values.begin(), values.end()));
}

Values Pattern(int64_t n, int seed, double scale) {
  Values values;
  // Values are rounded to 1/1024, which float32 holds exactly, so that a test's arithmetic in double starts from the
  // same numbers.
  for (int64_t i = 0; i < n; ++i) values.push_back(scale * std::round(std::sin(1.7 * i + 2.3 * seed) * 1024) / 1024);
  return values;
}

Fetched RunStep(GraphBuilder& graph, const Feed& feed) {
  TensorMap variables, scalars;
  int seed = 100;
  for (const VariableSpec& spec : graph.variables()) {
    Values values(NumElements(spec.shape), spec.initializer.a);
    auto given = feed.variables.find(spec.name);
    if (given != feed.variables.end()) {
      values = given->second;
    } else if (spec.first_value != nullptr) {
      absl::StatusOr<HostTensor> first = spec.first_value(spec.name, DType::kFloat32, spec.shape, 1);
      if (first.ok()) {
        values.assign(first->values<float>().begin(), first->values<float>().end());
      } else {
        ADD_FAILURE() << spec.name << ": " << first.status();
      }
    } else if (spec.initializer.kind >= Initializer::Kind::kUniform) {
      values = Pattern(NumElements(spec.shape), seed++);
    }
    variables[spec.name] = Floats(spec.shape, values);
  }
  for (const char* name : {"example_count", "replica_example_count"}) {
    scalars[name] = HostTensor::Scalar<double>(static_cast<double>(feed.batch));
  }
  for (const auto& [name, value] : feed.scalars) scalars[name] = HostTensor::Scalar<double>(value);
  absl::StatusOr<TensorMap> results = Evaluate(graph, feed.inputs, variables, scalars);
  Fetched fetched;
  if (!results.ok()) {
    ADD_FAILURE() << results.status();
    return fetched;
  }
  for (const auto& [name, tensor] : *results) {
    Values values(tensor.data<double>(), tensor.data<double>() + tensor.num_elements());
    (variables.count(name) ? fetched.variables : fetched.outputs)[name] = std::move(values);
  }
  // Adds the variables that the step did not assign; they keep their values.
  for (const auto& [name, tensor] : variables) {
    Values values(tensor.data<float>(), tensor.data<float>() + tensor.num_elements());
    fetched.variables.emplace(name, std::move(values));
  }
  return fetched;
}

std::string ErrorMismatch(const GraphBuilder& graph, const std::string& text, const std::string& file) {
  const absl::Status& status = graph.status();
  if (status.ok()) return absl::StrCat("no error, expected: ", text);
  std::string message(status.message());
  if (status.code() != absl::StatusCode::kInvalidArgument || !absl::StrContains(message, text) ||
      !absl::StrContains(message, file)) {
    return absl::StrCat(status.ToString(), " does not contain \"", text, "\" and ", file);
  }
  return "";
}

}  // namespace tandem::frontends
