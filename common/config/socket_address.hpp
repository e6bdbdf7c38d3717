#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <string>

#include "common/base/result.hpp"

namespace orange {

/// The address of a Unix socket, for bind() and connect(). A path that does not fit (107 bytes) is replaced by
/// /proc/self/fd/N/name with a descriptor of its folder, which lives as long as this object; not_found if the folder
/// does not exist. For a path that fits, no descriptor is opened.
class SocketAddress {
  public:
    static Result<SocketAddress> in_folder(const std::filesystem::path& socket);

    SocketAddress(SocketAddress&& other) noexcept;
    SocketAddress& operator=(SocketAddress&&) = delete;
    ~SocketAddress();

    const sockaddr* get() const;
    socklen_t size() const { return sizeof address_; }
    std::string path() const { return address_.sun_path; }

  private:
    SocketAddress() = default;
    sockaddr_un address_{};
    int folder_ = -1;
};

}  // namespace orange
