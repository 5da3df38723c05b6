import HeartwoodFiles
import Synchronization

/// The page that the processes of a store share: two records, of which the newer valid one holds, and the number of those
/// that came. In memory where the file system can share it, else by reads and writes of the file.
///
/// A record is written over the older of the two, its counter last, so that a process that ends while it writes leaves the
/// other. One process writes records at a time; anybody reads.
final class SharedHeader: @unchecked Sendable {
  static let byteCount = 4096
  /// Where the records lie, each in sectors of its own.
  private static let firstRecord = 0
  private static let secondRecord = 512
  private static let arrivals = 1024
  private static let calls = 1032

  typealias Memory = UnsafeMutablePointer<Atomic<UInt64>>

  /// Nil once closed: a thread may ask while another one closes the store. Not used where the page is in memory.
  private let file: Guarded<(any File)?>
  /// Where it is in memory; nil where it is read and written as a file.
  let memory: Memory?
  private let owner: AnyObject?
  /// Whether others can be told anything: not where there was no room for it.
  let isThere: Bool

  private init(_ file: any File, shared: (any SharedMemory)?, map: (any FileMap)?, isThere: Bool) {
    self.file = Guarded(file)
    self.isThere = isThere
    owner = shared ?? map
    let base = shared?.base ?? map.map { UnsafeMutableRawPointer(mutating: $0.base) }
    memory = base?.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// The page of the first process that is there.
  convenience init(laying file: any File) throws(FileSystemError) {
    do {
      // Written, and not only extended: on a full disk a page without room would end the process that touches it.
      if try file.size() < Int64(Self.byteCount) {
        try file.write(all: [UInt8](repeating: 0, count: Self.byteCount), at: 0)
      } else {
        try Self.clearInvalidFields(file)
      }
      self.init(file, shared: try file.share(length: Self.byteCount), map: nil, isThere: true)
    } catch {
      guard error.code == .noSpace else { throw error }
      self.init(file, shared: nil, map: nil, isThere: false)
    }
  }

  /// The page that others have laid.
  ///
  /// - Parameter isWritten: Whether this process may write to it. Where it may not, it only reads.
  convenience init(_ file: any File, isWritten: Bool) throws(FileSystemError) {
    if isWritten {
      self.init(file, shared: try file.share(length: Self.byteCount), map: nil, isThere: true)
    } else {
      let isWhole = try file.size() >= Self.byteCount
      self.init(file, shared: nil, map: isWhole ? try file.map(length: Self.byteCount) : nil, isThere: true)
    }
  }

  /// Takes away what no process has written: numbers go on from those that are there. By a process that is alone.
  private static func clearInvalidFields(_ file: any File) throws(FileSystemError) {
    let page = SharedHeader(file, shared: nil, map: nil, isThere: true)
    for record in [firstRecord, secondRecord] where WriterRecord(try page.words(at: record)) == nil {
      try file.write(all: [UInt8](repeating: 0, count: WriterRecord.byteCount), at: record)
    }
    for count in [arrivals, calls] where try page.word(at: count) > UInt64.max / 2 {
      try file.write(all: [UInt8](repeating: 0, count: 8), at: count)
    }
  }

  // MARK: Records

  /// The counter of the newest record. Cheap where the page is in memory.
  func newestCounter() throws(FileSystemError) -> UInt64 {
    max(try word(at: Self.firstRecord), try word(at: Self.secondRecord))
  }

  /// The same, where the page is in memory.
  @inline(__always)
  static func newestCounter(in page: Memory) -> UInt64 {
    max(
      (page + firstRecord / 8).pointee.load(ordering: .sequentiallyConsistent),
      (page + secondRecord / 8).pointee.load(ordering: .sequentiallyConsistent))
  }

  /// The newest record; nil where there is none.
  func newest() throws(FileSystemError) -> WriterRecord? {
    // Whoever writes meanwhile leaves one of the two whole, unless it writes twice.
    for _ in 0..<8 {
      let newest = try newestWhole()
      if try newest?.counter ?? 0 >= newestCounter() { return newest }
    }
    return try newestWhole()
  }

  private func newestWhole() throws(FileSystemError) -> WriterRecord? {
    let first = WriterRecord(try words(at: Self.firstRecord))
    guard let second = WriterRecord(try words(at: Self.secondRecord)) else { return first }
    return second.counter > first?.counter ?? 0 ? second : first
  }

  /// Writes a record over the older one. One process at a time, and one thread of it.
  ///
  /// - Returns: its counter.
  func write(_ record: WriterRecord) throws(FileSystemError) -> UInt64 {
    guard isThere else { return 0 }
    if let memory { return Self.write(record, to: memory) }
    var record = record
    let offset = Self.number(
      &record, behind: try word(at: Self.firstRecord), try word(at: Self.secondRecord))
    try write(record.words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } }, at: offset)
    return record.counter
  }

  /// The same, where the page is in memory that can be written to. With no reference to it that would be counted: every
  /// commit writes a record.
  static func write(_ record: WriterRecord, to page: Memory) -> UInt64 {
    var record = record
    let first = (page + firstRecord / 8).pointee.load(ordering: .relaxed)
    let second = (page + secondRecord / 8).pointee.load(ordering: .relaxed)
    let slot = page + number(&record, behind: first, second) / 8
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: WriterRecord.wordCount) { words in
      guard let words = words.baseAddress else { return }
      record.encode(to: words)
      slot.pointee.store(0, ordering: .relaxed)
      for index in 1..<WriterRecord.wordCount {
        (slot + index).pointee.store(words[index], ordering: .releasing)
      }
      slot.pointee.store(record.counter, ordering: .sequentiallyConsistent)
    }
    return record.counter
  }

  /// Makes a record the next one behind those with two counters; returns where it belongs.
  private static func number(_ record: inout WriterRecord, behind first: UInt64, _ second: UInt64) -> Int {
    record.counter = max(first, second) &+ 1
    return first <= second ? firstRecord : secondRecord
  }

  // MARK: Counts

  /// How many have come since the file was made, but for those that were the only one.
  func attachCount() throws(FileSystemError) -> UInt64 { try word(at: Self.arrivals) }

  /// A process has come to others.
  ///
  /// - Returns: how many have.
  func noteAttach() throws(FileSystemError) -> UInt64 { try count(at: Self.arrivals) }

  /// Changes when a process waits for the one that leads.
  func waiterCount() throws(FileSystemError) -> UInt64 { try word(at: Self.calls) }

  /// A process waits for the one that leads.
  func noteWaiter() throws(FileSystemError) { _ = try count(at: Self.calls) }

  /// Without shared memory, two that count at once may count as one.
  private func count(at offset: Int) throws(FileSystemError) -> UInt64 {
    if let memory {
      return (memory + offset / 8).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
    }
    let count = try word(at: offset) &+ 1
    if isThere { try write(withUnsafeBytes(of: count) { Array($0) }, at: offset) }
    return count
  }

  /// Closes the file. What is asked afterwards finds no record.
  func close() {
    file.withLock { file in
      try? file?.close()
      file = nil
    }
  }

  // MARK: Words

  private func write(_ bytes: [UInt8], at offset: Int) throws(FileSystemError) {
    try file.withLock { (file) throws(FileSystemError) in try file?.write(all: bytes, at: offset) }
  }

  private func word(at offset: Int) throws(FileSystemError) -> UInt64 {
    if let memory { return (memory + offset / 8).pointee.load(ordering: .sequentiallyConsistent) }
    return try words(at: offset, 1).first ?? 0
  }

  /// Fewer where the file is shorter.
  private func words(
    at offset: Int, _ count: Int = WriterRecord.wordCount
  ) throws(FileSystemError) -> WriterRecord.Words {
    if let memory {
      return (0..<count).map {
        (memory + (offset / 8 + $0)).pointee.load(ordering: .sequentiallyConsistent)
      }
    }
    guard isThere else { return [] }
    var words = WriterRecord.Words(repeating: 0, count: count)
    let outcome = words.withUnsafeMutableBytes { buffer in
      Result { () throws(FileSystemError) in
        try file.withLock { (file) throws(FileSystemError) in
          try file?.readFully(into: buffer, at: Int64(offset)) ?? 0
        }
      }
    }
    return try outcome.get() == count * 8 ? words : []
  }
}
