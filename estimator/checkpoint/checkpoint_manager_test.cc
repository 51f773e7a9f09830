#include "estimator/checkpoint/checkpoint_manager.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using Names = std::vector<std::string>;

#define ASSERT_SAVED(manager, data)            \
  do {                                         \
    auto saved = (manager).Save(data);         \
    ASSERT_TRUE(saved.ok()) << saved.status(); \
  } while (false)

// The message of an error that must have this exit code and mention each of these.
void ExpectError(const absl::Status& status, int exit_code, const std::vector<std::string>& parts) {
  EXPECT_EQ(ExitCodeFor(status), exit_code) << status;
  for (const std::string& part : parts) {
    EXPECT_NE(status.message().find(part), absl::string_view::npos) << part << "\n" << status;
  }
}

TEST(CheckpointManagerTest, SaveAndRestore) {
  std::string dir = FreshPath("save/deep");
  CheckpointManager manager(Env::Default(), dir);
  EXPECT_EQ(*manager.LatestCheckpoint(), std::nullopt);
  EXPECT_EQ(*manager.Recover(), std::nullopt);
  EXPECT_FALSE(Env::Default()->Exists(dir));
  auto path = manager.Save(TestData(7));
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(*path, dir + "/model.ckpt-7");
  EXPECT_EQ(*manager.LatestCheckpoint(), *path);
  auto restored = manager.Restore(*path);
  ASSERT_TRUE(restored.ok()) << restored.status();
  ExpectEqual(*restored, TestData(7));
  EXPECT_EQ(NamesIn(*path),
            (Names{"iterator.state", "manifest.json", "slots.safetensors", "state.json", "variables.safetensors"}));
  EXPECT_EQ(FilesOf(*path).at("state.json"),
            "{\n  \"extra\": {\n    \"best\": \"{\\\"accuracy\\\": 0.9}\"\n  },\n  \"global_step\": 7,\n"
            "  \"seed\": 18446744073709551361\n}\n");
  std::string pointer = FilesOf(dir).at("checkpoint");
  EXPECT_EQ(pointer.substr(0, pointer.find('#')),
            "model_checkpoint_path: \"model.ckpt-7\"\nall_model_checkpoint_paths: \"model.ckpt-7\"\n");
}

TEST(CheckpointManagerTest, EqualContentGivesEqualBytes) {
  CheckpointManager a(Env::Default(), FreshPath("equal_a")), b(Env::Default(), FreshPath("equal_b"));
  ASSERT_SAVED(a, TestData(3));
  ASSERT_SAVED(b, TestData(1));
  ASSERT_SAVED(b, TestData(3));
  EXPECT_EQ(FilesOf(**a.LatestCheckpoint()), FilesOf(**b.LatestCheckpoint()));
}

TEST(CheckpointManagerTest, TheDirectoryCanBeMoved) {
  std::string from = FreshPath("move_from"), to = FreshPath("move_to");
  CheckpointManager before(Env::Default(), from);
  ASSERT_SAVED(before, TestData(5));
  ASSERT_TRUE(Env::Default()->Rename(from, to).ok());
  CheckpointManager after(Env::Default(), to);
  EXPECT_EQ(*after.Recover(), to + "/model.ckpt-5");
}

TEST(CheckpointManagerTest, KeepsTheNewest) {
  std::string dir = FreshPath("keep");
  CheckpointManager all(Env::Default(), dir, 0), two(Env::Default(), dir, 2);
  for (int step : {2, 4, 8, 16, 100}) ASSERT_SAVED(all, TestData(step));
  EXPECT_EQ(all.ListCheckpoints()->size(), 5u);
  ASSERT_SAVED(two, TestData(101));  // a lowered limit catches up at once
  EXPECT_EQ(NamesIn(dir), (Names{"checkpoint", "model.ckpt-100", "model.ckpt-101"}));
  std::string pointer = FilesOf(dir).at("checkpoint");
  EXPECT_EQ(pointer.substr(0, pointer.find('#')),
            "model_checkpoint_path: \"model.ckpt-101\"\nall_model_checkpoint_paths: \"model.ckpt-100\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-101\"\n");
}

TEST(CheckpointManagerTest, ACheckpointOfTheSameStepIsNeverOverwritten) {
  std::string dir = FreshPath("same_step");
  CheckpointManager manager(Env::Default(), dir);
  LogCapture log;
  ASSERT_SAVED(manager, TestData(5));
  ASSERT_SAVED(manager, TestData(5));
  EXPECT_EQ(NamesIn(dir), (Names{"checkpoint", "model.ckpt-5"}));
  EXPECT_EQ(log.Text(), "");
  CheckpointData other = TestData(5);
  other.extra["best"] = "new";
  ASSERT_SAVED(manager, other);
  EXPECT_EQ(NamesIn(dir), (Names{"checkpoint", "model.ckpt-5", "model.ckpt-5.old-1"}));
  EXPECT_TRUE(log.Contains("model.ckpt-5.old-1"));
  ExpectEqual(**manager.RestoreLatest(), other);
  ExpectEqual(*ReadCheckpoint(Env::Default(), dir + "/model.ckpt-5.old-1"), TestData(5));

  Overwrite(dir + "/model.ckpt-5/state.json", "{}");
  ASSERT_SAVED(manager, other);
  ExpectEqual(**manager.RestoreLatest(), other);
  EXPECT_TRUE(Env::Default()->Exists(dir + "/model.ckpt-5.damaged-1"));
}

TEST(CheckpointManagerTest, AFlipOfAnyByteIsFound) {
  std::string dir = FreshPath("flip");
  CheckpointManager manager(Env::Default(), dir);
  LogCapture log;
  ASSERT_SAVED(manager, TestData(12));
  int flips = 0;
  for (const std::string& sub : {dir, dir + "/model.ckpt-12"}) {
    for (const auto& [name, content] : FilesOf(sub)) {
      std::string path = JoinPath(sub, name);
      for (size_t i = 0; i < content.size(); ++i) {
        std::string flipped = content;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
        Overwrite(path, flipped);
        for (absl::Status status : {manager.LatestCheckpoint().status(), manager.Recover().status()}) {
          ASSERT_EQ(ExitCodeFor(status), kExitBadData) << name << " byte " << i << ": " << status;
          ASSERT_NE(status.message().find(path), absl::string_view::npos) << status;
        }
        ++flips;
      }
      Overwrite(path, content);
    }
  }
  EXPECT_GT(flips, 800);  // the size of all files
  EXPECT_TRUE(manager.Recover().ok());
  EXPECT_EQ(NamesIn(dir), (Names{"checkpoint", "model.ckpt-12"}));
}

TEST(CheckpointManagerTest, TruncatedMissingAndForeignFilesAreFound) {
  std::string dir = FreshPath("truncate"), ckpt = dir + "/model.ckpt-12";
  CheckpointManager manager(Env::Default(), dir);
  ASSERT_SAVED(manager, TestData(12));
  Env* env = Env::Default();
  for (const auto& [name, content] : FilesOf(ckpt)) {
    std::string path = JoinPath(ckpt, name);
    for (size_t size = 0; size < content.size(); size += 1 + size / 9) {
      Overwrite(path, content.substr(0, size));
      ExpectError(manager.Restore(ckpt).status(), kExitBadData, {path});
    }
    Overwrite(path, content + " ");
    ExpectError(manager.Restore(ckpt).status(), kExitBadData, {path});
    ASSERT_TRUE(env->DeleteFile(path).ok());
    ExpectError(manager.Restore(ckpt).status(), kExitBadData, {path, "is missing"});
    Overwrite(path, content);
  }
  Overwrite(ckpt + "/extra", "");
  ExpectError(manager.Restore(ckpt).status(), kExitBadData, {ckpt + "/extra", "does not belong"});
  ASSERT_TRUE(env->DeleteFile(ckpt + "/extra").ok());
  EXPECT_TRUE(manager.Restore(ckpt).ok());
  ExpectError(manager.Restore(dir + "/model.ckpt-13").status(), kExitMissingInput, {"model.ckpt-13"});

  std::string pointer = FilesOf(dir).at("checkpoint");
  for (size_t size = 0; size < pointer.size(); ++size) {
    Overwrite(dir + "/checkpoint", pointer.substr(0, size));
    auto latest = manager.LatestCheckpoint();
    // Whole lines without the checksum are what a user may write by hand; the list of all may then be shorter.
    bool whole_lines = size > 0 && pointer[size - 1] == '\n';
    EXPECT_EQ(latest.ok(), whole_lines) << size;
    if (!latest.ok()) ExpectError(latest.status(), kExitBadData, {dir + "/checkpoint:"});
  }
}

TEST(CheckpointManagerTest, RecoverAdoptsTheNewestIntactOne) {
  std::string dir = FreshPath("adopt");
  CheckpointManager manager(Env::Default(), dir, 0);
  LogCapture log;
  ASSERT_SAVED(manager, TestData(1));
  std::string old_pointer = FilesOf(dir).at("checkpoint");
  for (int step : {2, 3, 4}) ASSERT_SAVED(manager, TestData(step));
  Overwrite(dir + "/checkpoint", old_pointer);
  Overwrite(dir + "/model.ckpt-4/iterator.state", "x");
  EXPECT_EQ(*manager.LatestCheckpoint(), dir + "/model.ckpt-1");  // reading changes nothing
  EXPECT_EQ(*manager.Recover(), dir + "/model.ckpt-3");
  EXPECT_EQ(*manager.LatestCheckpoint(), dir + "/model.ckpt-3");
  EXPECT_EQ(NamesIn(dir),
            (Names{"checkpoint", "model.ckpt-1", "model.ckpt-2", "model.ckpt-3", "model.ckpt-4.damaged-1"}));
  EXPECT_TRUE(log.Contains("iterator.state: has 1 bytes")) << log.Text();
  EXPECT_TRUE(log.Contains("model.ckpt-3 is complete and newer"));

  ASSERT_TRUE(Env::Default()->DeleteFile(dir + "/checkpoint").ok());
  EXPECT_FALSE(log.Contains("is not there"));
  EXPECT_EQ(*manager.LatestCheckpoint(), dir + "/model.ckpt-3");  // readers and the writer go by one rule
  EXPECT_TRUE(log.Contains("The file " + dir +
                           "/checkpoint, which names the newest checkpoint, is not there; taking "
                           "model.ckpt-3, the newest complete one."))
      << log.Text();
  EXPECT_FALSE(Env::Default()->Exists(dir + "/checkpoint")) << "reading changes nothing";
  EXPECT_EQ((*CheckpointReader::Open(Env::Default(), dir))->path(), dir + "/model.ckpt-3");
  Overwrite(dir + "/model.ckpt-3/iterator.state", "x");
  EXPECT_EQ(*manager.LatestCheckpoint(), dir + "/model.ckpt-2");
  EXPECT_EQ(*manager.Recover(), dir + "/model.ckpt-2");
  EXPECT_EQ(*manager.LatestCheckpoint(), dir + "/model.ckpt-2");
}

TEST(CheckpointManagerTest, DamageIsNeverASilentStartFromScratch) {
  std::string dir = FreshPath("damage");
  CheckpointManager manager(Env::Default(), dir, 0);
  Env* env = Env::Default();
  LogCapture log;
  ASSERT_SAVED(manager, TestData(1));
  ASSERT_SAVED(manager, TestData(2));
  Overwrite(dir + "/model.ckpt-2/variables.safetensors", "x");
  for (const absl::Status& status : {manager.Recover().status(), manager.LatestCheckpoint().status()}) {
    ExpectError(status, kExitBadData,
                {dir + "/model.ckpt-2/variables.safetensors: has 1 bytes", "delete " + dir + "/model.ckpt-2",
                 "go on from model.ckpt-1"});
  }
  // The user does so.
  ASSERT_TRUE(env->DeleteRecursively(dir + "/model.ckpt-2").ok());
  ExpectError(manager.LatestCheckpoint().status(), kExitBadData, {"model.ckpt-2: there is no such checkpoint"});
  EXPECT_EQ(*manager.Recover(), dir + "/model.ckpt-1");
  EXPECT_TRUE(log.Contains("going on from the older model.ckpt-1"));

  Overwrite(dir + "/model.ckpt-1/state.json", "x");
  std::string advice = "delete " + dir + "/model.ckpt-1 and " + dir + "/checkpoint to train from the beginning";
  ExpectError(manager.Recover().status(), kExitBadData, {"model.ckpt-1/state.json", advice});
  ASSERT_TRUE(env->DeleteFile(dir + "/checkpoint").ok());
  for (int i = 0; i < 2; ++i) {  // nothing was moved aside by the first try
    ExpectError(manager.Recover().status(), kExitBadData, {"model.ckpt-1/state.json", advice});
  }
  ASSERT_TRUE(env->DeleteRecursively(dir + "/model.ckpt-1").ok());
  EXPECT_EQ(*manager.Recover(), std::nullopt);
}

TEST(CheckpointManagerTest, DamagedAndForeignPointers) {
  std::string dir = FreshPath("pointer");
  CheckpointManager manager(Env::Default(), dir, 0);
  ASSERT_SAVED(manager, TestData(1));
  for (const char* text :
       {"", "\n", "model_checkpoint_path: \"/etc\"\n", "model_checkpoint_path: \"../model.ckpt-1\"\n",
        "model_checkpoint_path: \"model.ckpt-01\"\n", "model_checkpoint_path: model.ckpt-1\n", "x\n",
        "all_model_checkpoint_paths: \"model.ckpt-1\"\n",
        "model_checkpoint_path: \"model.ckpt-1\"\nmodel_checkpoint_path: \"model.ckpt-1\"\n",
        "model_checkpoint_path: \"model.ckpt-1\"\n# crc32c: 00000000\n"}) {
    Overwrite(dir + "/checkpoint", text);
    ExpectError(manager.Recover().status(), kExitBadData,
                {dir + "/checkpoint:", "Delete the file to go on from model.ckpt-1"});
  }
  Overwrite(dir + "/checkpoint", "model_checkpoint_path: \"model.ckpt-1\"\n");  // by hand
  EXPECT_EQ(*manager.Recover(), dir + "/model.ckpt-1");
  Overwrite(dir + "/checkpoint", "model_checkpoint_path: \"model.ckpt-938\"\n");
  Overwrite(dir + "/model.ckpt-938.index", "");
  ExpectError(manager.LatestCheckpoint().status(), kExitBadData, {"TensorFlow checkpoint"});
}

// An evaluator that waits for a training whose pointer is lost asks twice a second.
TEST(CheckpointManagerTest, WithoutAPointerNothingIsReadAgain) {
  class CountingEnv : public FaultInjectingEnv {
   public:
    using FaultInjectingEnv::FaultInjectingEnv;
    absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) override {
      opened += BaseName(path) != "checkpoint";
      return FaultInjectingEnv::OpenForRead(path);
    }
    int opened = 0;
  };
  const std::string dir = FreshPath("polled");
  CountingEnv env(Env::Default());
  CheckpointManager writer(Env::Default(), dir), reader(&env, dir);
  for (int64_t step : {1, 2}) ASSERT_SAVED(writer, TestData(step));
  ASSERT_TRUE(env.DeleteFile(dir + "/checkpoint").ok());
  const std::string one = dir + "/model.ckpt-1", two = dir + "/model.ckpt-2";
  LogCapture log;
  EXPECT_EQ(**reader.LatestCheckpoint(one), two);
  EXPECT_GT(env.opened, 0) << "it is verified";
  EXPECT_TRUE(log.Contains("is not there; taking model.ckpt-2"));
  const std::string once = log.Text();
  env.opened = 0;
  for (int poll = 0; poll < 3; ++poll) EXPECT_EQ(**reader.LatestCheckpoint(two), two);
  EXPECT_EQ(env.opened, 0);
  EXPECT_EQ(log.Text(), once);
  // A damaged newer one is no reason to warn at each look.
  ASSERT_SAVED(writer, TestData(3));
  ASSERT_TRUE(env.DeleteFile(dir + "/checkpoint").ok());
  Overwrite(dir + "/model.ckpt-3/manifest.json", "x");
  EXPECT_EQ(**reader.LatestCheckpoint(two), two);
  const std::string of_damage = log.Text();
  EXPECT_NE(of_damage, once);
  EXPECT_EQ(**reader.LatestCheckpoint(two), two);
  EXPECT_EQ(log.Text(), of_damage);
}

TEST(CheckpointManagerTest, LeftoversOfKilledProcesses) {
  std::string dir = FreshPath("leftovers");
  CheckpointManager manager(Env::Default(), dir);
  Env* env = Env::Default();
  LogCapture log;
  ASSERT_SAVED(manager, TestData(1));
  // Ids are reused, in containers all the time: that a process with this id runs now says nothing.
  const std::string alive = absl::StrCat("-", getppid());
  for (const std::string& name :
       {std::string(".tmp-model.ckpt-2-7"), ".tmp-model.ckpt-3" + alive, std::string(".tmp-delete-model.ckpt-0-7"),
        std::string("model.ckpt-1.old-1"), std::string("model.ckpt-0.old-2"), std::string("model.ckpt-1.older")}) {
    ASSERT_TRUE(env->CreateDir(dir + "/" + name).ok());
    Overwrite(dir + "/" + name + "/file", "x");
  }
  for (const std::string& name : {std::string("checkpoint-7"), "probe" + alive, std::string("DONE-7")}) {
    Overwrite(dir + "/.tmp-" + name, "x");
  }
  Overwrite(dir + "/.tmp-mine", "x");
  EXPECT_EQ(*manager.Recover(), dir + "/model.ckpt-1");
  EXPECT_EQ(NamesIn(dir), (Names{".tmp-mine", ".tmp-model.ckpt-3" + alive + ".damaged-1", "checkpoint", "model.ckpt-1",
                                 "model.ckpt-1.older"}));
  EXPECT_TRUE(log.Contains("was not finished"));
  ASSERT_TRUE(env->CreateDir(dir + "/.tmp-model.ckpt-4-7").ok());
  EXPECT_TRUE(manager.Recover().ok());
  EXPECT_EQ(NamesIn(dir),
            (Names{".tmp-mine", ".tmp-model.ckpt-4-7.damaged-1", "checkpoint", "model.ckpt-1", "model.ckpt-1.older"}));
}

TEST(CheckpointManagerTest, WhatIsNoFileIsDamage) {
  std::string dir = FreshPath("no_file");
  CheckpointManager manager(Env::Default(), dir);
  Env* env = Env::Default();
  ASSERT_SAVED(manager, TestData(1));
  alarm(60);  // a reader that waits for a FIFO waits for ever
  for (const std::string& name :
       {std::string("checkpoint"), std::string("model.ckpt-1/manifest.json"), std::string("model.ckpt-1/state.json"),
        std::string("model.ckpt-1/slots.safetensors")}) {
    const std::string path = JoinPath(dir, name), content = *env->ReadFile(path);
    const char* advice =
        name == "checkpoint" ? "Delete the file to go on from model.ckpt-1" : "restore it from a backup";
    for (bool fifo : {true, false}) {
      ASSERT_TRUE(env->DeleteRecursively(path).ok());
      ASSERT_EQ(fifo ? mkfifo(path.c_str(), 0600) : mkdir(path.c_str(), 0700), 0);
      for (const absl::Status& status : {manager.Recover().status(), manager.LatestCheckpoint().status()}) {
        ExpectError(status, kExitBadData, {path + ": cannot read: ", fifo ? "FIFO" : "Is a directory", advice});
      }
    }
    ASSERT_TRUE(env->DeleteRecursively(path).ok());
    Overwrite(path, content);
  }
  alarm(0);
  for (const char* name : {"checkpoint", "model.ckpt-1/manifest.json", "model.ckpt-1/slots.safetensors"}) {
    const std::string path = JoinPath(dir, name), content = *env->ReadFile(path);
    ASSERT_EQ(truncate(path.c_str(), off_t{8} << 40), 0);
    ExpectError(manager.LatestCheckpoint().status(), kExitBadData, {path, "8796093022208 bytes"});
    Overwrite(path, content);
  }
  EXPECT_TRUE(manager.LatestCheckpoint().ok());
}

TEST(CheckpointManagerTest, IoErrorsAreNotDamage) {
  std::string dir = FreshPath("io");
  FaultInjectingEnv env(Env::Default());
  CheckpointManager manager(&env, dir);
  ASSERT_SAVED(manager, TestData(1));
  env.FailPath("slots.safetensors", EIO);
  ExpectError(manager.Recover().status(), kExitIo, {"slots.safetensors"});
  EXPECT_EQ(NamesIn(dir), (Names{"checkpoint", "model.ckpt-1"}));
  FaultInjectingEnv no_access(Env::Default());
  no_access.FailPath("/checkpoint", EACCES);
  ExpectError(CheckpointManager(&no_access, dir).Recover().status(), kExitIo, {dir + "/checkpoint"});
}

TEST(CheckpointManagerTest, BadContentIsRefused) {
  std::string dir = FreshPath("bad_content");
  CheckpointManager manager(Env::Default(), dir);
  CheckpointData data = TestData(1);
  data.extra["bad"] = "\xff";
  ExpectError(manager.Save(data).status(), kExitUsage, {"not UTF-8"});
  data = TestData(-1);
  ExpectError(manager.Save(data).status(), kExitUsage, {"negative"});
  EXPECT_FALSE(Env::Default()->Exists(dir));
}

// A reader in another thread (or process) always finds a whole checkpoint while old ones are deleted under its feet.
TEST(CheckpointManagerTest, ReadersNeverSeeHalfACheckpoint) {
  std::string dir = FreshPath("readers");
  FaultInjectingEnv fast(Env::Default());  // without real fsyncs, for a high rate
  CheckpointManager writer(&fast, dir, 1);
  ASSERT_SAVED(writer, TestData(0));
  std::atomic<bool> done{false};
  std::thread thread([&] {
    for (int step = 1; step <= 200; ++step) {
      auto saved = writer.Save(TestData(step));
      EXPECT_TRUE(saved.ok()) << saved.status();
    }
    done = true;
  });
  CheckpointManager reader(Env::Default(), dir);
  int64_t last = 0;
  int reads = 0;
  while (!done) {
    auto data = reader.RestoreLatest();
    if (!data.ok()) {
      ADD_FAILURE() << data.status();
      break;
    }
    EXPECT_GE((*data)->global_step, last);
    last = (*data)->global_step;
    ExpectEqual(**data, TestData(last));
    ++reads;
  }
  thread.join();
  EXPECT_GT(reads, 0);
  ExpectEqual(**reader.RestoreLatest(), TestData(200));
}

}  // namespace
}  // namespace tandem
