import HeartwoodFiles
import Synchronization

/// The page shared by all processes of a store: two records, of which the newer valid one counts, the attach
/// count and the waiter count. In shared memory if the file system supports it, otherwise accessed by reads
/// and writes of the file.
///
/// A record overwrites the older of the two, its counter last, so that a process killed during the write
/// leaves the other intact. One process writes records at a time; any process reads.
final class SharedHeader: @unchecked Sendable {
  static let byteCount = 4096
  /// Offsets of the records, each in sectors of its own, and of the two counts.
  static let firstRecord = 0
  static let secondRecord = 512
  private static let arrivals = 1024
  private static let calls = 1032
  /// Counts of the processes that acquire the file lock, each process in the one of its name.
  private static let successors = 1040
  private static let successorCounts = 64

  /// Nil once closed, because a thread may read while another closes the store. Unused if the page is in
  /// memory.
  private let file: Guarded<(any File)?>
  /// The page in memory; nil if it is accessed as a file.
  let memory: SharedPage?
  private let owner: AnyObject?
  /// Whether the page exists. False if the disk had no room for it; then no other process can attach.
  let isThere: Bool

  private init(_ file: any File, shared: (any SharedMemory)?, map: (any FileMap)?, isThere: Bool) {
    self.file = Guarded(file)
    self.isThere = isThere
    owner = shared ?? map
    memory = shared.map { SharedPage($0) } ?? map.map { SharedPage($0) }
  }

  /// Creates or reuses the page, for the first attached process.
  convenience init(laying file: any File) throws(FileSystemError) {
    do {
      // Writes the bytes instead of only extending the file: on a full disk, access to a page without room
      // would kill the process.
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

  /// Opens the page that another process has created.
  ///
  /// - Parameter isWritten: Whether this process may write to the page.
  convenience init(_ file: any File, isWritten: Bool) throws(FileSystemError) {
    if isWritten {
      self.init(file, shared: try file.share(length: Self.byteCount), map: nil, isThere: true)
    } else {
      let isWhole = try file.size() >= Self.byteCount
      self.init(file, shared: nil, map: isWhole ? try file.map(length: Self.byteCount) : nil, isThere: true)
    }
  }

  /// Clears records and counts that no process can have written, and those of successors, which killed processes have left; valid ones are kept, and counting continues
  /// from them.
  ///
  /// - Precondition: No other process is attached.
  private static func clearInvalidFields(_ file: any File) throws(FileSystemError) {
    let page = SharedHeader(file, shared: nil, map: nil, isThere: true)
    for record in [firstRecord, secondRecord] where WriterRecord(try page.words(at: record)) == nil {
      try file.write(all: [UInt8](repeating: 0, count: WriterRecord.byteCount), at: record)
    }
    for count in [arrivals, calls] where try page.word(at: count) > UInt64.max / 2 {
      try file.write(all: [UInt8](repeating: 0, count: 8), at: count)
    }
    if try page.hasSuccessor() {
      try file.write(all: [UInt8](repeating: 0, count: 8 * successorCounts), at: successors)
    }
  }

  // MARK: Records

  /// The counter of the newest record. Two loads if the page is in memory.
  func newestCounter() throws(FileSystemError) -> UInt64 {
    max(try word(at: Self.firstRecord), try word(at: Self.secondRecord))
  }

  /// The newest record; nil if there is none.
  func newest() throws(FileSystemError) -> WriterRecord? {
    // A concurrent writer leaves one of the two records intact unless it writes twice.
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

  /// Overwrites the older record. Only one thread of one process may write at a time.
  ///
  /// - Returns: The counter of the record.
  func write(_ record: WriterRecord) throws(FileSystemError) -> UInt64 {
    guard isThere else { return 0 }
    if let memory { return memory.write(record) }
    var record = record
    let offset = Self.number(
      &record, after: try word(at: Self.firstRecord), try word(at: Self.secondRecord))
    try write(record.words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } }, at: offset)
    return record.counter
  }

  /// Sets the record's counter to follow two others; returns the offset to write it to.
  static func number(_ record: inout WriterRecord, after first: UInt64, _ second: UInt64) -> Int {
    record.counter = max(first, second) &+ 1
    return first <= second ? firstRecord : secondRecord
  }

  // MARK: Counts

  /// Number of attachments to a store that another process had open, since the file was created.
  func attachCount() throws(FileSystemError) -> UInt64 { try word(at: Self.arrivals) }

  /// Counts an attachment to a store that another process has open.
  ///
  /// - Returns: The new count.
  func noteAttach() throws(FileSystemError) -> UInt64 { try count(at: Self.arrivals) }

  /// A count that changes when a process waits for the file lock.
  func waiterCount() throws(FileSystemError) -> UInt64 { try word(at: Self.calls) }

  /// Counts an attempt of a process that waits for the file lock.
  func noteWaiter() throws(FileSystemError) { _ = try count(at: Self.calls) }

  /// Whether the newest record says that its process holds the lease.
  func isNewestHeld() throws(FileSystemError) -> Bool {
    if let memory { return memory.isNewestHeld }
    let isSecond = try word(at: Self.secondRecord) > word(at: Self.firstRecord)
    let record = isSecond ? Self.secondRecord : Self.firstRecord
    return try word(at: record + WriterRecord.stateOffset) & 1 == 1
  }

  // MARK: Successors

  /// Says that a process acquires the file lock, until `endSucceeding`. Without shared memory only if another process may have ended while
  /// it wrote, as saying so is a write of the file.
  ///
  /// - Parameter name: The name of the process in records.
  /// - Returns: Whether `endSucceeding` has to follow.
  func beginSucceeding(_ name: UInt64) throws(FileSystemError) -> Bool {
    if let memory {
      _ = memory.increment(at: Self.place(of: name))
      return true
    }
    guard isThere, try isNewestHeld(), let record = try newest(), record.isHeld, record.writer != name else {
      return false
    }
    _ = try count(at: Self.place(of: name))
    return true
  }

  /// The process has written a record, or does not acquire the file lock.
  func endSucceeding(_ name: UInt64) {
    let place = Self.place(of: name)
    if let memory { return memory.decrement(at: place) }
    guard let count = try? word(at: place), count > 0 else { return }
    // If it fails, openings wait a little longer beside a writer.
    try? write(withUnsafeBytes(of: count - 1) { Array($0) }, at: place)
  }

  /// Whether a process says that it acquires the file lock. One that was killed meanwhile does so until the store is opened alone.
  func hasSuccessor() throws(FileSystemError) -> Bool {
    if let memory {
      return (0..<Self.successorCounts).contains { memory.word(at: Self.successors + $0 * 8) != 0 }
    }
    return try words(at: Self.successors, Self.successorCounts).contains { $0 != 0 }
  }

  private static func place(of name: UInt64) -> Int {
    successors + Int(name % UInt64(successorCounts)) * 8
  }

  /// Without shared memory, two concurrent increments may count as one.
  private func count(at offset: Int) throws(FileSystemError) -> UInt64 {
    if let memory { return memory.increment(at: offset) }
    let count = try word(at: offset) &+ 1
    if isThere { try write(withUnsafeBytes(of: count) { Array($0) }, at: offset) }
    return count
  }

  /// Closes the file. Later reads find no record.
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
    if let memory { return memory.word(at: offset) }
    return try words(at: offset, 1).first ?? 0
  }

  /// Returns no words if the file is too short or closed.
  private func words(
    at offset: Int, _ count: Int = WriterRecord.wordCount
  ) throws(FileSystemError) -> WriterRecord.Words {
    if let memory { return (0..<count).map { memory.word(at: offset + $0 * 8) } }
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
