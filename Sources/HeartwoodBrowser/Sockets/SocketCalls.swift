import CLibrary

/// Calls of sockets that differ between systems, and those whose names are also names of methods.
enum SocketCalls {
  #if canImport(Glibc)
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let both = Int32(SHUT_RDWR)
    static let outgoing = Int32(SHUT_WR)
  #else
    static let stream = SOCK_STREAM
    static let both = SHUT_RDWR
    static let outgoing = SHUT_WR
  #endif

  #if canImport(Darwin)
    static let sendFlags: Int32 = 0
  #else
    /// Without a signal where the client has closed the connection.
    static let sendFlags = Int32(MSG_NOSIGNAL)
  #endif

  /// Leaves what is there to the next reading.
  static let peekFlags = Int32(MSG_PEEK)

  /// Prepares a connection: a write does not wait, and sends no signal.
  static func prepare(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
    var yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, size)
    #if canImport(Darwin)
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, size)
    #endif
  }

  static func closeOnExecution(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }

  static func accepted(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }

  static func bind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    #if canImport(Darwin)
      return Darwin.bind(descriptor, address, length)
    #elseif canImport(Musl)
      return Musl.bind(descriptor, address, length)
    #else
      return Glibc.bind(descriptor, address, length)
    #endif
  }

  static func withAddress(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
