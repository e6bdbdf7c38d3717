#include "daemon/files/file_facts.hpp"
#include "daemon/files/writer_check.hpp"

namespace orange {

bool open_elsewhere(const Path& path) {
    return files::modified_within(path, std::chrono::seconds(1));
}

}  // namespace orange
