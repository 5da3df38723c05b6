import Foundation
import HeartwoodModel
import SwiftTokens

/// Names, types and values of a model as Swift writes them.
enum SwiftName {
  /// The name of an entity's class without its module; nil if the entity has no class of its own.
  static func ofClass(of entity: EntityDescription) -> String? {
    guard let name = entity.managedObjectClassName.split(separator: ".").last, name != "ManagedObject" else {
      return nil
    }
    return String(name)
  }

  /// Whether Swift can name a type so, or could if it were no keyword.
  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first else { return false }
    return (first == "_" || first.properties.isXIDStart)
      && name.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
  }

  static func property(_ name: String) -> String { SwiftKeywords.escaped(name) }

  /// A text as a literal.
  static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      case "\0": literal += "\\0"
      case "\u{1}"..."\u{1F}", "\u{7F}": literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }

  /// The type of an attribute's value; nil if it has none. The user info may name one as `swiftType`: an enum with raw values, for example.
  static func type(of attribute: AttributeDescription) -> String? {
    if let type = attribute.userInfo["swiftType"] { return type }
    switch attribute.type {
    case .undefined: return nil
    case .integer16: return "Int16"
    case .integer32: return "Int32"
    case .integer64: return "Int64"
    case .decimal: return "Decimal"
    case .double: return "Double"
    case .float: return "Float"
    case .string: return "String"
    case .boolean: return "Bool"
    case .date: return "Date"
    case .binaryData: return "Data"
    case .uuid: return "UUID"
    case .uri: return "URL"
    case .transformable, .composite:
      return attribute.attributeValueClassName?.split(separator: ".").last.map(String.init)
        ?? (attribute.type == .composite
          ? property(attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()) : "Data")
    }
  }

  /// The default value of an attribute that is not optional, or one that has a default; nil if Swift has none to offer.
  static func value(of attribute: AttributeDescription, _ type: String) -> String? {
    value(of: attribute, type, given: attribute.defaultValue)
  }

  /// - Parameter given: The default of the model.
  static func value(of attribute: AttributeDescription, _ type: String, given: Any?) -> String? {
    if given == nil, attribute.isOptional { return nil }
    if attribute.userInfo["swiftType"] != nil {
      switch given {
      case let text as String: return "\(type)(rawValue: \(literal(text)))!"
      case let number as any BinaryInteger: return "\(type)(rawValue: \(number))!"
      default: return nil
      }
    }
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean:
      return given.map { "\($0)" } ?? (attribute.type == .boolean ? "false" : "0")
    case .double: return (given as? Double).map(number) ?? "0"
    case .float: return (given as? Float).map(number) ?? "0"
    case .decimal: return (given as? Decimal).map { decimal("\($0)", type) } ?? "0"
    case .string: return literal(given as? String ?? "")
    case .date:
      return (given as? Date).map {
        "\(type)(timeIntervalSinceReferenceDate: \(number($0.timeIntervalSinceReferenceDate)))"
      } ?? "\(type)()"
    case .binaryData:
      return (given as? Data).map { "\(type)(base64Encoded: \"\($0.base64EncodedString())\")!" }
        ?? "\(type)()"
    case .uuid: return (given as? UUID).map { "\(type)(uuidString: \"\($0.uuidString)\")!" } ?? "\(type)()"
    case .uri: return (given as? URL).map { "\(type)(string: \(literal($0.absoluteString)))!" }
    case .composite: return "\(type)()"
    case .undefined, .transformable: return nil
    }
  }

  /// A floating-point number as Swift writes it.
  private static func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ number: Number)
    -> String
  {
    if number.isNaN { return ".nan" }
    return number.isInfinite ? (number < 0 ? "-.infinity" : ".infinity") : "\(number)"
  }

  /// A decimal as Swift writes it.
  ///
  /// - Parameter text: The decimal as it describes itself.
  private static func decimal(_ text: String, _ type: String) -> String {
    text == "NaN" ? ".nan" : "\(type)(string: \"\(text)\")!"
  }

  /// Whether a type looks like one of Swift's or of Apple's libraries, which a program cannot have adopted a protocol of ours for.
  static func isOfLibrary(_ type: String) -> Bool {
    type.contains { "[<".contains($0) } || type.hasPrefix("NS") || type.hasPrefix("UI")
  }

  /// Whether Foundation has a type, on all systems, or it is made of such types.
  static func ofFoundation(_ type: String) -> Bool {
    let names = type.split { "[]<>:,? ".contains($0) }.map(String.init)
    return names.allSatisfy(foundationTypes.contains)
  }

  /// Whether the sources use a type of a library under this name.
  static func isOfSources(_ name: String) -> Bool {
    foundationTypes.contains(name) || heartwoodTypes.contains(name)
  }

  private static let heartwoodTypes: Set<String> = [
    "Attribute", "Relationship", "ManagedObject", "RelatedObjects", "PartialIndex", "CompositeValue",
    "CompositeElement",
  ]

  private static let foundationTypes: Set<String> = [
    "String", "Int", "Int16", "Int32", "Int64", "Double", "Float", "Bool", "Any", "AnyHashable", "Array",
    "Dictionary", "Set", "Data", "Date", "Decimal", "URL", "UUID", "NSArray", "NSMutableArray",
    "NSDictionary",
    "NSMutableDictionary", "NSSet", "NSMutableSet", "NSOrderedSet", "NSString", "NSNumber", "NSData",
    "NSDate",
    "NSURL", "NSUUID", "NSDecimalNumber", "NSObject", "NSError", "NSAttributedString",
    "NSMutableAttributedString",
  ]

  /// A type of a library, with its module if an entity's class has the same name.
  static func qualified(_ type: String, beside classes: Set<String>) -> String {
    classes.contains(type) ? "\(module(of: type)).\(type)" : type
  }

  /// The module of a type that the sources use.
  private static func module(of type: String) -> String {
    switch type {
    case "Data", "Date", "Decimal", "URL", "UUID": "Foundation"
    case _ where heartwoodTypes.contains(type): "Heartwood"
    default: "Swift"
    }
  }

  /// The classes with the name of a module, each with those whose names need that module: the sources cannot say the types of a library then.
  static func hiddenModules(of classes: Set<String>) -> [(module: String, types: [String])] {
    ["Foundation", "Heartwood", "Swift"].compactMap { module in
      let types = classes.filter { isOfSources($0) && Self.module(of: $0) == module }.sorted()
      return classes.contains(module) && !types.isEmpty ? (module, types) : nil
    }
  }

  /// A rule as an argument of `validated:`; nil if it has no form.
  static func rule(_ rule: ValidationRule) -> String? {
    let form: String?
    switch rule.kind {
    case .number:
      let whole = [rule.least, rule.greatest].map { $0.flatMap { Int($0) } }
      if let least = whole[0], let most = whole[1], least <= most {
        form = ".range(\(least)...\(most))"
      } else {
        form = limits("number", "atLeast", "atMost", rule) { decimal($0, "Decimal") }
      }
    case .date:
      form = limits("date", "notBefore", "notAfter", rule) {
        "Date(timeIntervalSinceReferenceDate: \(Double($0).map(number) ?? $0))"
      }
    case .length: form = ".length(\(rule.least ?? "")...\(rule.greatest ?? ""))"
    case .pattern: form = rule.text.map { ".pattern(\(literal($0)))" }
    case .condition: form = rule.text.map { ".condition(\(literal($0)))" }
    case .value: form = rule.text.map { ".value(\(literal($0)))" }
    }
    return form.map { form in form + (rule.message.map { ".orElse(\(literal($0)))" } ?? "") }
  }

  private static func limits(
    _ name: String, _ from: String, _ to: String, _ rule: ValidationRule, _ value: (String) -> String
  ) -> String? {
    let bounds = [rule.least.map { "\(from): \(value($0))" }, rule.greatest.map { "\(to): \(value($0))" }]
    return ".\(name)(\(bounds.compactMap { $0 }.joined(separator: ", ")))"
  }

  /// The count of destinations as an argument; nil for any.
  static func count(of relationship: RelationshipDescription) -> String? {
    guard relationship.isToMany else { return relationship.isOptional ? nil : ".required" }
    switch (relationship.minCount, relationship.maxCount) {
    case (0, 0): return relationship.isOptional ? nil : ".notOptional"
    case (let least, 0): return ".atLeast(\(least))"
    case (0, let most): return ".atMost(\(most))"
    case (let least, let most): return ".range(\(least)...\(most))"
    }
  }
}
