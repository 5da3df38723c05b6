import Foundation
import HeartwoodBytes

/// Where and when something was changed, over all copies of a store that exchange change sets.
///
/// Stamps are ordered by their times, then by their lineages. Within a lineage times never go back, whatever the clock does, and what is changed
/// after a change set was applied is later than all that is in it.
struct ChangeStamp: Hashable, Sendable {
  /// In nanoseconds since 1970, by the clock of the machine that saved, or later.
  let nanoseconds: Int64
  let lineage: UUID
  /// The number of the transaction in the store of the lineage.
  let number: UInt64

  /// The latest of the stamps before it.
  var before: ChangeStamp { ChangeStamp(nanoseconds: nanoseconds, lineage: lineage, number: 0) }
}

extension ChangeStamp: Comparable {
  static func < (left: ChangeStamp, right: ChangeStamp) -> Bool {
    guard left.nanoseconds == right.nanoseconds else { return left.nanoseconds < right.nanoseconds }
    guard left.lineage == right.lineage else { return left.lineage.uuidString < right.lineage.uuidString }
    return left.number < right.number
  }
}

/// The record that a store keeps of the copies with which it exchanges change sets.
///
/// ```
/// format u8 (1) · clock i64 · number of the last transaction whose changes have stamps varint · own lineage varint · last number before it varint
/// lineages varint { UUID 16 bytes · number of its last transaction that is here varint · of own lineages, families varint { root entity u16 varint ·
/// first key varint } }
/// ```
struct ReplicaRecord: Sendable, Equatable {
  struct Lineage: Sendable, Equatable {
    let identifier: UUID
    /// The number of its last transaction whose changes are in this store; of the own lineage that of the last one that has noted stamps of others.
    var number: UInt64
    /// By the family's number in keys, from which key on objects that were inserted here are of this lineage, up to the next own one; nil for the lineage of another
    /// store. A family without an entry begins with its first key.
    var firstKeys: [UInt16: UInt64]?
  }

  /// The latest time of a stamp.
  var clock: Int64
  /// The number of the last transaction whose changes have stamps in the store; those of later ones come from the history.
  var stamped: UInt64
  /// The place of the present lineage of this store.
  var own: Int
  /// The number of the last transaction before it began.
  var start: UInt64
  /// Their places are in the store's stamps, and stay.
  var lineages: [Lineage]

  /// That of a store which has not exchanged anything: its identifier is its lineage.
  init(first identifier: UUID) {
    (clock, stamped, own, start) = (.min, 0, 0, 0)
    lineages = [Lineage(identifier: identifier, number: 0, firstKeys: [:])]
  }

  var ownLineage: UUID { lineages[own].identifier }

  /// The numbers of the last transactions that are here, by lineages.
  var known: [UUID: UInt64] {
    Dictionary(lineages.map { ($0.identifier, $0.number) }, uniquingKeysWith: { $1 })
  }

  /// The lineage of an object that was inserted here, by its key.
  func lineage(ofOwn key: UInt64, root: UInt16) -> UUID {
    let found = lineages.last { lineage in
      lineage.firstKeys.map { ($0[root] ?? 1) <= key } ?? false
    }
    return (found ?? lineages[own]).identifier
  }

  /// The place of a lineage, which is added if it is new.
  mutating func place(of lineage: UUID) -> Int {
    if let place = lineages.firstIndex(where: { $0.identifier == lineage }) { return place }
    lineages.append(Lineage(identifier: lineage, number: 0, firstKeys: nil))
    return lineages.count - 1
  }

  mutating func note(_ known: [UUID: UInt64]) {
    for (lineage, number) in known.sorted(by: { $0.key.uuidString < $1.key.uuidString }) {
      let place = place(of: lineage)
      if lineages[place].number < number { lineages[place].number = number }
    }
  }

  private static let format: UInt8 = 1

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(clock)
    writer.appendVarint(stamped)
    writer.appendVarint(UInt64(own))
    writer.appendVarint(start)
    writer.appendVarint(UInt64(lineages.count))
    for lineage in lineages {
      withUnsafeBytes(of: lineage.identifier.uuid) { writer.append($0) }
      writer.appendVarint(lineage.number)
      writer.append(UInt8(lineage.firstKeys == nil ? 0 : 1))
      guard let firstKeys = lineage.firstKeys else { continue }
      writer.appendVarint(UInt64(firstKeys.count))
      for (root, key) in firstKeys.sorted(by: { $0.key < $1.key }) {
        writer.appendVarint(UInt64(root))
        writer.appendVarint(key)
      }
    }
    return writer.withUnsafeBytes { Array($0) }
  }

  /// - Throws: `.persistentStoreDamaged` if the bytes are no record.
  init(decoding bytes: UnsafeRawBufferPointer) throws(HeartwoodError) {
    let damaged = HeartwoodError.damagedStore("what the store knows of its copies is damaged")
    do {
      var reader = ByteReader(bytes)
      guard try reader.readUInt8() == Self.format else { throw damaged }
      clock = try reader.readInt64()
      stamped = try reader.readVarint()
      let place = try reader.readVarint()
      start = try reader.readVarint()
      lineages = []
      for _ in 0..<(try reader.readVarint()) {
        let identifier = UUID(uuid: try reader.readBytes(16).loadUnaligned(as: uuid_t.self))
        var lineage = Lineage(identifier: identifier, number: try reader.readVarint(), firstKeys: nil)
        if try reader.readUInt8() != 0 {
          var firstKeys: [UInt16: UInt64] = [:]
          for _ in 0..<(try reader.readVarint()) {
            guard let root = UInt16(exactly: try reader.readVarint()) else { throw damaged }
            firstKeys[root] = try reader.readVarint()
          }
          lineage.firstKeys = firstKeys
        }
        lineages.append(lineage)
      }
      guard reader.remaining == 0, place < lineages.count else { throw damaged }
      own = Int(place)
    } catch let error as HeartwoodError {
      throw error
    } catch {
      throw damaged
    }
  }
}

/// The subject of a stamp: an object's existence, the value of a property, or a link.
struct StampKey: Hashable, Sendable {
  var address: RowAddress
  /// The number of the property in the schema; nil for the object itself.
  var property: UInt16?
  /// The destination of a link.
  var target: UInt64?
}

/// A stamp in a store, and whether it is of a delete, or of a link that was removed.
struct StoredStamp: Hashable, Sendable {
  let stamp: ChangeStamp
  var isDeleted = false
}

extension StoredStamp: Comparable {
  static func < (left: StoredStamp, right: StoredStamp) -> Bool { left.stamp < right.stamp }
}

/// The records that a transaction writes beside the objects that a change set has changed.
struct AppliedChanges: Sendable {
  /// Another save has changed the same since the set was compared with the store: it is to be compared again.
  struct Overtaken: Error {}

  /// The generation that the set was compared with.
  var generation: UInt64 = 0
  /// The latest time of the set: what this store changes from now on is later.
  var clock = Int64.min
  /// The stamps of what was taken.
  var stamps: [StampKey: StoredStamp] = [:]
  /// The links of other objects that go with the objects that the set deletes. They are gone since then: such an object may have come back elsewhere,
  /// with later links.
  var goneLinks: [StampKey: StoredStamp] = [:]
  /// The origins of objects that are new here.
  var origins: [RowAddress: (lineage: UUID, key: UInt64)] = [:]
  /// Changes of this store, and whether they are deletes: of objects because others have the same unique values, and of references because their
  /// destinations are deleted here.
  var own: [StampKey: Bool] = [:]
  /// The positions in each lineage then.
  var known: [UUID: UInt64] = [:]

  /// Whether there is something that copies which know all transactions of the store so far do not know of it.
  var hasNews: Bool { !(stamps.isEmpty && own.isEmpty && origins.isEmpty) }
}
