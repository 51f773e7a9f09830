// Fails when a public header declares what the oracle does not run, or coverage.md is older than its sources.
#include "tests/oracle/coverage.h"

#include <string>
#include <vector>

#include "base/env.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::oracle {
namespace {

using testing::ElementsAre;

TEST(Coverage, NothingIsMissing) {
  absl::StatusOr<std::vector<Header>> headers = ReadHeaders();
  ASSERT_TRUE(headers.ok()) << headers.status();
  ASSERT_EQ(headers->size(), 9u);
  absl::StatusOr<Coverage> coverage = ComputeCoverage(*headers);
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  for (const std::string& missing : coverage->missing) {
    ADD_FAILURE() << missing << "; add a model or optimizer to tests/oracle with its formula";
  }
}

TEST(Coverage, TheTableIsUpToDate) {
  absl::StatusOr<std::vector<Header>> headers = ReadHeaders();
  ASSERT_TRUE(headers.ok()) << headers.status();
  ASSERT_EQ(headers->size(), 9u);
  absl::StatusOr<Coverage> coverage = ComputeCoverage(*headers);
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  EXPECT_EQ(Env::Default()->ReadFile("tests/oracle/coverage.md").value_or("missing"), coverage->table)
      << "bazel run //tests/oracle -- --table > tests/oracle/coverage.md";
}

TEST(Coverage, MissesWhatIsNew) {
  const Header header = ParseHeader("frontends/layers.h", R"(namespace tandem::layers {
enum class Mode : int8_t {
  kReflect,
};
struct DenseOptions {
  int64_t units = 0;
  double sparsity = 0;
  std::string name;
};
Tensor Dense(const Tensor& x, const DenseOptions& options);
Tensor Conv3D(const Tensor& x);
}  // namespace tandem::layers
)");
  absl::StatusOr<Coverage> coverage = ComputeCoverage({header});
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  EXPECT_THAT(coverage->missing,
              ElementsAre("frontends/layers.h: no model or optimizer sets `sparsity` of DenseOptions for layers::Dense",
                          "frontends/layers.h: no model or optimizer calls layers::Conv3D",
                          "frontends/layers.h: no model or optimizer uses Mode::kReflect"));
}

TEST(Coverage, MissesLayerObjectsThatAreNew) {
  const Header header = ParseHeader("frontends/keras/layers.h", R"(namespace tandem::keras::layers {
#define TD_LOC SourceLocation loc = SourceLocation::Current()
struct DenseOptions {
  int64_t units = 0;
  bool sparse = false;
  Shape input_shape;
};
struct Dense : Layer {
  explicit Dense(const DenseOptions& options, TD_LOC);
  explicit Dense(int64_t units, DenseOptions rest = {}, TD_LOC);
};
struct GRUOptions {
  int64_t units = 0;
};
struct GRU : Layer {
  explicit GRU(int64_t units, const GRUOptions& rest = {}, TD_LOC);
};
}  // namespace tandem::keras::layers
)");
  absl::StatusOr<Coverage> coverage = ComputeCoverage({header});
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  EXPECT_THAT(coverage->missing,
              ElementsAre("frontends/keras/layers.h: no model or optimizer sets `sparse` of DenseOptions for "
                          "keras::layers::Dense",
                          "frontends/keras/layers.h: no model or optimizer calls keras::layers::GRU"));
}

TEST(Coverage, ReadsHeaders) {
  const Header header = ParseHeader("a.h", R"(// Tensor NotThis(const Tensor& x);
namespace tandem::layers {

enum class Kind : int8_t {
  kOne,  // first
  kTwo,
};
struct PadOptions {
  int64_t size = 0;  // required
  std::map<std::string, int> more = {};
  std::optional<bool> training;
  bool empty() const { return size == 0; }
};
Tensor Pad(const Tensor& x, const PadOptions& options = {},
           SourceLocation loc = SourceLocation::Current());
std::vector<Tensor> Split(const Tensor& x);
}  // namespace tandem::layers
namespace tandem {
inline Regularizer L3(double factor) { return {factor, 0}; }
Optimizer Trust(const Tensor& x,
                const PadOptions& options);
class Optimizer {
 public:
  Optimizer WithPad(const PadOptions& options) const;
};
}  // namespace tandem
)");
  ASSERT_EQ(header.functions.size(), 5u);
  EXPECT_EQ(header.functions[0].function, "layers::Pad");
  EXPECT_EQ(header.functions[0].options, "PadOptions");
  EXPECT_THAT(header.functions[0].fields, ElementsAre("size", "more", "training"));
  EXPECT_EQ(header.functions[1].function, "layers::Split");
  EXPECT_EQ(header.functions[2].function, "L3");
  EXPECT_EQ(header.functions[3].function, "Trust");
  EXPECT_THAT(header.functions[3].fields, ElementsAre("size", "more", "training"));
  EXPECT_EQ(header.functions[4].function, "Optimizer::WithPad");
  EXPECT_THAT(header.functions[4].fields, ElementsAre("size", "more", "training"));
  EXPECT_THAT(header.enum_values, ElementsAre("Kind::kOne", "Kind::kTwo"));
}

}  // namespace
}  // namespace tandem::oracle
