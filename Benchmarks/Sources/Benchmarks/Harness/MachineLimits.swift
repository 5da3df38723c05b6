import Foundation

/// What no store on this machine can go beyond.
struct MachineLimits {
  /// Bytes per second that one thread copies, far more than the caches hold.
  let copyRate: Double
  /// Seconds that appending 4 KiB takes until they are safe, in a file whose blocks are there already.
  let syncSeconds: Double

  init(directory: String) throws {
    copyRate = Self.measuredCopyRate()
    syncSeconds = try Self.measuredSync(in: try Scratch(in: directory, named: "limits"))
  }

  var text: String {
    "memory copy \(decimal(copyRate / 1e9, places: 1)) GB/s, sync of a 4 KiB append "
      + "\(decimal(syncSeconds * 1e6, places: 0)) µs"
  }

  private static let copyBytes = 256 << 20
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

  private static func measuredSync(in scratch: Scratch) throws -> Double {
    let file = open(scratch.path + "/file", O_RDWR | O_CREAT, 0o644)
    guard file >= 0 else { throw BenchmarkError("cannot write to \(scratch.path)") }
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
