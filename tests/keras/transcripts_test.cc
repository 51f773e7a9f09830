// What Fit and Evaluate print, call and write with callbacks, against Keras 2.15's (testdata/transcripts): the same
// model, weights, data and clock.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "base/test_dir.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/keras/callbacks.h"
#include "estimator/keras/console.h"
#include "estimator/keras/model.h"
#include "estimator/keras/model_saver.h"
#include "frontends/keras/layers.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace tandem::keras {
namespace {

std::string Transcript(const std::string& name) {
  absl::StatusOr<std::string> text = Env::Default()->ReadFile("tests/keras/testdata/transcripts/" + name);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

// The model and the data of make_keras2.py's `fitted`.
class TranscriptsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto tensors = ReadSafetensors(Env::Default(), "tests/keras/testdata/transcripts/model.safetensors");
    ASSERT_TRUE(tensors.ok()) << tensors.status();
    weights_ = {tensors->at("kernel"), tensors->at("bias")};
    data_ = Data(tensors->at("x"), tensors->at("y"));
  }

  // What is printed; the history goes to history_.
  std::string Fitted(FitOptions options) {
    ClearSession();
    Sequential model({layers::Dense(3, {.activation = "softmax", .input_shape = {4}})});
    EXPECT_TRUE(model.SetWeights(weights_).ok());
    model.Compile({.optimizer = optimizers::SGD({.learning_rate = 0.05}),
                   .loss = "sparse_categorical_crossentropy",
                   .metrics = {"accuracy"}});
    std::string text;
    double now = 1000;
    const ScopedConsole console(
        {.clock = [&] { return now += 0.01; }, .write = [&](absl::string_view part) { absl::StrAppend(&text, part); }});
    options.batch_size = 16;
    options.shuffle = false;
    options.validation_split = 0.2;
    const int verbose = options.verbose;
    absl::StatusOr<History> history = model.Fit(data_, options);
    EXPECT_TRUE(history.ok()) << history.status();
    history_ = history.value_or(History());
    absl::StatusOr<Logs> logs = model.Evaluate(data_, {.verbose = verbose});
    EXPECT_TRUE(logs.ok()) << logs.status();
    return text;
  }

  // Numbers of another library's float32 arithmetic.
  void ExpectHistory(const std::string& name) {
    const nlohmann::json expected = nlohmann::json::parse(Transcript(name));
    EXPECT_EQ(history_.history.size(), expected.size());
    for (const auto& [key, values] : expected.items()) {
      ASSERT_TRUE(history_.history.contains(key)) << key;
      const std::vector<double>& actual = history_.history.at(key);
      ASSERT_EQ(actual.size(), values.size()) << key;
      for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], values[i].get<double>(), 1e-6) << key;
    }
  }

  HostTensors weights_;
  Data data_;
  History history_;
};

TEST_F(TranscriptsTest, AProgressBar) {
  EXPECT_EQ(Fitted({.epochs = 2, .verbose = 1}), Transcript("verbose_1.txt"));
  ExpectHistory("verbose_1.history.json");
}

TEST_F(TranscriptsTest, ALineForEachEpoch) {
  EXPECT_EQ(Fitted({.epochs = 2, .verbose = 2}), Transcript("verbose_2.txt"));
  ExpectHistory("verbose_2.history.json");
}

// Writes each call as make_keras2.py does.
class CallsInOrder : public Callback {
 public:
  absl::Status OnTrainBegin() override { return Add("on_train_begin()"); }
  absl::Status OnTrainEnd(const Logs& logs) override { return Add("on_train_end()", logs); }
  absl::Status OnEpochBegin(int64_t epoch) override { return Add(absl::StrCat("on_epoch_begin(", epoch, ")")); }
  absl::Status OnEpochEnd(int64_t epoch, Logs& logs) override {
    return Add(absl::StrCat("on_epoch_end(", epoch, ")"), logs);
  }
  absl::Status OnTrainBatchBegin(int64_t batch) override {
    return Add(absl::StrCat("on_train_batch_begin(", batch, ")"));
  }
  absl::Status OnTrainBatchEnd(int64_t batch, const Logs& logs) override {
    return Add(absl::StrCat("on_train_batch_end(", batch, ")"), logs);
  }
  absl::Status OnTestBegin() override { return Add("on_test_begin()"); }
  absl::Status OnTestBatchBegin(int64_t batch) override {
    return Add(absl::StrCat("on_test_batch_begin(", batch, ")"));
  }
  absl::Status OnTestBatchEnd(int64_t batch, const Logs& logs) override {
    return Add(absl::StrCat("on_test_batch_end(", batch, ")"), logs);
  }
  absl::Status OnTestEnd(const Logs& logs) override { return Add("on_test_end()", logs); }
  std::string text;

 private:
  absl::Status Add(const std::string& call, const Logs& logs = {}) {
    std::vector<std::string> names;
    for (const auto& value : logs.values()) names.push_back(absl::StrCat("'", value.first, "'"));
    std::sort(names.begin(), names.end());
    absl::StrAppend(&text, call, " logs=", names.empty() ? "{}" : absl::StrCat("[", absl::StrJoin(names, ", "), "]"),
                    "\n");
    return absl::OkStatus();
  }
};

TEST_F(TranscriptsTest, TheOrderOfCalls) {
  auto calls = std::make_shared<CallsInOrder>();
  EXPECT_EQ(Fitted({.epochs = 2, .verbose = 0, .callbacks = {calls}}), "");
  EXPECT_EQ(calls->text, Transcript("callback_calls.txt"));
  ExpectHistory("callback_calls.history.json");
}

// Cells are the same text, or numbers of float32 that are as near as float32 arithmetic is.
void ExpectCsv(const std::string& actual, const std::string& expected) {
  const std::vector<std::string> rows = absl::StrSplit(actual, "\r\n"), wanted = absl::StrSplit(expected, "\r\n");
  ASSERT_EQ(rows.size(), wanted.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string> cells = absl::StrSplit(rows[i], ','), wanted_cells = absl::StrSplit(wanted[i], ',');
    ASSERT_EQ(cells.size(), wanted_cells.size()) << rows[i];
    for (size_t j = 0; j < cells.size(); ++j) {
      double value = 0, of_keras = 0;
      if (cells[j] == wanted_cells[j]) continue;
      ASSERT_TRUE(absl::SimpleAtod(cells[j], &value) && absl::SimpleAtod(wanted_cells[j], &of_keras)) << cells[j];
      EXPECT_EQ(value, static_cast<double>(static_cast<float>(value))) << "not a number of float32";
      EXPECT_NEAR(value, of_keras, 1e-6);
    }
  }
}

TEST_F(TranscriptsTest, SevenCallbacks) {
  const std::string text = Transcript("callbacks.txt"), csv = Transcript("callbacks.csv"),
                    files = Transcript("callbacks.files.txt"), history = Transcript("callbacks.history.json");
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(TestDir("seven_callbacks"));
  SetModelSaver([](Model&, const std::string& path, bool) { return Env::Default()->WriteFile(path, {"model"}); });
  const std::string printed = Fitted(
      {.epochs = 6,
       .verbose = 2,
       .callbacks = {callbacks::LearningRateScheduler([](int64_t, double rate) { return rate * 0.9; }, 1),
                     callbacks::ModelCheckpoint({.filepath = "ckpt/w.{epoch:02d}-{val_loss:.2f}.h5", .verbose = 1}),
                     callbacks::ModelCheckpoint(
                         {.filepath = "ckpt/best.h5", .verbose = 1, .save_best_only = true, .save_weights_only = true}),
                     callbacks::ReduceLROnPlateau(
                         {.monitor = "val_accuracy", .factor = 0.5, .patience = 1, .verbose = 1, .min_delta = 0.5}),
                     callbacks::EarlyStopping({.monitor = "val_accuracy",
                                               .min_delta = 0.5,
                                               .patience = 2,
                                               .verbose = 1,
                                               .restore_best_weights = true}),
                     callbacks::CSVLogger("callbacks.csv"), callbacks::TerminateOnNaN()},
       .class_weight = {{0, 1.0}, {1, 2.0}, {2, 0.5}}});
  SetModelSaver(nullptr);
  EXPECT_EQ(printed, text);
  ExpectCsv(Env::Default()->ReadFile("callbacks.csv").value_or("(none)"), csv);
  std::vector<std::string> names = Env::Default()->ListDir("ckpt").value_or(std::vector<std::string>());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(absl::StrCat(absl::StrJoin(names, "\n"), "\n"), files);
  std::filesystem::current_path(before);
  ExpectHistory("callbacks.history.json");
}

}  // namespace
}  // namespace tandem::keras
