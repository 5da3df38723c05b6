/// The records of the processes that use a write-ahead log in its shared memory (`-shm`): "WAL-mode File
/// Format", section 3.
struct SharedMemory: Hashable, Sendable {
  /// The frames of the log that count.
  var frameCount: UInt32
  /// The frames that were copied into the database file.
  var copiedFrameCount: UInt32
  var salts: UInt64

  /// Nil while a process changes it.
  ///
  /// The numbers are in the byte order of the machine; the header is there twice, with a checksum each.
  init?(_ file: ReadOnlyFile) throws(SQLiteError) {
    let block = ByteBlock(capacity: 136)
    let count = try file.read(into: block, 136, at: 0)
    guard count == 136, block.bytes(0, 48).elementsEqual(block.bytes(48, 48)) else { return nil }
    func number(_ offset: Int) -> UInt32 { block.number32(offset).bigEndian }
    guard number(0) == 3_007_000, block.byte(12) != 0 else { return nil }
    var sum = WriteAheadLog.Checksum(bigEndian: Int(littleEndian: 1) != 1)
    sum.add(block, 0, 40)
    guard sum.first == number(40), sum.second == number(44) else { return nil }
    frameCount = number(16)
    copiedFrameCount = number(96)
    // The salts are as in the log.
    salts = block.number64(32)
  }
}
