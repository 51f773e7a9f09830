// What a warm start takes, what it leaves, and what it says about both.
#include "estimator/warm_start/warm_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/warm_start/copy_overlap.h"
#include "estimator/warm_start/vocabulary.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr float kInitial = 36;

VariableSpec Var(const std::string& name, Shape shape, const std::string& slot_of = "") {
  VariableSpec spec;
  spec.name = name;
  spec.shape = std::move(shape);
  spec.slot_of = slot_of;
  return spec;
}

// first, first + 1, ...
HostTensor Counting(Shape shape, float first) {
  HostTensor t(DType::kFloat32, std::move(shape));
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = first + static_cast<float>(i);
  return t;
}

class WarmStartTest : public ::testing::Test {
 protected:
  // The source of `settings.path`.
  void Source(const TensorMap& tensors) {
    path_ = ::testing::TempDir() + "/weights.safetensors";
    ASSERT_EQ(WriteSafetensors(Env::Default(), path_, tensors), absl::OkStatus());
  }
  std::string File(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    EXPECT_EQ(Env::Default()->WriteFile(path, {text}), absl::OkStatus());
    return path;
  }
  absl::StatusOr<TensorMap> Read(WarmStartSettings settings, const std::vector<VariableSpec>& model) {
    if (settings.path.empty()) settings.path = path_;
    return ReadWarmStart(Env::Default(), settings, model, [&](const std::string& name) -> absl::StatusOr<HostTensor> {
      for (const VariableSpec& v : model) {
        if (v.name != name) continue;
        HostTensor value(DType::kFloat32, v.shape);
        std::fill_n(value.data<float>(), value.num_elements(), kInitial);
        return value;
      }
      return absl::NotFoundError(name);
    });
  }
  std::string ErrorOf(const WarmStartSettings& settings, const std::vector<VariableSpec>& model) {
    const absl::Status status = Read(settings, model).status();
    EXPECT_EQ(ExitCodeFor(status), kExitUsage) << status;
    return std::string(status.message());
  }
  std::string path_;
  LogCapture log_;
};

std::vector<float> ValuesOf(const absl::StatusOr<TensorMap>& values, const std::string& name) {
  EXPECT_TRUE(values.ok()) << values.status();
  if (!values.ok() || values->count(name) == 0) return {};
  const absl::Span<const float> all = values->at(name).values<float>();
  return {all.begin(), all.end()};
}

std::vector<VariableSpec> Dense() {
  return {Var("dense/kernel", {2, 3}), Var("dense/bias", {3}), Var("dense/kernel/Adam", {2, 3}, "dense/kernel")};
}

TEST_F(WarmStartTest, TakesWhatTheFileHas) {
  Source({{"dense/kernel", Counting({2, 3}, 42)}, {"unused", Counting({1}, 1)}});
  auto values = Read({}, Dense());
  EXPECT_THAT(ValuesOf(values, "dense/kernel"), ElementsAre(42, 43, 44, 45, 46, 47));
  EXPECT_EQ(values->size(), 1);
  EXPECT_THAT(log_.Text(),
              AllOf(HasSubstr("Warm-started 1 of 3 variables from " + path_), HasSubstr("  taken: dense/kernel"),
                    HasSubstr("in the source and not taken: unused"), HasSubstr("initialised as usual: dense/bias")));
  EXPECT_THAT(log_.Text(), Not(HasSubstr("dense/kernel/Adam"))) << "a fresh optimizer's slot is no news";
}

TEST_F(WarmStartTest, SlotsAreTakenWhereAskedFor) {
  Source({{"dense/kernel", Counting({2, 3}, 42)}, {"dense/kernel/Adam", Counting({2, 3}, 1)}});
  EXPECT_FALSE(Read({}, Dense())->contains("dense/kernel/Adam"));
  EXPECT_THAT(ValuesOf(Read({.with_slots = true}, Dense()), "dense/kernel/Adam"), ElementsAre(1, 2, 3, 4, 5, 6));
  const WarmStartSettings settings{.var_name_to_prev_var_name = {{"dense/kernel/Adam", "dense/kernel/Adam"}}};
  EXPECT_THAT(ErrorOf(settings, Dense()),
              HasSubstr("dense/kernel/Adam: the settings name this slot, and with_slots is false"));
}

TEST_F(WarmStartTest, AShapeThatDiffersIsAnErrorByDefault) {
  Source({{"dense/kernel", Counting({2, 3}, 42)}});
  EXPECT_THAT(ErrorOf({}, {Var("dense/kernel", {3, 2})}),
              HasSubstr("dense/kernel: float32[2,3] in the file, float32[3,2] in the model"));
}

TEST_F(WarmStartTest, AShapeThatDiffersMayBeSkipped) {
  Source({{"dense/kernel", Counting({2, 3}, 42)}, {"dense/bias", Counting({3}, 1)}});
  auto values =
      Read({.on_shape_mismatch = ShapeMismatch::kSkip}, {Var("dense/kernel", {3, 2}), Var("dense/bias", {3})});
  EXPECT_THAT(ValuesOf(values, "dense/bias"), ElementsAre(1, 2, 3));
  EXPECT_EQ(values->size(), 1);
  EXPECT_THAT(log_.Text(LogSeverity::kWarning),
              HasSubstr("on_shape_mismatch): dense/kernel: float32[2,3] in the file"));
}

TEST_F(WarmStartTest, TheOverlapOfShapesMayBeTaken) {
  Source({{"more_rows", Counting({3, 2}, 1)}, {"more_columns", Counting({2, 3}, 1)}, {"both", Counting({1, 2, 2}, 1)}});
  auto values = Read({.on_shape_mismatch = ShapeMismatch::kCopyOverlap},
                     {Var("more_rows", {2, 2}), Var("more_columns", {2, 4}), Var("both", {2, 1, 3})});
  EXPECT_THAT(ValuesOf(values, "more_rows"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ValuesOf(values, "more_columns"), ElementsAre(1, 2, 3, kInitial, 4, 5, 6, kInitial));
  EXPECT_THAT(ValuesOf(values, "both"), ElementsAre(1, 2, kInitial, kInitial, kInitial, kInitial));
  EXPECT_THAT(log_.Text(), HasSubstr("in part, the rest initialised as usual: more_rows: float32[3,2] in the file"));
  // What has no overlap stays an error.
  EXPECT_THAT(ErrorOf({.on_shape_mismatch = ShapeMismatch::kCopyOverlap}, {Var("both", {2, 2})}),
              HasSubstr("both: float32[1,2,2] in the file, float32[2,2] in the model"));
}

TEST_F(WarmStartTest, NamesAreMapped) {
  Source({{"a/kernel", Counting({2}, 1)},
          {"a/kernel/Adam", Counting({2}, 10)},
          {"bert/x/bias", Counting({1}, 5)},
          {"same", Counting({1}, 7)}});
  const std::vector<VariableSpec> model = {Var("b/kernel", {2}), Var("b/kernel/Adam", {2}, "b/kernel"),
                                           Var("encoder/y/bias", {1}), Var("same", {1})};
  auto values = Read({.with_slots = true,
                      .var_name_to_prev_var_name = {{"b/kernel", "a/kernel"}},
                      .var_name_replacements = {{"^encoder/", "bert/"}, {"/y/", "/x/"}}},
                     model);
  EXPECT_THAT(ValuesOf(values, "b/kernel"), ElementsAre(1, 2));
  EXPECT_THAT(ValuesOf(values, "b/kernel/Adam"), ElementsAre(10, 11)) << "slots follow their variable";
  EXPECT_THAT(ValuesOf(values, "encoder/y/bias"), ElementsAre(5));
  EXPECT_THAT(ValuesOf(values, "same"), ElementsAre(7));
  EXPECT_THAT(log_.Text(), HasSubstr("under another name: b/kernel from a/kernel, b/kernel/Adam from a/kernel/Adam, "
                                     "encoder/y/bias from bert/x/bias"));
}

TEST_F(WarmStartTest, NamesThatAreNotThereAreErrors) {
  Source({{"dense/kernel", Counting({2, 3}, 42)}});
  EXPECT_THAT(ErrorOf({.var_name_to_prev_var_name = {{"dense/kernle", "dense/kernel"}}}, Dense()),
              HasSubstr("dense/kernle: the settings name it, and the model has no such variable; did you mean "
                        "\"dense/kernel\"?"));
  EXPECT_THAT(ErrorOf({.var_name_to_prev_var_name = {{"dense/bias", "dense/kernal"}}}, Dense()),
              HasSubstr("dense/bias: the source has no \"dense/kernal\"; did you mean \"dense/kernel\"?"));
  EXPECT_THAT(ErrorOf({.var_name_replacements = {{"^dence/", "encoder/"}}}, Dense()),
              HasSubstr("var_name_replacements \"^dence/\" matches none of dense/kernel, dense/bias"));
  // An evaluation of the same Estimator has no slots.
  EXPECT_TRUE(Read({.with_slots = true, .var_name_to_prev_var_name = {{"dense/kernel/Adam", "dense/kernel"}}},
                   {Var("dense/kernel", {2, 3})})
                  .ok());
}

// What only another mode of the model has.
TEST_F(WarmStartTest, NamesOfOtherModesAreWarnings) {
  Source({{"dense/kernel", Counting({2, 3}, 42)}});
  const WarmStartSettings settings = {.path = path_,
                                      .var_name_to_prev_var_name = {{"decoder/kernel", "dense/kernel"}},
                                      .var_name_replacements = {{"^decoder/", "dense/"}}};
  const auto initial = [](const std::string&) -> absl::StatusOr<HostTensor> {
    return HostTensor(DType::kFloat32, {2, 3});
  };
  const auto values = ReadWarmStart(Env::Default(), settings, {Var("dense/kernel", {2, 3})}, initial,
                                    /*whole_model=*/false);
  EXPECT_EQ(ValuesOf(values, "dense/kernel")[0], 42);
  EXPECT_TRUE(log_.Contains("decoder/kernel: the settings name it, and the model has no such variable"));
}

TEST_F(WarmStartTest, NothingChosenIsAnError) {
  Source({{"dense/kernel", Counting({2, 3}, 42)}, {"unused", Counting({1}, 1)}});
  EXPECT_THAT(ErrorOf({.vars_to_warm_start = "conv.*"}, Dense()), HasSubstr("it has dense/kernel, unused"));
  EXPECT_EQ(Read({.path = path_ + "x"}, Dense()).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(WarmStartTest, RowsAreMatchedByTheirTokens) {
  const std::string before = File("before.txt", "the\ncat\nsat\n"), now = File("now.txt", "dog\r\nsat\r\nthe");
  Source({{"table", Counting({4, 2}, 0)},  // the last row is of an OOV bucket
          {"table/Adam", Counting({4, 2}, 100)},
          {"out/kernel", Counting({2, 4}, 0)},
          {"out/bias", Counting({4}, 0)}});
  const VocabInfo rows{.new_vocab = now, .old_vocab = before, .new_oov_buckets = 2, .old_oov_buckets = 1};
  VocabInfo columns = rows;
  columns.axis = 1;
  auto values = Read(
      {.with_slots = true, .var_name_to_vocab_info = {{"table", rows}, {"out/kernel", columns}, {"out/bias", rows}}},
      {Var("table", {5, 2}), Var("table/Adam", {5, 2}, "table"), Var("out/kernel", {2, 5}), Var("out/bias", {5})});
  constexpr float i = kInitial;
  EXPECT_THAT(ValuesOf(values, "table"), ElementsAre(i, i, 4, 5, 0, 1, i, i, i, i));
  EXPECT_THAT(ValuesOf(values, "table/Adam"), ElementsAre(i, i, 104, 105, 100, 101, i, i, i, i));
  EXPECT_THAT(ValuesOf(values, "out/kernel"), ElementsAre(i, 2, 0, i, i, i, 6, 4, i, i));
  EXPECT_THAT(ValuesOf(values, "out/bias"), ElementsAre(i, 2, 0, i, i));
  EXPECT_THAT(log_.Text(), HasSubstr("table: 2 of 5 rows by their tokens, of 4 in the file"));
}

TEST_F(WarmStartTest, RowsThatHaveBecomeWiderAreTakenWhereShapesMayOverlap) {
  const std::string before = File("before.txt", "a\nb\n"), now = File("now.txt", "b\nc\n");
  Source({{"table", Counting({2, 2, 1}, 0)}});
  const WarmStartSettings settings{.var_name_to_vocab_info = {{"table", {.new_vocab = now, .old_vocab = before}}},
                                   .on_shape_mismatch = ShapeMismatch::kCopyOverlap};
  constexpr float i = kInitial;
  EXPECT_THAT(ValuesOf(Read(settings, {Var("table", {2, 3, 2})}), "table"),
              ElementsAre(2, i, 3, i, i, i, i, i, i, i, i, i));
  EXPECT_THAT(ValuesOf(Read(settings, {Var("table", {2, 1, 1})}), "table"), ElementsAre(2, i));
}

TEST_F(WarmStartTest, VocabulariesThatDoNotFitAreErrors) {
  const std::string good = File("good.txt", "a\nb\n"), twice = File("twice.txt", "a\nb\na\n");
  Source({{"table", Counting({2, 2}, 0)}});
  const auto read = [&](const VocabInfo& info, Shape shape) {
    return Read({.var_name_to_vocab_info = {{"table", info}}}, {Var("table", std::move(shape))}).status();
  };
  const absl::Status duplicate = read({.new_vocab = twice, .old_vocab = good}, {3, 2});
  EXPECT_EQ(ExitCodeFor(duplicate), kExitBadData);
  EXPECT_THAT(std::string(duplicate.message()), HasSubstr(twice + ":3: the token \"a\" is that of line 1 already"));
  const absl::Status few = read({.new_vocab = good, .old_vocab = good}, {3, 2});
  EXPECT_EQ(ExitCodeFor(few), kExitBadData);
  EXPECT_THAT(std::string(few.message()), HasSubstr("vocabularies of table: " + good + ":2: the file ends behind 2"));
  const std::string empty = File("empty.txt", "");
  EXPECT_THAT(std::string(read({.new_vocab = good, .old_vocab = empty}, {2, 2}).message()),
              HasSubstr(empty + ":1: the file ends behind 0 tokens and 2 rows need one each"));
  EXPECT_EQ(ExitCodeFor(read({.new_vocab = good + "x", .old_vocab = good}, {2, 2})), kExitMissingInput);
  EXPECT_EQ(read({.new_vocab = twice, .old_vocab = good}, {2, 2}), absl::OkStatus()) << "line 3 has no row";
  EXPECT_THAT(std::string(read({.new_vocab = good, .old_vocab = good}, {2, 3}).message()),
              HasSubstr("table: float32[2,2] in the file, float32[2,3] in the model"));
  EXPECT_THAT(std::string(read({.new_vocab = good, .old_vocab = good, .axis = 2}, {2, 2}).message()),
              HasSubstr("gives axis 2, and the variable is float32[2,2]"));
  EXPECT_THAT(std::string(read({.new_vocab = good, .old_vocab = good, .old_oov_buckets = 3}, {2, 2}).message()),
              HasSubstr("more OOV buckets than rows"));
}

TEST_F(WarmStartTest, AVocabularyOfAVariableThatIsNotChosenIsAnError) {
  Source({{"table", Counting({2, 2}, 0)}, {"other", Counting({1}, 0)}});
  EXPECT_THAT(ErrorOf({.vars_to_warm_start = "other",
                       .var_name_to_vocab_info = {{"table", {.new_vocab = "a.txt", .old_vocab = "b.txt"}}}},
                      {Var("table", {2, 2}), Var("other", {1})}),
              HasSubstr("vars_to_warm_start \"other\" does not choose it"));
}

TEST_F(WarmStartTest, LongListsAreCut) {
  TensorMap source;
  std::vector<VariableSpec> model;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "layer_" + std::to_string(i);
    source[name] = Counting({1}, 0);
    model.push_back(Var(name, {1}));
  }
  Source(source);
  ASSERT_TRUE(Read({}, model).ok());
  EXPECT_THAT(log_.Text(), HasSubstr("layer_8, layer_9 and 190 more"));
}

TEST(WarmStartSettings, AllProblemsAreNamed) {
  const WarmStartSettings settings{.vars_to_warm_start = "(",
                                   .var_name_replacements = {{"[", ""}},
                                   .var_name_to_vocab_info = {{"table", {.new_vocab = "new.txt", .axis = -1}}}};
  EXPECT_THAT(settings.Problems(),
              ElementsAre(HasSubstr("path is empty"), HasSubstr("vars_to_warm_start \"(\" is not a regular"),
                          HasSubstr("var_name_replacements \"[\" is not a regular"), HasSubstr("old_vocab is empty"),
                          HasSubstr("axis must not be negative, got -1")));
}

}  // namespace
}  // namespace tandem
