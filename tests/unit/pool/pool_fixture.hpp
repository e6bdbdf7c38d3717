#pragma once

#include "daemon/files/posix_file_system.hpp"
#include "daemon/pool/pool.hpp"
#include "tests/unit/git/git_fixture.hpp"

namespace orange::test {

struct PoolFixture : GitFixture {
    PoolFixture() {
        project.name = "shop";
        project.path = make_repo();
        project.default_branch = "main";
        project.pool_size = 2;
        pool.surround([this](const Project&, const TaskId&, const std::string&) {
            return Surroundings{environment(), teardown};
        });
    }

    static Task task(const std::string& id) {
        Task task;
        task.id.value = id;
        task.project = "shop";
        task.branch = "orange-tasks/" + id;
        return task;
    }
    Result<Acquired> acquire(const Task& task) { return go(pool.acquire(project, task, {})); }
    Path taken(const Task& task) { return acquire(task).value().path; }
    std::string holder(int number) {
        for (const auto& info : pool.list("shop")) {
            if (info.name == "shop--" + std::to_string(number)) return info.task.value;
        }
        return "no such workspace";
    }

    Project project;
    std::vector<std::vector<std::string>> teardown;
    async::KeyedMutex repositories{io.get_executor()};
    Path root = dir / "workspaces";
    PosixFileSystem files{{root}};
    WatchedGit watched{git};
    Pool pool{files, watched, runner, repositories, root, "pool@test"};
};

}  // namespace orange::test
