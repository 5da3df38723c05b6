import CLibrary
import HeartwoodFiles

/// A connection of a client.
package final class ClientSocket: Sendable {
  private let descriptor: Int32

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    SocketCalls.closeOnExecution(descriptor)
    SocketCalls.prepare(descriptor)
  }

  deinit { close(descriptor) }

  /// Waits for bytes and reads some.
  ///
  /// - Parameters:
  ///   - most: The largest number of bytes.
  ///   - deadline: When the wait ends, in the time of `MonotonicTime`.
  /// - Returns: No bytes at the end of the connection; nil at the deadline.
  package func read(_ most: Int, until deadline: Int) -> [UInt8]? {
    guard isReady(Int16(POLLIN), until: deadline) else { return nil }
    return [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
      count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }
  }

  /// Writes bytes.
  ///
  /// - Parameter deadline: When the wait for a client that does not read ends.
  /// - Throws: If the client has closed the connection, or does not read.
  package func write(_ bytes: [UInt8], until deadline: Int) throws(ClientIsGone) {
    var done = 0
    while done < bytes.count {
      guard isReady(Int16(POLLOUT), until: deadline) else { throw ClientIsGone() }
      let count = bytes[done...].withUnsafeBytes { buffer in
        send(descriptor, buffer.baseAddress, buffer.count, SocketCalls.sendFlags)
      }
      guard count > 0 else { throw ClientIsGone() }
      done += count
    }
  }

  /// Whether the client has closed the connection. Nothing is read, and nothing is waited for: while the client has sent more, it is there.
  package var isClosed: Bool {
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, SocketCalls.peekFlags)
    return count == 0 || (count < 0 && ![EAGAIN, EWOULDBLOCK, EINTR].contains(errno))
  }

  /// Tells the client that nothing more is written.
  package func endWriting() { shutdown(descriptor, SocketCalls.outgoing) }

  /// Ends all reading and writing, of whatever thread.
  package func shutDown() { shutdown(descriptor, SocketCalls.both) }

  private func isReady(_ events: Int16, until deadline: Int) -> Bool {
    while true {
      let left = (deadline - MonotonicTime.nanoseconds) / 1_000_000
      guard left > 0 else { return false }
      var wait = pollfd(fd: descriptor, events: events, revents: 0)
      let count = poll(&wait, 1, Int32(clamping: left))
      if count > 0 { return true }
      if count < 0, errno != EINTR { return true }
    }
  }
}
