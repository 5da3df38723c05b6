import Foundation

/// The reference semantics of comparing texts under options. Faster tests give the same results.
package enum ComparableText {
  static func areEqual(_ left: String, _ right: String, _ options: ComparisonOptions) -> Bool {
    let options = options.effective
    return left.folded(options).utf8.elementsEqual(right.folded(options).utf8)
  }

  package static func order(_ left: String, _ right: String, _ options: ComparisonOptions) -> Int {
    let options = options.effective
    if options.isLocalized { return localizedOrder(left, right, options) }
    guard options.contains(.localeSensitive) else {
      return bytes(left.folded(options), right.folded(options))
    }
    let letters: ComparisonOptions = [.caseInsensitive, .diacriticInsensitive]
    let first = bytes(left.folded(letters), right.folded(letters))
    if first != 0 { return first }
    if !options.contains(.diacriticInsensitive) {
      let second = bytes(left.folded(.caseInsensitive), right.folded(.caseInsensitive))
      if second != 0 { return second }
    }
    if options.contains(.caseInsensitive) { return 0 }
    // Lower case comes first, whose scalars follow those of upper case.
    let accents = options.intersection(.diacriticInsensitive)
    return -bytes(left.folded(accents), right.folded(accents))
  }

  private static func localizedOrder(_ left: String, _ right: String, _ options: ComparisonOptions) -> Int {
    if options.contains(.localizedStandard) { return left.localizedStandardCompare(right).rawValue }
    return options.contains(.caseInsensitive)
      ? left.localizedCaseInsensitiveCompare(right).rawValue : left.localizedCompare(right).rawValue
  }

  /// A value in the order of texts under options; the text itself if only the system's locale has the order.
  package static func sortValue(_ text: String, _ options: ComparisonOptions) -> Value {
    let options = options.effective
    if options.isLocalized { return .string(text) }
    guard options.contains(.localeSensitive) else { return .string(text.folded(options)) }
    var bytes: [UInt8] = []
    func append(_ text: String) {
      // A zero ends a part, so one within a text is followed by what comes after that.
      for byte in text.utf8 { bytes += byte == 0 ? [0, 1] : [byte] }
      bytes += [0, 0]
    }
    append(text.folded([.caseInsensitive, .diacriticInsensitive]))
    if !options.contains(.diacriticInsensitive) { append(text.folded(.caseInsensitive)) }
    if !options.contains(.caseInsensitive) {
      bytes += text.folded(options.intersection(.diacriticInsensitive)).utf8.map { ~$0 }
    }
    return .data(Data(bytes))
  }

  /// The order of two values of `sortValue`.
  @inline(__always)
  package static func order(_ left: Value, _ right: Value, _ options: ComparisonOptions) -> Int {
    if options.isLocalized, case .string(let left) = left, case .string(let right) = right {
      return order(left, right, options)
    }
    return Value.compare(left, right) ?? 0
  }

  private static func bytes(_ left: String, _ right: String) -> Int {
    if left.utf8.elementsEqual(right.utf8) { return 0 }
    return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
  }
}
