import Cutting
import Foundation

/// A disk that a connection reads and writes.
protocol ServedDisk: AnyObject, Sendable {
  /// The size in bytes.
  var size: Int { get }

  /// Performs a request and returns the bytes that were read. Called from one thread.
  func perform(_ request: DiskRequest) throws -> [UInt8]
}

/// A disk in a file that records all changes in order of their arrival.
final class RecordedDisk: ServedDisk, @unchecked Sendable {
  let size: Int
  private let file: ImageFile
  private let recorder: Recorder

  init(_ file: ImageFile, _ recorder: Recorder) throws {
    self.file = file
    self.recorder = recorder
    size = try file.size()
  }

  func perform(_ request: DiskRequest) throws -> [UInt8] {
    switch request.kind {
    case .read(let length): return try file.read(length, at: request.offset)
    case .flush: recorder.append(.flush)
    case .write(let bytes): try change(request, bytes)
    case .zero(let length): try change(request, [UInt8](repeating: 0, count: length))
    }
    return []
  }

  private func change(_ request: DiskRequest, _ bytes: [UInt8]) throws {
    try file.write(bytes[...], at: request.offset)
    recorder.append(.write(offset: request.offset, bytes: bytes, isForced: request.isForced))
  }
}
