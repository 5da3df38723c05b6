import Foundation
import HeartwoodBytes

/// The encoding of history records.
///
/// ```
/// format u8 (1, 2 with a change of kind 4, or 3 with one of kind 5) · nanoseconds i64 · previous number varint
/// flags u8 (1 author, 2 context name, 4 bundle, 8 process) · { counted text } … · changes varint
/// { kind u8 · entity number varint · key varint · of an update: count, property numbers (varints);
///   of a delete: count, { property number varint · ValueCoding };
///   of kind 4, an update with values: as an update, then count, { property number varint · ValueCoding former · ValueCoding new };
///   of kind 5, an update with links: as kind 4, then count, { property number varint · key · 2 + 1 if it was added varint } } …
/// ```
///
/// Properties are identified by their numbers in the schema, which stay the same when the model changes.
enum HistoryCoding {
  static let format: UInt8 = 1
  /// Of records with a change of the kind `updateWithValues`, which earlier versions refuse.
  static let formatWithValues: UInt8 = 2
  /// Of records with a change of the kind `updateWithLinks`.
  static let formatWithLinks: UInt8 = 3
  private static let updateWithValues: UInt8 = 4
  private static let updateWithLinks: UInt8 = 5
  private static let hasAuthor: UInt8 = 1
  private static let hasContextName: UInt8 = 2
  private static let hasBundle: UInt8 = 4
  private static let hasProcess: UInt8 = 8

  static func encode(_ record: HistoryRecord, _ schema: StoreSchema) -> [UInt8] {
    var writer = ByteWriter()
    let kind = record.changes.lazy.map(code).max() ?? 0
    writer.append(
      kind == updateWithLinks ? formatWithLinks : kind == updateWithValues ? formatWithValues : format)
    writer.append(record.nanoseconds)
    writer.appendVarint(record.previous)
    appendTexts(of: record, to: &writer)
    writer.appendVarint(UInt64(record.changes.count))
    for change in record.changes { encode(change, schema, &writer) }
    return writer.withUnsafeBytes { Array($0) }
  }

  private static func appendTexts(of record: HistoryRecord, to writer: inout ByteWriter) {
    let texts = [
      (hasAuthor, record.author), (hasContextName, record.contextName),
      (hasBundle, record.program?.bundleID), (hasProcess, record.program?.processID),
    ]
    writer.append(texts.reduce(0) { flags, text in text.1 == nil ? flags : flags | text.0 })
    for case (_, let text?) in texts { writer.appendText(text) }
  }

  private static func code(of change: HistoryChange) -> UInt8 {
    if !change.links.isEmpty { return updateWithLinks }
    return change.keptUpdates.isEmpty ? change.kind.rawValue : updateWithValues
  }

  private static func encode(_ change: HistoryChange, _ schema: StoreSchema, _ writer: inout ByteWriter) {
    let stored = schema.entity(change.entity)
    let numbers = stored.propertyNumbers
    let code = code(of: change)
    writer.append(code)
    writer.appendVarint(UInt64(stored.number))
    writer.appendVarint(change.key)
    switch change.kind {
    case .insert: break
    case .update:
      writer.appendVarint(UInt64(change.updatedSlots.count))
      for slot in change.updatedSlots { writer.appendVarint(UInt64(numbers[slot])) }
      guard code != change.kind.rawValue else { return }
      writer.appendVarint(UInt64(change.keptUpdates.count))
      for kept in change.keptUpdates {
        writer.appendVarint(UInt64(numbers[kept.slot]))
        ValueCoding.append(kept.former, to: &writer)
        ValueCoding.append(kept.value, to: &writer)
      }
      guard code == updateWithLinks else { return }
      writer.appendVarint(UInt64(change.links.count))
      for link in change.links {
        writer.appendVarint(UInt64(numbers[link.slot]))
        writer.appendVarint(link.target << 1 | (link.isAdded ? 1 : 0))
      }
    case .delete:
      writer.appendVarint(UInt64(change.tombstone.count))
      for (slot, value) in change.tombstone {
        writer.appendVarint(UInt64(numbers[slot]))
        ValueCoding.append(value, to: &writer)
      }
    }
  }

  /// The time of a record, without its changes.
  ///
  /// - Throws: `.persistentStoreDamaged` if the bytes are not a record.
  static func time(_ bytes: UnsafeRawBufferPointer, number: UInt64) throws -> Int64 {
    var reader = ByteReader(bytes)
    do {
      return try readTime(&reader, number)
    } catch is ByteReader.ShortInput {
      throw damaged(number, "it ends too early")
    }
  }

  private static func readTime(_ reader: inout ByteReader, _ number: UInt64) throws -> Int64 {
    guard (format...formatWithLinks).contains(try reader.readUInt8()) else {
      throw damaged(number, "its format is not known")
    }
    return try reader.readInt64()
  }

  /// A record that follows another one than before: the one between was deleted. Nil if it says so already.
  ///
  /// - Throws: `.persistentStoreDamaged` if the bytes are not a record.
  static func following(
    _ previous: UInt64, _ bytes: UnsafeRawBufferPointer, number: UInt64
  ) throws -> [UInt8]? {
    var reader = ByteReader(bytes)
    do {
      let nanoseconds = try readTime(&reader, number)
      guard try reader.readVarint() != previous else { return nil }
      var writer = ByteWriter()
      writer.append(bytes[0])
      writer.append(nanoseconds)
      writer.appendVarint(previous)
      return writer.withUnsafeBytes { Array($0) } + Array(bytes.suffix(reader.remaining))
    } catch is ByteReader.ShortInput {
      throw damaged(number, "it ends too early")
    }
  }

  /// - Parameter selection: The changes that are wanted; nil for all.
  /// - Throws: `.persistentStoreDamaged` if the bytes are not a record of this store.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, number: UInt64, _ schema: StoreSchema,
    _ selection: HistorySelection.Numbered? = nil
  ) throws -> HistoryRecord {
    do {
      var reader = ByteReader(bytes)
      let nanoseconds = try readTime(&reader, number)
      let previous = try reader.readVarint()
      let flags = try reader.readUInt8()
      let author = flags & hasAuthor == 0 ? nil : try reader.readText()
      let contextName = flags & hasContextName == 0 ? nil : try reader.readText()
      let bundle = flags & hasBundle == 0 ? nil : try reader.readText()
      let process = flags & hasProcess == 0 ? nil : try reader.readText()
      let program = SavingProgram(bundleID: bundle, processID: process)
      let count = try reader.readVarint()
      var (changes, places) = ([HistoryChange](), [Int]())
      // A change has at least three bytes. The check keeps a damaged count from reserving memory.
      guard count <= UInt64(reader.remaining / 3) else { throw damaged(number, "it ends too early") }
      if selection == nil { changes.reserveCapacity(Int(count)) }
      var place = 0
      for _ in 0..<count {
        let change = try decodeChange(&reader, number, schema, selection)
        if change.isKnown { place += 1 }
        guard let wanted = change.wanted else { continue }
        changes.append(wanted)
        if selection != nil { places.append(place) }
      }
      guard reader.remaining == 0 else { throw damaged(number, "it has extra bytes at its end") }
      return HistoryRecord(
        number: number, previous: previous, nanoseconds: nanoseconds, author: author,
        contextName: contextName, program: program == SavingProgram() ? nil : program, changes: changes,
        places: selection == nil ? nil : places)
    } catch is ByteReader.ShortInput {
      throw damaged(number, "it ends too early")
    }
  }

  /// - Returns: The change, if it is wanted, and whether the model still has its entity.
  private static func decodeChange(
    _ reader: inout ByteReader, _ number: UInt64, _ schema: StoreSchema,
    _ selection: HistorySelection.Numbered?
  ) throws -> (wanted: HistoryChange?, isKnown: Bool) {
    let code = try reader.readUInt8()
    let hasMore = code == updateWithValues || code == updateWithLinks
    guard let kind = hasMore ? .update : HistoryChange.Kind(rawValue: code) else {
      throw damaged(number, "a change has an unknown kind")
    }
    let entityNumber = try reader.readVarint()
    let known = schema.entity(numbered: entityNumber)
    let key = try reader.readVarint()
    let entity = selection?.contains(entityNumber, key) == false ? nil : known
    // The rest of a change that is not wanted is still read, because the next change begins after it.
    var change = entity.map { HistoryChange(kind: kind, entity: $0.entity, key: key) }
    guard kind != .insert else { return (change, known != nil) }
    for _ in 0..<(try reader.readVarint()) {
      // A property that the model no longer has is skipped.
      // Read also where there is no entity to ask.
      let property = try reader.readVarint()
      let slot = entity?.slot(ofProperty: property)
      if kind == .update {
        if let slot { change?.updatedSlots.append(slot) }
      } else {
        guard let value = try ValueCoding.read(&reader) else {
          throw damaged(number, "a preserved value cannot be read")
        }
        if let slot { change?.tombstone.append((slot, value)) }
      }
    }
    guard hasMore else { return (change, known != nil) }
    for _ in 0..<(try reader.readVarint()) {
      let property = try reader.readVarint()
      let slot = entity?.slot(ofProperty: property)
      guard let former = try ValueCoding.read(&reader), let value = try ValueCoding.read(&reader) else {
        throw damaged(number, "a preserved value cannot be read")
      }
      if let slot { change?.keptUpdates.append(.init(slot: slot, former: former, value: value)) }
    }
    guard code == updateWithLinks else { return (change, known != nil) }
    for _ in 0..<(try reader.readVarint()) {
      let (property, link) = (try reader.readVarint(), try reader.readVarint())
      let slot = entity?.slot(ofProperty: property)
      if let slot { change?.links.append(.init(slot: slot, target: link >> 1, isAdded: link & 1 == 1)) }
    }
    return (change, known != nil)
  }

  private static func damaged(_ number: UInt64, _ what: String) -> HeartwoodError {
    .damagedStore("the history of transaction \(number) is damaged: \(what)")
  }
}
