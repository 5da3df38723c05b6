import Glibc
import HeartwoodFiles
import Workload

/// Writes the trace of file system calls to a disk of its own, bypassing every cache. When a call begins, its
/// record has reached the disk server, and no write to the other disk that the call causes has.
final class Tracer: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let descriptor: Int32
  private let buffer: UnsafeMutableRawPointer
  private var position = 0
  private var lastHandle: UInt64 = 0

  /// The maximum size of the payload of a record, which is the maximum size of a write.
  private static let room = 8 << 20

  /// `O_DIRECT` of Linux on x86-64, which the Swift overlay of the C library does not export.
  private static let direct: Int32 = 0o40000

  init(disk path: String) {
    descriptor = open(path, O_WRONLY | Self.direct)
    buffer = .allocate(byteCount: Self.room, alignment: 4096)
    mutex.initialize(to: pthread_mutex_t())
    guard descriptor >= 0, pthread_mutex_init(mutex, nil) == 0 else {
      PowerCutVictim.fail("the trace can't be written to \(path), error \(errno)")
    }
  }

  func takeHandle() -> UInt64 {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    lastHandle += 1
    return lastHandle
  }

  /// Makes a call between two records. Calls are serialized.
  func trace<Result>(
    _ record: TraceRecord, _ call: () throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    write(record)
    do {
      let result = try call()
      write(TraceRecord(.done, number: Int64(result as? Int ?? 0)))
      return result
    } catch {
      write(TraceRecord(.failed))
      throw error
    }
  }

  private func write(_ record: TraceRecord) {
    let bytes = record.bytes
    guard bytes.count <= Self.room else {
      PowerCutVictim.fail("a call of \(bytes.count) bytes can't be traced")
    }
    bytes.withUnsafeBytes { buffer.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    guard pwrite(descriptor, buffer, bytes.count, position) == bytes.count else {
      PowerCutVictim.fail("the trace can't be written, error \(errno)")
    }
    position += bytes.count
  }
}
