import Foundation

/// A client that sends bytes as they are given.
package final class TestClient {
  private let descriptor: Int32

  package init(port: UInt16) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit { end() }

  private var isEnded = false

  package func end() {
    if !isEnded { close(descriptor) }
    isEnded = true
  }

  package func send(_ text: String) {
    let bytes = Array(text.utf8)
    #if canImport(Darwin)
      _ = Foundation.send(descriptor, bytes, bytes.count, 0)
    #else
      _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }

  /// Reads until the text has an end, or the server closes the connection.
  package func read(until end: String? = nil) -> String {
    var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    while true {
      let count = recv(descriptor, &piece, piece.count, 0)
      guard count > 0 else { break }
      bytes += piece[..<count]
      if let end, String(decoding: bytes, as: UTF8.self).hasSuffix(end) { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
