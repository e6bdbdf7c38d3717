#include "client/commands/service_file.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>

namespace orange::commands {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::optional<std::string> text_of_service(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(in), {}};
}

Result<void> write_service(const fs::path& file, const std::string& text) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) return io_error("cannot create " + file.parent_path().string(), error.value());
    const auto other = fs::path(file.string() + ".new");
    std::ofstream out(other, std::ios::binary | std::ios::trunc);
    if (!(out << text).flush()) return io_error("cannot write " + other.string(), errno);
    out.close();
    fs::rename(other, file, error);
    if (error) return io_error("cannot write " + file.string(), error.value());
    return {};
}

Result<void> remove_service(const fs::path& file) {
    std::error_code error;
    if (!fs::remove(file, error)) return io_error("cannot remove " + file.string(), error.value());
    return {};
}

}  // namespace orange::commands
