import HeartwoodBytes
import HeartwoodEngine

/// All keys of a store. Numbers in keys are big-endian, so that byte order is numeric order.
///
/// ```
/// 01                                          → the model and all assigned numbers (SchemaRecord)
/// 02 root u16                                 → next key of the root entity, u64
/// 03                                          → number of the newest transaction with a history, u64
/// 04                                          → number of the newest transaction whose history is deleted, u64
/// 05                                          → what programs note about the store (StoreMetadata)
/// 06 root u16                                  → where rewriting the rows of former layouts goes on, key u64
/// 07 name                                     → how far a consumer of the history has come (ConsumerRecord)
/// 08                                          → what the store knows of its copies (ReplicaRecord)
/// 09 root u16 · key u64 [· property u16 [· target u64]] → when it was changed last, and in which copy (StoredStamp)
/// 0A lineage u16 · root u16 · key u64         → the key of an object of another copy here, u64
/// 0B root u16 · key u64                       → the key of an object of another copy there, u64 · lineage u16
/// 0C                                          → the bytes of all history records when they were counted last (HistoryBytes)
/// 10 root u16 · key u64                       → row
/// 11 root u16 · key u64 · property u16 · transaction u64 → data that is too large for its row
/// 20 index u16 · values, or a word · key u64  → nothing
/// 30 relationship u16 · source u64 · target u64 → nothing
/// 31 relationship u16 · source u64 · rank u64 → target u64      (ordered relationships)
/// 32 relationship u16 · source u64 · target u64 → rank u64      (ordered relationships)
/// 40 transaction u64                          → HistoryRecord
/// ```
///
/// Root entities, indexes and relationships are identified by their numbers in the schema. `IndexKey`
/// describes how values are encoded in keys. Numbers in values are little-endian.
enum KeySpace {
  static let schema: UInt8 = 0x01
  static let counter: UInt8 = 0x02
  static let newestHistory: UInt8 = 0x03
  static let deletedHistory: UInt8 = 0x04
  static let metadata: UInt8 = 0x05
  static let rewriting: UInt8 = 0x06
  static let consumer: UInt8 = 0x07
  static let replica: UInt8 = 0x08
  static let stamp: UInt8 = 0x09
  static let foreignObject: UInt8 = 0x0A
  static let foreignKey: UInt8 = 0x0B
  static let historyBytes: UInt8 = 0x0C
  static let row: UInt8 = 0x10
  static let external: UInt8 = 0x11
  static let index: UInt8 = 0x20
  static let link: UInt8 = 0x30
  static let order: UInt8 = 0x31
  static let rank: UInt8 = 0x32
  static let history: UInt8 = 0x40

  static var schemaKey: [UInt8] { [schema] }
  static var newestHistoryKey: [UInt8] { [newestHistory] }
  static var deletedHistoryKey: [UInt8] { [deletedHistory] }
  static var metadataKey: [UInt8] { [metadata] }
  static func rewritingKey(_ root: UInt16) -> [UInt8] { head(rewriting, root) }
  static func consumerKey(_ name: String) -> [UInt8] { [consumer] + Array(name.utf8) }
  static var historyBytesKey: [UInt8] { [historyBytes] }
  static var replicaKey: [UInt8] { [replica] }
  static func stampKey(_ key: StampKey) -> [UInt8] {
    var made = extended(head(stamp, key.address.root), key.address.key)
    guard let property = key.property else { return made }
    OrderedKey.append(property, to: &made)
    return key.target.map { extended(made, $0) } ?? made
  }
  static func foreignObjectKey(_ lineage: UInt16, _ root: UInt16, _ key: UInt64) -> [UInt8] {
    var made = head(foreignObject, lineage)
    OrderedKey.append(root, to: &made)
    return extended(made, key)
  }
  static func foreignKeyKey(_ root: UInt16, _ key: UInt64) -> [UInt8] {
    extended(head(foreignKey, root), key)
  }
  static func counterKey(_ root: UInt16) -> [UInt8] { head(counter, root) }
  static func historyKey(_ number: UInt64) -> [UInt8] {
    var key = [history]
    OrderedKey.append(number, to: &key)
    return key
  }

  /// The common prefix of all rows of a family, entries of an index or links of a relationship: the kind and
  /// a number.
  static func head(_ kind: UInt8, _ number: UInt16) -> [UInt8] {
    [kind, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }

  static func appendHead(_ kind: UInt8, _ number: UInt16, to key: inout [UInt8]) {
    key.append(kind)
    OrderedKey.append(number, to: &key)
  }

  static func rowKey(_ root: UInt16, _ key: UInt64) -> [UInt8] {
    var made: [UInt8] = []
    made.reserveCapacity(11)
    appendHead(row, root, to: &made)
    OrderedKey.append(key, to: &made)
    return made
  }

  /// The key of data that is stored outside its row.
  static func externalKey(_ root: UInt16, _ key: UInt64, _ property: UInt16, _ transaction: UInt64) -> [UInt8]
  {
    var made = extended(head(external, root), key)
    OrderedKey.append(property, to: &made)
    return extended(made, transaction)
  }

  /// The common prefix of all data that is stored outside one row.
  static func externalKey(_ root: UInt16, _ key: UInt64) -> [UInt8] { extended(head(external, root), key) }

  /// The common prefix of the links, order entries or ranks of one source.
  static func source(_ kind: UInt8, _ relationship: UInt16, _ source: UInt64) -> [UInt8] {
    extended(head(kind, relationship), source)
  }

  /// A link or a rank by its target, or an order entry by its rank.
  static func entry(_ kind: UInt8, _ relationship: UInt16, _ source: UInt64, _ last: UInt64) -> [UInt8] {
    extended(Self.source(kind, relationship, source), last)
  }

  static func appendEntry(
    _ kind: UInt8, _ relationship: UInt16, _ source: UInt64, _ last: UInt64, to key: inout [UInt8]
  ) {
    appendHead(kind, relationship, to: &key)
    OrderedKey.append(source, to: &key)
    OrderedKey.append(last, to: &key)
  }

  private static func extended(_ key: [UInt8], _ number: UInt64) -> [UInt8] {
    var key = key
    OrderedKey.append(number, to: &key)
    return key
  }

  static let rowKeySize = 11
  static let entrySize = 19
  static let externalKeySize = 21

  /// Calls `body` with a row's key, without an allocation.
  static func withRowKey<Result>(
    _ root: UInt16, _ key: UInt64, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    // Kind, number and key are contiguous: 5 zero bytes that are left out, then the 11 bytes of the key.
    let high = UInt64(row) << 16 | UInt64(root)
    return try withUnsafeBytes(of: (high.bigEndian, key.bigEndian)) { bytes in
      try body(UnsafeRawBufferPointer(rebasing: bytes[5..<16]))
    }
  }

  /// The eight bytes at the end of a key: a row's key, a link's target, a rank.
  ///
  /// - Throws: `.persistentStoreDamaged` if the key is shorter.
  static func lastNumber(_ key: UnsafeRawBufferPointer) throws(HeartwoodError) -> UInt64 {
    guard key.count >= 8 else { throw .damagedKey(key) }
    return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self))
  }

  /// The subject of a stamp; nil for another key.
  static func stampedKey(of key: UnsafeRawBufferPointer) throws(HeartwoodError) -> StampKey? {
    guard key.first == stamp else { return nil }
    guard [11, 13, 21].contains(key.count) else { throw .damagedKey(key) }
    func read<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _ type: Number.Type) -> Number {
      Number(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: type))
    }
    return StampKey(
      address: RowAddress(root: read(1, UInt16.self), key: read(3, UInt64.self)),
      property: key.count > 11 ? read(11, UInt16.self) : nil,
      target: key.count > 13 ? read(13, UInt64.self) : nil)
  }

  /// The name of a consumer.
  static func consumerName(of key: UnsafeRawBufferPointer) throws(HeartwoodError) -> String {
    guard let name = String(validating: key.dropFirst(), as: UTF8.self), !name.isEmpty else {
      throw .damagedKey(key)
    }
    return name
  }

  /// The source of a link, an order or a rank.
  static func source(of key: UnsafeRawBufferPointer) throws(HeartwoodError) -> UInt64 {
    guard key.count == entrySize else { throw .damagedKey(key) }
    return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 3, as: UInt64.self))
  }

  /// The number of a root entity, an index or a relationship.
  static func number(of key: UnsafeRawBufferPointer) throws(HeartwoodError) -> UInt16 {
    guard key.count >= 3 else { throw .damagedKey(key) }
    return UInt16(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt16.self))
  }

  /// A value that is one number.
  static func number(inValue value: UnsafeRawBufferPointer) throws(HeartwoodError) -> UInt64 {
    guard value.count == 8 else {
      throw HeartwoodError(
        .persistentStoreDamaged, "a number of the store has \(value.count) bytes, not 8; verify the store")
    }
    return UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))
  }

  static func value(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }
}

extension HeartwoodError {
  /// The error for a key that `KeySpace` does not make.
  static func damagedKey(_ key: UnsafeRawBufferPointer) -> HeartwoodError {
    let digits = key.prefix(32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return HeartwoodError(
      .persistentStoreDamaged, "the key \(digits) is not one that a store writes; verify the store")
  }
}
