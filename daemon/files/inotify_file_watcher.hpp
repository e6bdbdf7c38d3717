#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/files/file_watcher.hpp"

namespace orange {

/// Returns the error of a watch, or of the first use of inotify, that the kernel refuses. If a limit of the kernel is
/// used up, the message names it and says what to do.
Error refused_watch(std::string_view doing, int error_number);

/// FileWatcher on Linux: one inotify descriptor that is read on the event loop. Several watches of a folder share one
/// watch of the kernel. If a folder is deleted or moved away, its watch ends silently, and the poll notices.
class InotifyFileWatcher final : public FileWatcher {
  public:
    /// Fails if the kernel has no instance left (fs.inotify.max_user_instances).
    static Result<std::unique_ptr<InotifyFileWatcher>> open(const asio::any_io_executor& executor);
    ~InotifyFileWatcher() override;

    Result<WatchId> watch(Path folder, std::function<void(const std::string&)> changed) override;
    Result<WatchId> watch_once(Path file, std::function<void()> written) override;
    void unwatch(WatchId id) override;
    std::string problem() const override;

  private:
    class State;
    explicit InotifyFileWatcher(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
};

}  // namespace orange
