import Foundation

extension ValidationRule {
  /// How a value of an attribute fails; nil if it does not. Conditions are checked elsewhere.
  ///
  /// A bound of a floating-point number is the nearest one that the attribute can have: 4.9 is at most 4.9. NaN comes after all numbers and dates.
  package func failure(of value: Value, _ type: AttributeType) -> HeartwoodError.Code? {
    switch kind {
    case .number:
      guard value.isNumber else { return nil }
      if let least = bound(least, type), let order = Value.compare(value, least), order < 0 {
        return .validationNumberTooSmall
      }
      if let most = bound(greatest, type), let order = Value.compare(value, most), order > 0 {
        return .validationNumberTooLarge
      }
    case .date:
      guard case .date(let seconds) = value else { return nil }
      if let earliest = least.flatMap(Double.init), Value.order(seconds, earliest) < 0 {
        return .validationDateTooSoon
      }
      if let latest = greatest.flatMap(Double.init), Value.order(seconds, latest) > 0 {
        return .validationDateTooLate
      }
    case .length:
      guard let length = value.length else { return nil }
      if let least = least.flatMap({ Int($0) }), length < least { return .validationStringTooShort }
      if let most = greatest.flatMap({ Int($0) }), length > most { return .validationStringTooLong }
    case .pattern:
      guard case .string(let string) = value, let text else { return nil }
      let isMatch = try? RegularExpression.known(text).matches(string, isCancellable: false)
      if isMatch != true { return .validationStringPatternMatching }
    case .condition, .value: break
    }
    return nil
  }

  private func bound(_ text: String?, _ type: AttributeType) -> Value? {
    guard let text, let decimal = DecimalText.decimal(text, allowsNaN: false) else { return nil }
    switch type {
    case .float: return .double(Double(Float(DecimalParts(decimal).doubleValue)))
    case .double: return .double(DecimalParts(decimal).doubleValue)
    default: return .decimal(decimal)
    }
  }

  /// Why the rule cannot be used for an attribute; nil if it can.
  func problem(for type: AttributeType) -> String? {
    let fits: Bool
    switch kind {
    case .number: fits = [.integer16, .integer32, .integer64, .decimal, .double, .float].contains(type)
    case .date: fits = type == .date
    case .length: fits = [.string, .binaryData].contains(type)
    case .pattern:
      do {
        if let text { _ = try RegularExpression.known(text) }
      } catch {
        return error.message
      }
      fits = type == .string
    case .condition, .value:
      guard let text else { return nil }
      do {
        _ = try FormatPredicate(text)
        return nil
      } catch {
        return "the condition \"\(text)\" cannot be read: \(error.message)"
      }
    }
    return fits ? nil : "a rule for a \(kind.rawValue) cannot be used for \(type)"
  }
}

extension Value {
  fileprivate var isNumber: Bool {
    switch self {
    case .int, .decimal, .double: true
    default: false
    }
  }

  fileprivate var length: Int? {
    switch self {
    case .string(let text): text.count
    case .data(let data): data.count
    default: nil
    }
  }
}
