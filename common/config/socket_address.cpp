#include "common/config/socket_address.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace orange {

Result<SocketAddress> SocketAddress::in_folder(const std::filesystem::path& socket) {
    SocketAddress address;
    auto path = socket.string();
    constexpr auto k_longest = sizeof address.address_.sun_path - 1;
    if (path.size() > k_longest) {
        address.folder_ = ::open(socket.parent_path().c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC);
        if (address.folder_ < 0) {
            auto error = io_error("opening " + socket.parent_path().string(), errno);
            if (errno == ENOENT) error.code = ErrorCode::not_found;
            return error;
        }
        path = "/proc/self/fd/" + std::to_string(address.folder_) + "/" + socket.filename().string();
    }
    if (path.size() > k_longest) {
        return Error(ErrorCode::invalid_argument,
                     "the socket's path is too long (" + std::to_string(path.size()) + " bytes): " + path);
    }
    address.address_.sun_family = AF_UNIX;
    path.copy(address.address_.sun_path, k_longest);
    return address;
}

SocketAddress::SocketAddress(SocketAddress&& other) noexcept
    : address_(other.address_), folder_(std::exchange(other.folder_, -1)) {}

SocketAddress::~SocketAddress() {
    if (folder_ >= 0) ::close(folder_);
}

const sockaddr* SocketAddress::get() const {
    const void* raw = &address_;
    return static_cast<const sockaddr*>(raw);
}

}  // namespace orange
