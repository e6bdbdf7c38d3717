// Compiled by scripts/check-macos, never run.
#include "daemon/files/writer_check.hpp"

#include "daemon/files/file_facts.hpp"

namespace orange {

WriterCheck::WriterCheck(const Path& path) : open_elsewhere_(files::modified_within(path, std::chrono::seconds(1))) {}

}  // namespace orange
