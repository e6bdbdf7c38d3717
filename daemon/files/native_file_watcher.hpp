#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>

#include "daemon/files/file_watcher.hpp"

namespace orange {

/// The platform's FileWatcher: inotify, kqueue. Fails where the kernel gives no more of them; the poll alone then finds
/// changes.
Result<std::unique_ptr<FileWatcher>> native_file_watcher(const asio::any_io_executor& executor);

}  // namespace orange
