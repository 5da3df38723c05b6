extension AttributeDescription {
  /// The type of an attribute's value. The raw values are Core Data's.
  public enum AttributeType: Int, Sendable, CaseIterable {
    /// No type in a store: for transient attributes only, which then have values of any type.
    case undefined = 0
    /// A signed integer of 16 bits.
    case integer16 = 100
    /// A signed integer of 32 bits.
    case integer32 = 200
    /// A signed integer of 64 bits.
    case integer64 = 300
    /// A decimal number of up to 38 digits.
    case decimal = 400
    /// A floating-point number of 64 bits.
    case double = 500
    /// A floating-point number of 32 bits.
    case float = 600
    /// Text.
    case string = 700
    /// True or false.
    case boolean = 800
    /// A point in time, in seconds and fractions.
    case date = 900
    /// Bytes.
    case binaryData = 1000
    /// A UUID.
    case uuid = 1100
    /// A URL.
    case uri = 1200
    /// A value that a transformer with a name stores as bytes.
    case transformable = 1800
    /// A group of attributes: see `CompositeAttributeDescription`.
    case composite = 2100

    /// Core Data's older name.
    public static let undefinedAttributeType = undefined
    /// Core Data's older name.
    public static let integer16AttributeType = integer16
    /// Core Data's older name.
    public static let integer32AttributeType = integer32
    /// Core Data's older name.
    public static let integer64AttributeType = integer64
    /// Core Data's older name.
    public static let decimalAttributeType = decimal
    /// Core Data's older name.
    public static let doubleAttributeType = double
    /// Core Data's older name.
    public static let floatAttributeType = float
    /// Core Data's older name.
    public static let stringAttributeType = string
    /// Core Data's older name.
    public static let booleanAttributeType = boolean
    /// Core Data's older name.
    public static let dateAttributeType = date
    /// Core Data's older name.
    public static let binaryDataAttributeType = binaryData
    /// Core Data's older name.
    public static let UUIDAttributeType = uuid
    /// Core Data's older name.
    public static let URIAttributeType = uri
    /// Core Data's older name.
    public static let transformableAttributeType = transformable
    /// Core Data's older name.
    public static let compositeAttributeType = composite
  }
}

/// The type of an attribute's value.
public typealias AttributeType = AttributeDescription.AttributeType

extension AttributeType: CustomStringConvertible {
  /// The case's name, as in model files and messages.
  public var description: String { name }

  var name: String {
    switch self {
    case .undefined: "undefined"
    case .integer16: "integer16"
    case .integer32: "integer32"
    case .integer64: "integer64"
    case .decimal: "decimal"
    case .double: "double"
    case .float: "float"
    case .string: "string"
    case .boolean: "boolean"
    case .date: "date"
    case .binaryData: "binaryData"
    case .uuid: "uuid"
    case .uri: "uri"
    case .transformable: "transformable"
    case .composite: "composite"
    }
  }

  init?(name: String) {
    guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = type
  }

  var columnKind: ColumnKind {
    switch self {
    case .undefined: .toMany
    case .integer16: .int16
    case .integer32: .int32
    case .integer64: .int64
    case .decimal: .decimal
    case .double: .double
    case .float: .float
    case .string: .string
    case .boolean: .bool
    case .date: .date
    case .binaryData: .data
    case .uuid: .uuid
    case .uri: .uri
    case .transformable: .data
    case .composite: .composite
    }
  }
}
