#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <string>

#include "common/base/result.hpp"

namespace orange {

/// A Unix socket's address for bind() and connect(). A path that does not fit (107 bytes) goes through a descriptor of
/// its folder, /proc/self/fd/N/name, which lives as long as this object. For a path that fits nothing is opened.
/// not_found where such a folder is not there.
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
