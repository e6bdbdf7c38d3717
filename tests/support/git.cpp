// The `git` of the tests. It replaces itself by the real git, without the settings of /etc/gitconfig and without a
// repository that contains the temporary folder. Variables of the tests could not do that, because the daemon passes
// none of git's variables on. A shell script would take a third of the time of most tests.
#include <unistd.h>

#include <cstdlib>
#include <string>

int main(int, char** argv) {
    std::string ceilings = "/tmp:/dev/shm";
    for (const char* name : {"TMPDIR", "GIT_CEILING_DIRECTORIES"}) {
        const char* value = std::getenv(name);
        if (value && *value) ceilings += std::string(":") + value;
    }
    ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    ::setenv("GIT_CEILING_DIRECTORIES", ceilings.c_str(), 1);
    ::execv(ORANGE_TEST_SYSTEM_GIT, argv);
    return 127;
}
