import Cutting
import Foundation

/// Serves disks to a virtual machine over a local socket, with one thread for each connection.
final class DiskServer: @unchecked Sendable {
  let path: String
  private let disks: [String: any ServedDisk]
  private let listener: Int32

  /// Listens at `path`, which must not exist.
  init(at path: String, disks: [String: any ServedDisk]) throws {
    (self.path, self.disks) = (path, disks)
    listener = try Self.listen(path)
    Thread.detachNewThread { [self] in acceptAll() }
  }

  /// Stops accepting connections. Open connections end when their client closes them.
  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    unlink(path)
  }

  private static func listen(_ path: String) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < room else { throw Failure("the path of the socket is too long: \(path)") }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard listener >= 0, result == 0, Glibc.listen(listener, 4) == 0 else {
      throw Failure("cannot listen at \(path): \(String(cString: strerror(errno)))")
    }
    return listener
  }

  private func acceptAll() {
    while case let connection = accept(listener, nil, nil), connection >= 0 {
      // Child processes must not inherit the connection, or it would stay open.
      _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
      Thread.detachNewThread { [self] in
        serve(connection)
        Glibc.close(connection)
      }
    }
    Glibc.close(listener)
  }

  /// Serves until the client disconnects. A killed machine can disconnect at any point.
  private func serve(_ connection: Int32) {
    var conversation = DiskConversation(sizes: disks.mapValues(\.size))
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    guard send(DiskConversation.greeting, connection) else { return }
    do {
      while case let count = recv(connection, &buffer, buffer.count, 0), count > 0 {
        for step in try conversation.receive(Array(buffer[..<count])) {
          guard try take(step, conversation.disk, connection) else { return }
        }
      }
    } catch {
      FileHandle.standardError.write(Data("disk server: \(error)\n".utf8))
    }
  }

  private func take(_ step: DiskConversation.Step, _ disk: String?, _ connection: Int32) throws -> Bool {
    switch step {
    case .send(let bytes): return send(bytes, connection)
    case .close: return false
    case .perform(let request):
      guard let disk = disk.flatMap({ disks[$0] }) else { return false }
      return send(request.reply(try disk.perform(request)), connection)
    }
  }

  private func send(_ bytes: [UInt8], _ connection: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let result = bytes[done...].withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard result > 0 else { return false }
      done += result
    }
    return true
  }
}
