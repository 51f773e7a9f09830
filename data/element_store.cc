#include "data/element_store.h"

#include <deque>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "data/files/element_codec.h"

namespace tandem::data_internal {
namespace {

class MemoryStore : public ElementStore {
 public:
  absl::StatusOr<bool> Get(int64_t i, Element* out) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (i >= static_cast<int64_t>(elements_.size()) || elements_[i].components.empty()) return false;
    *out = elements_[i];
    return true;
  }
  absl::Status Put(int64_t i, const Element& element) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (i >= static_cast<int64_t>(elements_.size())) elements_.resize(i + 1);
    elements_[i] = element;
    return absl::OkStatus();
  }
  absl::Status Finish(int64_t, absl::Span<const int64_t>) override { return absl::OkStatus(); }

 private:
  std::mutex mutex_;
  std::deque<Element> elements_;  // an entry without components is not stored yet
};

class FileStore : public ElementStore {
 public:
  FileStore(std::unique_ptr<CacheFile> file, std::vector<ComponentSpec> spec)
      : file_(std::move(file)), spec_(std::move(spec)) {}

  absl::StatusOr<bool> Get(int64_t i, Element* out) override {
    std::string bytes;
    if (i >= file_->entries()) return false;
    TD_ASSIGN_OR_RETURN(const bool found, file_->Read(i, &bytes));
    if (!found) return false;
    if (!ParseElement(bytes, out)) return absl::DataLossError(absl::StrCat("entry ", i, " of the cache is no element"));
    TD_RETURN_IF_ERROR(tandem::Annotate(CheckElement(spec_, *out), absl::StrCat("entry ", i, " of the cache: ")));
    return true;
  }
  // The elements that a complete file lacks were errors when it was written. If such an element can be made now, it is
  // made anew each time.
  absl::Status Put(int64_t, const Element&) override { return absl::OkStatus(); }
  absl::Status Finish(int64_t, absl::Span<const int64_t>) override { return absl::OkStatus(); }

 private:
  const std::unique_ptr<CacheFile> file_;
  const std::vector<ComponentSpec> spec_;
};

class WritingStore : public ElementStore {
 public:
  WritingStore(std::string path, CacheIdentity identity, int64_t token_width, Env* env)
      : path_(std::move(path)), identity_(std::move(identity)), token_width_(token_width), env_(env) {}

  absl::StatusOr<bool> Get(int64_t i, Element* out) override {
    std::string bytes;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      TD_RETURN_IF_ERROR(status_);
      if (writer_ == nullptr) return false;
      TD_ASSIGN_OR_RETURN(const bool found, writer_->Read(i, &bytes));
      if (!found) return false;
    }
    if (!ParseElement(bytes, out)) return absl::InternalError(absl::StrCat("entry ", i, " of the cache is no element"));
    return true;
  }
  absl::Status Put(int64_t i, const Element& element) override {
    std::string bytes;
    AppendElement(element, &bytes);
    std::lock_guard<std::mutex> lock(mutex_);
    // Elements that were errors when the file was finished are never added to it, but made anew each time.
    if (finished_) return absl::OkStatus();
    TD_RETURN_IF_ERROR(Begin());
    return status_ = writer_->Write(i, bytes);
  }
  absl::Status Finish(int64_t elements, absl::Span<const int64_t> tokens) override {
    std::lock_guard<std::mutex> lock(mutex_);
    TD_RETURN_IF_ERROR(Begin());
    finished_ = true;
    return status_ = writer_->Finish(elements, tokens);
  }

 private:
  absl::Status Begin() {
    if (writer_ != nullptr || !status_.ok()) return status_;
    absl::StatusOr<std::unique_ptr<CacheFileWriter>> writer =
        CacheFileWriter::Create(path_, identity_, token_width_, env_);
    if (!writer.ok()) return status_ = writer.status();
    writer_ = *std::move(writer);
    return absl::OkStatus();
  }

  const std::string path_;
  const CacheIdentity identity_;
  const int64_t token_width_;
  Env* const env_;
  std::mutex mutex_;
  std::unique_ptr<CacheFileWriter> writer_;
  bool finished_ = false;  // also true if finishing failed
  absl::Status status_;    // the first error, which all later calls return, because nothing is stored after it
};

}  // namespace

std::unique_ptr<ElementStore> MakeMemoryStore() { return std::make_unique<MemoryStore>(); }

std::unique_ptr<ElementStore> MakeFileStore(std::unique_ptr<CacheFile> file, std::vector<ComponentSpec> spec) {
  return std::make_unique<FileStore>(std::move(file), std::move(spec));
}

std::unique_ptr<ElementStore> MakeWritingStore(std::string path, CacheIdentity identity, int64_t token_width,
                                               Env* env) {
  return std::make_unique<WritingStore>(std::move(path), std::move(identity), token_width, env);
}

}  // namespace tandem::data_internal
