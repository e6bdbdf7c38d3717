#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <iterator>
#include <sstream>

#include "common/log/query.hpp"
#include "tests/catch.hpp"
#include "tests/integration/doctor.hpp"

/// A disk that is full while the daemon runs on it: an error of the code io, every file as it was, and the same call
/// succeeds once there is room again. A tmpfs as the home's tasks where this process may mount one (root); everywhere
/// a limit of the size of files, which the daemon meets in the same way.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// A tmpfs over a folder, gone with this.
class SmallDisk {
  public:
    SmallDisk(fs::path where, const std::string& options) : where_(std::move(where)) {
        fs::create_directories(where_);
        mounted_ = ::mount("tmpfs", where_.c_str(), "tmpfs", 0, options.c_str()) == 0;
    }
    ~SmallDisk() {
        if (mounted_) ::umount2(where_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    bool mounted() const { return mounted_; }
    void change(const std::string& options) const {
        if (::mount("tmpfs", where_.c_str(), "tmpfs", MS_REMOUNT, options.c_str()) != 0) {
            FAIL("the disk could not be made larger");
        }
    }
    bool allow_writing(bool allowed) const {
        return ::mount("tmpfs", where_.c_str(), "tmpfs", MS_REMOUNT | (allowed ? 0 : MS_RDONLY), "mode=0700") == 0;
    }

  private:
    fs::path where_;
    bool mounted_ = false;
};

/// What is in the last few pages is taken too.
void fill(const fs::path& folder) {
    const int file = ::open((folder / "filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    const std::string page(4096, 'f');
    while (::write(file, page.data(), page.size()) > 0) {
    }
    ::close(file);
}

std::map<std::string, std::string> files_of(const fs::path& folder) {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file() && entry.path().filename() != "filler") {
            all[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
        }
    }
    return all;
}

Result<rpc::TaskReply> change_summary(Sandbox& orange, const std::string& id, const std::string& summary) {
    rpc::TaskUpdate update;
    update.id = id;
    update.summary = summary;
    return orange.try_call(update);
}

void check_untouched(Sandbox& orange, const std::map<std::string, std::string>& before) {
    for (const auto& [name, text] : files_of(orange.home() / "tasks")) {
        INFO(name);
        const auto old = before.find(name);
        CHECK_THAT(name, !Holds(".tmp"));
        if (name.find("orange.log") != std::string::npos) continue;
        if (old != before.end()) CHECK(text == old->second);
    }
    for (const auto& [name, text] : before) {
        INFO(name);
        CHECK(fs::exists(orange.home() / "tasks" / name));
    }
}

}  // namespace

TEST_CASE("On a full disk an update is refused, nothing is lost, and it succeeds when there is room") {
    Sandbox orange("poll_interval: 3600\n");
    orange.stop_daemon();
    const SmallDisk disk(orange.home() / "tasks", "size=64k,mode=0700");
    if (!disk.mounted()) {
        WARN("not allowed to mount a tmpfs: the limit of the size of files stands for it in the next test");
        return;
    }
    orange.start_daemon();
    orange.add_project("shop");
    const auto id = orange.create("shop", "first", true);
    fill(orange.home() / "tasks");
    const auto before = files_of(orange.home() / "tasks");

    const auto refused = change_summary(orange, id, std::string(150, 's'));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::io);
    check_untouched(orange, before);
    rpc::TaskCreate another;
    another.project = "shop";
    another.summary = "second";
    another.harness = another.review_harness = "demo";
    another.no_spawn = true;
    const auto none = orange.try_call(another);
    REQUIRE_FALSE(none);
    CHECK(none.error().code == ErrorCode::io);
    check_untouched(orange, before);
    CHECK(orange.fields(id).at("summary") == "first");

    fs::remove(orange.home() / "tasks/filler");
    REQUIRE(change_summary(orange, id, std::string(150, 's')));
    REQUIRE(orange.try_call(another));
    orange.kill_daemon();
    orange.start_daemon();
    CHECK(orange.fields(id).at("summary") == std::string(150, 's'));
    orange.stop_daemon();
}

TEST_CASE("Without a free inode a creation is refused, and succeeds when there is one") {
    Sandbox orange("poll_interval: 3600\n");
    orange.stop_daemon();
    const SmallDisk disk(orange.home() / "tasks", "size=1m,nr_inodes=12,mode=0700");
    if (!disk.mounted()) {
        WARN("not allowed to mount a tmpfs");
        return;
    }
    orange.start_daemon();
    orange.add_project("shop");
    std::vector<std::string> made;
    rpc::TaskCreate create;
    create.project = "shop";
    create.harness = create.review_harness = "demo";
    create.no_spawn = true;
    Error refused;
    for (int n = 0; n < 12 && refused.message.empty(); ++n) {
        create.summary = "task " + std::to_string(n);
        auto reply = orange.try_call(create);
        if (reply) made.push_back(reply->task.fields.id.value);
        if (!reply) refused = reply.error();
    }
    REQUIRE_FALSE(refused.message.empty());
    CHECK(refused.code == ErrorCode::io);
    REQUIRE_FALSE(made.empty());
    for (const auto& id : made) CHECK(orange.status(id) == "pending");
    disk.change("size=1m,nr_inodes=64,mode=0700");
    REQUIRE(orange.try_call(create));
    orange.kill_daemon();
    orange.start_daemon();
    CHECK(orange.call(rpc::TaskList{}).tasks.size() == made.size() + 1);
    orange.stop_daemon();
}

TEST_CASE("A merge on a disk that became read-only is refused with its reason, and nothing is merged") {
    Sandbox orange("poll_interval: 3600\n");
    orange.stop_daemon();
    const SmallDisk tasks(orange.home() / "tasks", "mode=0700"), workspaces(orange.home() / "workspaces", "mode=0700");
    if (!tasks.mounted()) {
        WARN("not allowed to mount a tmpfs");
        return;
    }
    orange.start_daemon();
    const auto repo = orange.add_project("shop");
    const auto id = orange.create("shop", "Later", true);
    orange.git({"branch", orange.fields(id).at("branch").get<std::string>()}, repo);
    REQUIRE(tasks.allow_writing(false));
    REQUIRE(workspaces.allow_writing(false));
    rpc::TaskMerge merge;
    merge.id = id;
    merge.force = true;
    const auto refused = orange.try_call(merge);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::io);
    CHECK_THAT(refused.error().message, Holds("Read-only file system"));
    REQUIRE(tasks.allow_writing(true));
    REQUIRE(workspaces.allow_writing(true));
    CHECK(orange.try_call(merge));
    orange.stop_daemon();
}

TEST_CASE("A file that may not grow is an error, not the daemon's end, and the old one stays") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "first", true);
    const auto before = files_of(orange.home() / "tasks");
    rlimit old{};
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_FSIZE, nullptr, &old) == 0);
    const rlimit small{512, old.rlim_max};
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_FSIZE, &small, nullptr) == 0);
    const auto refused = change_summary(orange, id, std::string(150, 's'));
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_FSIZE, &old, nullptr) == 0);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::io);
    check_untouched(orange, before);
    CHECK(orange.fields(id).at("summary") == "first");
    REQUIRE(change_summary(orange, id, std::string(150, 's')));
}

TEST_CASE("A merge that finds the disk full is not done, and is when there is room") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    const auto id = orange.create("shop", "Greet");
    orange.wait_for_status(id, "reviewing");
    rlimit old{};
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_FSIZE, nullptr, &old) == 0);
    const rlimit small{256, old.rlim_max};
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_FSIZE, &small, nullptr) == 0);
    rpc::TaskMerge merge;
    merge.id = id;
    const auto refused = orange.try_call(merge);
    const auto between = orange.status(id);
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_FSIZE, &old, nullptr) == 0);
    REQUIRE_FALSE(refused);
    CHECK(between == "reviewing");
    REQUIRE(orange.try_call(merge));
    CHECK(orange.status(id) == "done");
}

TEST_CASE(
    "Out of descriptors the daemon serves who is connected, idles, takes nobody for dead, and takes callers again "
    "later") {
    Sandbox orange("poll_interval: 0.2\n");
    const auto log = [&] { return read_file(orange.home() / "orange.log"); };
    orange.add_project("shop");
    const auto id = orange.create("shop", "first", true);
    const auto living = orange.create("shop", "First demo:slow=600");
    orange.eventually("the agent is alive", [&] { return orange.call(rpc::DaemonStatus{}).agents_alive == 1; });
    const auto run = orange.run_of(living, "worker");
    rlimit old{};
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_NOFILE, nullptr, &old) == 0);
    int free = 0;  // the lowest one: those above are not lost by a limit, and nothing is left below
    while (fs::exists(
        fs::symlink_status("/proc/" + std::to_string(orange.daemon_pid()) + "/fd/" + std::to_string(free)))) {
        ++free;
    }
    const rlimit few{static_cast<rlim_t>(free + 1), old.rlim_max};
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_NOFILE, &few, nullptr) == 0);
    const auto ticks = [&] {
        const auto stat = read_file("/proc/" + std::to_string(orange.daemon_pid()) + "/stat");
        std::istringstream words(stat.substr(stat.rfind(')') + 2));
        std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
        return std::stol(fields.at(11)) + std::stol(fields.at(12));
    };
    // The first takes the last descriptor; then come callers that wait in the socket's queue, and whom nobody can
    // accept.
    std::vector<int> waiting;
    for (int n = 0; n < 16; ++n) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const auto path = (orange.home() / "orange.sock").string();
        REQUIRE(path.size() < sizeof address.sun_path);
        path.copy(address.sun_path, path.size());
        waiting.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const void* where = &address;
        REQUIRE(::connect(waiting.back(), static_cast<const sockaddr*>(where), sizeof address) == 0);
    }
    orange.eventually("it has run out", [&] { return holds(log(), "accept: Too many open files"); });
    const auto before = ticks();
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < 20; ++n) CHECK(orange.try_call(rpc::TaskList{}).has_value());
    const auto refused = change_summary(orange, id, "second");
    if (!refused) CHECK(refused.error().code == ErrorCode::io);
    while (std::chrono::steady_clock::now() - start < std::chrono::seconds(2)) ::usleep(50'000);
    const auto used = ticks() - before;
    CHECK(used < ::sysconf(_SC_CLK_TCK));  // half of a core at most: a loop would take all of it
    CHECK(orange.call(rpc::DaemonStatus{}).agents_alive == 1);
    char refusal[512] = {};
    REQUIRE(::recv(waiting.back(), refusal, sizeof refusal - 1, MSG_WAITALL) > 0);
    CHECK_THAT(std::string(refusal), Holds("-32012"));
    for (const int socket : waiting) ::close(socket);

    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_NOFILE, &old, nullptr) == 0);
    CHECK(orange.run_of(living, "worker") == run);
    CHECK(orange.history(living, "agent.exited").empty());
    REQUIRE(change_summary(orange, id, "third"));
    CHECK(orange.orange({"task", "list"}).status == 0);
    CHECK(orange.fields(id).at("summary") == "third");
}

TEST_CASE(
    "While orange.log cannot grow every call succeeds, one line says so, and the log goes on when there is room") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    orange.stop_daemon();
    const auto file = orange.home() / "orange.log";
    constexpr std::uintmax_t k_size = 8 << 20;  // beyond what any other file of a daemon has, below a rotation
    fs::resize_file(file, k_size);
    write_file(orange.root() / "oranged.err", "");
    orange.start_daemon();
    rlimit old{};
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_FSIZE, nullptr, &old) == 0);
    const rlimit small{fs::file_size(file) + 20, old.rlim_max};
    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_FSIZE, &small, nullptr) == 0);
    const auto id = orange.create("shop", "Greet");
    orange.wait_for_status(id, "reviewing");
    REQUIRE(change_summary(orange, id, "Greet everybody"));
    CHECK(fs::file_size(file) <= small.rlim_cur);
    const auto found = diagnose(orange);
    CHECK_THAT(found.said("log"), Tells(file.string()));
    CHECK(found.command("log") == "df -h " + orange.home().string());
    const auto told = read_file(orange.root() / "oranged.err");
    CHECK_THAT(told, Tells(file.string()));
    CHECK(std::count(told.begin(), told.end(), '\n') == 1);

    REQUIRE(::prlimit(orange.daemon_pid(), RLIMIT_FSIZE, &old, nullptr) == 0);
    rpc::TaskMerge merge;
    merge.id = id;
    REQUIRE(orange.try_call(merge));
    CHECK(diagnose(orange).said("log").empty());
    log::Query query;
    query.grep = "missing here";
    CHECK(log::search(file, query).value().lines.size() == 1);
    query.grep = id;
    CHECK_FALSE(log::search(file, query).value().lines.empty());
}

}  // namespace orange::tests
