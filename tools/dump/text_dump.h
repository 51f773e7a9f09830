// Shows an executable as text.
#ifndef TANDEM_TOOLS_DUMP_TEXT_DUMP_H_
#define TANDEM_TOOLS_DUMP_TEXT_DUMP_H_

#include <nlohmann/json.hpp>
#include <string>

namespace tandem {

// Formats the result of DumpJson as text.
std::string DumpText(const nlohmann::ordered_json& dump);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_TEXT_DUMP_H_
