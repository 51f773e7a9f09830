#include "runtime/executable/command_dependencies.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "runtime/commands/command.h"

namespace tandem {
namespace {

// The accesses to one arena (or variable) so far, as pieces that do not overlap. A piece has the command that wrote it
// last, and those that have read it since.
class ArenaAccesses {
 public:
  // Records that command `command` accesses [begin, end), and adds the commands that it must follow to `after`.
  void RecordAccess(uint32_t command, uint64_t begin, uint64_t end, bool write, std::vector<uint32_t>& after) {
    if (begin >= end) return;
    Split(begin);
    Split(end);
    uint64_t at = begin;
    for (auto it = pieces_.lower_bound(begin); at < end; ++it) {
      if (it == pieces_.end() || it->first > at) {  // no command has accessed these bytes yet
        const uint64_t stop = it == pieces_.end() ? end : std::min(end, it->first);
        it = pieces_.emplace(at, Piece{stop, false, 0, {}}).first;
      }
      Piece& piece = it->second;
      at = piece.end;
      if (piece.written && piece.writer != command) after.push_back(piece.writer);
      if (write) {
        for (uint32_t reader : piece.readers) {
          if (reader != command) after.push_back(reader);
        }
        piece.written = true;
        piece.writer = command;
        piece.readers.clear();
      } else if (piece.readers.empty() || piece.readers.back() != command) {
        piece.readers.push_back(command);
      }
    }
    if (write) Merge(begin, end, command);
  }

 private:
  struct Piece {
    uint64_t end = 0;
    bool written = false;
    uint32_t writer = 0;
    std::vector<uint32_t> readers;
  };

  // Splits the piece that contains `at`, so that a piece begins there.
  void Split(uint64_t at) {
    auto it = pieces_.upper_bound(at);
    if (it == pieces_.begin()) return;
    --it;
    if (it->first == at || it->second.end <= at) return;
    Piece right = it->second;
    it->second.end = at;
    pieces_.emplace(at, std::move(right));
  }

  // Makes one piece of all that one command has written, so that the number of pieces does not keep growing.
  void Merge(uint64_t begin, uint64_t end, uint32_t command) {
    auto first = pieces_.find(begin);
    pieces_.erase(std::next(first), pieces_.lower_bound(end));
    first->second = Piece{end, true, command, {}};
  }

  std::map<uint64_t, Piece> pieces_;  // the key is the offset at which the piece begins
};

class Dependencies {
 public:
  explicit Dependencies(const format::Program& program) : program_(program) {}

  std::vector<std::vector<uint32_t>> Run() {
    std::vector<std::vector<uint32_t>> result;
    for (const std::unique_ptr<Command>& command : CommandsInOrder(program_)) {
      after_.clear();
      number_ = static_cast<uint32_t>(result.size());
      Add(*command);
      std::sort(after_.begin(), after_.end());
      after_.erase(std::unique(after_.begin(), after_.end()), after_.end());
      result.push_back(after_);
    }
    return result;
  }

 private:
  void Add(const Command& command) {
    for (uint32_t b : command.Reads()) RecordAccess(b, false);
    bool writes_variable = false;
    for (uint32_t b : command.Writes()) {
      RecordAccess(b, true);
      writes_variable |= program_.buffers[b].space == format::Space::kVariable;
    }
    if (writes_variable && check_ >= 0) after_.push_back(static_cast<uint32_t>(check_));
    if (command.may_end_step()) check_ = number_;
    if (command.collective().has_value()) {
      if (collective_ >= 0) after_.push_back(static_cast<uint32_t>(collective_));
      collective_ = number_;
    }
  }

  void RecordAccess(uint32_t buffer, bool write) {
    const format::Buffer& b = program_.buffers[buffer];
    uint64_t begin = 0, end = b.bytes;
    uint32_t index = 0;
    switch (b.space) {
      case format::Space::kVariable:
        index = b.index;
        break;
      case format::Space::kInput:
      case format::Space::kScalar:
      case format::Space::kConstant:
        return;  // no command writes to these spaces
      default:
        begin = b.offset;
        end = b.offset + b.bytes;
    }
    arenas_[{b.space, index}].RecordAccess(number_, begin, end, write, after_);
  }

  const format::Program& program_;
  std::map<std::pair<format::Space, uint32_t>, ArenaAccesses> arenas_;
  std::vector<uint32_t> after_;
  uint32_t number_ = 0;
  int64_t check_ = -1, collective_ = -1;
};

}  // namespace

std::vector<std::vector<uint32_t>> CommandDependencies(const format::Program& program) {
  return Dependencies(program).Run();
}

}  // namespace tandem
