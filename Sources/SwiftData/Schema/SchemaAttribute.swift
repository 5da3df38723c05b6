import Foundation
import Heartwood

extension Schema {
  /// A property with a value.
  public class Attribute: SchemaProperty, @unchecked Sendable {
    /// How an attribute is stored.
    public struct Option: Hashable, Codable, Sendable, CustomDebugStringConvertible {
      enum Kind: String, Codable {
        case unique, externalStorage, allowsCloudEncryption, preserveValueOnDeletion, ephemeral, spotlight,
          codable
        case transformable
      }
      let kind: Kind
      /// The name of a transformer.
      var transformerName: String?

      private init(_ kind: Kind, _ transformerName: String? = nil) {
        self.kind = kind
        self.transformerName = transformerName
      }

      /// No two objects may have the same value: saving a second one updates the first.
      public static var unique: Option { Option(.unique) }
      /// Data of more than 32 KiB is stored outside of the rows.
      public static var externalStorage: Option { Option(.externalStorage) }
      /// Without effect: it is about CloudKit.
      public static var allowsCloudEncryption: Option { Option(.allowsCloudEncryption) }
      /// The history keeps the value when the object is deleted.
      public static var preserveValueOnDeletion: Option { Option(.preserveValueOnDeletion) }
      /// The value is tracked, but not stored.
      public static var ephemeral: Option { Option(.ephemeral) }
      /// Without effect: it is about the search of Apple's systems.
      public static var spotlight: Option { Option(.spotlight) }
      /// A `Codable` value is stored as one encoding: conditions cannot look into it.
      public static var codable: Option { Option(.codable) }
      /// A transformer stores the value.
      public static func transformable(by type: ValueTransformer.Type) -> Option {
        Option(.transformable, String(describing: type))
      }
      /// The transformer of a name stores the value.
      public static func transformable(by name: String) -> Option { Option(.transformable, name) }

      /// The name of the option, with that of a transformer.
      public var debugDescription: String {
        transformerName.map { "\(kind.rawValue) by \($0)" } ?? kind.rawValue
      }
    }

    /// The name.
    public var name: String
    /// The name in the former version of the schema.
    public var originalName: String
    /// How it is stored.
    public var options: [Option]
    /// The type of its values.
    public var valueType: any Any.Type
    /// The value of new objects, and of stored ones that lack the attribute; nil for none.
    public var defaultValue: Any?
    /// A text that makes the attribute differ from one that is declared alike.
    public var hashModifier: String?

    /// The declaration of an attribute of a class.
    public convenience init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
      self.init(
        name: "", originalName: originalName, options: options, valueType: Any.self,
        hashModifier: hashModifier)
    }

    /// An attribute.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - originalName: The former name; nil if it is the same.
    ///   - options: How it is stored.
    ///   - valueType: The type of its values, with `Optional` if there may be none.
    ///   - defaultValue: The value of new objects.
    ///   - hashModifier: A text that makes it differ from one that is declared alike.
    public init(
      name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
      defaultValue: Any? = nil, hashModifier: String? = nil
    ) {
      self.name = name
      self.originalName = originalName ?? ""
      self.options = options
      self.valueType = valueType
      self.defaultValue = defaultValue
      self.hashModifier = hashModifier
      if self.originalName.isEmpty { self.originalName = name }
    }

    func has(_ kind: Option.Kind) -> Bool { options.contains { $0.kind == kind } }

    /// Whether it may be without a value. Setting it changes `valueType`.
    public var isOptional: Bool {
      get { valueType is any OptionalType.Type }
      set {
        guard newValue != isOptional else { return }
        func optional<Value>(_ type: Value.Type) -> any Any.Type { Value?.self }
        let wrapped = (valueType as? any OptionalType.Type)?.wrappedType
        valueType = wrapped ?? _openExistential(valueType, do: optional)
      }
    }
    /// True.
    public var isAttribute: Bool { true }
    /// False.
    public var isRelationship: Bool { false }
    /// Whether its value is kept in memory only.
    public var isTransient: Bool { has(.ephemeral) }
    /// Whether no two objects may have the same value.
    public var isUnique: Bool { has(.unique) }
    /// Whether a transformer stores the value.
    public var isTransformable: Bool { has(.transformable) }

    // MARK: Coding

    private enum CodingKeys: String, CodingKey {
      case name, originalName, options, valueType, isOptional, hashModifier
    }

    /// Decodes an attribute; the type of its values is known if it is one of the standard library or Foundation.
    ///
    /// - Throws: `DecodingError`.
    public required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      originalName = try container.decode(String.self, forKey: .originalName)
      options = try container.decode([Option].self, forKey: .options)
      valueType = SchemaTypeName.type(
        try container.decode(String.self, forKey: .valueType),
        isOptional: try container.decode(Bool.self, forKey: .isOptional))
      hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
    }

    /// Encodes everything but the default value.
    ///
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(originalName, forKey: .originalName)
      try container.encode(options, forKey: .options)
      try container.encode(SchemaTypeName.of(valueType), forKey: .valueType)
      try container.encode(isOptional, forKey: .isOptional)
      try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
    }

    /// Whether both describe the same attribute; default values are not compared.
    public static func == (left: Attribute, right: Attribute) -> Bool {
      left === right
        || left.name == right.name && left.originalName == right.originalName && left.options == right.options
          && left.isOptional == right.isOptional
          && SchemaTypeName.of(left.valueType) == SchemaTypeName.of(right.valueType)
          && left.hashModifier == right.hashModifier
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Name and type.
    public var debugDescription: String { "Attribute \(name): \(valueType)" }
  }

  /// An attribute of several values: a `Codable` structure whose parts are stored one by one.
  public final class CompositeAttribute: Attribute, @unchecked Sendable {
    /// The parts.
    public var properties: [Attribute] = []

    /// An attribute without parts.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - originalName: The former name; nil if it is the same.
    ///   - options: How it is stored.
    ///   - valueType: The type of its values, with `Optional` if there may be none.
    ///   - defaultValue: The value of new objects.
    ///   - hashModifier: A text that makes it differ from one that is declared alike.
    public override init(
      name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
      defaultValue: Any? = nil, hashModifier: String? = nil
    ) {
      super.init(
        name: name, originalName: originalName, options: options, valueType: valueType,
        defaultValue: defaultValue, hashModifier: hashModifier)
    }

    init(_ attribute: Attribute, properties: [Attribute]) {
      self.properties = properties
      super.init(
        name: attribute.name, originalName: attribute.originalName, options: attribute.options,
        valueType: attribute.valueType, defaultValue: attribute.defaultValue,
        hashModifier: attribute.hashModifier)
    }

    private enum PartKeys: String, CodingKey { case properties, composites }

    /// Decodes an attribute with its parts.
    ///
    /// - Throws: `DecodingError`.
    public required init(from decoder: any Decoder) throws {
      try super.init(from: decoder)
      let container = try decoder.container(keyedBy: PartKeys.self)
      properties =
        try container.decode([Attribute].self, forKey: .properties)
        + container.decode([CompositeAttribute].self, forKey: .composites)
    }

    public override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: PartKeys.self)
      try container.encode(properties.filter { !($0 is CompositeAttribute) }, forKey: .properties)
      try container.encode(properties.compactMap { $0 as? CompositeAttribute }, forKey: .composites)
    }
  }
}

/// The names of the types of attributes in encoded schemas.
enum SchemaTypeName {
  private static let types: [String: any (OptionalForm & SendableMetatype).Type] = [
    "Bool": Form<Bool>.self, "Int": Form<Int>.self, "Int16": Form<Int16>.self, "Int32": Form<Int32>.self,
    "Int64": Form<Int64>.self, "Double": Form<Double>.self, "Float": Form<Float>.self,
    "Int8": Form<Int8>.self, "UInt": Form<UInt>.self, "UInt8": Form<UInt8>.self, "UInt16": Form<UInt16>.self,
    "UInt32": Form<UInt32>.self, "UInt64": Form<UInt64>.self, "CGFloat": Form<CGFloat>.self,
    "Float16": Form<Float16>.self, "String": Form<String>.self,
    "Decimal": Form<Decimal>.self, "Date": Form<Date>.self, "Data": Form<Data>.self, "UUID": Form<UUID>.self,
    "URL": Form<URL>.self,
  ]

  fileprivate protocol OptionalForm { static func type(isOptional: Bool) -> any Any.Type }
  private enum Form<Value>: OptionalForm {
    static func type(isOptional: Bool) -> any Any.Type { isOptional ? Value?.self : Value.self }
  }

  /// The name without `Optional`; that of another type is kept as a name only.
  static func of(_ type: any Any.Type) -> String {
    if let wrapped = (type as? any OptionalType.Type)?.wrappedType { return of(wrapped) }
    return String(reflecting: type).replacing("Foundation.", with: "").replacing(
      "FoundationEssentials.", with: ""
    )
    .replacing("Swift.", with: "")
  }

  /// The type of a name; one without values for a name that is not known.
  static func type(_ name: String, isOptional: Bool) -> any Any.Type {
    types[name]?.type(isOptional: isOptional) ?? (isOptional ? Any?.self : Any.self)
  }
}
