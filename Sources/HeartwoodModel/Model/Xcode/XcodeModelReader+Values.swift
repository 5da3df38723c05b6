import Foundation

/// Defaults and limits, which may be left from a former type of the attribute.
extension XcodeModelReader {
  mutating func defaultValue(
    _ fields: inout MarkupFields, _ type: AttributeType, _ element: MarkupElement, _ path: String,
    _ kept: inout [String: String]
  ) -> String? {
    let (words, seconds) = (fields.take("defaultValueString"), fields.text("defaultDateTimeInterval"))
    let bytes = fields.take(XcodeModel.defaultData)
    let isData = [.binaryData, .transformable].contains(type)
    if let bytes {
      if isData, let value = Value(plainText: bytes, type: type)?.plainText {
        for (name, text) in [("defaultValueString", words), ("defaultDateTimeInterval", seconds)] {
          guard let text, !text.isEmpty else { continue }
          kept[name] = text
          note(element, leftOutDefault(text, type, path))
        }
        return value
      }
      kept[XcodeModel.defaultData] = bytes
      note(element, leftOutDefault(bytes, type, path))
    }
    guard type == .date else {
      if let seconds {
        kept["defaultDateTimeInterval"] = seconds
        note(element, leftOutDefault(seconds, type, path))
      }
      // An empty text is a default value of a text.
      guard let words, type == .string || !words.isEmpty else { return nil }
      return value(words, type, element, path, &kept)
    }
    if let words, !words.isEmpty {
      kept["defaultValueString"] = words
      // Xcode writes both.
      if seconds == nil {
        note(
          element, "the default date of \(path) is \"\(words)\", which depends on the moment, and is left out"
        )
      }
    }
    guard let seconds else { return nil }
    if let value = Value(plainText: seconds, type: type)?.plainText { return value }
    kept["defaultDateTimeInterval"] = seconds
    note(element, leftOutDefault(seconds, type, path))
    return nil
  }

  /// The text of a default as a model stores it.
  private mutating func value(
    _ text: String, _ type: AttributeType, _ element: MarkupElement, _ path: String,
    _ kept: inout [String: String]
  ) -> String? {
    let isPlain: Bool
    var plain: String?
    switch type {
    case .undefined, .composite, .binaryData, .transformable: (plain, isPlain) = (nil, true)
    case .boolean: (plain, isPlain) = Self.boolean(text)
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      (plain, isPlain) = Self.number(text, type)
    case .uri: (plain, isPlain) = (URL(string: text) == nil ? nil : text, true)
    default: (plain, isPlain) = (text, true)
    }
    guard let value = plain.flatMap({ Value(plainText: $0, type: type)?.plainText }) else {
      kept["defaultValueString"] = text
      note(element, leftOutDefault(text, type, path))
      return nil
    }
    if !isPlain {
      note(element, "the default value \"\(text)\" of \(path) is read as \(value), as its type is \(type)")
    }
    return value
  }

  private func leftOutDefault(_ text: String, _ type: AttributeType, _ path: String) -> String {
    "the default value \"\(text)\" of \(path) is left out, as its type is \(type)"
  }

  /// Zero is false, and other numbers are true.
  private static func boolean(_ text: String) -> (String?, isPlain: Bool) {
    switch text.uppercased() {
    case "YES", "TRUE": return ("true", true)
    case "NO", "FALSE": return ("false", true)
    default:
      guard let number = Double(text), number.isFinite else { return (nil, true) }
      return (number == 0 ? "false" : "true", number == 0 || number == 1)
    }
  }

  /// A Boolean is 1 or 0, and an integer is what is before the point. A number that would become infinite is none.
  private static func number(_ text: String, _ type: AttributeType) -> (String?, isPlain: Bool) {
    switch text.uppercased() {
    case "YES", "TRUE": return ("1", false)
    case "NO", "FALSE": return ("0", false)
    default: break
    }
    let isInteger = [.integer16, .integer32, .integer64].contains(type)
    guard isInteger, Int64(text) == nil, let number = Double(text) else {
      if type != .decimal, text.contains(where: \.isNumber) {
        let isInfinite = type == .float ? Float(text)?.isInfinite : Double(text)?.isInfinite
        if isInfinite == true { return (nil, true) }
      }
      return (isInteger ? text : XcodeModel.plainNumber(text), true)
    }
    let whole = Int64(exactly: number.rounded(.towardZero))
    return (whole.map { "\($0)" }, number == number.rounded(.towardZero))
  }

  // MARK: Rules

  mutating func rules(
    _ fields: inout MarkupFields, _ type: AttributeType, _ element: MarkupElement, _ path: String,
    _ kept: inout [String: String]
  ) -> [ValidationRule]? {
    var rules: [ValidationRule] = []
    let isDate = type == .date
    let used =
      isDate ? ["minDateTimeInterval", "maxDateTimeInterval"] : ["minValueString", "maxValueString"]
    let others =
      isDate ? ["minValueString", "maxValueString"] : ["minDateTimeInterval", "maxDateTimeInterval"]
    for name in others {
      guard let text = fields.text(name) else { continue }
      kept[name] = text
      note(element, "\(name)=\"\(text)\" of \(path) is left out, as its type is \(type)")
    }
    var limits = used.map { fields.text($0) }
    for (place, name) in used.enumerated() {
      guard let text = limits[place], !XcodeModel.isLimit(text, of: type) else { continue }
      limits[place] = nil
      kept[name] = text
      let reason = text.lowercased() == "nan" ? "it limits nothing" : "its type is \(type)"
      note(element, "\(name)=\"\(text)\" of \(path) is left out, as \(reason)")
    }
    if limits[0] != nil || limits[1] != nil {
      if let rule = XcodeModel.rule(type, limits[0], limits[1]) {
        rules.append(rule)
      } else {
        for (name, text) in zip(used, limits) { kept[name] = text }
        note(
          element,
          "the limits \(limits[0] ?? "none") and \(limits[1] ?? "none") of \(path) are left out: \(XcodeModel.reasonAgainst(type, limits[0], limits[1]) ?? "")"
        )
      }
    }
    if let pattern = fields.text("regularExpressionString") {
      let rule = ValidationRule.pattern(pattern)
      if let problem = rule.problem(for: type) {
        kept["regularExpressionString"] = pattern
        note(element, "regularExpressionString=\"\(pattern)\" of \(path) is left out: \(problem)")
      } else {
        rules.append(rule)
      }
    }
    return rules.isEmpty ? nil : rules
  }
}
