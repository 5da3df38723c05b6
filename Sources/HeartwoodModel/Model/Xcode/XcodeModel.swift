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

  /// A number as the program's own texts have it, with digits on both sides of a point: `-.5` is `-0.5`.
  static func plainNumber(_ text: String) -> String {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return text }
    func isDigit(_ character: Character?) -> Bool { character.map { "0"..."9" ~= $0 } ?? false }
    let (before, after) = (isDigit(parts[0].last), isDigit(parts[1].first))
    guard before != after, before || parts[0].isEmpty || parts[0] == "-" || parts[0] == "+" else {
      return text
    }
    return before ? "\(parts[0])\(parts[1])" : "\(parts[0])0.\(parts[1])"
  }

  private static func limit(_ text: String) -> Decimal? {
    DecimalText.decimal(plainNumber(text), allowsNaN: false)
  }

  /// Whether a text is a limit of values of a type.
  static func isLimit(_ text: String, of type: AttributeType) -> Bool {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: limit(text) != nil
    case .date: Double(text).map { !$0.isNaN } ?? false
    case .string, .binaryData: Int(text) != nil
    default: false
    }
  }

  /// Why limits are none; nil if a value can be between them.
  ///
  /// - Precondition: They are limits of the type.
  static func reasonAgainst(_ type: AttributeType, _ least: String?, _ most: String?) -> String? {
    let nothing = "no value of the type \(type) is within them"
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      let (from, to) = (least.flatMap(limit), most.flatMap(limit))
      if let from, let to, from > to { return aboveGreatest }
      return hasInteger(type, from, to) ? nil : nothing
    case .date:
      let (from, to) = (least.flatMap(Double.init), most.flatMap(Double.init))
      if let from, let to, from > to { return aboveGreatest }
      return from == .infinity || to == -.infinity ? nothing : nil
    default:
      let (from, to) = (least.flatMap { Int($0) }, most.flatMap { Int($0) })
      if let from, let to, from > to { return aboveGreatest }
      return to.map { $0 < 0 } == true ? nothing : nil
    }
  }

  private static let aboveGreatest = "the least is above the greatest"

  /// Whether an integer of a type is between limits; true for other types.
  private static func hasInteger(_ type: AttributeType, _ least: Decimal?, _ most: Decimal?) -> Bool {
    let range: ClosedRange<Int64>
    switch type {
    case .integer16: range = Int64(Int16.min)...Int64(Int16.max)
    case .integer32: range = Int64(Int32.min)...Int64(Int32.max)
    case .integer64: range = .min ... .max
    default: return true
    }
    func rounded(_ limit: Decimal, _ mode: NSDecimalNumber.RoundingMode) -> Decimal {
      var (number, whole) = (limit, Decimal())
      NSDecimalRound(&whole, &number, 0, mode)
      return whole
    }
    var (from, to) = (Decimal(range.lowerBound), Decimal(range.upperBound))
    if let least { from = max(from, rounded(least, .up)) }
    if let most { to = min(to, rounded(most, .down)) }
    return from <= to
  }

  /// The rule of an attribute's limits: of numbers, dates, or the lengths of texts and data. Nil if no value can be between them.
  ///
  /// - Precondition: They are limits of the type.
  static func rule(_ type: AttributeType, _ least: String?, _ most: String?) -> ValidationRule? {
    guard reasonAgainst(type, least, most) == nil else { return nil }
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      return .number(atLeast: least.flatMap(limit), atMost: most.flatMap(limit))
    case .date:
      let dates = [least, most].map { limit in
        limit.flatMap(Double.init).map { Date(timeIntervalSinceReferenceDate: $0) }
      }
      return .date(notBefore: dates[0], notAfter: dates[1])
    case .string, .binaryData:
      switch (least.flatMap { Int($0) }, most.flatMap { Int($0) }) {
      case (let from?, let to?): return .length(from...to)
      case (let from?, nil): return .length(from...)
      case (nil, let to?): return .length(...to)
      case (nil, nil): return nil
      }
    default: return nil
    }
  }
}
