#include <dlfcn.h>
#include <sys/vfs.h>

#include <cstdlib>
#include <cstring>

/// Everything below $NETWORK_DISK is on NFS, as far as statfs() tells.
namespace {

using Statfs = int (*)(const char*, struct statfs*);

int pretend(const char* path, struct statfs* facts) {
    void* found = ::dlsym(RTLD_NEXT, "statfs");
    Statfs real = nullptr;
    std::memcpy(&real, &found, sizeof real);
    const int result = real(path, facts);
    const char* below = std::getenv("NETWORK_DISK");
    if (result == 0 && below && std::strncmp(path, below, std::strlen(below)) == 0) facts->f_type = 0x6969;
    return result;
}

}  // namespace

extern "C" int statfs(const char* path, struct statfs* facts) noexcept {
    return pretend(path, facts);
}
