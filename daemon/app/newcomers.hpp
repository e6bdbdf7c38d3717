#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>

namespace orange {

/// A connection from another machine that has not proved its run yet.
class Newcomer {
  public:
    explicit Newcomer(std::string from) : from_(std::move(from)) {}
    virtual ~Newcomer() = default;

    /// Returns the address of the other machine.
    const std::string& from() const { return from_; }
    /// Returns true if it has sent nothing that was not read yet.
    virtual bool is_silent() const = 0;
    virtual void close() = 0;

    bool is_checked = false;  ///< its whole hello has come, and is being checked

  private:
    std::string from_;
};

/// The connections that have not proved their run. Everybody on the network can open some, so their number is limited,
/// of one address and of all. A new one is admitted as long as any other one only has to send its hello: the oldest of
/// these is closed for it; one with bytes that wait to be read goes last. One whose hello is being checked is never
/// closed for another one.
class Newcomers {
  public:
    static constexpr std::size_t k_most = 256, k_most_of_address = 64;

    /// Returns false, and admits nothing, if the hellos of as many as may be open are being checked.
    bool admit(std::shared_ptr<Newcomer> newcomer);
    void remove(const Newcomer& newcomer);
    /// Closes the oldest that has to send its hello. `from`: only of this address. Returns false if there is none.
    bool close_oldest(const std::string* from = nullptr);
    std::size_t size() const { return all_.size(); }

  private:
    std::list<std::shared_ptr<Newcomer>> all_;  ///< the oldest first
};

}  // namespace orange
