import HeartwoodBytes

/// The stored description of a model: the model itself and the number of each of its parts.
///
/// Keys and rows contain these numbers. A number never changes and is never reused, even if its part is
/// removed from the model.
///
/// ```
/// format u8 (1) · counted model
/// count { entity name · number · counted version hash · count { property name · number } } …
/// count { entity name · index name · unique u8 · number · count { property name } } …
/// next property number · next index number
/// ```
///
/// Names are counted strings; counts and numbers are varints. An entity's properties are its own, in slot
/// order.
struct SchemaRecord: Equatable {
  struct Entity: Equatable {
    var name: String
    var number: UInt16
    var versionHash: [UInt8]
    var properties: [Property]
  }

  struct Property: Equatable {
    var name: String
    var number: UInt16
  }

  struct Index: Equatable {
    var entity: String
    var name: String
    var isUnique: Bool
    var number: UInt16
    var properties: [String]
  }

  var model: [UInt8]
  var entities: [Entity]
  var indexes: [Index]
  var nextPropertyNumber: UInt16
  var nextIndexNumber: UInt16
}

extension SchemaRecord {
  private static let format: UInt8 = 1

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
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
    }
    writer.appendVarint(UInt64(indexes.count))
    for index in indexes { Self.append(index, to: &writer) }
    writer.appendVarint(UInt64(nextPropertyNumber))
    writer.appendVarint(UInt64(nextIndexNumber))
    return writer.withUnsafeBytes { Array($0) }
  }

  private static func append(_ index: Index, to writer: inout ByteWriter) {
    writer.appendText(index.entity)
    writer.appendText(index.name)
    writer.append(UInt8(index.isUnique ? 1 : 0))
    writer.appendVarint(UInt64(index.number))
    writer.appendVarint(UInt64(index.properties.count))
    for name in index.properties { writer.appendText(name) }
  }

  /// - Throws: `.persistentStoreDamaged` if the bytes are no valid record, `.persistentStoreOpen` if a newer
  ///   version wrote them.
  init(decoding bytes: UnsafeRawBufferPointer) throws(HeartwoodError) {
    var reader = SchemaReader(bytes)
    let format = try reader.byte()
    guard format == Self.format else {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the store's model is kept in format \(format), which this version does not know; use a newer one")
    }
    model = try reader.bytes()
    entities = try reader.list { (reader) throws(HeartwoodError) in
      Entity(
        name: try reader.text(), number: try reader.number(), versionHash: try reader.bytes(),
        properties: try reader.list { (reader) throws(HeartwoodError) in
          Property(name: try reader.text(), number: try reader.number())
        })
    }
    indexes = try reader.list { (reader) throws(HeartwoodError) in
      Index(
        entity: try reader.text(), name: try reader.text(), isUnique: try reader.byte() != 0,
        number: try reader.number(),
        properties: try reader.list { (reader) throws(HeartwoodError) in try reader.text() })
    }
    nextPropertyNumber = try reader.number()
    nextIndexNumber = try reader.number()
  }
}

/// Reads a schema record; missing and out-of-range values are reported as damage.
private struct SchemaReader {
  private var reader: ByteReader

  init(_ bytes: UnsafeRawBufferPointer) { reader = ByteReader(bytes) }

  mutating func byte() throws(HeartwoodError) -> UInt8 {
    do { return try reader.readUInt8() } catch { throw .damagedSchema }
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
  fileprivate static var damagedSchema: HeartwoodError {
    .damagedStore("the description of the store's model is damaged")
  }
}
