import HeartwoodBytes

/// The stored description of a model: the model itself and the number of each of its parts.
///
/// Keys and rows contain these numbers. A number never changes and is never reused, even if its part is
/// removed from the model.
///
/// ```
/// format u8 (1 to 8) · counted model
/// count { entity name · number · counted version hash · count { property name · number } · formats 2, 4, 6 and 8: storage } …
/// count { entity name · index name · kind u8 · number · count { property name } · formats 7 and 8: condition } …
/// next property number · next index number · formats 2, 4, 6 and 8: next entity number
/// ```
///
/// Even formats are those of a migrated store; `SchemaRecord.Storage` describes what it has besides. Formats 3 and 4 have indexes that are
/// not of whole values in their order, formats 5 and 6 have indexes of expressions, and formats 7 and 8 have indexes of some objects only;
/// earlier versions would not maintain them.
///
/// Names are counted strings; counts and numbers are varints. An entity's properties are its own, in slot
/// order.
struct SchemaRecord: Equatable {
  struct Entity: Equatable {
    var name: String
    var number: UInt16
    var versionHash: [UInt8]
    var properties: [Property]
    var storage: Storage
  }

  struct Property: Equatable {
    var name: String
    var number: UInt16
  }

  struct Index: Equatable {
    var entity: String
    var name: String
    var kind: StoreIndex.Kind
    var number: UInt16
    /// The paths of properties, and expressions.
    var properties: [String]
    /// Which rows it has; empty for all.
    var condition = ""

    /// The addition to the format for the index.
    fileprivate var addition: UInt8 {
      if !condition.isEmpty { return SchemaRecord.partialIndexes }
      if !properties.allSatisfy(\.isDottedName) { return SchemaRecord.expressionIndexes }
      return kind == .ordered || kind == .unique ? 0 : SchemaRecord.moreIndexKinds
    }
  }

  var model: [UInt8]
  var entities: [Entity]
  var indexes: [Index]
  var nextPropertyNumber: UInt16
  var nextIndexNumber: UInt16
  var nextEntityNumber: UInt16

  /// Whether rows of former layouts may remain, or rows whose number is not the model's.
  var hasDeferredWork: Bool { entities.contains { !$0.storage.former.isEmpty } }

  /// Whether the store was migrated to its model in a way that the record of a new store cannot describe.
  var isMigrated: Bool {
    entities.count + 1 != Int(nextEntityNumber)
      || entities.enumerated().contains {
        Int($1.number) != $0 + 1 || $1.storage != Storage(number: $1.number)
      }
      || entities.map(\.name) != entities.map(\.name).sorted()
  }
}

extension SchemaRecord {
  static let firstFormat: UInt8 = 1
  static let migratedFormat: UInt8 = 2
  /// Is added to the format if there are indexes of other kinds than the first two.
  static let moreIndexKinds: UInt8 = 2
  /// Is added to the format if there are indexes of expressions.
  static let expressionIndexes: UInt8 = 4
  /// Is added to the format if there are indexes of some rows only.
  static let partialIndexes: UInt8 = 6

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    let isMigrated = isMigrated
    let addition = indexes.map(\.addition).max() ?? 0
    writer.append((isMigrated ? Self.migratedFormat : Self.firstFormat) + addition)
    model.withUnsafeBytes { writer.appendCounted($0) }
    writer.appendVarint(UInt64(entities.count))
    for entity in entities {
      writer.appendText(entity.name)
      writer.appendVarint(UInt64(entity.number))
      entity.versionHash.withUnsafeBytes { writer.appendCounted($0) }
      writer.appendVarint(UInt64(entity.properties.count))
      for property in entity.properties {
        writer.appendText(property.name)
        writer.appendVarint(UInt64(property.number))
      }
      if isMigrated { entity.storage.append(to: &writer) }
    }
    writer.appendVarint(UInt64(indexes.count))
    for index in indexes {
      Self.append(index, to: &writer)
      if addition == Self.partialIndexes { writer.appendText(index.condition) }
    }
    writer.appendVarint(UInt64(nextPropertyNumber))
    writer.appendVarint(UInt64(nextIndexNumber))
    if isMigrated { writer.appendVarint(UInt64(nextEntityNumber)) }
    return writer.withUnsafeBytes { Array($0) }
  }

  private static func append(_ index: Index, to writer: inout ByteWriter) {
    writer.appendText(index.entity)
    writer.appendText(index.name)
    writer.append(index.kind.rawValue)
    writer.appendVarint(UInt64(index.number))
    writer.appendVarint(UInt64(index.properties.count))
    for name in index.properties { writer.appendText(name) }
  }

  /// - Throws: `.persistentStoreDamaged` if the bytes are no valid record, `.persistentStoreOpen` if a newer
  ///   version wrote them.
  init(decoding bytes: UnsafeRawBufferPointer) throws(HeartwoodError) {
    var reader = SchemaReader(bytes)
    let version = try reader.byte()
    guard Self.firstFormat...Self.migratedFormat + Self.partialIndexes ~= version else {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the store's model is kept in format \(version), which this version does not know; use a newer one",
        underlying: NewerSchemaRecord(format: Int(version)))
    }
    let format = version % 2 == 1 ? Self.firstFormat : Self.migratedFormat
    let hasConditions = version - format == Self.partialIndexes
    model = try reader.bytes()
    entities = try reader.list { (reader) throws(HeartwoodError) in
      let (name, number) = (try reader.text(), try reader.number())
      return Entity(
        name: name, number: number, versionHash: try reader.bytes(),
        properties: try reader.list { (reader) throws(HeartwoodError) in
          Property(name: try reader.text(), number: try reader.number())
        }, storage: try format == Self.firstFormat ? Storage(number: number) : Storage(&reader))
    }
    indexes = try reader.list { (reader) throws(HeartwoodError) in
      Index(
        entity: try reader.text(), name: try reader.text(), kind: try reader.indexKind(),
        number: try reader.number(),
        properties: try reader.list { (reader) throws(HeartwoodError) in try reader.text() },
        condition: try hasConditions ? reader.text() : "")
    }
    nextPropertyNumber = try reader.number()
    nextIndexNumber = try reader.number()
    nextEntityNumber =
      try format == Self.firstFormat ? (entities.map(\.number).max() ?? 0).nextNumber() : reader.number()
  }
}

extension UInt16 {
  /// - Throws: `.coreData` if a store has no number left.
  func nextNumber() throws(HeartwoodError) -> UInt16 {
    guard self < .max - 1 else {
      throw .model("65534 entities, properties or indexes were made in this store; no more can be")
    }
    return self + 1
  }
}

/// Reads a schema record; missing and out-of-range values are reported as damage.
struct SchemaReader {
  private var reader: ByteReader

  init(_ bytes: UnsafeRawBufferPointer) { reader = ByteReader(bytes) }

  mutating func byte() throws(HeartwoodError) -> UInt8 {
    do { return try reader.readUInt8() } catch { throw .damagedSchema }
  }

  mutating func indexKind() throws(HeartwoodError) -> StoreIndex.Kind {
    guard let kind = StoreIndex.Kind(rawValue: try byte()) else { throw .damagedSchema }
    return kind
  }

  mutating func bytes() throws(HeartwoodError) -> [UInt8] {
    do { return Array(try reader.readCountedBytes()) } catch { throw .damagedSchema }
  }

  mutating func number() throws(HeartwoodError) -> UInt16 {
    guard let number = try UInt16(exactly: varint()) else { throw .damagedSchema }
    return number
  }

  mutating func text() throws(HeartwoodError) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else { throw .damagedSchema }
    return text
  }

  mutating func value() throws(HeartwoodError) -> Value {
    do {
      guard let value = try ValueCoding.read(&reader) else { throw HeartwoodError.damagedSchema }
      return value
    } catch { throw .damagedSchema }
  }

  mutating func list<Element>(
    _ element: (inout SchemaReader) throws(HeartwoodError) -> Element
  ) throws(HeartwoodError) -> [Element] {
    let count = try varint()
    // Each element has at least one byte, so a larger count is damage.
    guard count <= UInt64(reader.remaining) else { throw .damagedSchema }
    var elements: [Element] = []
    for _ in 0..<count { elements.append(try element(&self)) }
    return elements
  }

  private mutating func varint() throws(HeartwoodError) -> UInt64 {
    do { return try reader.readVarint() } catch { throw .damagedSchema }
  }
}

extension HeartwoodError {
  static var damagedSchema: HeartwoodError {
    .damagedStore("the description of the store's model is damaged")
  }
}

/// The record of a store's model is of a newer version of this library.
struct NewerSchemaRecord: Error {
  let format: Int
}
