#include "estimator/serving/server/batcher.h"

#include <future>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "base/steady_time.h"
#include "estimator/serving/server/testing_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::serving {
namespace {

using ::testing::ElementsAre;

// A batcher whose model returns its input, and the answers to its requests.
class TestBatcher {
 public:
  explicit TestBatcher(BatchOptions options, std::function<absl::Status(const NamedTensors&)> predict = nullptr) {
    const auto run = [this, predict](const NamedTensors& inputs) -> absl::StatusOr<NamedTensors> {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        batches_.push_back(inputs.at("x").shape()[0]);
      }
      if (predict != nullptr) {
        if (absl::Status status = predict(inputs); !status.ok()) return status;
      }
      return NamedTensors{{"y", inputs.at("x").Clone()}};
    };
    batcher_ = *Batcher::Start(options, run, &metrics_);
  }

  // Adds a request whose rows have a value. The result has the first value of its prediction.
  std::future<absl::StatusOr<float>> Add(float value, int64_t rows = 1, CancelFlag cancelled = nullptr) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<float>>>();
    PredictRequest request{.rows = rows, .cancelled = std::move(cancelled)};
    request.inputs["x"] = HostTensor::FromVector<float>({rows}, std::vector<float>(static_cast<size_t>(rows), value));
    request.done = [promise](absl::StatusOr<Prediction> result) {
      if (!result.ok()) return promise->set_value(result.status());
      const HostTensor& y = result->outputs->at("y");
      promise->set_value(result->rows == 0 ? 0 : y.data<float>()[result->begin]);
    };
    const absl::Status added = batcher_->Add(&request);
    if (!added.ok()) promise->set_value(added);
    return promise->get_future();
  }

  std::vector<int64_t> batches() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return batches_;
  }
  Batcher& operator*() { return *batcher_; }

 private:
  std::mutex mutex_;
  std::vector<int64_t> batches_;
  ModelMetrics metrics_;
  std::unique_ptr<Batcher> batcher_;
};

TEST(BatcherTest, RequestsThatWaitJoinOneBatch) {
  TestBatcher batcher({.max_rows = 4, .timeout = absl::Hours(1), .threads = 1});
  auto a = batcher.Add(1), b = batcher.Add(2, 2), c = batcher.Add(3);
  EXPECT_EQ(*a.get(), 1);
  EXPECT_EQ(*b.get(), 2);
  EXPECT_EQ(*c.get(), 3);
  EXPECT_THAT(batcher.batches(), ElementsAre(4)) << "it is full, and does not wait";
}

TEST(BatcherTest, ABatchGoesWhenItsTimeIsUp) {
  TestBatcher batcher({.max_rows = 4, .timeout = absl::Milliseconds(20), .threads = 1});
  const absl::Duration start = SteadyNow();
  auto a = batcher.Add(1), b = batcher.Add(2);
  EXPECT_EQ(*a.get(), 1);
  EXPECT_EQ(*b.get(), 2);
  EXPECT_GE(SteadyNow() - start, absl::Milliseconds(20));
  EXPECT_THAT(batcher.batches(), ElementsAre(2));
}

TEST(BatcherTest, ABatchGoesThoughTheOneBeforeStillRuns) {
  Gate gate;
  TestBatcher batcher({.max_rows = 4, .threads = 2}, [&](const NamedTensors& inputs) {
    if (inputs.at("x").data<float>()[0] == 1) gate.Wait();
    return absl::OkStatus();
  });
  auto slow = batcher.Add(1);
  gate.AwaitArrivals(1);
  EXPECT_EQ(*batcher.Add(2).get(), 2);
  gate.Open();
  EXPECT_EQ(*slow.get(), 1);
}

TEST(BatcherTest, RequestsThatWaitForAThreadJoinTheNextBatch) {
  Gate gate;
  TestBatcher batcher({.max_rows = 4, .threads = 1}, [&](const NamedTensors& inputs) {
    if (inputs.at("x").data<float>()[0] == 1) gate.Wait();
    return absl::OkStatus();
  });
  auto slow = batcher.Add(1);
  gate.AwaitArrivals(1);
  auto a = batcher.Add(2), b = batcher.Add(3, 2), c = batcher.Add(4, 3);
  gate.Open();
  EXPECT_EQ(*slow.get(), 1);
  EXPECT_EQ(*a.get(), 2);
  EXPECT_EQ(*b.get(), 3);
  EXPECT_EQ(*c.get(), 4);
  EXPECT_THAT(batcher.batches(), ElementsAre(1, 3, 3)) << "a request is never divided";
}

TEST(BatcherTest, ARequestLargerThanABatchIsOneByItself) {
  TestBatcher batcher({.max_rows = 4, .timeout = absl::Hours(1), .threads = 1});
  EXPECT_EQ(*batcher.Add(1, 9).get(), 1);
  EXPECT_THAT(batcher.batches(), ElementsAre(9));
}

TEST(BatcherTest, ABadRequestFailsAlone) {
  TestBatcher batcher({.max_rows = 3, .timeout = absl::Hours(1), .threads = 1}, [&](const NamedTensors& inputs) {
    for (const float value : inputs.at("x").values<float>()) {
      if (value == 2) return absl::OutOfRangeError("2 is no index");
    }
    return absl::OkStatus();
  });
  auto a = batcher.Add(1), b = batcher.Add(2), c = batcher.Add(3);
  EXPECT_EQ(*a.get(), 1);
  EXPECT_EQ(b.get().status(), absl::OutOfRangeError("2 is no index"));
  EXPECT_EQ(*c.get(), 3);
}

TEST(BatcherTest, AnExceptionIsAnError) {
  TestBatcher batcher({.max_rows = 1, .threads = 1},
                      [](const NamedTensors&) -> absl::Status { throw std::bad_alloc(); });
  EXPECT_EQ(batcher.Add(1).get().status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(BatcherTest, ACancelledRequestIsNotComputed) {
  Gate gate;
  TestBatcher batcher({.max_rows = 4, .threads = 1}, [&](const NamedTensors& inputs) {
    if (inputs.at("x").data<float>()[0] == 1) gate.Wait();
    return absl::OkStatus();
  });
  auto slow = batcher.Add(1);
  gate.AwaitArrivals(1);
  auto flag = std::make_shared<std::atomic<bool>>(false);
  auto cancelled = batcher.Add(2, 1, flag);
  auto other = batcher.Add(3, 1, std::make_shared<std::atomic<bool>>(false));
  flag->store(true);
  gate.Open();
  EXPECT_TRUE(absl::IsCancelled(cancelled.get().status()));
  EXPECT_EQ(*other.get(), 3);
  EXPECT_THAT(batcher.batches(), ElementsAre(1, 1));
}

TEST(BatcherTest, AFullQueueRefuses) {
  Gate gate;
  TestBatcher batcher({.max_rows = 1, .threads = 1, .max_queued = 2}, [&](const NamedTensors&) {
    gate.Wait();
    return absl::OkStatus();
  });
  auto running = batcher.Add(1);
  gate.AwaitArrivals(1);
  auto a = batcher.Add(2), b = batcher.Add(3);
  EXPECT_TRUE(absl::IsResourceExhausted(batcher.Add(4).get().status()));
  gate.Open();
  EXPECT_EQ(*running.get(), 1);
  EXPECT_EQ(*a.get(), 2);
  EXPECT_EQ(*b.get(), 3);
}

TEST(BatcherTest, DrainAnswersWhatWaitsAndRefusesMore) {
  TestBatcher batcher({.max_rows = 100, .timeout = absl::Hours(1), .threads = 2});
  auto a = batcher.Add(1), none = batcher.Add(0, 0);
  (*batcher).Drain();
  EXPECT_EQ(*a.get(), 1);
  EXPECT_TRUE(none.get().ok());
  EXPECT_TRUE(absl::IsAborted(batcher.Add(2).get().status()));
}

// Many threads, batches of all sizes: each request gets its own rows.
TEST(BatcherTest, NothingIsMixedUp) {
  TestBatcher batcher({.max_rows = 7, .timeout = absl::Microseconds(50), .threads = 3});
  std::vector<std::thread> clients;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&batcher, client] {
      for (int i = 0; i < 500; ++i) {
        const float value = static_cast<float>(client * 1000 + i);
        ASSERT_EQ(*batcher.Add(value, 1 + (client + i) % 3).get(), value);
      }
    });
  }
  for (std::thread& client : clients) client.join();
}

}  // namespace
}  // namespace tandem::serving
