#include "estimator/serving/server/served_model.h"

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/logging.h"
#include "base/steady_time.h"
#include "estimator/serving/server/testing_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ServedModelTest : public testing::Test {
 protected:
  ServedModelTest()
      : models_(absl::StrCat(testing::TempDir(), "/served_model_",
                             testing::UnitTest::GetInstance()->current_test_info()->name())) {}

  void Start(int versions = 1) {
    ServerOptions options = models_.Options({"m"});
    options.versions = versions;
    options.batch.max_rows = 4;
    model_ = *ServedModel::Start(options.models[0], options, models_.Loader(), &metrics_);
  }

  // Waits until something holds, for at most 30 seconds.
  static void Await(const std::function<bool()>& holds) {
    const absl::Duration end = SteadyNow() + absl::Seconds(30);
    while (SteadyNow() < end) {
      if (holds()) return;
      absl::SleepFor(absl::Milliseconds(1));
    }
    ADD_FAILURE() << "not within 30 seconds";
  }

  std::vector<int64_t> Available() const {
    std::vector<int64_t> numbers;
    for (const VersionStatus& version : model_->Versions()) {
      if (version.state == VersionState::kAvailable) numbers.push_back(version.number);
    }
    return numbers;
  }
  void AwaitAvailable(const std::vector<int64_t>& numbers) {
    Await([&] { return Available() == numbers; });
  }
  int64_t Newest() const { return (*model_->Find(std::nullopt))->number(); }

  LogCapture log_;
  ModelMetrics metrics_;
  TestModels models_;
  std::unique_ptr<ServedModel> model_;
};

TEST_F(ServedModelTest, TheNewestServes) {
  models_.Export("m", kFirst);
  models_.Export("m", kSecond);
  Start();
  AwaitAvailable({kSecond});
  EXPECT_EQ(model_->Find(kFirst).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(model_->Find(7).status().message()), HasSubstr(absl::StrCat("it has ", kSecond)));
  models_.Export("m", kThird);
  AwaitAvailable({kThird});
}

TEST_F(ServedModelTest, SeveralVersionsServe) {
  for (const int64_t number : {kFirst, kSecond, kThird}) models_.Export("m", number);
  Start(2);
  AwaitAvailable({kThird, kSecond});
  EXPECT_EQ((*model_->Find(kSecond))->number(), kSecond);
  EXPECT_EQ(Newest(), kThird);
}

TEST_F(ServedModelTest, NoDirectoryAndNoVersionYet) {
  Start();
  Await([&] { return absl::IsNotFound(model_->DirectoryStatus()); });
  const absl::Status none = model_->Find(std::nullopt).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(none.message()), HasSubstr("has no exported model"));
  EXPECT_THAT(model_->Versions(), IsEmpty());
  models_.Export("m", kFirst);
  AwaitAvailable({kFirst});
  EXPECT_TRUE(model_->DirectoryStatus().ok());
}

TEST_F(ServedModelTest, TheOldOneServesUntilTheNewOneIsLoaded) {
  models_.Export("m", kFirst);
  Start();
  AwaitAvailable({kFirst});
  models_.Hold(kSecond);
  models_.Export("m", kSecond);
  Await([&] { return models_.load_attempts() == 2; });
  EXPECT_EQ(Newest(), kFirst);
  EXPECT_EQ(model_->Versions()[0].state, VersionState::kLoading);
  EXPECT_THAT(std::string(model_->Find(kSecond).status().message()), HasSubstr("is being loaded"));
  models_.LetGo(kSecond);
  AwaitAvailable({kSecond});
}

TEST_F(ServedModelTest, AVersionThatCannotBeLoadedLeavesTheOldOneAndIsTriedAgain) {
  models_.Export("m", kFirst);
  Start();
  AwaitAvailable({kFirst});
  models_.SetLoadError(kSecond, absl::DataLossError("weights: a byte has changed"));
  models_.Export("m", kSecond);
  Await([&] { return models_.load_attempts() >= 4; });
  EXPECT_EQ(Newest(), kFirst);
  const std::vector<VersionStatus> versions = model_->Versions();
  ASSERT_EQ(versions.size(), 2u);
  EXPECT_EQ(versions[0].number, kSecond);
  EXPECT_EQ(versions[0].error, absl::DataLossError("weights: a byte has changed"));
  EXPECT_EQ(model_->Find(kSecond).status().code(), absl::StatusCode::kUnavailable);
  models_.SetLoadError(kSecond, absl::OkStatus());
  AwaitAvailable({kSecond});
}

TEST_F(ServedModelTest, AtTheStartAnOlderOneServesForABrokenOne) {
  models_.Export("m", kFirst);
  models_.Export("m", kSecond);
  models_.SetLoadError(kSecond, absl::DataLossError("broken"));
  Start();
  AwaitAvailable({kFirst});
  models_.SetLoadError(kSecond, absl::OkStatus());
  AwaitAvailable({kSecond});
}

TEST_F(ServedModelTest, ABrokenOneThatIsDeletedIsForgotten) {
  models_.Export("m", kFirst);
  models_.Export("m", kSecond);
  models_.SetLoadError(kSecond, absl::DataLossError("broken"));
  Start();
  AwaitAvailable({kFirst});
  models_.Delete("m", kSecond);
  Await([&] { return model_->Versions().size() == 1; });
}

TEST_F(ServedModelTest, AVersionThatVanishes) {
  models_.Export("m", kFirst);
  models_.Export("m", kSecond);
  Start();
  AwaitAvailable({kSecond});
  models_.Delete("m", kSecond);  // a rollback: the older one takes its place
  AwaitAvailable({kFirst});
  models_.Delete("m", kFirst);  // the last one goes on
  Await([&] { return absl::IsNotFound(model_->DirectoryStatus()); });
  EXPECT_THAT(Available(), ElementsAre(kFirst));
  models_.Export("m", kThird);
  AwaitAvailable({kThird});
}

TEST_F(ServedModelTest, RequestsOfAVersionThatIsUnloadedAreAnswered) {
  models_.Export("m", kFirst);
  Start();
  AwaitAvailable({kFirst});
  Gate gate;
  models_.OnPredict([&](const NamedTensors&) {
    gate.Wait();
    return absl::OkStatus();
  });
  std::atomic<int> answered{0};
  const auto request = [&] {
    PredictRequest r{.rows = 1};
    r.inputs["x"] = HostTensor::Zeros(DType::kFloat32, {1, 2});
    r.done = [&](const absl::StatusOr<Prediction>& result) {
      EXPECT_TRUE(result.ok()) << result.status();
      ++answered;
    };
    return r;
  };
  const std::shared_ptr<ServedVersion> first = *model_->Find(kFirst);
  PredictRequest running = request();
  ASSERT_TRUE(first->Add(&running).ok());
  gate.AwaitArrivals(1);
  models_.Export("m", kSecond);
  AwaitAvailable({kSecond});
  // Some time after it is gone it takes nothing more; Use finds the other one.
  Await([&] {
    PredictRequest late = request();
    return absl::IsAborted(first->Add(&late));
  });
  PredictRequest next = request();
  EXPECT_TRUE(model_->Use(std::nullopt, [&](ServedVersion& v) { return v.Add(&next); }).ok());
  gate.Open();
  Await([&] { return answered >= 2; });
  model_->Stop();
}

TEST_F(ServedModelTest, OneExportAsDirectory) {
  models_.Export("m", kFirst);
  ServerOptions options = models_.Options({"m"});
  options.models[0].directory += absl::StrCat("/", kFirst);
  model_ = *ServedModel::Start(options.models[0], options, models_.Loader(), &metrics_);
  AwaitAvailable({kFirst});
}

}  // namespace
}  // namespace tandem::serving
