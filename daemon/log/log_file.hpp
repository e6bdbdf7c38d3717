#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orange::log {

/// The file orange.log, on a disk that may be full, missing or out of descriptors. A line is written completely or not
/// at all; a line that cannot be written is counted, and never blocks. The file is rotated when it would exceed
/// `limit`; if that fails, the present file goes on. If its folder is moved, the log moves with it.
class LogFile {
  public:
    LogFile(std::string path, std::uint64_t limit, int kept);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    /// Writes a line; false if it could not be written, see problem().
    bool write(std::string_view line);

    /// Returns the number of lines dropped since the last written one.
    std::size_t missing() const { return missing_; }
    const std::string& problem() const { return problem_; }

  private:
    bool open();
    void rotate();
    bool fail(const char* doing);

    std::string path_;
    std::string name_;
    int folder_ = -1;
    std::uint64_t limit_;
    int kept_;
    int fd_ = -1;
    std::uint64_t size_ = 0;
    std::size_t missing_ = 0;
    std::string problem_;
};

}  // namespace orange::log
