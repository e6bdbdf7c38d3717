#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orange::log {

/// orange.log on a disk that may be full, gone or out of descriptors: a line is written whole or not at all, and what
/// cannot be written is counted, never waited for. Rotated when it would be larger than `limit`; where that fails, the
/// lines go on in the file that there is. Its folder may be moved: the log goes with it.
class LogFile {
  public:
    LogFile(std::string path, std::uint64_t limit, int kept);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    /// False: it is missing now, see problem().
    bool write(std::string_view line);

    /// Lines that were not written since the last one that was.
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
