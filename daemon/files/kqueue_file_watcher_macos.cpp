// Compiled by scripts/check-macos, but never run.
#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

#include <asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <map>
#include <vector>

#include "common/posix/fd.hpp"
#include "daemon/files/native_file_watcher.hpp"

/// For a folder, kqueue reports a change of its names, but neither the name nor writes into its files. So this watcher
/// also watches each regular file in a watched folder, and lists the files again after a change. Callbacks then get an
/// empty name, as after an overflow of Linux's queue.
namespace orange {
namespace {

constexpr std::size_t k_most_files = 64;  // in one folder: each takes a descriptor; the poll covers further files
constexpr unsigned k_events = NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME | NOTE_ATTRIB;

class KqueueFileWatcher final : public FileWatcher {
  public:
    KqueueFileWatcher(const asio::any_io_executor& executor, int queue)
        : state_(std::make_shared<State>(executor, queue)) {
        state_->wait();
    }
    ~KqueueFileWatcher() override { state_->close(); }

    Result<WatchId> watch(Path folder, std::function<void(const std::string&)> changed) override {
        return state_->add(std::move(folder), std::move(changed));
    }
    /// kqueue is not known to report writes to a terminal. The poll notices them.
    Result<WatchId> watch_once(Path file, std::function<void()>) override {
        return Error(ErrorCode::unavailable, "writes to " + file.string() + " are not told here");
    }
    void unwatch(WatchId id) override { state_->watches.erase(id); }

  private:
    struct Watch {
        Path folder;
        std::function<void(const std::string&)> changed;
        UniqueFd descriptor;
        std::map<std::string, UniqueFd> files;
    };

    /// The watcher and its pending wait share the state, so that a callback may destroy the watcher.
    struct State : std::enable_shared_from_this<State> {
        State(const asio::any_io_executor& executor, int fd) : queue(executor, fd) {}

        void wait() {
            queue.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this()](auto error) {
                if (error == asio::error::operation_aborted || !self->queue.is_open()) return;
                self->dispatch();
                if (self->queue.is_open()) self->wait();
            });
        }

        void close() {
            std::error_code ignored;
            queue.close(ignored);
            watches.clear();
        }

        Result<WatchId> add(Path folder, std::function<void(const std::string&)> changed) {
            UniqueFd descriptor(::open(folder.c_str(), O_EVTONLY | O_DIRECTORY | O_CLOEXEC));
            const WatchId id = next;
            if (!descriptor || !subscribe(descriptor.get(), id)) {
                auto error = io_error("watching " + folder.string(), errno);
                if (errno == ENOENT) error.code = ErrorCode::not_found;
                return error;
            }
            ++next;
            auto& watch = watches[id];
            watch.folder = std::move(folder);
            watch.changed = std::move(changed);
            watch.descriptor = std::move(descriptor);
            look_for_files(id, watch);
            return id;
        }

        /// Registers a descriptor; closing it ends the registration.
        bool subscribe(int descriptor, WatchId id) {
            struct kevent change {};
            EV_SET(&change, static_cast<uintptr_t>(descriptor), EVFILT_VNODE, EV_ADD | EV_CLEAR, k_events, 0,
                   reinterpret_cast<void*>(static_cast<intptr_t>(id)));
            return ::kevent(queue.native_handle(), &change, 1, nullptr, 0, nullptr) == 0;
        }

        /// Opens all files again, because a name may belong to another file now.
        void look_for_files(WatchId id, Watch& watch) {
            watch.files.clear();
            std::error_code error;
            for (const auto& entry : std::filesystem::directory_iterator(watch.folder, error)) {
                if (watch.files.size() >= k_most_files) break;
                if (!entry.is_regular_file(error) || entry.is_symlink(error)) continue;
                UniqueFd file(::open(entry.path().c_str(), O_EVTONLY | O_NOFOLLOW | O_CLOEXEC));
                if (file && subscribe(file.get(), id)) {
                    watch.files.emplace(entry.path().filename().string(), std::move(file));
                }
            }
        }

        void dispatch() {
            struct kevent events[32];
            const timespec at_once{};
            const int count = ::kevent(queue.native_handle(), nullptr, 0, events, 32, &at_once);
            for (int i = 0; i < count && queue.is_open(); ++i) {
                const auto id = static_cast<WatchId>(reinterpret_cast<intptr_t>(events[i].udata));
                const auto found = watches.find(id);
                if (found == watches.end()) continue;
                auto& watch = found->second;
                const auto name = name_of(watch, static_cast<int>(events[i].ident));
                if (name.empty() || (events[i].fflags & (NOTE_DELETE | NOTE_RENAME))) look_for_files(id, watch);
                const auto changed = watch.changed;  // a copy, because the callback may end its own watch
                changed(name);
            }
        }

        static std::string name_of(const Watch& watch, int descriptor) {
            for (const auto& [name, file] : watch.files) {
                if (file.get() == descriptor) return name;
            }
            return {};
        }

        asio::posix::stream_descriptor queue;
        std::map<WatchId, Watch> watches;
        WatchId next = 1;
    };

    std::shared_ptr<State> state_;
};

}  // namespace

Result<std::unique_ptr<FileWatcher>> native_file_watcher(const asio::any_io_executor& executor) {
    const int queue = ::kqueue();
    if (queue < 0) return io_error("starting to watch files", errno);
    ::fcntl(queue, F_SETFD, FD_CLOEXEC);
    return std::unique_ptr<FileWatcher>(std::make_unique<KqueueFileWatcher>(executor, queue));
}

}  // namespace orange
