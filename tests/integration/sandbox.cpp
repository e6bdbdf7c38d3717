#include "tests/integration/sandbox.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "client/connection/agent_ancestor.hpp"
#include "common/config/paths.hpp"
#include "tests/catch.hpp"
#include "tests/machine.hpp"

namespace orange::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// What the daemon, the client and git get: nothing of the developer's own configuration.
std::vector<std::string> environment(const fs::path& root) {
    const auto near = [&](const char* link, const std::string& there) {
        return fs::is_symlink(root / link) ? (root / link).string() : there;
    };
    const auto shell_folder = near("tools", tools());
    std::vector<std::string> env = {
        "HOME=" + root.string(),
        "ORANGE_HOME=" + (root / "orange").string(),
        "ORANGE_NO_AUTOSTART=1",
        "ORANGE_SHARE=" + near("share", ORANGE_SOURCE_DIR),
        "PATH=" + near("bin", program("orange").parent_path().string()) + ":" + shell_folder,
        "SHELL=" + shell_folder + "/login-shell",
        "LANG=C.UTF-8",
        "TERM=xterm-256color",
        "GIT_CONFIG_NOSYSTEM=1",
        "USER=tester",
    };
    for (const char* kept : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
        if (const char* value = std::getenv(kept)) env.push_back(std::string(kept) + "=" + value);
    }
    return env;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> list;
    for (auto& text : strings) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

struct Pipe {
    int read = -1;
    int write = -1;
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) == 0) read = ends[0], write = ends[1];
    }
    ~Pipe() {
        if (read >= 0) ::close(read);
        if (write >= 0) ::close(write);
    }
    void close_write() {
        ::close(write);
        write = -1;
    }
};

void drain(int out, int err, Ran& ran) {
    pollfd ends[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
    std::string* into[2] = {&ran.out, &ran.err};
    int open = 2;
    while (open > 0 && ::poll(ends, 2, 60'000) > 0) {
        for (int i = 0; i < 2; ++i) {
            if (ends[i].fd < 0 || ends[i].revents == 0) continue;
            char chunk[4096];
            const auto size = ::read(ends[i].fd, chunk, sizeof chunk);
            if (size > 0) {
                into[i]->append(chunk, static_cast<std::size_t>(size));
            } else {
                ends[i].fd = -1;
                --open;
            }
        }
    }
}

/// Both ends of a new terminal, which nobody's session has.
struct Terminal {
    int ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    int theirs = -1;
    Terminal() {
        if (ours < 0 || ::grantpt(ours) != 0 || ::unlockpt(ours) != 0) throw std::runtime_error("no terminal");
        theirs = ::open(::ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
        termios settings{};
        ::tcgetattr(theirs, &settings);
        settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
        ::tcsetattr(theirs, TCSANOW, &settings);
        const winsize size{24, 80, 0, 0};
        ::ioctl(theirs, TIOCSWINSZ, &size);
    }
    ~Terminal() {
        ::close(ours);
        close_theirs();
    }
    void close_theirs() {
        if (theirs >= 0) ::close(std::exchange(theirs, -1));
    }
};

/// Until nobody has the other end any more. A question is a line that is not ended.
std::string conversation(int terminal, std::vector<std::string> answers) {
    std::string out;
    pollfd readable{terminal, POLLIN, 0};
    while (::poll(&readable, 1, 60'000) > 0) {
        char chunk[4096];
        const auto size = ::read(terminal, chunk, sizeof chunk);
        if (size <= 0) break;
        out.append(chunk, static_cast<std::size_t>(size));
        if (answers.empty() || !out.ends_with("] ")) continue;
        const auto line = answers.front() + "\n";
        answers.erase(answers.begin());
        if (::write(terminal, line.data(), line.size()) < 0) return out;
    }
    return out;
}

/// A folder of its own; its path has `length` characters.
fs::path new_root(std::size_t length) {
    auto folder = fs::canonical(fs::temp_directory_path()).string();
    std::string name = "/orange-test-";
    if (length > 0) {
        if (folder.size() + 8 > length) folder = fs::canonical("/tmp");
        name = "/" + std::string(length - folder.size() - 7, 'o');
    }
    auto pattern = folder + name + "XXXXXX";
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp failed");
    return pattern;
}

/// The tmux server and its keeper are none: they outlive the daemon that started them.
bool has_children(pid_t process) {
    const auto of_process = "/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children";
    std::istringstream children(read_file(of_process));
    for (std::string child; children >> child;) {
        const auto name = read_file("/proc/" + child + "/comm");
        if (!name.starts_with("tmux: server") && !name.starts_with("orange-agent")) return true;
    }
    return false;
}

}  // namespace

fs::path program(const std::string& name) {
    return fs::path(ORANGE_BINARY_DIR) / "bin" / name;
}

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void write_file(const fs::path& path, const std::string& content) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << content;
}

Sandbox::Sandbox(const std::string& config, std::size_t length, Time time) : time_(time) {
    if (connection::has_agent_ancestor())
        throw std::runtime_error(
            "below an agent of Orange nobody is a human: run this test from a terminal of your own");
    root_ = new_root(length);
    if (length > 0) {
        fs::create_symlink(ORANGE_SOURCE_DIR, root_ / "share");
        fs::create_symlink(program("orange").parent_path(), root_ / "bin");
        fs::create_symlink(tools(), root_ / "tools");
    }
    fs::create_directory(home());
    fs::permissions(home(), fs::perms::owner_all);
    write_file(root_ / ".gitconfig",
               "[user]\n\tname = Tester\n\temail = tester@example.org\n[init]\n\tdefaultBranch = main\n");
    if (!config.empty()) write_file(home() / "config.yml", config);
    if (time == Time::of_test) advance({});
    start_daemon();
}

Sandbox::~Sandbox() {
    connection_.reset();
    if (daemon_ > 0) stop_daemon();
    tmux({"kill-server"});
    // Shims write a last file when their session ends; the folder can only go when they have gone.
    for (int i = 0; i < 200; ++i) {
        std::error_code error;
        fs::remove_all(root_, error);
        if (!fs::exists(root_, error)) return;
        std::this_thread::sleep_for(20ms);
    }
}

void Sandbox::start_daemon(const fs::path& oranged, std::vector<std::string> variables) {
    const auto built = program(time_ == Time::of_test ? "oranged-timed" : "oranged");
    auto argv_text = std::vector<std::string>{(oranged.empty() ? built : oranged).string()};
    auto env_text = std::move(variables);
    if (time_ == Time::of_test) env_text.push_back("ORANGE_TEST_TIME=" + time_file().string());
    for (auto& variable : environment(root_)) {
        const auto name = variable.substr(0, variable.find('=') + 1);
        const bool given = std::any_of(env_text.begin(), env_text.end(),
                                       [&](const std::string& other) { return other.starts_with(name); });
        if (!given) env_text.push_back(std::move(variable));
    }
    auto argv = pointers(argv_text);
    auto env = pointers(env_text);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const auto log = (root_ / "oranged.err").string();
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int failed = ::posix_spawn(&daemon_, argv[0], &actions, nullptr, argv.data(), env.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error("cannot start oranged");
    connection_.reset();
    eventually("the daemon answers", [&] {
        auto opened = connection::Connection::open(home() / "orange.sock", 100ms);
        if (!opened) return false;
        auto answered = opened->call(rpc::DaemonPing{});
        if (!answered || answered->pid != daemon_) return false;
        connection_.emplace(std::move(*opened));
        return true;
    });
}

void Sandbox::kill_daemon() {
    connection_.reset();
    ::kill(daemon_, SIGKILL);
    int status = 0;
    ::waitpid(daemon_, &status, 0);
    daemon_ = -1;
}

int Sandbox::stop_daemon() {
    connection_.reset();
    ::kill(daemon_, SIGTERM);
    int status = 0;
    ::waitpid(daemon_, &status, 0);
    daemon_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Sandbox::advance(std::chrono::milliseconds time) {
    ahead_ += time.count();
    const int file = ::open(time_file().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const auto written = ::pwrite(file, &ahead_, sizeof ahead_, 0);  // in place: the daemon has the file mapped
    ::close(file);
    if (written != static_cast<ssize_t>(sizeof ahead_)) fail("cannot write the time");
}

void Sandbox::pass(std::chrono::milliseconds time) {
    eventually("the daemon has no child", [&] {
        ::kill(daemon_, SIGSTOP);
        int status = 0;
        ::waitpid(daemon_, &status, WUNTRACED);
        const bool passes = !has_children(daemon_);
        if (passes) advance(time);
        ::kill(daemon_, SIGCONT);
        return passes;
    });
}

void Sandbox::pass_with_poll(std::chrono::milliseconds time) {
    const auto polled = call(rpc::DaemonStatus{}).last_poll;
    pass(time);
    eventually("the daemon has polled", [&] { return call(rpc::DaemonStatus{}).last_poll != polled; });
}

connection::Connection& Sandbox::connection() {
    if (!connection_) {
        auto opened = connection::Connection::open(home() / "orange.sock", 2s);
        if (!opened) fail("connecting: " + opened.error().message);
        connection_.emplace(std::move(*opened));
    }
    return *connection_;
}

Ran Sandbox::try_run(const std::vector<std::string>& args, const fs::path& cwd, const std::string& input) {
    auto argv_text = args;
    auto env_text = environment(root_);
    auto argv = pointers(argv_text);
    auto env = pointers(env_text);
    Pipe in, out, err;
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in.read, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out.write, 1);
    ::posix_spawn_file_actions_adddup2(&actions, err.write, 2);
    ::posix_spawn_file_actions_addchdir_np(&actions, (cwd.empty() ? root_ : cwd).c_str());
    pid_t pid = -1;
    const int failed = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), env.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) fail("cannot start " + args[0]);
    out.close_write();
    err.close_write();
    if (!input.empty() && ::write(in.write, input.data(), input.size()) < 0) fail("writing to " + args[0]);
    in.close_write();
    Ran ran;
    drain(out.read, err.read, ran);
    int status = 0;
    ::waitpid(pid, &status, 0);
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ran;
}

Ran Sandbox::on_terminal(const std::string& command, const fs::path& cwd, std::vector<std::string> answers) {
    std::vector<std::string> argv_text = {"timeout", "--foreground", "60", "sh", "-c", command};
    auto env_text = environment(root_);
    env_text.insert(env_text.end(), {"COLUMNS=80", "NO_COLOR=1"});
    auto argv = pointers(argv_text);
    auto env = pointers(env_text);
    Terminal terminal;
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (answers.empty()) {
        ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    } else {
        ::posix_spawn_file_actions_adddup2(&actions, terminal.theirs, 0);
    }
    ::posix_spawn_file_actions_adddup2(&actions, terminal.theirs, 1);
    ::posix_spawn_file_actions_adddup2(&actions, terminal.theirs, 2);
    ::posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
    pid_t pid = -1;
    const int failed = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), env.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) fail("cannot start sh");
    terminal.close_theirs();
    Ran ran;
    ran.out = conversation(terminal.ours, std::move(answers));
    int status = 0;
    ::waitpid(pid, &status, 0);
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ran;
}

std::string Sandbox::run(const std::vector<std::string>& argv, const fs::path& cwd) {
    auto ran = try_run(argv, cwd);
    if (ran.status != 0) fail(argv[0] + " " + (argv.size() > 1 ? argv[1] : "") + " failed: " + ran.out + ran.err);
    if (ran.out.ends_with('\n')) ran.out.pop_back();
    return ran.out;
}

Ran Sandbox::orange(std::vector<std::string> args, const fs::path& cwd, const std::string& input) {
    args.insert(args.begin(), program("orange").string());
    return try_run(args, cwd, input);
}

std::string Sandbox::git(std::vector<std::string> args, const fs::path& cwd) {
    args.insert(args.begin(), "git");
    return run(args, cwd);
}

Ran Sandbox::tmux(std::vector<std::string> args) {
    args.insert(args.begin(), {"tmux", "-S", Paths{home()}.tmux_socket().string()});
    return try_run(args);
}

fs::path Sandbox::make_repository(const std::string& name) {
    const auto path = root_ / "repos" / name;
    fs::create_directories(path);
    git({"init", "-q", "-b", "main"}, path);
    write_file(path / "README.md", "# " + name + "\n");
    git({"add", "-A"}, path);
    git({"commit", "-q", "-m", "Begin"}, path);
    return path;
}

fs::path Sandbox::add_project(const std::string& name, int pool_size) {
    const auto path = make_repository(name);
    rpc::ProjectAdd add;
    add.path = path.string();
    add.name = name;
    add.pool_size = pool_size;
    add.harness = "demo";
    call(add);
    if (pool_size > 4) {  // more than the standard limits
        rpc::ProjectUpdate update;
        update.name = name;
        update.settings = {{"limits.worker", 0}, {"limits.reviewer", 0}};
        call(update);
    }
    return path;
}

fs::path Sandbox::add_origin(const fs::path& repo) {
    const auto origin = root_ / "origin.git";
    git({"clone", "-q", "--bare", repo.string(), origin.string()}, root_);
    git({"remote", "add", "origin", origin.string()}, repo);
    return origin;
}

std::string Sandbox::create(const std::string& project, const std::string& summary, bool no_spawn) {
    rpc::TaskCreate params;
    params.project = project;
    params.summary = summary;
    params.harness = "demo";
    params.review_harness = "demo";
    params.no_spawn = no_spawn;
    return call(params).task.fields.id.value;
}

std::string Sandbox::short_id(const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return call(show).task.short_id;
}

Json Sandbox::fields(const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return to_json(call(show).task.fields);
}

std::string Sandbox::status(const std::string& id) {
    return fields(id).at("status").get<std::string>();
}

Result<rpc::TaskReply> Sandbox::update_status(const std::string& id, const std::string& status, bool force) {
    rpc::TaskUpdate update;
    update.id = id;
    update.status = status;
    update.force = force;
    return try_call(update);
}

std::vector<Json> Sandbox::history(const std::string& id, const std::string& type) {
    rpc::TaskHistory params;
    params.id = id;
    std::vector<Json> found;
    for (const auto& event : call(params).events) {
        if (type.empty() || event.at("type") == type) found.push_back(event);
    }
    return found;
}

std::string Sandbox::path_of(const std::string& id) {
    std::string path = "pending";
    for (const auto& event : history(id, "status.changed")) path += " " + event.at("to").get<std::string>();
    return path;
}

std::string Sandbox::body(const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return call(show).body;
}

fs::path Sandbox::worktree(const std::string& id) {
    const auto workspace = fields(id).at("workspace");
    if (!workspace.is_string()) fail("task " + id + " has no workspace");
    return home() / "workspaces" / workspace.get<std::string>();
}

fs::path Sandbox::folder(const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return call(show).task.path;
}

Json Sandbox::run_of(const std::string& id, const std::string& role) {
    const auto state = Json::parse(read_file(folder(id) / "state.json"));
    for (const auto& run : state.at("runs")) {
        if (run.at("role") == role) return run;
    }
    return nullptr;
}

void Sandbox::eventually(const std::string& what, const std::function<bool()>& holds,
                         std::chrono::milliseconds deadline) {
    const auto until = std::chrono::steady_clock::now() + deadline;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > until)
            fail("in " + std::to_string(deadline.count()) + " ms never: " + what);
        std::this_thread::sleep_for(10ms);
    }
}

void Sandbox::wait_for_status(const std::string& id, const std::string& wanted) {
    eventually("task is " + wanted, [&] { return status(id) == wanted; });
    eventually("its actions have ended", [&] {
        rpc::TaskShow show;
        show.id = id;
        return !call(show).task.in_progress;
    });
}

void Sandbox::fail(const std::string& why) {
    auto text = why + "\n--- oranged.err\n" + read_file(root_ / "oranged.err");
    auto log = read_file(home() / "orange.log");
    if (log.size() > 6000) log.erase(0, log.size() - 6000);
    text += "--- orange.log\n" + log;
    std::error_code none_yet;
    for (const auto& entry : fs::recursive_directory_iterator(home() / "tasks", none_yet)) {
        if (entry.path().extension() == ".log")
            text += "--- " + entry.path().filename().string() + "\n" + read_file(entry.path());
        if (entry.path().filename() == "TASK.md")
            text += "--- " + entry.path().string() + "\n" + read_file(entry.path());
    }
    const auto panes = tmux({"list-panes", "-a", "-F", "#{pane_id}"});
    std::istringstream ids(panes.out);
    for (std::string id; std::getline(ids, id);) {
        text += "--- pane " + id + "\n" + tmux({"capture-pane", "-p", "-t", id}).out;
    }
    throw std::runtime_error(text);
}

}  // namespace orange::tests
