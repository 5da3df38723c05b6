import CLibPQ
import Foundation

/// Waiting for the notices of others.
extension PostgresConnection {
  /// The reason why a wait has ended.
  enum Awaited {
    /// Others have sent notices.
    case notices
    /// The other descriptor can be read.
    case other
    /// The connection is lost.
    case lost
  }

  /// Waits until there are notices, or until another descriptor can be read.
  func waitForNotices(or other: Int32) -> Awaited {
    while true {
      guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return .lost }
      var count = 0
      while let notice = PQnotifies(handle) {
        PQfreemem(notice)
        count += 1
      }
      if count > 0 { return .notices }
      let socket = PQsocket(handle)
      guard socket >= 0 else { return .lost }
      var waited = [
        pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        pollfd(fd: other, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waited, 2, -1) >= 0 || errno == EINTR else { return .lost }
      if waited[1].revents != 0 { return .other }
    }
  }
}
