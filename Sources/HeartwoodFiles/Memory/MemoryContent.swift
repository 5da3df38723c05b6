/// The bytes of an in-memory file, shared by all its names and open files.
///
/// The bytes are in one reservation, which is replaced by a larger one when the file outgrows it. Maps of
/// former reservations stay valid: later writes go to them too.
///
/// - Invariant: Bytes from `length` to the end of every reservation are zero. `current`, if set, holds at
///   least `length` bytes.
final class MemoryContent: @unchecked Sendable {
  private struct Former {
    weak var memory: AnonymousMemory?
  }

  private let lock = Lock()
  private var current: AnonymousMemory?
  private var former: [Former] = []
  private var length = 0
  private var exclusiveHolder: ObjectIdentifier?
  private var sharedHolders: Set<ObjectIdentifier> = []

  var size: Int { lock.withLock { length } }

  /// When it was changed is not noted.
  func status(links: UInt64) -> FileStatus {
    let number = UInt64(UInt(bitPattern: ObjectIdentifier(self).hashValue))
    return FileStatus(
      identity: DirectoryIdentity(device: 0, number: number), links: links, size: Int64(size), changed: 0)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    lock.withLock {
      guard let current, let target = buffer.baseAddress, offset < Int64(length) else { return 0 }
      let count = min(buffer.count, length - Int(offset))
      target.copyMemory(from: current.base + Int(offset), byteCount: count)
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    try lock.withLock { () throws(FileSystemError) in
      let end = try Self.end(of: bytes.count, at: offset)
      try reserve(end)
      forEachMemory { memory in
        let count = min(bytes.count, memory.byteCount - Int(offset))
        if count > 0 { (memory.base + Int(offset)).copyMemory(from: source, byteCount: count) }
      }
      length = max(length, end)
    }
  }

  func truncate(to size: Int64) throws(FileSystemError) {
    try lock.withLock { () throws(FileSystemError) in
      let newLength = try Self.end(of: 0, at: size)
      if newLength > length { try reserve(newLength) }
      forEachMemory { memory in
        let count = min(length, memory.byteCount) - newLength
        if count > 0 {
          (memory.base + newLength).initializeMemory(as: UInt8.self, repeating: 0, count: count)
        }
      }
      length = newLength
    }
  }

  func map(length mapLength: Int) throws(FileSystemError) -> MemoryMap {
    try lock.withLock { () throws(FileSystemError) in
      MemoryMap(memory: try reserve(max(mapLength, 1)))
    }
  }

  // MARK: Locks

  func tryLock(_ holder: ObjectIdentifier, exclusively: Bool) -> Bool {
    lock.withLock {
      guard exclusiveHolder == nil || exclusiveHolder == holder else { return false }
      guard !exclusively || sharedHolders.isSubset(of: [holder]) else { return false }
      exclusiveHolder = exclusively ? holder : nil
      if exclusively { sharedHolders.remove(holder) } else { sharedHolders.insert(holder) }
      return true
    }
  }

  func isLocked(besides holder: ObjectIdentifier) -> Bool {
    lock.withLock {
      exclusiveHolder.map { $0 != holder } ?? !sharedHolders.isSubset(of: [holder])
    }
  }

  func unlock(_ holder: ObjectIdentifier) {
    lock.withLock {
      if exclusiveHolder == holder { exclusiveHolder = nil }
      sharedHolders.remove(holder)
    }
  }

  // MARK: Memory

  /// Reserves room for the first `count` bytes. Existing maps keep their memory.
  @discardableResult
  private func reserve(_ count: Int) throws(FileSystemError) -> AnonymousMemory {
    if let current, count <= current.byteCount { return current }
    let size = max(count, 2 * (current?.byteCount ?? 0), Self.smallestReservation)
    let memory = try AnonymousMemory(byteCount: size)
    if let current {
      memory.base.copyMemory(from: current.base, byteCount: length)
      former.removeAll { $0.memory == nil }
      former.append(Former(memory: current))
    }
    current = memory
    return memory
  }

  private static let smallestReservation = 1 << 16

  private func forEachMemory(_ body: (AnonymousMemory) -> Void) {
    if let current { body(current) }
    for former in former {
      if let memory = former.memory { body(memory) }
    }
  }

  private static func end(of count: Int, at offset: Int64) throws(FileSystemError) -> Int {
    let (end, overflow) = offset.addingReportingOverflow(Int64(count))
    guard !overflow, end <= largestLength, let result = Int(exactly: end) else {
      throw FileSystemError(.noSpace, .write, path: "memory")
    }
    return result
  }

  /// No supported processor addresses more.
  private static let largestLength: Int64 = 1 << 47
}

/// A map of an in-memory file: the reservation itself.
final class MemoryMap: FileMap {
  private let memory: AnonymousMemory

  init(memory: AnonymousMemory) { self.memory = memory }

  var base: UnsafeRawPointer { UnsafeRawPointer(memory.base) }
  var length: Int { memory.byteCount }
}
