#include "tests/oracle/singular_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "graph/ops.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::oracle {
namespace {

std::string NameOf(size_t row, const char* what, size_t operand) { return absl::StrCat("row", row, what, operand); }

void Build(GraphBuilder& g, const std::vector<SingularRow>& rows) {
  for (size_t r = 0; r < rows.size(); ++r) {
    const SingularPoint& point = rows[r].points.front();
    std::vector<Tensor> operands, differentiated;
    for (size_t i = 0; i < point.at.size(); ++i) {
      Shape shape = {kBatch};
      if (point.at[i].size() > 1) shape.push_back(static_cast<int64_t>(point.at[i].size()));
      operands.push_back(g.Input(NameOf(r, "_at", i), DType::kFloat32, shape));
      if (!point.slopes[i].empty()) differentiated.push_back(operands.back());
    }
    const Tensor value = rows[r].function(operands);
    g.Output(NameOf(r, "_value", 0), value);
    std::vector<Tensor> slopes = g.Gradients(ReduceSum(value), differentiated);
    for (size_t i = 0, next = 0; i < point.at.size(); ++i) {
      // What the value does not depend on has none: 0.
      if (point.slopes[i].empty() || next >= slopes.size() || !slopes[next++].ok()) continue;
      g.Output(NameOf(r, "_slope", i), slopes[next - 1]);
    }
  }
}

// Operand `i` of the points, the first one again where there are fewer than `batch`.
HostTensor OperandOf(const SingularRow& row, size_t i, int64_t batch) {
  std::vector<float> numbers;
  for (int64_t p = 0; p < batch; ++p) {
    const size_t point = p < static_cast<int64_t>(row.points.size()) ? p : 0;
    for (double v : row.points[point].at[i]) numbers.push_back(static_cast<float>(v));
  }
  const int64_t width = static_cast<int64_t>(row.points.front().at[i].size());
  return HostTensor::FromVector<float>(width > 1 ? Shape{batch, width} : Shape{batch}, numbers);
}

void Compare(const SingularRow& row, const SingularPoint& point, const std::string& what, const Numbers& got,
             const Numbers& want, std::vector<std::string>& wrong) {
  std::vector<std::string> at;
  for (const Numbers& operand : point.at) at.push_back(absl::StrCat("{", absl::StrJoin(operand, ", "), "}"));
  for (size_t i = 0; i < want.size(); ++i) {
    if (Agrees(got[i], want[i], row.absolute)) continue;
    wrong.push_back(absl::StrCat(row.name, " at ", absl::StrJoin(at, ", "), ": ", what, "[", i, "] is ", got[i],
                                 ", not ", want[i], " (", point.source, ")"));
  }
}

}  // namespace

bool Agrees(double got, double want, double absolute) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::abs(want) > kLargest) return got == std::copysign(kInf, want);
  return std::abs(got - want) <= 1e-5 * std::abs(want) + std::max(absolute, kSmallest);
}

absl::StatusOr<std::vector<std::string>> WrongNumbers(const std::vector<SingularRow>& rows) {
  int64_t batch = 0;
  for (const SingularRow& row : rows) batch = std::max(batch, static_cast<int64_t>(row.points.size()));
  TD_ASSIGN_OR_RETURN(compiled::Program program,
                      compiled::Prepare([&](GraphBuilder& g) { Build(g, rows); },
                                        compiled::OnTestTarget({.batch = batch, .mode = "eval"})));
  TensorMap inputs;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].points.front().at.size(); ++i) {
      inputs[NameOf(r, "_at", i)] = OperandOf(rows[r], i, batch);
    }
  }
  TD_ASSIGN_OR_RETURN(const StepResult result, program.Run(compiled::Deal(program, inputs, {batch}, 0)));
  std::map<std::string, HostTensor> outputs;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    outputs[program.executable->index().outputs[i].name] = compiled::ToFloat64(result.outputs[i]);
  }
  std::vector<std::string> wrong;
  for (size_t r = 0; r < rows.size(); ++r) {
    // Of point p; zeros where the program has no such output.
    auto numbers = [&](const std::string& output, size_t p, size_t width) {
      const auto found = outputs.find(output);
      if (found == outputs.end()) return Numbers(width, 0);
      const double* first = found->second.data<double>() + p * width;
      return Numbers(first, first + width);
    };
    for (size_t p = 0; p < rows[r].points.size(); ++p) {
      const SingularPoint& point = rows[r].points[p];
      Compare(rows[r], point, "value", numbers(NameOf(r, "_value", 0), p, 1), {point.value}, wrong);
      for (size_t i = 0; i < point.at.size(); ++i) {
        Compare(rows[r], point, absl::StrCat("slope by operand ", i),
                numbers(NameOf(r, "_slope", i), p, point.slopes[i].size()), point.slopes[i], wrong);
      }
    }
  }
  return wrong;
}

}  // namespace tandem::oracle
