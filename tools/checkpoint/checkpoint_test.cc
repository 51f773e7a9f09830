// What tandem-checkpoint says about checkpoints and makes of them, against formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/tensor_values.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/write_checkpoint.h"
#include "estimator/evaluation/eval_log.h"
#include "tools/checkpoint/average.h"
#include "tools/checkpoint/compare.h"
#include "tools/checkpoint/list.h"
#include "tools/checkpoint/load.h"
#include "tools/checkpoint/npz.h"
#include "tools/checkpoint/rename.h"
#include "tools/checkpoint/show.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

HostTensor Floats(const std::vector<float>& values) {
  return HostTensor::FromVector<float>({static_cast<int64_t>(values.size())}, values);
}

std::string FreshPath(const std::string& name) {
  const std::string path = JoinPath(::testing::TempDir(), name);
  Env::Default()->DeleteRecursively(path).IgnoreError();
  return path;
}

// The path of a checkpoint with this content.
std::string Written(const std::string& name, const CheckpointData& data) {
  const std::string path = FreshPath(name);
  EXPECT_EQ(WriteNewCheckpoint(Env::Default(), path, data), absl::OkStatus());
  return path;
}

CheckpointData Dense(int64_t step, const std::vector<float>& bias) {
  CheckpointData data;
  data.variables["dense/kernel"] = HostTensor::FromVector<float>({2, 1}, {1, 2});
  data.variables["dense/bias"] = Floats(bias);
  data.slots["dense/bias/Adam"] = Floats(bias);
  data.global_step = step;
  return data;
}

TEST(Values, StatisticsLeaveOutWhatIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const TensorStatistics s = StatisticsOf(Floats({3, -4, inf, std::nanf(""), 1}));
  EXPECT_EQ(s.min, -4);
  EXPECT_EQ(s.mean, 0);
  EXPECT_EQ(s.max, 3);
  EXPECT_DOUBLE_EQ(s.norm, std::sqrt(26.0));
  EXPECT_EQ(s.not_finite, 2);
  EXPECT_EQ(StatisticsOf(Floats({-2, -3})).max, -2) << "not the 0 that it begins with";
}

TEST(Values, TextTellsEveryFloatFromItsNeighbours) {
  const float x = 0.1f, next = std::nextafter(x, 1.0f);
  for (float value : {x, next}) {
    EXPECT_EQ(std::strtof(TextAt(Floats({value}), 0).c_str(), nullptr), value);
  }
  const auto big = HostTensor::FromVector<int64_t>({1}, {9007199254740993});
  EXPECT_EQ(TextAt(big, 0), "9007199254740993");
  const auto ints = HostTensor::FromVector<int32_t>({2}, {std::numeric_limits<int32_t>::min(), 1234567});
  EXPECT_EQ(ValuesText(ints, -1), "-2147483648 1234567\n");
  EXPECT_EQ(ValuesText(HostTensor::FromVector<uint8_t>({2}, {0, 255}), -1), "0 255\n");
}

TEST(Values, RowsAreLines) {
  const auto t = HostTensor::FromVector<int32_t>({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(ValuesText(t, -1), "[0,0]  1 2 3\n[1,0]  4 5 6\n");
  EXPECT_EQ(ValuesText(t, 4), "[0,0]  1 2 3\n[1,0]  4\nthe first 4 of 6 elements; --limit=-1 shows all\n");
  EXPECT_EQ(ValuesText(HostTensor::Scalar<bool>(true), -1), "true\n");
  EXPECT_EQ(ValuesText(HostTensor::Zeros(DType::kFloat32, {0, 3}), -1), "");
  EXPECT_EQ(IndexText({2, 3, 4}, 23), "[1,2,3]");
}

TEST(Compare, NamesShapesAndBits) {
  const std::string a = Written("a", Dense(1, {1, 2, 3})), same = Written("same", Dense(9, {1, 2, 3}));
  CheckpointData other = Dense(1, {1, 2.5, 2});
  other.variables["dense/kernel"] = HostTensor::FromVector<float>({1, 2}, {1, 2});
  other.variables["dense_1/bias"] = Floats({1});
  other.slots["dense/bias/Adam"] = Floats({1, 2, std::nanf("")});
  const std::string b = Written("b", other);
  const auto compare = [](const std::string& x, const std::string& y) {
    return *CompareCheckpoints(**CheckpointReader::Open(Env::Default(), x),
                               **CheckpointReader::Open(Env::Default(), y));
  };
  EXPECT_TRUE(compare(a, same).equal);
  EXPECT_EQ(compare(a, same).text, "3 of 3 tensors have equal bits\n");
  EXPECT_FALSE(compare(a, b).equal);
  EXPECT_EQ(compare(a, b).text,
            "dense/bias: 2 of 3 elements differ, by at most 1, at [2]: 3 and 2\n"
            "dense/bias/Adam: 1 of 3 elements differ, 1 of them where one is not finite\n"
            "dense/kernel: float32[2,1] in the first, float32[1,2] in the second\n"
            "dense_1/bias: float32[1], only in the second\n"
            "0 of 4 tensors have equal bits\n");
  EXPECT_FALSE(compare(Written("plus", Dense(1, {0.0f})), Written("minus", Dense(1, {-0.0f}))).equal);
}

// Differences that float64 would round, or that no integer of 64 bits holds.
TEST(Compare, IntegersAreExact) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  CheckpointData of_a, of_b;
  const auto add = [&](const std::string& name, const HostTensor& in_a, const HostTensor& in_b) {
    of_a.variables[name] = in_a;
    of_b.variables[name] = in_b;
  };
  const auto longs = [](const std::vector<int64_t>& v) {
    return HostTensor::FromVector<int64_t>({static_cast<int64_t>(v.size())}, v);
  };
  const auto ints = [](const std::vector<int32_t>& v) {
    return HostTensor::FromVector<int32_t>({static_cast<int64_t>(v.size())}, v);
  };
  add("big", longs({9007199254740993}), longs({9007199254740992}));
  add("ends", longs({kMin, 5}), longs({kMax, 6}));
  add("ints", ints({std::numeric_limits<int32_t>::min(), 3}), ints({std::numeric_limits<int32_t>::max(), 12345678}));
  const auto difference = CompareCheckpoints(**CheckpointReader::Open(Env::Default(), Written("ints_a", of_a)),
                                             **CheckpointReader::Open(Env::Default(), Written("ints_b", of_b)));
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(difference->text,
            "big: 1 of 1 elements differ, by at most 1, at [0]: 9007199254740993 and 9007199254740992\n"
            "ends: 2 of 2 elements differ, by at most 18446744073709551615, at [0]: -9223372036854775808 and "
            "9223372036854775807\n"
            "ints: 2 of 2 elements differ, by at most 4294967295, at [0]: -2147483648 and 2147483647\n"
            "0 of 3 tensors have equal bits\n");
}

TEST(Show, HasEveryTensor) {
  const std::string path = Written("shown", Dense(5, {3, -4}));
  const auto reader = CheckpointReader::Open(Env::Default(), path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto text = ShowCheckpoint(**reader);
  ASSERT_TRUE(text.ok()) << text.status();
  for (const char* part :
       {": step 5\n", "dense/bias       float32[2]              -4         -0.5            3            5",
        "2 variables with 4 elements, 1 slot with 2 elements, 24 bytes\n"}) {
    EXPECT_THAT(*text, HasSubstr(part));
  }
  EXPECT_EQ(*ShowTensor(**reader, "dense/bias", -1), "dense/bias: float32[2]\n3 -4\n");
  EXPECT_EQ(ExitCodeFor(ShowTensor(**reader, "dense/bia", -1).status()), kExitMissingInput);
}

TEST(List, CheckpointsThePointerAndTheBest) {
  const std::string dir = FreshPath("listed");
  CheckpointManager manager(Env::Default(), dir);
  CheckpointData data = Dense(10, {1});
  ASSERT_TRUE(manager.Save(data).ok());
  data.global_step = 20;
  data.extra["best"] = R"({"": {"loss": 0.25, "global_step": 10}, "test": {"loss": 1, "global_step": 20, "steps": 3}})";
  ASSERT_TRUE(manager.Save(data).ok());
  auto list = ListModelDir(Env::Default(), dir);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->damage, absl::OkStatus());
  EXPECT_THAT(list->text, HasSubstr("best: loss 0.25 at step 10\nbest of test: loss 1 at step 20, over 3 steps"));
  // The evaluation of the newest checkpoint comes after it has been saved.
  const EvalResult last{{{"loss", 0.125}, {"global_step", 20.0}}};
  ASSERT_TRUE(AppendEvalResult(Env::Default(), dir + "/eval", last).ok());
  EXPECT_THAT(ListModelDir(Env::Default(), dir)->text, HasSubstr("best: loss 0.125 at step 20\nbest of test: loss 1 "));
  EXPECT_THAT(list->text, ::testing::ContainsRegex("model.ckpt-20 +20 +[0-9]+ +2 +1  the latest\n"));
  EXPECT_THAT(list->text, ::testing::ContainsRegex("model.ckpt-10 +10 +[0-9]+ +2 +1\n"));

  ASSERT_EQ(Env::Default()->WriteFile(dir + "/model.ckpt-20/iterator.state", {"x"}), absl::OkStatus());
  list = ListModelDir(Env::Default(), dir);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(ExitCodeFor(list->damage), kExitBadData);
  EXPECT_THAT(list->text, HasSubstr("damaged: " + dir + "/model.ckpt-20/iterator.state: "));
  EXPECT_THAT(list->text, ::testing::ContainsRegex("model.ckpt-10 +10 +[0-9]+ +2 +1\n")) << "the others are shown";
  ASSERT_EQ(Env::Default()->Rename(dir + "/model.ckpt-10", dir + "/model.ckpt-11"), absl::OkStatus());
  EXPECT_THAT(ListModelDir(Env::Default(), dir)->text, HasSubstr("is of step 10: the directory was renamed"));

  EXPECT_EQ(ExitCodeFor(ListModelDir(Env::Default(), dir + "x").status()), kExitMissingInput);
  EXPECT_EQ(ExitCodeFor(ListModelDir(Env::Default(), dir + "/model.ckpt-11").status()), kExitMissingInput);
}

TEST(Rename, SlotsFollowTheirVariable) {
  CheckpointData data = Dense(3, {1});
  ASSERT_EQ(RenameVariables({{"dense/bias", "head/b"}}, &data), absl::OkStatus());
  EXPECT_THAT(data.variables, ElementsAre(Key("dense/kernel"), Key("head/b")));
  EXPECT_THAT(data.slots, ElementsAre(Key("head/b/Adam")));
  ASSERT_EQ(RenameVariables({{"head/b", "dense/kernel"}, {"dense/kernel", "head/b"}}, &data), absl::OkStatus());
  EXPECT_EQ(data.variables["dense/kernel"].shape(), Shape{1}) << "all at once";
  data = Dense(3, {1});
  ASSERT_EQ(RenameVariables({{"dense/", "a/"}, {"dense/bias", "b"}}, &data), absl::OkStatus());
  EXPECT_THAT(data.variables, ElementsAre(Key("a/kernel"), Key("b")));
}

TEST(Rename, TheLongestNameCountsInAnyOrder) {
  CheckpointData before;
  for (const char* name : {"a/b", "a/b/c", "a/d", "e"}) {
    before.variables[name] = Floats({1});
    before.slots[absl::StrCat(name, "/Adam")] = Floats({1});
    before.slots[absl::StrCat(name, "/ExponentialMovingAverage")] = Floats({1});
  }
  const auto renamed = [&before](NameMap names, bool reversed) {
    if (reversed) std::reverse(names.begin(), names.end());
    CheckpointData data = before;
    EXPECT_EQ(RenameVariables(names, &data), absl::OkStatus());
    std::vector<std::string> now;
    for (const auto& [name, value] : data.variables) {
      now.push_back(name);
      for (const char* slot : {"/Adam", "/ExponentialMovingAverage"}) {
        EXPECT_TRUE(data.slots.contains(name + slot)) << name << slot << (reversed ? " reversed" : "");
      }
    }
    return absl::StrJoin(now, " ");
  };
  for (const bool reversed : {false, true}) {
    EXPECT_EQ(renamed({{"a/b", "head/b"}, {"a/", "body/"}}, reversed), "body/b/c body/d e head/b");
    EXPECT_EQ(renamed({{"a/", "x/"}, {"a/b/", "y/"}}, reversed), "e x/b x/d y/c");
    EXPECT_EQ(renamed({{"a/b", "x"}, {"a/b/", "y/"}}, reversed), "a/d e x y/c");
    EXPECT_EQ(renamed({{"a/b", "x"}, {"e", "f"}}, reversed), "a/b/c a/d f x") << "a/b/c is a variable of its own";
  }
}

TEST(Rename, ASlotHasItsOwnNameToo) {
  for (const bool reversed : {false, true}) {
    CheckpointData data = Dense(3, {1});
    NameMap names = {{"dense/bias/Adam", "b/Momentum"}, {"dense/bias", "b"}};
    if (reversed) std::reverse(names.begin(), names.end());
    ASSERT_EQ(RenameVariables(names, &data), absl::OkStatus());
    EXPECT_THAT(data.variables, ElementsAre(Key("b"), Key("dense/kernel")));
    EXPECT_THAT(data.slots, ElementsAre(Key("b/Momentum")));
  }
}

TEST(Rename, MistakesNameTheArgument) {
  CheckpointData data = Dense(3, {1});
  const auto message = [&](const NameMap& names) { return std::string(RenameVariables(names, &data).message()); };
  EXPECT_THAT(message({{"dense/bia", "x"}}), HasSubstr("no variable \"dense/bia\"; did you mean \"dense/bias\"?"));
  EXPECT_THAT(message({{"dense", "x"}}), HasSubstr("no variable \"dense\""));
  EXPECT_THAT(message({{"dense/bias", "dense/kernel"}}), HasSubstr("two tensors would be called \"dense/kernel\""));
  for (const std::string& text : {std::string("a"), std::string("=b"), std::string("a=")}) {
    EXPECT_THAT(std::string(ParseNameMap({text}).status().message()), HasSubstr("\"" + text + "\" is not of the form"));
  }
  EXPECT_THAT(std::string(ParseNameMap({"a=b", "a=c"}).status().message()), HasSubstr("\"a\" comes twice"));
  EXPECT_FALSE(ParseNameMap({}).ok());
  EXPECT_EQ(ParseNameMap({"a=b=c"})->at(0).second, "b=c");
}

// The mean of 1 and three values that float32 sums would swallow one by one.
TEST(Average, SumsInDoublePrecision) {
  const float tiny = std::ldexp(1.0f, -25);
  std::vector<std::string> paths;
  for (int i = 0; i < 4; ++i) {
    CheckpointData data = Dense(i, {i == 0 ? 1.0f : tiny, static_cast<float>(i)});
    data.variables["count"] = HostTensor::Scalar<int64_t>(i);
    data.variables["wide"] = HostTensor::Scalar<double>(i == 0 ? 1 : 0.1);
    data.seed = 40 + i;
    paths.push_back(Written(absl::StrCat("average-", i), data));
  }
  const auto mean = AverageCheckpoints(Env::Default(), paths);
  ASSERT_TRUE(mean.ok()) << mean.status();
  EXPECT_EQ(mean->variables.at("dense/bias").data<float>()[0], static_cast<float>((1.0 + 3.0 * tiny) / 4));
  EXPECT_EQ(mean->variables.at("dense/bias").data<float>()[1], 1.5f);
  EXPECT_DOUBLE_EQ(mean->variables.at("wide").data<double>()[0], (1 + 0.1 + 0.1 + 0.1) / 4);
  EXPECT_EQ(mean->variables.at("count").data<int64_t>()[0], 3) << "the last one's";
  EXPECT_EQ(mean->global_step, 3);
  EXPECT_EQ(mean->seed, 43u);
  EXPECT_TRUE(mean->slots.empty());
}

TEST(Average, AnotherModelIsAnError) {
  CheckpointData other = Dense(1, {1, 2});
  other.variables["more"] = Floats({1});
  const absl::Status status =
      AverageCheckpoints(Env::Default(), {Written("one", Dense(1, {1})), Written("two", other)}).status();
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("dense/bias: float32[1] and float32[2]\n  more: missing and "));
}

TEST(Npz, KeepsTensorsSlotsAndStep) {
  const CheckpointData data = Dense(5, {1, 2});
  const auto arrays = ArraysOf(data);
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  EXPECT_EQ(arrays->at("global_step").data<int64_t>()[0], 5);
  const auto back = CheckpointOf({arrays->begin(), arrays->end()}, "x.npz");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->variables, ElementsAre(Key("dense/bias"), Key("dense/kernel")));
  EXPECT_THAT(back->slots, ElementsAre(Key("dense/bias/Adam")));
  EXPECT_EQ(back->global_step, 5);
  CheckpointData clash = data;
  clash.variables["global_step"] = Floats({1});
  EXPECT_THAT(std::string(ArraysOf(clash).status().message()), HasSubstr("rename it first"));
}

TEST(Npz, BadArraysAreNamed) {
  const auto message = [](const std::vector<std::pair<std::string, HostTensor>>& arrays) {
    const absl::Status status = CheckpointOf(arrays, "x.npz").status();
    EXPECT_EQ(ExitCodeFor(status), kExitBadData) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(message({{"a", Floats({1})}, {"a", Floats({1})}}), HasSubstr("x.npz: has two arrays called \"a\""));
  EXPECT_THAT(message({{"a", Floats({1})}, {"global_step", Floats({1})}}), HasSubstr("\"global_step\" is float32[1]"));
  EXPECT_THAT(message({{"global_step", HostTensor::Scalar<int64_t>(1)}}), HasSubstr("has no arrays"));
  EXPECT_THAT(message({{"", Floats({1})}}), HasSubstr("has no name"));
}

}  // namespace
}  // namespace tandem
