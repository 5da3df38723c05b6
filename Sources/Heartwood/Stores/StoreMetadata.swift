import Foundation
import HeartwoodBytes

/// The metadata of a store, which a program notes beside its objects: values by name, as in a property list.
///
/// ```
/// format u8 (1) · dictionary
/// dictionary: count varint { counted name · value } …, by name
/// value: kind u8 · ValueCoding, or kind 0x20 · count varint { value } …, or kind 0x21 · dictionary
/// ```
struct StoreMetadata: Equatable, Sendable {
  var values: [String: MetadataValue] = [:]

  private static let format: UInt8 = 1
  /// The stage of a migration that is not finished, the checksums of former models, the former names of entities, what handlers of stages have
  /// saved, and the store of which a mapping has made this one: written by migrations.
  static let ownKeys = [
    "HeartwoodPendingMigrationStage", "HeartwoodFormerModelVersionChecksums", "HeartwoodFormerEntityNames",
    "HeartwoodMigrationTransactions", "HeartwoodFormerStore",
  ]

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    MetadataValue.append(values, to: &writer)
    return writer.withUnsafeBytes { Array($0) }
  }

  init(_ values: [String: MetadataValue] = [:]) { self.values = values }

  /// - Throws: `.persistentStoreDamaged` if the bytes are not metadata, `.persistentStoreOpen` if a newer version wrote them.
  init(decoding bytes: UnsafeRawBufferPointer) throws(HeartwoodError) {
    var reader = ByteReader(bytes)
    do {
      let format = try reader.readUInt8()
      guard format == Self.format else {
        throw HeartwoodError(
          .persistentStoreOpen,
          "the store's metadata is kept in format \(format), which this version does not know; use a newer one"
        )
      }
      guard let values = try MetadataValue.dictionary(&reader, depth: 0), reader.remaining == 0 else {
        throw HeartwoodError.damagedMetadata
      }
      self.values = values
    } catch let error as HeartwoodError {
      throw error
    } catch {
      throw .damagedMetadata
    }
  }
}

/// A value of a store's metadata.
enum MetadataValue: Equatable, Sendable {
  case scalar(Value)
  case list([MetadataValue])
  case dictionary([String: MetadataValue])

  /// A text; nil for other values.
  var text: String? { if case .scalar(.string(let text)) = self { text } else { nil } }
  /// The texts of a list; empty for other values.
  var texts: [String] { if case .list(let values) = self { values.compactMap(\.text) } else { [] } }

  /// A list of texts; nil for none.
  init?(texts: [String]) {
    if texts.isEmpty { return nil }
    self = .list(texts.map { .scalar(.string($0)) })
  }

  private static let listKind: UInt8 = 0x20
  private static let dictionaryKind: UInt8 = 0x21
  /// The deepest nesting of lists and dictionaries.
  static let mostLevels = 64

  func append(to writer: inout ByteWriter) {
    switch self {
    case .scalar(let value): ValueCoding.append(value, to: &writer)
    case .list(let values):
      writer.append(Self.listKind)
      writer.appendVarint(UInt64(values.count))
      for value in values { value.append(to: &writer) }
    case .dictionary(let values):
      writer.append(Self.dictionaryKind)
      Self.append(values, to: &writer)
    }
  }

  static func append(_ values: [String: MetadataValue], to writer: inout ByteWriter) {
    writer.appendVarint(UInt64(values.count))
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      writer.appendText(name)
      value.append(to: &writer)
    }
  }

  /// Reads a dictionary; nil if the bytes are not one.
  static func dictionary(_ reader: inout ByteReader, depth: Int) throws -> [String: MetadataValue]? {
    guard let count = try count(&reader, depth) else { return nil }
    var values: [String: MetadataValue] = [:]
    for _ in 0..<count {
      guard let name = try reader.readText(), let value = try read(&reader, depth: depth + 1) else {
        return nil
      }
      values[name] = value
    }
    return values
  }

  private static func read(_ reader: inout ByteReader, depth: Int) throws -> MetadataValue? {
    var ahead = reader
    switch try ahead.readUInt8() {
    case listKind:
      reader = ahead
      guard let count = try count(&reader, depth) else { return nil }
      var values: [MetadataValue] = []
      for _ in 0..<count {
        guard let value = try read(&reader, depth: depth + 1) else { return nil }
        values.append(value)
      }
      return .list(values)
    case dictionaryKind:
      reader = ahead
      return try dictionary(&reader, depth: depth).map(MetadataValue.dictionary)
    default: return try ValueCoding.read(&reader).map(MetadataValue.scalar)
    }
  }

  /// A count of elements; nil if it, or the depth, is too large to be true. Each element has at least one byte.
  private static func count(_ reader: inout ByteReader, _ depth: Int) throws -> UInt64? {
    let count = try reader.readVarint()
    return count <= UInt64(reader.remaining) && depth <= mostLevels ? count : nil
  }
}

extension HeartwoodError {
  fileprivate static var damagedMetadata: HeartwoodError { .damagedStore("the store's metadata is damaged") }
}
