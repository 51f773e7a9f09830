// Lets every n-th allocation fail while a small model is compiled, trained, saved, restored, evaluated, loaded and run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/model/mode_program.h"
#include "runtime/run/run.h"
#include "tests/allocation/trained_model.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

using test::Armed;

using AllocationFailureTest = test::TrainedModel;

TEST_F(AllocationFailureTest, LoadAndRun) {
  fs::path executable;
  for (const auto& entry : fs::directory_iterator(Trained() / "compiled")) {
    if (entry.path().extension() == ".tdx" && entry.path().filename().string().starts_with("train")) {
      executable = entry.path();
    }
  }
  ASSERT_FALSE(executable.empty());
  const auto run = [&](LoadedExecutable& model) -> absl::Status {
    const HostTensor x = HostTensor::Zeros(DType::kFloat32, {8, 2}), y = HostTensor::Zeros(DType::kFloat32, {8, 1});
    return tandem::Run(model, {{"x", x}, {"label", y}}, {{"learning_rate", 0.1}}).status();
  };
  TryAll("load", [&](const Armed& armed) {
    return armed([&]() -> absl::Status { return LoadExecutable(executable.string(), {.threads = 2}).status(); });
  });
  TryAll("step", [&](const Armed& armed) -> absl::Status {
    TD_ASSIGN_OR_RETURN(auto model, LoadExecutable(executable.string(), {.threads = 2}));
    return armed([&] { return run(*model); });
  });
}

TEST_F(AllocationFailureTest, CompileTrainAndSave) {
  TryAll(
      "compile, train and save",
      [&](const Armed& armed) {
        fs::remove_all(Scratch());
        return armed([&] { return Train(Scratch(), 1); });
      },
      [&] {
        if (fs::exists(Scratch())) CheckCheckpoint({0, 1});
      });
}

// What a hook fetches becomes an output of the graph, behind model_fn and in front of the compiler.
TEST_F(AllocationFailureTest, FetchAndCompile) {
  TryAll("fetch and compile", [&](const Armed& armed) -> absl::Status {
    TD_ASSIGN_OR_RETURN(const Dataset dataset, test::LineInput()(InputContext()));
    TD_ASSIGN_OR_RETURN(auto program,
                        ModeProgram::Build(test::LineModel, Mode::kTrain, Params(), dataset.spec(), {"label"}, {}));
    return armed([&] { return program->Compile({{"dense/MatMul", "a hook"}}, CompileOptions()); });
  });
}

TEST_F(AllocationFailureTest, RestoreTrainAndSave) {
  TryAll(
      "restore, train and save",
      [&](const Armed& armed) {
        Refresh();
        return armed([&] { return Train(Scratch(), 4); });
      },
      [&] {
        CheckCheckpoint({2, 3, 4});
      });
}

TEST_F(AllocationFailureTest, Save) {
  TryAll(
      "save",
      [&](const Armed& armed) -> absl::Status {
        Refresh();
        CheckpointManager manager(Env::Default(), Scratch().string());
        TD_ASSIGN_OR_RETURN(auto data, manager.RestoreLatest());
        data->global_step = 9;
        return armed([&] { return CatchResourceErrors("saving", [&] { return manager.Save(*data).status(); }); });
      },
      [&] {
        CheckCheckpoint({2, 9});
      });
}

TEST_F(AllocationFailureTest, Evaluate) {
  TryAll(
      "evaluate",
      [&](const Armed& armed) {
        Refresh();
        return armed([&] {
          RunConfig config = test::Config(Scratch().string());
          Estimator estimator(test::LineModel, config);
          return estimator.Evaluate(test::LineInput(64, 8, 1)).status();
        });
      },
      [&] { CheckCheckpoint({2}); });
}

}  // namespace
}  // namespace tandem
