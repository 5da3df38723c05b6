import Cutting
import Foundation

/// A disk image in a file.
final class ImageFile: @unchecked Sendable {
  let path: String
  private let descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Failure("cannot open the image \(path): \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// Creates a copy that preserves holes.
  func copied(to path: String) throws -> ImageFile {
    try Tool.run("cp", "--sparse=always", self.path, path)
    return try ImageFile(path)
  }

  func size() throws -> Int {
    let end = lseek(descriptor, 0, SEEK_END)
    guard end >= 0 else { throw failure("measure") }
    return end
  }

  func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      while done < count {
        let result = pread(descriptor, buffer.baseAddress! + done, count - done, offset + done)
        guard result > 0 else { throw failure("read") }
        done += result
      }
    }
  }

  func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws {
    try bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let result = pwrite(descriptor, buffer.baseAddress! + done, buffer.count - done, offset + done)
        guard result > 0 else { throw failure("write") }
        done += result
      }
    }
  }

  func apply(_ event: DiskRecord.Event) throws {
    if case .write(let offset, let bytes, _) = event { try write(bytes[...], at: offset) }
  }

  func apply(_ image: CutImage) throws {
    for piece in image.pieces { try write(piece.bytes, at: piece.offset) }
  }

  private func failure(_ operation: String) -> Failure {
    Failure("cannot \(operation) the image \(path): \(String(cString: strerror(errno)))")
  }
}
