import HeartwoodFiles
import Synchronization

/// The shared header in memory that processes share: 64-bit words, each read and written atomically. The
/// `SharedHeader` keeps the memory mapped.
struct SharedPage: @unchecked Sendable {
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  init(_ memory: any SharedMemory) {
    words = memory.base.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// A page that is only read.
  init(_ map: any FileMap) {
    words = UnsafeMutableRawPointer(mutating: map.base).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// The word at an offset in bytes, which is a multiple of eight.
  @inline(__always)
  func word(at offset: Int) -> UInt64 { (words + offset / 8).pointee.load(ordering: .sequentiallyConsistent) }

  /// Adds one to a word.
  ///
  /// - Returns: The new value.
  func increment(at offset: Int) -> UInt64 {
    (words + offset / 8).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
  }

  /// The counter of the newest record. Two loads.
  @inline(__always)
  var newestCounter: UInt64 {
    max(word(at: SharedHeader.firstRecord), word(at: SharedHeader.secondRecord))
  }

  /// Whether the newest record says that its process holds the lease. Three loads.
  @inline(__always)
  var isNewestHeld: Bool {
    let isSecond =
      word(at: SharedHeader.secondRecord) > word(at: SharedHeader.firstRecord)
    let record = isSecond ? SharedHeader.secondRecord : SharedHeader.firstRecord
    return word(at: record + WriterRecord.stateOffset) & 1 == 1
  }

  /// Subtracts one from a word that is not zero.
  func decrement(at offset: Int) {
    let word = words + offset / 8
    var value = word.pointee.load(ordering: .relaxed)
    while value > 0 {
      let (isDone, found) = word.pointee.compareExchange(
        expected: value, desired: value - 1, ordering: .sequentiallyConsistent)
      if isDone { return }
      value = found
    }
  }

  /// Overwrites the older record. Only one thread of one process may write at a time.
  ///
  /// - Returns: The counter of the record.
  func write(_ record: WriterRecord) -> UInt64 {
    var record = record
    let first = (words + SharedHeader.firstRecord / 8).pointee.load(ordering: .relaxed)
    let second = (words + SharedHeader.secondRecord / 8).pointee.load(ordering: .relaxed)
    let target = words + SharedHeader.number(&record, after: first, second) / 8
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: WriterRecord.wordCount) { encoded in
      guard let encoded = encoded.baseAddress else { return }
      record.encode(to: encoded)
      target.pointee.store(0, ordering: .relaxed)
      for index in 1..<WriterRecord.wordCount {
        (target + index).pointee.store(encoded[index], ordering: .releasing)
      }
      target.pointee.store(record.counter, ordering: .sequentiallyConsistent)
    }
    return record.counter
  }
}
