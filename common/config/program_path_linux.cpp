#include "common/config/program_path.hpp"

namespace orange {

Result<std::filesystem::path> program_path() {
    std::error_code error;
    auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return io_error("reading /proc/self/exe", error.value());
    // The kernel marks a binary that was replaced while it runs (by an upgrade); its folder is still right.
    std::string text = path.string();
    constexpr std::string_view k_deleted = " (deleted)";
    if (text.ends_with(k_deleted)) text.resize(text.size() - k_deleted.size());
    return std::filesystem::path(text);
}

}  // namespace orange
