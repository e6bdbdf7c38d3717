#include <sys/inotify.h>

#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "common/base/try.hpp"
#include "daemon/files/inotify_file_watcher.hpp"
#include "daemon/files/native_file_watcher.hpp"

namespace orange {
namespace {

constexpr std::uint32_t k_events =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR | IN_EXCL_UNLINK;

/// Says what is late without watches.
constexpr const char* k_late =
    ", so Orange sees edits of TASK.md, commits and what agents write only at its next look (poll_interval, 30 s at "
    "most). To allow more: `sudo sysctl ";

}  // namespace

Error refused_watch(std::string_view doing, int error_number) {
    auto error = io_error(doing, error_number);
    if (error_number == ENOENT) error.code = ErrorCode::not_found;
    if (error_number == ENOSPC) {  // this is not about a disk
        error.message = std::string(doing) + ": all watches of files are in use (fs.inotify.max_user_watches)" +
                        k_late + "fs.inotify.max_user_watches=1048576`";
    } else if (error_number == EMFILE) {
        error.message =
            std::string(doing) +
            ": all inotify instances are in use (fs.inotify.max_user_instances), or all files that the daemon may "
            "open (`ulimit -n`)" +
            k_late + "fs.inotify.max_user_instances=1024` or raise that limit, then `orange daemon restart`";
    }
    return error;
}

/// The watcher and its pending read share the state, so that a callback may destroy the watcher.
class InotifyFileWatcher::State : public std::enable_shared_from_this<State> {
  public:
    State(const asio::any_io_executor& executor, int fd) : stream_(executor, fd) {}

    void read() {
        stream_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](auto error, std::size_t length) {
            if (error == asio::error::operation_aborted) return;
            if (!error) self->dispatch(length);
            if (self->stream_.is_open()) self->read();
        });
    }

    void close() {
        std::error_code ignored;
        stream_.close(ignored);
        callbacks_.clear();
        by_kernel_.clear();
    }

    Result<WatchId> add(const Path& path, std::uint32_t events, std::function<void(const std::string&)> changed) {
        const int kernel = ::inotify_add_watch(stream_.native_handle(), path.c_str(), events);
        if (kernel < 0) {
            const int number = errno;
            if (number == ENOSPC) problem_ = refused_watch("watching files", number).message;
            return refused_watch("watching " + path.string(), number);
        }
        if (!by_kernel_.contains(kernel)) problem_.clear();  // a new watch of the kernel
        const WatchId id = next_++;
        callbacks_[id] = {kernel, std::move(changed)};
        by_kernel_[kernel].push_back(id);
        return id;
    }

    /// Tries whether the kernel has a watch again: whoever lacked one may have ended without it.
    const std::string& problem() {
        if (problem_.empty()) return problem_;
        const int kernel = ::inotify_add_watch(stream_.native_handle(), "/", IN_DELETE_SELF | IN_MASK_CREATE);
        if (kernel < 0) return problem_;
        ::inotify_rm_watch(stream_.native_handle(), kernel);
        problem_.clear();
        return problem_;
    }

    void drop(WatchId id) {
        const auto found = callbacks_.find(id);
        if (found == callbacks_.end()) return;
        const int kernel = found->second.kernel;
        callbacks_.erase(found);
        auto& ids = by_kernel_[kernel];
        std::erase(ids, id);
        if (!ids.empty()) return;
        by_kernel_.erase(kernel);
        ::inotify_rm_watch(stream_.native_handle(), kernel);
    }

  private:
    struct Watch {
        int kernel = -1;
        std::function<void(const std::string&)> changed;
    };

    void dispatch(std::size_t length) {
        std::size_t at = 0;
        while (at + sizeof(inotify_event) <= length && stream_.is_open()) {
            inotify_event event{};
            std::memcpy(&event, buffer_.data() + at, sizeof event);
            const std::string name(event.len > 0 ? buffer_.data() + at + sizeof event : "");
            at += sizeof event + event.len;
            if (event.mask & IN_Q_OVERFLOW) {
                tell_all();
            } else if (event.mask & IN_IGNORED) {
                forget(event.wd);
            } else {
                tell(event.wd, name);
            }
        }
    }

    void tell(int kernel, const std::string& name) {
        const auto found = by_kernel_.find(kernel);
        if (found == by_kernel_.end()) return;  // an event that was queued before the watch ended
        for (const WatchId id : std::vector<WatchId>(found->second)) call(id, name);
    }

    void tell_all() {
        std::vector<WatchId> ids;
        for (const auto& [id, watch] : callbacks_) ids.push_back(id);
        for (const WatchId id : ids) call(id, {});
    }

    void call(WatchId id, const std::string& name) {
        const auto found = callbacks_.find(id);
        if (found == callbacks_.end()) return;
        const auto changed = found->second.changed;  // a copy, because the callback may end its own watch
        changed(name);
    }

    void forget(int kernel) {
        const auto found = by_kernel_.find(kernel);
        if (found == by_kernel_.end()) return;
        for (const WatchId id : found->second) callbacks_.erase(id);
        by_kernel_.erase(found);
    }

    asio::posix::stream_descriptor stream_;
    std::vector<char> buffer_ = std::vector<char>(64 << 10);
    std::map<WatchId, Watch> callbacks_;
    std::map<int, std::vector<WatchId>> by_kernel_;
    WatchId next_ = 1;
    std::string problem_;
};

InotifyFileWatcher::InotifyFileWatcher(std::shared_ptr<State> state) : state_(std::move(state)) {}

InotifyFileWatcher::~InotifyFileWatcher() {
    state_->close();
}

Result<std::unique_ptr<InotifyFileWatcher>> InotifyFileWatcher::open(const asio::any_io_executor& executor) {
    const int fd = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) return refused_watch("watching files", errno);
    auto state = std::make_shared<State>(executor, fd);
    state->read();
    return std::unique_ptr<InotifyFileWatcher>(new InotifyFileWatcher(std::move(state)));
}

Result<FileWatcher::WatchId> InotifyFileWatcher::watch(Path folder, std::function<void(const std::string&)> changed) {
    return state_->add(folder, k_events, std::move(changed));
}

Result<FileWatcher::WatchId> InotifyFileWatcher::watch_once(Path file, std::function<void()> written) {
    return state_->add(file, IN_MODIFY | IN_ONESHOT, [written = std::move(written)](const std::string&) { written(); });
}

void InotifyFileWatcher::unwatch(WatchId id) {
    state_->drop(id);
}

std::string InotifyFileWatcher::problem() const {
    return state_->problem();
}

Result<std::unique_ptr<FileWatcher>> native_file_watcher(const asio::any_io_executor& executor) {
    TRY(auto watcher, InotifyFileWatcher::open(executor));
    return std::unique_ptr<FileWatcher>(std::move(watcher));
}

}  // namespace orange
