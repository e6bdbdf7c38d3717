#include "client/connection/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string_view>

extern char** environ;

namespace orange::connection {
namespace {

class SpawnSetup {
  public:
    SpawnSetup() {
        ::posix_spawnattr_init(&attributes);
        ::posix_spawn_file_actions_init(&actions);
    }
    ~SpawnSetup() {
        ::posix_spawnattr_destroy(&attributes);
        ::posix_spawn_file_actions_destroy(&actions);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;

    /// In the order given: a target is never a source of a later one here, since the client's own are above 3.
    void descriptor(int from, int to) {
        if (from < 0) {
            ::posix_spawn_file_actions_addopen(&actions, to, "/dev/null", to == 0 ? O_RDONLY : O_WRONLY, 0);
        } else {
            ::posix_spawn_file_actions_adddup2(&actions, from, to);
        }
    }
    void signals_and_session(bool new_session) {
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        const int session = new_session ? POSIX_SPAWN_SETSID : 0;
        ::posix_spawnattr_setflags(&attributes,
                                   static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | session));
    }

    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
};

}  // namespace

Result<pid_t> start_child(const std::vector<std::string>& argv, const ChildOptions& options) {
    SpawnSetup setup;
    setup.signals_and_session(options.new_session);
    setup.descriptor(-1, 0);
    setup.descriptor(options.out, 1);
    setup.descriptor(options.err, 2);
    if (options.extra >= 0) setup.descriptor(options.extra, 3);

    std::vector<char*> words;
    words.reserve(argv.size() + 1);
    for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    std::vector<char*> environment;
    for (char** entry = environ; *entry; ++entry) {
        const bool drop = options.without_git_environment && std::string_view(*entry).starts_with("GIT_");
        if (!drop) environment.push_back(*entry);
    }
    environment.push_back(nullptr);

    pid_t pid = 0;
    const int failed =
        ::posix_spawnp(&pid, words[0], &setup.actions, &setup.attributes, words.data(), environment.data());
    if (failed != 0) return io_error("starting " + argv.front(), failed);
    return pid;
}

}  // namespace orange::connection
