import CLibrary

/// A socket that waits for connections from this computer, at 127.0.0.1.
package final class LoopbackListener: Sendable {
  /// Where it listens.
  package let port: UInt16
  private let descriptor: Int32
  /// The end of a pipe whose other end `stop` closes, and that end.
  private let (stopped, stopping): (Int32, Int32)

  /// Listens at a port.
  ///
  /// - Parameter port: 0 for one that is free.
  /// - Throws: If the port is in use, or the system refuses a socket.
  package init(port: UInt16) throws(SocketError) {
    descriptor = try Self.made(socket(AF_INET, SocketCalls.stream, 0), "a socket")
    do {
      SocketCalls.closeOnExecution(descriptor)
      var yes: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      try Self.bind(descriptor, port)
      _ = try Self.made(listen(descriptor, Self.waiting), "listening")
      self.port = try Self.port(of: descriptor)
      var ends: [Int32] = [0, 0]
      _ = try Self.made(pipe(&ends), "a pipe")
      (stopped, stopping) = (ends[0], ends[1])
      for end in ends { SocketCalls.closeOnExecution(end) }
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit {
    close(descriptor)
    close(stopped)
    close(stopping)
  }

  private static let waiting: Int32 = 64

  /// Waits for a connection; nil after `stop`.
  package func accept() -> ClientSocket? {
    while waits(for: [descriptor, stopped], milliseconds: -1) {
      let client = SocketCalls.accepted(descriptor)
      if client >= 0 { return ClientSocket(client) }
      // The client is gone already, or there are no descriptors, which others may close soon.
      guard waits(for: [stopped], milliseconds: 20) else { return nil }
    }
    return nil
  }

  /// Waits until one of these descriptors has something, or for a time; false after `stop`.
  private func waits(for descriptors: [Int32], milliseconds: Int32) -> Bool {
    var waits = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&waits, nfds_t(waits.count), milliseconds) < 0 {
      guard errno == EINTR else { return false }
    }
    return waits.last?.revents == 0
  }

  /// Ends a wait for connections, and every later one. Systems that allow it refuse new connections from then on.
  package func stop() {
    shutdown(descriptor, SocketCalls.both)
    var byte: UInt8 = 1
    _ = write(stopping, &byte, 1)
  }

  private static func bind(_ descriptor: Int32, _ port: UInt16) throws(SocketError) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = SocketCalls.withAddress(&address) { SocketCalls.bind(descriptor, $0, $1) }
    _ = try made(result, "port \(port)")
  }

  private static func port(of descriptor: Int32) throws(SocketError) -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = SocketCalls.withAddress(&address) { pointer, _ in
      getsockname(descriptor, pointer, &length)
    }
    _ = try made(result, "the port")
    return UInt16(bigEndian: address.sin_port)
  }

  private static func made(_ result: Int32, _ what: String) throws(SocketError) -> Int32 {
    guard result < 0 else { return result }
    throw SocketError(isInUse: errno == EADDRINUSE, what: what, reason: String(cString: strerror(errno)))
  }
}

/// Why the system refused a socket.
package struct SocketError: Error, CustomStringConvertible {
  /// Whether another program listens at the port.
  package let isInUse: Bool
  let what: String
  let reason: String

  package var description: String { "the system refused \(what): \(reason)" }
}
