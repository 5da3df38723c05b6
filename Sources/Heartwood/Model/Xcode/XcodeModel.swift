import Foundation

/// The names of Xcode's model files.
enum XcodeModel {
  /// The types of attributes by their names.
  static let types: [(name: String, type: AttributeType)] = [
    ("Undefined", .undefined), ("Integer 16", .integer16), ("Integer 32", .integer32),
    ("Integer 64", .integer64), ("Decimal", .decimal), ("Double", .double), ("Float", .float),
    ("String", .string), ("Boolean", .boolean), ("Date", .date), ("Binary", .binaryData), ("UUID", .uuid),
    ("URI", .uri), ("Transformable", .transformable), ("Composite", .composite),
  ]

  /// The attribute of elements that has the default value of data in base 64, which Xcode's own files do not have.
  static let defaultData = "defaultValueBase64"

  static let deleteRules: [String: DeleteRule] = [
    "Nullify": .nullifyDeleteRule, "Cascade": .cascadeDeleteRule, "Deny": .denyDeleteRule,
    "No Action": .noActionDeleteRule,
  ]

  /// Under which the name of a fetched property's request is kept with the property.
  static let requestName = "<fetchRequest>"

  static func type(named name: String) -> AttributeType? {
    // The first versions of the editor wrote Int16 and so on.
    let other = name.hasPrefix("Int") && !name.hasPrefix("Integer") ? "Integer " + name.dropFirst(3) : name
    return types.first { $0.name == other || $0.name == name }?.type
  }

  /// The name of an entity's class without the module that the file leaves to the target: `.Person` is `Person`.
  static func className(_ written: String?) -> String {
    guard let written, !written.isEmpty, written != "NSManagedObject" else { return "ManagedObject" }
    return written.hasPrefix(".") ? String(written.dropFirst()) : written
  }

  /// A limit of numbers; `nan` as other tools write it is one that no number is beyond.
  private static func limit(_ text: String) -> Decimal? { text == "nan" ? .nan : DecimalText.decimal(text) }

  /// Whether a text is a limit of values of a type.
  static func isLimit(_ text: String, of type: AttributeType) -> Bool {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: limit(text) != nil
    case .date: Double(text) != nil
    case .string, .binaryData: Int(text) != nil
    default: false
    }
  }

  /// The rule of an attribute's limits: of numbers, dates, or the lengths of texts and data. Nil if no length is between them.
  ///
  /// - Precondition: They are limits of the type.
  static func rule(_ type: AttributeType, _ least: String?, _ most: String?) -> ValidationRule? {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      let numbers = [least, most].map { $0.flatMap(limit) }
      if let least = numbers[0], let most = numbers[1], least > most { return nil }
      return .number(atLeast: numbers[0], atMost: numbers[1])
    case .date:
      let seconds = [least, most].map { $0.flatMap(Double.init) }
      if let least = seconds[0], let most = seconds[1], least > most { return nil }
      let dates = seconds.map { $0.map { Date(timeIntervalSinceReferenceDate: $0) } }
      return .date(notBefore: dates[0], notAfter: dates[1])
    case .string, .binaryData:
      let counts = [least, most].map { $0.flatMap { Int($0) } }
      switch (counts[0], counts[1]) {
      case (let from?, let to?): return from <= to ? .length(from...to) : nil
      case (let from?, nil): return .length(from...)
      case (nil, let to?): return .length(...to)
      case (nil, nil): return nil
      }
    default: return nil
    }
  }
}
