#include "common/model/clash.hpp"

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"

namespace orange {
namespace {

std::string file_text(const ClashFile& file) {
    const auto hunks = static_cast<std::size_t>(file.hunks);
    return shown_path(file.path) + (hunks == 0 ? "" : ", " + counted(hunks, "hunk"));
}

}  // namespace

std::string clash_files(const Clash& clash) {
    const auto others = clash.files.size() + static_cast<std::size_t>(clash.more);
    if (clash.files.empty()) return counted(others, "file");
    auto text = file_text(clash.files.front());
    if (others > 1) text += " and " + counted(others - 1, "more file");
    return text + (clash.maybe ? ", not committed yet" : "");
}

std::string clash_text(const Clash& clash) {
    return "with " + printable(clash.with.empty() ? clash.branch : clash.short_id) + " in " + clash_files(clash);
}

std::string clash_clause(const Clash& clash) {
    return (clash.maybe ? "may clash " : "clashes ") + clash_text(clash);
}

}  // namespace orange
