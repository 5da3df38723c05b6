import Foundation
import HeartwoodBytes

/// The encoding of single values in tombstones: one byte for the kind, then the value.
enum ValueCoding {
  private enum Kind: UInt8 {
    case null = 0
    case int, double, decimal, bool, string, date, data, uuid, url
  }

  /// Appends a value. Objects and lists are encoded as null: no attribute has such a value.
  static func append(_ value: Value, to writer: inout ByteWriter) {
    writer.append(kind(of: value).rawValue)
    switch value {
    case .null, .object, .list, .opaque: break
    case .int(let number): writer.appendSignedVarint(number)
    case .double(let number), .date(let number): writer.append(number)
    case .decimal(let number):
      var bytes: [UInt8] = []
      DecimalParts(number).appendRowBytes(to: &bytes)
      bytes.withUnsafeBytes { writer.appendCounted($0) }
    case .bool(let flag): writer.append(UInt8(flag ? 1 : 0))
    case .string(let text), .url(let text): writer.appendText(text)
    case .data(let data): data.withUnsafeBytes { writer.appendCounted($0) }
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { writer.append($0) }
    }
  }

  private static func kind(of value: Value) -> Kind {
    switch value {
    case .null, .object, .list, .opaque: .null
    case .int: .int
    case .double: .double
    case .decimal: .decimal
    case .bool: .bool
    case .string: .string
    case .date: .date
    case .data: .data
    case .uuid: .uuid
    case .url: .url
    }
  }

  /// Reads a value; nil if the bytes are not a valid one.
  static func read(_ reader: inout ByteReader) throws(ByteReader.ShortInput) -> Value? {
    guard let kind = Kind(rawValue: try reader.readUInt8()) else { return nil }
    switch kind {
    case .null: return .null
    case .int: return .int(try reader.readSignedVarint())
    case .double: return .double(try reader.readDouble())
    case .decimal: return DecimalParts(rowBytes: try reader.readCountedBytes()).map { .decimal($0.decimal) }
    case .bool: return .bool(try reader.readUInt8() != 0)
    case .string: return try reader.readText().map(Value.string)
    case .date: return .date(try reader.readDouble())
    case .data: return .data(Data(try reader.readCountedBytes()))
    case .uuid: return .uuid(UUID(uuid: try reader.readBytes(16).loadUnaligned(as: uuid_t.self)))
    case .url: return try reader.readText().map(Value.url)
    }
  }
}

extension ByteWriter {
  mutating func appendText(_ text: String) {
    var text = text
    text.withUTF8 { appendCounted(UnsafeRawBufferPointer($0)) }
  }
}

extension ByteReader {
  /// Reads a text; nil if the bytes are not valid UTF-8.
  mutating func readText() throws(ShortInput) -> String? {
    String(validating: try readCountedBytes(), as: UTF8.self)
  }
}
