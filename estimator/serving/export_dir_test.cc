#include "estimator/serving/export_dir.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/fault_injecting_env.h"
#include "base/philox.h"
#include "base/temporary_name.h"
#include "estimator/checkpoint/file_checksum.h"
#include "estimator/checkpoint/test_util.h"
#include "estimator/serving/signature.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// An Env whose clock the test sets.
class ClockEnv : public FaultInjectingEnv {
 public:
  using FaultInjectingEnv::FaultInjectingEnv;
  double NowSeconds() override { return now; }
  double now = 1700000000;
};

ModelSignature TestSignature(int64_t step, const std::string& code, const std::string& weights) {
  ModelSignature s{.global_step = step, .target = "x86-64", .rows_per_step = 8};
  s.inputs = {{"x", DType::kFloat32, {kBatch, 2}}, {"n", DType::kInt64, {kBatch}}};
  s.outputs = {{"y \"quoted\"", DType::kFloat64, {kBatch, 3, 4}}};
  s.seed = -7;
  s.scalars = {{"rate", 0.1}};
  s.metrics = {{"loss", 0.1}, {"auc", 1.0 / 3}};
  s.files = {{kProgramName, ChecksumOf({code})}, {kWeightsName, ChecksumOf({weights})}};
  return s;
}

absl::StatusOr<std::string> Export(Env* env, const std::string& base, int64_t step = 5) {
  const std::string code(3000, 'c'), weights = absl::StrCat("weights of ", step);
  const std::string text = *TestSignature(step, code, weights).Text();
  return WriteExport(env, base, {{kProgramName, {code}}, {kWeightsName, {weights}}, {kSignatureName, {text}}});
}

std::vector<std::string> Names(const std::string& base) {
  std::vector<std::string> names;
  auto paths = ListExports(Env::Default(), base);
  EXPECT_TRUE(paths.ok()) << paths.status();
  for (const std::string& path : *paths) names.push_back(BaseName(path));
  return names;
}

TEST(SignatureTest, TextAndBack) {
  const ModelSignature s = TestSignature(200, "code", "weights");
  const std::string text = *s.Text();
  const auto read = ParseSignature(text, "p");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read->Text(), text);
  EXPECT_EQ(read->global_step, 200);
  EXPECT_EQ(read->seed, -7);
  EXPECT_EQ(read->metrics, s.metrics);
  EXPECT_EQ(read->outputs[0].name, "y \"quoted\"");
  EXPECT_EQ(read->outputs[0].TypeString(), "float64[b,3,4]");
}

TEST(SignatureTest, EveryChangedByteIsFound) {
  const std::string text = *TestSignature(200, "code", "weights").Text();
  for (size_t i = 0; i < text.size(); ++i) {
    std::string bad = text;
    bad[i] ^= 1;
    const auto read = ParseSignature(bad, "some/path");
    ASSERT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << i;
    ASSERT_THAT(read.status().message(), HasSubstr("some/path"));
    ASSERT_FALSE(ParseSignature(text.substr(0, i), "p").ok()) << i;
  }
  EXPECT_FALSE(ParseSignature(text + " ", "p").ok());
}

// With a right checksum: written by somebody else, or by another version.
TEST(SignatureTest, WhatIsNoSignature) {
  const std::string text = *TestSignature(200, "code", "weights").Text();
  const auto sealed = [](std::string content) {
    return absl::StrCat(content, "  \"signature_crc32c\": \"", HexCrc32c(ChecksumOf({content}).crc32c), "\"\n}\n");
  };
  const std::string content = text.substr(0, text.rfind("  \"signature_crc32c\""));
  ASSERT_TRUE(ParseSignature(sealed(content), "p").ok());
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"tandem-export-1", "tandem-export-9"},
                                                        {"\"float32\"", "\"string\""},
                                                        {"-1,", "-2,"},
                                                        {"predict.tdx", "../../x.tdx"},
                                                        {"\"rows_per_step\": 8", "\"rows\": 8"},
                                                        {": 8,", ": 0,"},
                                                        {"200", "\"200\""},
                                                        {"{", "["}}) {
    std::string bad = content;
    const size_t at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
    EXPECT_EQ(ParseSignature(sealed(bad), "p").status().code(), absl::StatusCode::kDataLoss) << from << " to " << to;
  }
}

TEST(SignatureTest, NamesThatAreNoText) {
  ModelSignature s = TestSignature(1, "", "");
  s.inputs[0].name = "\xff";
  EXPECT_EQ(s.Text().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ExportDirTest, NamesAreTheTimeAndUnique) {
  const std::string base = JoinPath(FreshPath("exports"), "deeper");
  ClockEnv env(Env::Default());
  EXPECT_THAT(Names(base), IsEmpty());
  EXPECT_EQ(*Export(&env, base), JoinPath(base, "1700000000"));
  EXPECT_EQ(*Export(&env, base), JoinPath(base, "1700000001"));
  env.now = 1600000000;  // set back: still the newest
  EXPECT_EQ(*Export(&env, base), JoinPath(base, "1700000002"));
  env.now = 1700000100;
  EXPECT_EQ(*Export(&env, base), JoinPath(base, "1700000100"));
  EXPECT_THAT(Names(base), ElementsAre("1700000000", "1700000001", "1700000002", "1700000100"));
  const auto signature = VerifyExport(Env::Default(), JoinPath(base, "1700000100"));
  EXPECT_TRUE(signature.ok()) << signature.status();
}

TEST(ExportDirTest, OldOnesAreDeleted) {
  const std::string base = FreshPath("exports");
  ClockEnv env(Env::Default());
  std::vector<std::string> paths;
  for (int i = 0; i < 5; ++i) paths.push_back(*Export(&env, base));
  // What is no export is nobody's to delete.
  ASSERT_TRUE(env.CreateDir(JoinPath(base, "1600000000")).ok());
  ASSERT_TRUE(env.CreateDir(JoinPath(base, "mine")).ok());
  ASSERT_TRUE(DeleteOldExports(&env, base, 0, paths[4]).ok());
  EXPECT_EQ(Names(base).size(), 5u);
  ASSERT_TRUE(DeleteOldExports(&env, base, 3, paths[4]).ok());
  EXPECT_THAT(Names(base), ElementsAre("1700000002", "1700000003", "1700000004"));
  ASSERT_TRUE(DeleteOldExports(&env, base, 1, paths[2]).ok());
  EXPECT_THAT(Names(base), ElementsAre("1700000002"));
  EXPECT_TRUE(env.Exists(JoinPath(base, "1600000000")) && env.Exists(JoinPath(base, "mine")));
}

TEST(ExportDirTest, EveryFailureLeavesNothing) {
  const std::string base = FreshPath("exports");
  ASSERT_TRUE(Export(Env::Default(), base).ok());
  for (FileOp op : {FileOp::kCreate, FileOp::kWrite, FileOp::kSync, FileOp::kRename, FileOp::kCreateDir}) {
    for (int n = 1; n <= 20; ++n) {
      FaultInjectingEnv env(Env::Default());
      env.FailNth(op, n, ENOSPC);
      const auto path = Export(&env, base);
      if (path.ok()) {
        EXPECT_GT(n, 1);
        break;
      }
      EXPECT_EQ(path.status().code(), absl::StatusCode::kResourceExhausted) << path.status();
      EXPECT_THAT(path.status().message(), HasSubstr("free some space"));
      EXPECT_EQ(Env::Default()->ListDir(base)->size(), Names(base).size()) << "something is left";
    }
  }
  for (const std::string& name : Names(base)) EXPECT_TRUE(VerifyExport(Env::Default(), JoinPath(base, name)).ok());
}

// The machine loses power at every operation: what can be seen then is whole.
TEST(ExportDirTest, EveryCrashLeavesAllOrNothing) {
  for (int n = 1;; ++n) {
    const std::string base = FreshPath(absl::StrCat("crash", n));
    FaultInjectingEnv env(Env::Default());
    env.CrashAt(n);
    const auto path = Export(&env, base);
    if (path.ok()) break;
    ASSERT_LT(n, 100);
    ASSERT_TRUE(env.DropUnsynced().ok());
    for (const std::string& name : Names(base)) EXPECT_TRUE(VerifyExport(Env::Default(), JoinPath(base, name)).ok());
    EXPECT_TRUE(Export(Env::Default(), base).ok());
    EXPECT_EQ(Env::Default()->ListDir(base)->size(), Names(base).size()) << "what the crash left is still there";
  }
}

TEST(ExportDirTest, KilledWhileExporting) {
  const std::string base = FreshPath("killed");
  int64_t seen = 0;
  for (uint32_t i = 0; i < 15; ++i) {
    int fds[2];
    ASSERT_EQ(pipe(fds), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(fds[0]);
      for (int64_t step = 0;; ++step) {
        const auto path = Export(Env::Default(), base, step);
        if (!path.ok() || !DeleteOldExports(Env::Default(), base, 3, *path).ok()) _exit(1);
        if (write(fds[1], "x", 1) != 1) _exit(2);
      }
    }
    close(fds[1]);
    char byte;
    ASSERT_EQ(read(fds[0], &byte, 1), 1) << "the child failed";
    usleep(Philox4x32({i, 0, 0, 0}, {5, 6})[0] % 10000);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed: " << WEXITSTATUS(status);
    close(fds[0]);
    for (const std::string& name : Names(base)) {
      const auto signature = VerifyExport(Env::Default(), JoinPath(base, name));
      EXPECT_TRUE(signature.ok()) << signature.status();
      ++seen;
    }
  }
  EXPECT_GT(seen, 15);
}

TEST(ExportDirTest, ManyExportAtOnce) {
  const std::string base = FreshPath("at_once");
  constexpr int kExports = 10;
  const auto export_all = [&] {
    absl::Status status;
    for (int64_t step = 0; step < kExports; ++step) status.Update(Export(Env::Default(), base, step).status());
    return status;
  };
  const pid_t child = fork();
  if (child == 0) _exit(export_all().ok() ? 0 : 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { EXPECT_EQ(export_all(), absl::OkStatus()); });
  for (std::thread& thread : threads) thread.join();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Names(base).size(), 4u * kExports);
  for (const std::string& name : Names(base)) EXPECT_TRUE(VerifyExport(Env::Default(), JoinPath(base, name)).ok());
  EXPECT_EQ(Env::Default()->ListDir(base)->size(), 4u * kExports);
}

// A checkpoint, say, that a training writes there.
TEST(ExportDirTest, OnlyLeftoversOfExportsAreDeleted) {
  const std::string base = FreshPath("mixed");
  Env* env = Env::Default();
  const std::string other = TemporaryPath(env, JoinPath(base, "model.ckpt-3"));
  for (const std::string& dir : {other, TemporaryPath(env, JoinPath(base, "1700000000")),
                                 TemporaryPath(env, JoinPath(base, "delete-1700000000"))}) {
    ASSERT_TRUE(env->CreateDirs(dir).ok());
  }
  const std::string path = *Export(env, base);
  EXPECT_THAT(*env->ListDir(base), testing::UnorderedElementsAre(BaseName(other), BaseName(path)));
}

TEST(ExportDirTest, DamagedFilesAreFound) {
  const std::string base = FreshPath("damaged");
  Env* env = Env::Default();
  const std::string path = *Export(env, base);
  for (const char* name : {kProgramName, kWeightsName, kSignatureName}) {
    const std::string file = JoinPath(path, name), good = *env->ReadFile(file);
    for (const std::string& bad : {good.substr(1), good + "x", std::string(good.size(), '\0'), std::string()}) {
      ASSERT_TRUE(env->WriteFile(file, {bad}).ok());
      const absl::Status status = VerifyExport(env, path).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
      EXPECT_THAT(status.message(), HasSubstr(file));
    }
    ASSERT_TRUE(env->DeleteFile(file).ok());
    EXPECT_FALSE(VerifyExport(env, path).ok());
    ASSERT_TRUE(env->CreateDir(file).ok());  // in the place of the file
    EXPECT_EQ(VerifyExport(env, path).status().code(), absl::StatusCode::kDataLoss);
    ASSERT_TRUE(env->DeleteDir(file).ok());
    ASSERT_TRUE(env->WriteFile(file, {good}).ok());
  }
  EXPECT_TRUE(VerifyExport(env, path).ok());
  // Files that a user adds, such as the names of classes, are none of its business.
  ASSERT_TRUE(env->WriteFile(JoinPath(path, "classes.txt"), {"shirt"}).ok());
  EXPECT_TRUE(VerifyExport(env, path).ok());
  EXPECT_EQ(VerifyExport(env, JoinPath(base, "absent")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tandem
