// What the oracle runs: every model, optimizer, way of clipping, place and precision with each other.
#ifndef TANDEM_TESTS_ORACLE_CASES_H_
#define TANDEM_TESTS_ORACLE_CASES_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/precision.h"
#include "tests/oracle/models.h"
#include "tests/oracle/optimizer_cases.h"

namespace tandem::oracle {

// Where a case runs: devices, and how many rows each of them gets in the second of three rounds. In the others all have
// `batch`, so that a round follows a fuller one and is followed by one.
struct Place {
  std::string name;
  int devices = 1;
  int64_t batch = 0;          // per replica
  std::vector<int64_t> rows;  // as the batches of a dataset's end are dealt: full ones, a short one, empty ones
  int lanes = 0;              // 0: chosen by the compiler
  int microbatch_rows = 0;
};
const std::vector<Place>& Places();

struct Case {
  const Model* model;
  const OptimizerCase* optimizer;
  const ClipCase* clip;
  const Place* place;
  Precision precision;

  // "batch_norm/adam/global_norm/2_uneven/float32".
  std::string Id() const;
  // Cases of one executable have the same.
  std::string ProgramId() const;
};
inline void PrintTo(const Case& c, std::ostream* os) { *os << c.Id(); }

// What CI runs.
constexpr uint64_t kSampleSeed = 20261123;
constexpr int kSamplePerModel = 10;

// The full product, cases of one executable behind one another.
std::vector<Case> AllCases();
// `per_model` cases of every model (from ten on it meets each main optimizer and each place) and some of every other
// optimizer. The same for equal seeds.
std::vector<Case> SampledCases(uint64_t seed, int per_model);
// InvalidArgument that names what is unknown.
absl::StatusOr<Case> CaseFromId(absl::string_view id);

}  // namespace tandem::oracle

#endif  // TANDEM_TESTS_ORACLE_CASES_H_
