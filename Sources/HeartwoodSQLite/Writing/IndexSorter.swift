import Foundation

/// Sorts the records of an index, in memory as long as they are few, else in runs that are written to a file and merged.
final class IndexSorter {
  /// An entry is in `arena`: three numbers of 32 bits (the lengths of the key and of the record, and whether a value is
  /// null), the key, and the record.
  private var arena: [UInt8] = []
  private var entries: [(prefix: UInt64, start: Int)] = []
  private var runs: [Range<Int64>] = []
  private var file: FileHandle?
  private let path: String

  private static let headerSize = 12

  /// - Parameter path: Of the database; the file of the runs has a name in the same folder for a moment.
  init(_ path: String) { self.path = path }

  /// The memory in use, in bytes.
  var memory: Int { arena.count + entries.count * 16 }

  func add(_ key: SortKey, _ record: [UInt8]) {
    let start = arena.count
    RecordEncoder.appendBigEndian(UInt64(key.bytes.count), 4, to: &arena)
    RecordEncoder.appendBigEndian(UInt64(record.count), 4, to: &arena)
    RecordEncoder.appendBigEndian(key.hasNull ? 1 : 0, 4, to: &arena)
    arena.append(contentsOf: key.bytes)
    arena.append(contentsOf: record)
    // A key has at least eight bytes: the rowid's.
    let prefix = key.bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    entries.append((prefix, start))
  }

  private func sortEntries() {
    arena.withUnsafeBytes { arena in
      entries.sort { first, second in
        if first.prefix != second.prefix { return first.prefix < second.prefix }
        return Self.compare(Self.key(arena, first.start), Self.key(arena, second.start)) < 0
      }
    }
  }

  private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
    Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  private static func key(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      rebasing: bytes[(start + headerSize)..<(start + headerSize + number(bytes, start))])
  }

  private static func size(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int {
    headerSize + number(bytes, start) + number(bytes, start + 4)
  }

  static func compare(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
    let count = min(first.count, second.count)
    if count > 0 {
      let order = memcmp(first.baseAddress!, second.baseAddress!, count)
      if order != 0 { return Int(order) }
    }
    return first.count - second.count
  }

  /// Writes what is in memory to the file.
  func spill() throws(SQLiteError) {
    guard !entries.isEmpty else { return }
    sortEntries()
    do {
      let file = try file ?? makeFile()
      self.file = file
      var offset = Int64(try file.seekToEnd())
      let start = offset
      var buffer = Data()
      try arena.withUnsafeBytes { arena in
        for entry in entries {
          buffer.append(
            contentsOf: UnsafeRawBufferPointer(
              rebasing: arena[entry.start..<entry.start + Self.size(arena, entry.start)]))
          guard buffer.count >= 1 << 20 else { continue }
          try file.write(contentsOf: buffer)
          offset += Int64(buffer.count)
          buffer.removeAll(keepingCapacity: true)
        }
        try file.write(contentsOf: buffer)
        offset += Int64(buffer.count)
      }
      runs.append(start..<offset)
    } catch {
      throw SQLiteError(
        .inputOutput, "The records of an index cannot be written to sort them: \(error)", path: path)
    }
    arena.removeAll(keepingCapacity: false)
    entries.removeAll(keepingCapacity: false)
  }

  private func makeFile() throws -> FileHandle {
    let name = path + ".sort-" + UUID().uuidString.prefix(8)
    try Data().write(to: URL(filePath: name), options: .withoutOverwriting)
    defer { try? FileManager.default.removeItem(atPath: name) }
    return try FileHandle(forUpdating: URL(filePath: name))
  }

  /// Calls `body` with each record in order, and whether its values are those of the record before, none of them null.
  func forEach(_ body: (_ record: [UInt8], _ isDuplicate: Bool) throws(SQLiteError) -> Void)
    throws(SQLiteError)
  {
    var last: [UInt8] = []
    func take(_ bytes: UnsafeRawBufferPointer, _ start: Int) throws(SQLiteError) {
      let key = Self.key(bytes, start)
      let values = UnsafeRawBufferPointer(rebasing: key.dropLast(8))
      let isDuplicate = Self.number(bytes, start + 8) == 0 && last.elementsEqual(values)
      last = Array(values)
      let record = bytes[(start + Self.headerSize + key.count)..<(start + Self.size(bytes, start))]
      try body(Array(record), isDuplicate)
    }
    if runs.isEmpty {
      sortEntries()
      for entry in entries {
        try withBytes(arena) { (bytes) throws(SQLiteError) in try take(bytes, entry.start) }
      }
      return
    }
    try spill()
    guard let file else { return }
    var readers: [RunReader] = []
    for run in runs {
      let reader = RunReader(file, run, path)
      if try reader.advance() { readers.append(reader) }
    }
    while !readers.isEmpty {
      var least = 0
      for index in readers.indices.dropFirst() where readers[index].isBefore(readers[least]) { least = index }
      let reader = readers[least]
      try withBytes(reader.buffer) { (bytes) throws(SQLiteError) in try take(bytes, reader.position) }
      if try !reader.advance() { readers.remove(at: least) }
    }
  }

  private func withBytes(
    _ array: [UInt8], _ body: (UnsafeRawBufferPointer) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    var failure: SQLiteError?
    array.withUnsafeBytes { bytes in
      do throws(SQLiteError) { try body(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// The entries of a run, one after another.
  private final class RunReader {
    private let file: FileHandle
    private let path: String
    private var rest: Range<Int64>
    /// The bytes from `rest`'s file that were read.
    var buffer: [UInt8] = []
    /// The current entry in `buffer`.
    var position = 0
    private var end = 0

    init(_ file: FileHandle, _ run: Range<Int64>, _ path: String) {
      (self.file, rest, self.path) = (file, run, path)
    }

    /// Moves to the next entry; false behind the last.
    func advance() throws(SQLiteError) -> Bool {
      position = end
      try fill(IndexSorter.headerSize)
      guard position < buffer.count else { return false }
      let size = buffer.withUnsafeBytes { IndexSorter.size($0, position) }
      try fill(size)
      end = position + size
      return true
    }

    /// Reads on until `count` bytes from `position` on are in memory, if there are as many.
    private func fill(_ count: Int) throws(SQLiteError) {
      guard buffer.count - position < count, !rest.isEmpty else { return }
      let wanted = min(Int64(max(count, 1 << 18)), Int64(rest.count))
      do {
        try file.seek(toOffset: UInt64(rest.lowerBound))
        let more = try file.read(upToCount: Int(wanted)) ?? Data()
        guard more.count == wanted else { throw CocoaError(.fileReadUnknown) }
        buffer.removeSubrange(..<position)
        buffer.append(contentsOf: more)
      } catch {
        throw SQLiteError(.inputOutput, "The sorted records of an index cannot be read: \(error)", path: path)
      }
      position = 0
      rest = (rest.lowerBound + wanted)..<rest.upperBound
    }

    func isBefore(_ other: RunReader) -> Bool {
      buffer.withUnsafeBytes { mine in
        other.buffer.withUnsafeBytes { others in
          IndexSorter.compare(IndexSorter.key(mine, position), IndexSorter.key(others, other.position)) < 0
        }
      }
    }
  }
}
