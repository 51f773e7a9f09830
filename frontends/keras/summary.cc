#include "frontends/keras/summary.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "frontends/keras/network.h"

namespace tandem::keras {
namespace {

using Cells = std::vector<std::shared_ptr<WeightCell>>;

// Prints a shape like a Python tuple: "(None, 26, 26, 32)".
std::string TupleText(const Shape& shape) {
  return absl::StrCat("(",
                      absl::StrJoin(shape, ", ",
                                    [](std::string* out, int64_t size) {
                                      absl::StrAppend(out, size == kBatch ? "None" : absl::StrCat(size));
                                    }),
                      shape.size() == 1 ? ",)" : ")");
}

std::string SizeText(int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"Byte", "KB", "MB", "GB", "TB", "PB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return absl::StrFormat("%.2f %s", size, kUnits[unit]);
}

struct Count {
  int64_t elements = 0, bytes = 0;
  void Add(const WeightCell& cell) {
    elements += NumElements(cell.shape);
    bytes += NumElements(cell.shape) * SizeOf(cell.dtype);
  }
};

Count CountOf(const Cells& cells) {
  Count count;
  for (const auto& cell : cells) count.Add(*cell);
  return count;
}

std::string ShapesText(const std::vector<TensorSpec>& outputs, bool as_list) {
  std::vector<std::string> tuples;
  for (const TensorSpec& output : outputs) tuples.push_back(TupleText(output.shape));
  return tuples.size() == 1 && !as_list ? tuples[0] : absl::StrCat("[", absl::StrJoin(tuples, ", "), "]");
}

class Table {
 public:
  // `ends` are the character positions where the table's columns end.
  Table(std::vector<int> ends, int width) : ends_(std::move(ends)), width_(width) {}

  const std::string& text() const { return text_; }
  void Line(absl::string_view line) { absl::StrAppend(&text_, line, "\n"); }
  void Rule(char c) { Line(std::string(width_, c)); }
  void Blank(int level) { Framed(std::string(width_ - 2 * level, ' '), level); }
  // Prints a horizontal line above or below the layers of a nested model, between the frames of `level` enclosing
  // models.
  void Bar(int level) {
    std::string bar;
    for (int i = 0; i < width_ - 2 * level; ++i) bar += "\xC2\xAF";  // the character macron, in UTF-8
    Framed(bar, level);
  }

  // Prints one row of the table. A cell continues in further lines if it does not fit, or after a comma that follows a
  // bracket or a quote.
  void Row(std::vector<std::string> cells, int level) {
    while (std::any_of(cells.begin(), cells.end(), [](const std::string& cell) { return !cell.empty(); })) {
      std::string line = std::string(level, '|') + " ";
      int begin = 0;
      for (size_t i = 0; i < cells.size(); ++i) {
        const bool last = i + 1 == cells.size();
        int space = ends_[i] - begin - (last ? 0 : 2);
        if (i == 0) space -= 1 + level;
        line += TakePart(&cells[i], std::max(1, space));
        const int padded = ends_[i] - (last ? level : 0);
        if (static_cast<int>(line.size()) < padded) line.resize(padded, ' ');
        begin = ends_[i];
      }
      Line(line + std::string(level, '|'));
    }
  }

 private:
  void Framed(absl::string_view inner, int level) {
    const std::string frame(level, '|');
    Line(absl::StrCat(frame, inner, frame));
  }

  static std::string TakePart(std::string* cell, int space) {
    size_t length = std::min(cell->size(), static_cast<size_t>(space));
    for (const char* end : {"),", "},", "],", "',"}) {
      const size_t at = cell->substr(0, static_cast<size_t>(space)).find(end);
      if (at != std::string::npos) length = std::min(length, at + 2);
    }
    std::string part = cell->substr(0, length);
    cell->erase(0, length);
    return part;
  }

  const std::vector<int> ends_;
  const int width_;
  std::string text_;
};

class Printer {
 public:
  Printer(const NetworkImpl& model, const SummaryOptions& options, bool connections)
      : model_(model), options_(options), connections_(connections), table_(Ends(), Width()) {}

  std::string Print() {
    table_.Line(absl::StrCat("Model: \"", model_.name(), "\""));
    table_.Rule('_');
    std::vector<std::string> head = {"Layer (type)", "Output Shape", "Param #"};
    if (connections_) head.push_back("Connected to");
    if (options_.show_trainable) head.push_back("Trainable");
    table_.Row(std::move(head), 0);
    table_.Rule('=');
    for (const auto& layer : model_.layers()) PrintLayer(*layer, 0, false);
    table_.Rule('=');
    Cells trainable, others;
    for (const auto& cell : model_.cells()) {
      (cell->trainable && cell->layer->trainable() ? trainable : others).push_back(cell);
    }
    const Count all = CountOf(model_.cells()), trained = CountOf(trainable), fixed = CountOf(others);
    PrintCount("Total params", all);
    PrintCount("Trainable params", trained);
    PrintCount("Non-trainable params", fixed);
    table_.Rule('_');
    return table_.text();
  }

 private:
  int BaseWidth() const { return options_.line_length > 0 ? options_.line_length : connections_ ? 98 : 65; }
  int Width() const { return BaseWidth() + (options_.show_trainable ? 11 : 0); }
  std::vector<int> Ends() const {
    const std::vector<double> parts =
        connections_ ? std::vector<double>{0.3, 0.6, 0.7, 1.0} : std::vector<double>{0.45, 0.85, 1.0};
    std::vector<int> ends;
    for (double part : parts) ends.push_back(static_cast<int>(BaseWidth() * part));
    if (options_.show_trainable) ends.push_back(Width());
    return ends;
  }

  void PrintCount(absl::string_view what, const Count& count) {
    table_.Line(absl::StrCat(what, ": ", count.elements, " (", SizeText(count.bytes), ")"));
  }

  std::vector<LayerCallPtr> CallsOf(const LayerImpl& layer) const { return model_.network().CallsOf(&layer); }

  std::string OutputText(const LayerImpl& layer, const NetworkImpl& within) const {
    const std::vector<LayerCallPtr> calls = within.network().CallsOf(&layer);
    const bool is_input = layer.class_name() == "InputLayer";
    std::string text;
    for (const LayerCallPtr& call : calls) {
      std::string shapes = ShapesText(call->outputs, is_input);
      if (!text.empty() && shapes != text) return "multiple";
      text = std::move(shapes);
    }
    return text;
  }

  std::string ConnectionsText(const LayerImpl& layer) const {
    std::vector<std::string> sources;
    for (const LayerCallPtr& call : CallsOf(layer)) {
      for (const KerasTensor& input : call->inputs) {
        sources.push_back(
            absl::StrCat("'", input.call()->layer->name(), "[", input.call()->number, "][", input.index(), "]'"));
      }
    }
    return absl::StrCat("[", absl::StrJoin(sources, ", "), "]");
  }

  void PrintLayer(const LayerImpl& layer, int level, bool last) { PrintLayerOf(layer, model_, level, last); }

  void PrintLayerOf(const LayerImpl& layer, const NetworkImpl& within, int level, bool last) {
    std::vector<std::string> cells = {absl::StrCat(layer.name(), " (", layer.class_name(), ")"),
                                      OutputText(layer, within), absl::StrCat(CountOf(layer.cells()).elements)};
    if (connections_) cells.push_back(ConnectionsText(layer));
    if (options_.show_trainable) cells.push_back(layer.trainable() ? "Y" : "N");
    table_.Row(std::move(cells), level);
    const auto* nested = dynamic_cast<const NetworkImpl*>(&layer);
    if (options_.expand_nested && nested != nullptr && !nested->layers().empty()) {
      table_.Bar(level + 1);
      const auto layers = nested->layers();
      for (const auto& inner : layers) PrintLayerOf(*inner, *nested, level + 1, inner == layers.back());
      table_.Bar(level);
    } else if (!last) {
      table_.Blank(level);
    }
  }

  const NetworkImpl& model_;
  const SummaryOptions& options_;
  const bool connections_;
  Table table_;
};

}  // namespace

absl::StatusOr<std::string> SummaryText(const NetworkImpl& model, const SummaryOptions& options) {
  TD_RETURN_IF_ERROR(model.status());
  const bool connections = !model.is_sequential_model() && !model.network().is_sequential();
  return Printer(model, options, connections).Print();
}

}  // namespace tandem::keras
