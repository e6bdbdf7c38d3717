#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>

#include "daemon/files/file_watcher.hpp"

namespace orange {

/// Makes the platform's FileWatcher (inotify or kqueue). Fails if the kernel has no more of them; then only the poll
/// notices changes.
Result<std::unique_ptr<FileWatcher>> native_file_watcher(const asio::any_io_executor& executor);

}  // namespace orange
