import Foundation

/// Converts the values of transformable attributes to bytes and back.
///
/// A transformer is *closed*: it produces values of one type, whatever the bytes are.
public protocol ValueTransforming<Transformed>: Sendable {
  /// The type of the values.
  associatedtype Transformed: Equatable & Sendable

  /// The bytes of a value. Equal values should have equal bytes.
  ///
  /// - Throws: Any error, if the value has none. A save then fails.
  func bytes(of value: Transformed) throws -> Data

  /// The value of bytes.
  ///
  /// - Throws: Any error, if the bytes are not those of a value. The object is then unreadable.
  func value(of bytes: Data) throws -> Transformed
}

/// A transformer for `Codable` types.
public struct CodableTransformer<Transformed: Codable & Equatable & Sendable>: ValueTransforming {
  /// How values are encoded.
  public enum Encoding: Sendable {
    /// JSON with sorted keys.
    case json
    /// A binary property list, which is smaller where values contain `Data`.
    case propertyList
  }

  /// How values are encoded.
  public let encoding: Encoding

  /// A transformer with an encoding.
  public init(_ encoding: Encoding = .json) { self.encoding = encoding }

  /// The encoded value.
  public func bytes(of value: Transformed) throws -> Data {
    switch encoding {
    case .json:
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
      return try encoder.encode(value)
    case .propertyList:
      let encoder = PropertyListEncoder()
      encoder.outputFormat = .binary
      // In an array, because a property list cannot be a number or a text alone.
      return try encoder.encode([value])
    }
  }

  /// The decoded value.
  public func value(of bytes: Data) throws -> Transformed {
    switch encoding {
    case .json:
      let decoder = JSONDecoder()
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
      return try decoder.decode(Transformed.self, from: bytes)
    case .propertyList:
      guard let value = try PropertyListDecoder().decode([Transformed].self, from: bytes).first else {
        throw CocoaError(.propertyListReadCorrupt)
      }
      return value
    }
  }
}
