// What event files hold, and that nothing that happens to them reaches whoever writes. TensorBoard's own reader looks
// at files of whole trainings in tests/summary.
#include "estimator/summary/event_writer.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <thread>

#include "absl/strings/escaping.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "data/files/record_reader.h"
#include "estimator/summary/summary_value.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

// Bytes by TensorFlow 2.15's Event(wall_time=1.5, ...).SerializeToString().
TEST(EventTest, IsWhatTensorFlowWrites) {
  EXPECT_EQ(absl::BytesToHexString(VersionEvent(1.5)), "09000000000000f83f1a0d627261696e2e4576656e743a32");
  EXPECT_EQ(absl::BytesToHexString(StartEvent(1.5, 300)), "09000000000000f83f10ac023a020801");
  EXPECT_EQ(absl::BytesToHexString(ScalarsEvent(1.5, 7, {{"loss", 0.25}, {"a/b", -2}})),
            "09000000000000f83f10072a190a0b0a046c6f7373150000803e0a0a0a03612f6215000000c0");
}

class EventWriterTest : public testing::Test {
 protected:
  EventWriterTest() {
    directory_ = testing::TempDir() + "/events_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    if (!std::filesystem::exists(directory_)) return files;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) files.push_back(entry.path());
    return files;
  }
  static int64_t Records(const std::string& path) {
    auto reader = RecordReader::Open(path);
    EXPECT_TRUE(reader.ok()) << reader.status();
    Record record;
    bool end = false;
    for (int64_t records = 0;; ++records) {
      const absl::Status status = (*reader)->Next(&record, &end);
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok() || end) return records;
      EXPECT_TRUE((*reader)->CheckBytes(record).ok());
    }
  }
  std::string directory_;
};

TEST_F(EventWriterTest, MakesAFileWithTheFirstEvent) {
  EventWriter writer(Env::Default(), directory_ + "/new/run");
  EXPECT_TRUE(Files().empty());
  directory_ += "/new/run";
  writer.StartAt(1);
  writer.AddScalars(1, {{"loss", 1}});
  writer.Flush();
  ASSERT_EQ(Files().size(), 1u);
  EXPECT_NE(Files()[0].find("/events.out.tfevents."), std::string::npos) << Files()[0];
  EXPECT_EQ(Records(Files()[0]), 3);
}

TEST_F(EventWriterTest, TheDestructorWritesWhatIsLeft) {
  {
    EventWriter writer(Env::Default(), directory_);
    for (int i = 0; i < 1000; ++i) writer.AddScalars(i, {{"loss", 1}});
  }
  ASSERT_EQ(Files().size(), 1u);
  EXPECT_EQ(Records(Files()[0]), 1001);
}

TEST_F(EventWriterTest, ADeletedFileIsFollowedByANewOne) {
  EventWriter writer(Env::Default(), directory_);
  writer.AddScalars(1, {{"loss", 1}});
  writer.Flush();
  std::filesystem::remove_all(directory_);
  writer.AddScalars(2, {{"loss", 1}});
  writer.Flush();
  ASSERT_EQ(Files().size(), 1u);
  EXPECT_EQ(Records(Files()[0]), 2);
}

TEST_F(EventWriterTest, AFullDiskIsOneWarning) {
  FaultInjectingEnv env(Env::Default());
  LogCapture log;
  EventWriter writer(&env, directory_);
  writer.AddScalars(1, {{"loss", 1}});
  writer.Flush();
  env.FailNth(FileOp::kWrite, 1, ENOSPC, /*sticky=*/true);
  for (int i = 2; i < 100; ++i) {
    writer.AddScalars(i, {{"loss", 1}});
    writer.Flush();
  }
  EXPECT_EQ(log.entries().size(), 1u) << log.Text();
  EXPECT_TRUE(log.Contains("No more summaries are written; training goes on without: ")) << log.Text();
  EXPECT_TRUE(log.Contains("No space left on device")) << log.Text();
}

TEST_F(EventWriterTest, WritersThatShareTheirWarningsGiveOneOfAKind) {
  FaultInjectingEnv env(Env::Default());
  env.FailPath(directory_ + "/full", ENOSPC);
  env.FailPath(directory_ + "/closed", EACCES);
  LogCapture log;
  const auto warnings = std::make_shared<SummaryWarnings>();
  for (const char* name : {"/full_a", "/full_b", "/closed"}) {
    EventWriter writer(&env, directory_ + name, warnings);
    writer.AddScalars(1, {{"loss", 1}});
    writer.Flush();
  }
  EXPECT_EQ(log.entries().size(), 2u) << log.Text();
}

TEST_F(EventWriterTest, ValuesAreMadeByTheThreadAndInOrder) {
  EventWriter writer(Env::Default(), directory_);
  const std::thread::id caller = std::this_thread::get_id();
  for (int i = 0; i < 20; ++i) {
    writer.AddValues(i, 1000, [caller, i]() -> absl::StatusOr<std::vector<std::string>> {
      EXPECT_NE(std::this_thread::get_id(), caller);
      return i % 2 == 0 ? std::vector<std::string>() : std::vector<std::string>{ScalarValue("a", i)};
    });
  }
  writer.AddScalars(20, {{"loss", 1}});
  writer.Flush();
  ASSERT_EQ(Files().size(), 1u);
  EXPECT_EQ(Records(Files()[0]), 12);  // of nothing there is no event
}

TEST_F(EventWriterTest, ValuesThatCannotBeMadeAreOneWarning) {
  LogCapture log;
  EventWriter writer(Env::Default(), directory_);
  for (int i = 0; i < 5; ++i) {
    writer.AddValues(i, 1000, []() -> absl::StatusOr<std::vector<std::string>> { throw std::bad_alloc(); });
    writer.Flush();
  }
  EXPECT_EQ(log.entries().size(), 1u) << log.Text();
}

TEST_F(EventWriterTest, ADirectoryThatCannotBeMadeIsOneWarning) {
  FaultInjectingEnv env(Env::Default());
  env.FailPath(directory_, EACCES);
  LogCapture log;
  EventWriter writer(&env, directory_);
  for (int i = 0; i < 10; ++i) {
    writer.AddScalars(i, {{"loss", 1}});
    writer.Flush();
  }
  EXPECT_EQ(log.entries().size(), 1u) << log.Text();
}

}  // namespace
}  // namespace tandem
