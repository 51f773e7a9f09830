// Callbacks: their rules, their errors, and that a Fit which resumes goes on with them.
#include "estimator/keras/callbacks.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <random>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/logging.h"
#include "base/test_dir.h"
#include "estimator/keras/console.h"
#include "estimator/keras/model.h"
#include "estimator/keras/model_saver.h"
#include "frontends/keras/layers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::keras {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// y = x0 - x1.
Data Differences(int64_t rows) {
  HostTensor x(DType::kFloat32, {rows, 2}), y(DType::kFloat32, {rows, 1});
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < rows; ++i) {
    const float a = uniform(random), b = uniform(random);
    x.data<float>()[2 * i] = a;
    x.data<float>()[2 * i + 1] = b;
    y.data<float>()[i] = a - b;
  }
  return Data(x, y);
}

class KerasCallbacksTest : public testing::Test {
 protected:
  void SetUp() override { ClearSession(); }
  void TearDown() override { SetModelSaver(nullptr); }

  // 4 batches of 8 an epoch, at a rate of 0.05.
  absl::StatusOr<History> Fit(std::vector<CallbackPtr> callbacks, int64_t epochs = 2) {
    FitOptions options{.batch_size = 8, .epochs = epochs, .verbose = 0};
    options.callbacks = std::move(callbacks);
    return FitWith(options);
  }
  absl::StatusOr<History> FitWith(const FitOptions& options,
                                  Optimizer optimizer = optimizers::SGD({.learning_rate = 0.05})) {
    model_ = Sequential({layers::Dense(1, {.input_shape = {2}})});
    model_.Compile({.optimizer = std::move(optimizer), .loss = "mse"});
    return model_.Fit(Differences(32), options);
  }

  std::vector<float> Weights() {
    std::vector<float> values;
    for (const HostTensor& weight : model_.GetWeights().value_or(HostTensors())) {
      const auto of_weight = weight.values<float>();
      values.insert(values.end(), of_weight.begin(), of_weight.end());
    }
    return values;
  }

  Sequential model_;
};

// Logs as if there was such a score.
CallbackPtr Scores(std::vector<double> scores, const std::string& name = "score") {
  return callbacks::LambdaCallback(
      {.on_epoch_end = [=](int64_t epoch, Logs& logs) { logs.Set(name, scores.at(epoch)); }});
}

std::string MessageOf(const absl::StatusOr<History>& history) { return std::string(history.status().message()); }

TEST_F(KerasCallbacksTest, WhatIsWrongWithOptionsIsAnErrorWithTheLine) {
  using namespace callbacks;  // NOLINT: all of them
  const std::vector<std::pair<CallbackPtr, std::string>> cases = {
      {ModelCheckpoint({.filepath = ""}), "callback ModelCheckpoint, OnTrainBegin: made at"},
      {ModelCheckpoint({.filepath = "a.h5", .save_freq = 0}), "save_freq must be at least 1 batch, got 0"},
      {ModelCheckpoint({.filepath = "a.h5", .mode = "best"}), "got \"best\""},
      {EarlyStopping({.mode = "maximum"}), "mode must be \"auto\", \"min\" or \"max\", got \"maximum\""},
      {EarlyStopping({.patience = -1}), "patience must be at least 0, got -1"},
      {ReduceLROnPlateau({.factor = 1}), "factor must be in (0, 1), got 1"},
      {ReduceLROnPlateau({.cooldown = -2}), "cooldown must be at least 0, got -2"},
      {ReduceLROnPlateau({.min_lr = -1}), "min_lr must be at least 0, got -1"},
      {CSVLogger(""), "filename is empty"},
      {CSVLogger("a.csv", {.separator = ", "}), "separator must be one character"},
      {TensorBoard({.log_dir = ""}), "log_dir is empty"},
      {TensorBoard({.update_freq = 0}), "update_freq must be at least 1 batch, got 0"},
      {BackupAndRestore(""), "backup_dir is empty"},
      {RemoteMonitor(), "nothing here uses the network"},
      {LearningRateScheduler(std::function<double(int64_t)>()), "schedule is null"},
  };
  for (const auto& [callback, message] : cases) {
    EXPECT_THAT(MessageOf(Fit({callback})), AllOf(HasSubstr(message), HasSubstr("callbacks_test.cc:"))) << message;
  }
}

TEST_F(KerasCallbacksTest, ErrorsNameCallbackMethodAndEpoch) {
  const absl::StatusOr<History> failed = Fit({callbacks::LambdaCallback({.on_epoch_end = [](int64_t epoch, Logs&) {
    return epoch == 1 ? absl::InternalError("no more") : absl::OkStatus();
  }})});
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(MessageOf(failed), HasSubstr("callback LambdaCallback, OnEpochEnd, epoch 1: no more"));
  const absl::StatusOr<History> threw = Fit({callbacks::LambdaCallback(
      {.on_batch_end = [](int64_t, const Logs&) { throw std::out_of_range("such a key"); }})});
  EXPECT_THAT(MessageOf(threw),
              AllOf(HasSubstr("callback LambdaCallback, OnTrainBatchEnd, epoch 0: "), HasSubstr("such a key")));
}

TEST_F(KerasCallbacksTest, AMonitorThatIsNotInTheLogsIsOneWarning) {
  SetModelSaver([](Model&, const std::string&, bool) { return absl::InternalError("saved"); });
  LogCapture log;
  ASSERT_TRUE(Fit({callbacks::EarlyStopping({.monitor = "val_los"})}, 4).ok());
  ASSERT_TRUE(Fit({callbacks::ReduceLROnPlateau({.monitor = "los"})}, 4).ok());
  ASSERT_TRUE(Fit({callbacks::ModelCheckpoint({.filepath = "a.h5", .save_best_only = true})}, 4).ok());
  const std::string text = log.Text(LogSeverity::kWarning);
  EXPECT_THAT(text, HasSubstr("EarlyStopping looks at \"val_los\", which the logs do not have; they have loss"));
  EXPECT_THAT(text, HasSubstr("ReduceLROnPlateau looks at \"los\", which the logs do not have; they have loss, lr; did "
                              "you mean \"loss\"?"));
  EXPECT_THAT(text, HasSubstr("ModelCheckpoint looks at \"val_loss\""));
  int count = 0;
  for (size_t at = text.find("looks at"); at != std::string::npos; at = text.find("looks at", at + 1)) ++count;
  EXPECT_EQ(count, 3) << text;
}

TEST_F(KerasCallbacksTest, EarlyStoppingStopsWhereKerasDoes) {
  const auto epochs = [&](const callbacks::EarlyStoppingOptions& options, std::vector<double> scores) {
    callbacks::EarlyStoppingOptions of_score = options;
    of_score.monitor = "score";
    const int64_t most = static_cast<int64_t>(scores.size());
    absl::StatusOr<History> history = Fit({Scores(std::move(scores)), callbacks::EarlyStopping(of_score)}, most);
    EXPECT_TRUE(history.ok()) << history.status();
    return history.ok() ? history->epoch.size() : 0;
  };
  EXPECT_EQ(epochs({}, {3, 2, 2, 1}), 3u);
  EXPECT_EQ(epochs({.patience = 1}, {3, 3, 1, 1}), 2u);
  EXPECT_EQ(epochs({.patience = 2}, {3, 3, 1, 1}), 4u);
  EXPECT_EQ(epochs({.mode = "max"}, {1, 2, 3, 2, 5}), 4u);
  EXPECT_EQ(epochs({.min_delta = 0.5}, {3, 2.6, 2}), 2u) << "better by too little";
  EXPECT_EQ(epochs({.min_delta = -0.5}, {3, 2.6, 2}), 2u) << "the sign does not count";
  EXPECT_EQ(epochs({.start_from_epoch = 3}, {1, 2, 3, 4, 5, 6}), 5u);
  EXPECT_EQ(epochs({.patience = 3, .baseline = 1}, {5, 4, 3, 3, 2}), 4u) << "the baseline was never beaten";
  EXPECT_EQ(epochs({.patience = 3, .baseline = 3.5}, {5, 4, 3, 3, 2}), 5u);
}

TEST_F(KerasCallbacksTest, EarlyStoppingRestoresTheBestWeightsWhereItStops) {
  std::vector<std::vector<float>> after;
  const auto watch = [&] {
    return callbacks::LambdaCallback({.on_epoch_end = [&](int64_t, Logs&) { after.push_back(Weights()); }});
  };
  const auto stopping = [] {
    return callbacks::EarlyStopping({.monitor = "score", .patience = 2, .restore_best_weights = true});
  };
  ASSERT_TRUE(Fit({watch(), Scores({3, 1, 2, 2, 2}), stopping()}, 5).ok());
  ASSERT_EQ(after.size(), 4u);
  EXPECT_EQ(Weights(), after[1]);
  EXPECT_NE(after[3], after[1]);
  after.clear();
  ASSERT_TRUE(Fit({watch(), Scores({3, 1, 2}), stopping()}, 3).ok());
  EXPECT_EQ(Weights(), after[2]) << "all epochs were made";
}

TEST_F(KerasCallbacksTest, ReduceLROnPlateauWaitsAndCoolsDown) {
  const auto rates = [&](callbacks::ReduceLROnPlateauOptions options, std::vector<double> scores) {
    options.monitor = "score";
    options.factor = 0.5;
    const int64_t epochs = static_cast<int64_t>(scores.size());
    absl::StatusOr<History> history = Fit({Scores(std::move(scores)), callbacks::ReduceLROnPlateau(options)}, epochs);
    EXPECT_TRUE(history.ok()) << history.status();
    std::vector<double> of_epochs = history.ok() ? history->history.at("lr") : std::vector<double>();
    of_epochs.push_back(*model_.LearningRate());
    for (double& rate : of_epochs) rate = std::round(rate * 1e6) / 1e6;
    return of_epochs;
  };
  EXPECT_THAT(rates({.patience = 2}, {1, 1, 1, 1, 1}), ElementsAre(0.05, 0.05, 0.05, 0.025, 0.025, 0.0125));
  EXPECT_THAT(rates({.patience = 1, .cooldown = 2}, {1, 1, 1, 1, 1}),
              ElementsAre(0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125));
  EXPECT_THAT(rates({.patience = 1, .mode = "max"}, {1, 2, 3, 3}), ElementsAre(0.05, 0.05, 0.05, 0.05, 0.025));
  EXPECT_THAT(rates({.patience = 1, .min_lr = 0.04}, {1, 1, 1}), ElementsAre(0.05, 0.05, 0.04, 0.04));
}

TEST_F(KerasCallbacksTest, SchedulersSetRatesAndNeedANumber) {
  const absl::StatusOr<History> history =
      Fit({callbacks::LearningRateScheduler([](int64_t epoch) { return epoch == 0 ? 0.5 : 0.25; })}, 2);
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_THAT(history->history.at("lr"), ElementsAre(0.5, 0.25));
  EXPECT_THAT(MessageOf(FitWith({.verbose = 0, .callbacks = {callbacks::ReduceLROnPlateau({.monitor = "loss"})}},
                                optimizers::SGD({.learning_rate = schedules::ExponentialDecay(
                                                     {.initial_learning_rate = 0.1, .decay_steps = 1})}))),
              HasSubstr("it changes a rate that is a number"));
  EXPECT_THAT(MessageOf(Fit({callbacks::LearningRateScheduler([](int64_t) { return -1.0; })})),
              HasSubstr("callback LearningRateScheduler, OnEpochBegin, epoch 0"));
}

TEST_F(KerasCallbacksTest, CheckpointsAreSavedWhenAndWhereOptionsSay) {
  const std::string dir = TestDir("model_checkpoint");
  std::vector<std::string> saved;
  SetModelSaver([&](Model&, const std::string& path, bool weights_only) {
    saved.push_back(absl::StrCat(path.substr(dir.size()), weights_only ? " weights" : ""));
    return Env::Default()->WriteFile(path, {"model"});
  });
  ASSERT_TRUE(Fit({callbacks::ModelCheckpoint({.filepath = dir + "/a/{epoch}-{batch}.h5", .save_freq = 3})}, 2).ok());
  EXPECT_THAT(saved, ElementsAre("/a/.writing-1-3.h5", "/a/.writing-2-2.h5"));
  EXPECT_TRUE(Env::Default()->Exists(dir + "/a/1-3.h5"));
  EXPECT_FALSE(Env::Default()->Exists(dir + "/a/.writing-1-3.h5"));
  saved.clear();
  ASSERT_TRUE(Fit({Scores({1, 3, 2, 4}, "my_acc"), callbacks::ModelCheckpoint({.filepath = dir + "/{epoch}.h5",
                                                                               .monitor = "my_acc",
                                                                               .save_best_only = true,
                                                                               .save_weights_only = true,
                                                                               .initial_value_threshold = 1.5})},
                  4)
                  .ok());
  EXPECT_THAT(saved, ElementsAre("/.writing-2.h5 weights", "/.writing-4.h5 weights"));
}

TEST_F(KerasCallbacksTest, WhatCannotBeSavedIsAnError) {
  const std::string dir = TestDir("model_checkpoint_errors");
  SetModelSaver([](Model&, const std::string&, bool) { return absl::OkStatus(); });
  EXPECT_THAT(MessageOf(Fit({callbacks::ModelCheckpoint({.filepath = dir + "/{epoch}-{val_loss:.2f}.h5"})})),
              AllOf(HasSubstr("callback ModelCheckpoint, OnEpochEnd, epoch 0: made at"),
                    HasSubstr("there is no \"val_loss\"; there are epoch, loss")));
  EXPECT_THAT(MessageOf(Fit({callbacks::ModelCheckpoint({.filepath = dir})})),
              HasSubstr("is a directory; give the name of a file"));
  SetModelSaver([](Model&, const std::string&, bool) { return absl::ResourceExhaustedError("the disk is full"); });
  EXPECT_THAT(MessageOf(Fit({callbacks::ModelCheckpoint({.filepath = dir + "/a.h5"})})), HasSubstr("the disk is full"));
  EXPECT_FALSE(Env::Default()->Exists(dir + "/a.h5"));
}

TEST_F(KerasCallbacksTest, CsvHasColumnsOfValidationAndIsAppendedTo) {
  const std::string path = TestDir("csv") + "/log.csv";
  const auto log = [&](bool append) {
    ASSERT_TRUE(Fit({callbacks::LambdaCallback({.on_epoch_end = [](int64_t, Logs& logs) { logs.Set("loss", 0.5); }}),
                     callbacks::CSVLogger(path, {.separator = ";", .append = append})},
                    1)
                    .ok());
  };
  log(false);
  const std::string row = "0;0.5;NA\r\n";
  EXPECT_EQ(Env::Default()->ReadFile(path).value_or(""), "epoch;loss;val_loss\r\n" + row);
  log(true);
  EXPECT_EQ(Env::Default()->ReadFile(path).value_or(""), "epoch;loss;val_loss\r\n" + row + row);
  log(false);
  EXPECT_EQ(Env::Default()->ReadFile(path).value_or(""), "epoch;loss;val_loss\r\n" + row);
  EXPECT_THAT(MessageOf(Fit({callbacks::CSVLogger("/no/such/folder/log.csv")})),
              AllOf(HasSubstr("callback CSVLogger, OnTrainBegin"), HasSubstr("/no/such/folder")));
}

std::string AllFilesOf(const std::string& dir) {
  std::string text;
  for (const std::string& name : Env::Default()->ListDir(dir).value_or(std::vector<std::string>())) {
    text += Env::Default()->ReadFile(JoinPath(dir, name)).value_or("");
  }
  return text;
}

TEST_F(KerasCallbacksTest, TensorBoardHasRunsOfTrainingAndValidation) {
  const std::string dir = TestDir("tensor_board");
  FitOptions options{.batch_size = 8, .epochs = 2, .verbose = 0, .validation_data = Differences(8)};
  options.callbacks = {callbacks::TensorBoard({.log_dir = dir})};
  ASSERT_TRUE(FitWith(options).ok());
  EXPECT_THAT(AllFilesOf(dir + "/train"), AllOf(HasSubstr("epoch_loss"), Not(HasSubstr("batch_loss"))));
  EXPECT_THAT(AllFilesOf(dir + "/validation"),
              AllOf(HasSubstr("epoch_loss"), HasSubstr("evaluation_loss_vs_iterations"), Not(HasSubstr("val_loss"))));
  const std::string other = TestDir("tensor_board_batches");
  options.callbacks = {callbacks::TensorBoard({.log_dir = other, .update_freq = 1, .write_steps_per_second = true})};
  ASSERT_TRUE(FitWith(options).ok());
  EXPECT_THAT(AllFilesOf(other + "/train"), AllOf(HasSubstr("batch_loss"), HasSubstr("epoch_steps_per_second")));
}

TEST_F(KerasCallbacksTest, TerminateOnNaNEndsWithoutAnError) {
  Data broken = Differences(32);
  HostTensor x = broken.xs()[0], y = broken.ys()[0];
  y.data<float>()[20] = std::numeric_limits<float>::quiet_NaN();
  const auto fit = [&](std::vector<CallbackPtr> list) {
    model_ = Sequential({layers::Dense(1, {.input_shape = {2}})});
    model_.Compile({.optimizer = "sgd", .loss = "mse"});
    FitOptions options{.batch_size = 8, .epochs = 3, .verbose = 0, .shuffle = false};
    options.callbacks = std::move(list);
    return model_.Fit({x, y}, options);
  };
  std::string printed;
  const ScopedConsole console({.write = [&](absl::string_view text) { absl::StrAppend(&printed, text); }});
  LogCapture log;
  EXPECT_THAT(MessageOf(fit({})), HasSubstr("NaN loss during training"));
  EXPECT_EQ(printed, "");
  const absl::StatusOr<History> history = fit({callbacks::TerminateOnNaN()});
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_EQ(printed, "Batch 2: Invalid loss, terminating training\n");
  ASSERT_EQ(history->epoch.size(), 1u);
  EXPECT_TRUE(std::isnan(history->history.at("loss")[0]));
}

TEST_F(KerasCallbacksTest, AnUnknownLengthIsUnknownInTheFirstEpoch) {
  const Data arrays = Differences(24);
  const Dataset dataset = Dataset::FromTensorSlices({{"x", arrays.xs()[0]}, {"label", arrays.ys()[0]}})
                              .Filter([](const Element&) { return true; })
                              .Batch(8);
  ASSERT_LT(dataset.cardinality(), 0);
  std::string printed;
  double now = 0;
  const ScopedConsole console(
      {.clock = [&] { return now += 1; }, .write = [&](absl::string_view text) { absl::StrAppend(&printed, text); }});
  model_ = Sequential({layers::Dense(1, {.input_shape = {2}})});
  model_.Compile({.optimizer = "sgd", .loss = "mse"});
  const absl::StatusOr<History> history = model_.Fit(dataset, {.epochs = 2});
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_THAT(printed, HasSubstr("\r      1/Unknown - 1s 1s/step - loss: "));
  EXPECT_THAT(printed, HasSubstr("\r      3/Unknown - 3s 1s/step - loss: "));
  EXPECT_THAT(printed, HasSubstr("\r3/3 [==============================] - 4s 2s/step - loss: "));
  EXPECT_THAT(printed, HasSubstr("\r1/3 [=========>....................] - ETA: 2s - loss: "));
}

TEST_F(KerasCallbacksTest, BackupAndRestoreIsTheDirectory) {
  const std::string dir = TestDir("backup");
  int64_t epochs = 0;
  const auto count = callbacks::LambdaCallback({.on_epoch_begin = [&](int64_t) { ++epochs; }});
  ASSERT_TRUE(Fit({callbacks::BackupAndRestore(dir), count}).ok());
  EXPECT_EQ(epochs, 2);
  ClearSession();
  const absl::StatusOr<History> again = Fit({callbacks::BackupAndRestore(dir), count});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(epochs, 2) << "the run has ended";
  EXPECT_EQ(again->epoch.size(), 2u);
  FitOptions options{.verbose = 0, .directory = TestDir("another")};
  options.callbacks = {callbacks::BackupAndRestore(dir)};
  EXPECT_THAT(MessageOf(FitWith(options)), HasSubstr("a run is kept in one"));
}

// Ends a run behind a batch, counted from 1 in this process: by a signal, or with an error.
class Killer : public Callback {
 public:
  explicit Killer(int64_t at, int signal = 0) : at_(at), signal_(signal) {}
  absl::Status OnTrainBatchEnd(int64_t, const Logs&) override {
    if (++batches_ != at_) return absl::OkStatus();
    if (signal_ == 0) return absl::InternalError("killed");
    std::raise(signal_);
    return absl::OkStatus();
  }

 private:
  const int64_t at_;
  const int signal_;
  int64_t batches_ = 0;
};

class ResumedCallbacksTest : public KerasCallbacksTest {
 protected:
  void SetUp() override {
    KerasCallbacksTest::SetUp();
    SetModelSaver([](Model&, const std::string& path, bool) { return Env::Default()->WriteFile(path, {"model"}); });
  }

  // A Fit with all callbacks that is kept in `dir`, 3 batches an epoch: its weights and History.
  absl::StatusOr<std::vector<double>> Run(const std::string& dir, int64_t kill_at = -1, int signal = 0) {
    ClearSession();
    model_ = Sequential(
        {layers::Dense(3, {.activation = "relu", .input_shape = {2}}), layers::Dropout(0.2), layers::Dense(1)});
    model_.Compile({.optimizer = "adam", .loss = "mse", .config = {.handle_signals = true}});
    FitOptions options{.batch_size = 8, .epochs = 8, .verbose = 0, .validation_split = 0.25, .directory = dir + "/run"};
    options.callbacks = {callbacks::LearningRateScheduler([](int64_t, double rate) { return rate * 0.9; }),
                         Scores({5, 4, 6, 6, 6, 6, 6, 6}),
                         callbacks::ModelCheckpoint(
                             {.filepath = dir + "/files/{epoch:02d}.h5", .monitor = "score", .save_best_only = true}),
                         callbacks::ModelCheckpoint({.filepath = dir + "/files/b{epoch}-{batch}.h5", .save_freq = 4}),
                         callbacks::ReduceLROnPlateau({.monitor = "score", .factor = 0.5, .patience = 2}),
                         callbacks::EarlyStopping({.monitor = "score", .patience = 4, .restore_best_weights = true}),
                         callbacks::CSVLogger(dir + "/log.csv"),
                         callbacks::TensorBoard({.log_dir = dir + "/logs"}),
                         callbacks::TerminateOnNaN(),
                         std::make_shared<Killer>(kill_at, signal)};
    absl::StatusOr<History> history = model_.Fit(Differences(32), options);
    if (!history.ok()) return history.status();
    std::vector<double> all;
    for (const float weight : Weights()) all.push_back(weight);
    for (const auto& [name, values] : history->history) all.insert(all.end(), values.begin(), values.end());
    return all;
  }

  static std::string Csv(const std::string& dir) {
    const absl::StatusOr<std::string> text = Env::Default()->ReadFile(dir + "/log.csv");
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  }
  static std::vector<std::string> Files(const std::string& dir) {
    std::vector<std::string> names = Env::Default()->ListDir(dir + "/files").value_or(std::vector<std::string>());
    std::sort(names.begin(), names.end());
    return names;
  }

  // What was killed in `killed_dir` ends as a run that was not.
  void ExpectGoesOn(const std::string& killed_dir) {
    const std::string whole_dir = TestDir("whole_callbacks");
    const absl::StatusOr<std::vector<double>> whole = Run(whole_dir);
    ASSERT_TRUE(whole.ok()) << whole.status();
    const absl::StatusOr<std::vector<double>> resumed = Run(killed_dir);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    EXPECT_EQ(*whole, *resumed);
    EXPECT_EQ(Csv(whole_dir), Csv(killed_dir));
    EXPECT_EQ(Files(whole_dir), Files(killed_dir));
    EXPECT_THAT(Files(whole_dir), testing::Contains("02.h5"));
  }
};

TEST_F(ResumedCallbacksTest, ARunThatHadAnErrorGoesOn) {
  const std::string dir = TestDir("failed_callbacks");
  EXPECT_THAT(std::string(Run(dir, 11).status().message()), HasSubstr("killed"));
  // Rows of an epoch that is made again are cut.
  ASSERT_TRUE(Env::Default()->WriteFile(dir + "/log.csv", {Csv(dir), "3,half a r"}).ok());
  EXPECT_THAT(std::string(Run(dir, 5).status().message()), HasSubstr("killed"));
  ExpectGoesOn(dir);
}

TEST_F(ResumedCallbacksTest, ARunThatWasStoppedInTheMiddleOfAnEpochGoesOnThere) {
  const std::string dir = TestDir("stopped_callbacks");
  EXPECT_EQ(Run(dir, 11, SIGTERM).status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Env::Default()->Exists(dir + "/run/model.ckpt-11"));
  ExpectGoesOn(dir);
}

TEST_F(ResumedCallbacksTest, ARunThatWasKilledGoesOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string dir = TestDir("killed_callbacks");
  EXPECT_EXIT((void)Run(dir, 11, SIGKILL), testing::KilledBySignal(SIGKILL), "");
  ExpectGoesOn(dir);
}

TEST_F(KerasCallbacksTest, ACsvFileThatHasGotShorterIsAnErrorOfTheFitThatResumes) {
  const std::string dir = TestDir("csv_resumes"), log = dir + "/log.csv";
  const auto run = [&](int64_t kill_at) {
    ClearSession();
    FitOptions options{.batch_size = 8, .epochs = 3, .verbose = 0, .directory = dir + "/run"};
    options.callbacks = {callbacks::CSVLogger(log), std::make_shared<Killer>(kill_at)};
    return FitWith(options);
  };
  EXPECT_THAT(MessageOf(run(6)), HasSubstr("killed"));
  ASSERT_TRUE(Env::Default()->WriteFile(log, {"epoch"}).ok());
  EXPECT_THAT(MessageOf(run(-1)), AllOf(HasSubstr("callback CSVLogger, RestoreState: made at"),
                                        HasSubstr("has 5 bytes, and had"), HasSubstr("put it back")));
}

}  // namespace
}  // namespace tandem::keras
