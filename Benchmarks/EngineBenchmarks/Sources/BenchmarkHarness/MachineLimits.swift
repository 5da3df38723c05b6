import Foundation

/// The limits of this machine, which no store can exceed.
public struct MachineLimits {
  /// Bytes per second that one thread copies, far more than the caches hold.
  public let copyRate: Double
  /// Seconds that a read of memory takes that waits for the one before, at places all over as much.
  public let readSeconds: Double
  /// Seconds that the system takes to append 128 bytes to a file.
  public let writeSeconds: Double
  /// Seconds that appending 4 KiB takes until they are safe, in a file whose blocks are there already.
  public let syncSeconds: Double

  /// Measures them, in a second or two.
  /// - Parameter directory: A folder of the file system that is to be measured.
  /// - Throws: `BenchmarkError` where it cannot be written to.
  public init(directory: String) throws {
    copyRate = Self.measuredCopyRate()
    readSeconds = Self.measuredRead()
    let scratch = try Scratch(in: directory, named: "limits")
    writeSeconds = try Self.measuredWrite(in: scratch)
    syncSeconds = try Self.measuredSync(in: scratch)
  }

  /// All of them, in one line.
  public var text: String {
    "memory copy \(decimal(copyRate / 1e9, places: 1)) GB/s, dependent read of memory "
      + "\(decimal(readSeconds * 1e9, places: 0)) ns, append of 128 bytes \(decimal(writeSeconds * 1e6, places: 2)) µs, "
      + "sync of a 4 KiB append \(decimal(syncSeconds * 1e6, places: 0)) µs"
  }

  private static let copyBytes = 256 << 20
  private static let reads = 500_000
  private static let writes = 100_000
  private static let syncs = 200
  private static let blockBytes = 4096

  private static func measuredCopyRate() -> Double {
    let from = UnsafeMutableRawPointer.allocate(byteCount: copyBytes, alignment: 4096)
    let to = UnsafeMutableRawPointer.allocate(byteCount: copyBytes, alignment: 4096)
    defer {
      from.deallocate()
      to.deallocate()
    }
    memset(from, 1, copyBytes)
    memset(to, 2, copyBytes)
    let times = (0..<7).map { _ in timed { to.copyMemory(from: from, byteCount: copyBytes) }.seconds }
    return Double(copyBytes) / median(times)
  }

  private static func measuredRead() -> Double {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: copyBytes, alignment: 4096)
    defer { memory.deallocate() }
    memset(memory, 0, copyBytes)
    var place: UInt64 = 1
    let seconds = timed {
      for _ in 0..<reads {
        // The bytes that are read are zero, which only the memory knows.
        let read = memory.load(fromByteOffset: Int(place >> 32) % copyBytes & ~7, as: UInt64.self)
        place = place &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407 &+ read
      }
    }.seconds
    return place == 0 ? 0 : seconds / Double(reads)
  }

  private static func measuredWrite(in scratch: Scratch) throws -> Double {
    let file = try opened(scratch.path + "/appended")
    defer { close(file) }
    let bytes = [UInt8](repeating: 7, count: 128)
    let seconds = try timed {
      for index in 0..<writes {
        guard pwrite(file, bytes, bytes.count, off_t(index * bytes.count)) == bytes.count else {
          throw BenchmarkError("cannot write to \(scratch.path)")
        }
      }
    }.seconds
    return seconds / Double(writes)
  }

  private static func opened(_ path: String) throws -> Int32 {
    let file = open(path, O_RDWR | O_CREAT, 0o644)
    guard file >= 0 else { throw BenchmarkError("cannot write to \(path)") }
    return file
  }

  private static func measuredSync(in scratch: Scratch) throws -> Double {
    let file = try opened(scratch.path + "/file")
    defer { close(file) }
    let block = [UInt8](repeating: 7, count: blockBytes)
    func write(_ index: Int) throws {
      guard pwrite(file, block, blockBytes, off_t(index * blockBytes)) == blockBytes else {
        throw BenchmarkError("cannot write to \(scratch.path)")
      }
    }
    for index in 0..<syncs { try write(index) }
    try sync(file)
    let times = try (0..<syncs).map { index in
      try timed {
        try write(index)
        try sync(file)
      }.seconds
    }
    return median(times)
  }

  private static func sync(_ file: Int32) throws {
    #if os(Linux)
      guard fdatasync(file) == 0 else { throw BenchmarkError("cannot sync") }
    #else
      guard fcntl(file, F_FULLFSYNC) == 0 else { throw BenchmarkError("cannot sync") }
    #endif
  }
}
