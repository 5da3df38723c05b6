import Foundation

/// What a text is compared with, prepared once and then held against the UTF-8 of rows.
///
/// All comparisons but MATCHES are made on UTF-8 of the composed form, folded as the options ask. Texts whose bytes
/// are all below 0xCC are in composed form as they are.
final class TextPattern {
  let comparator: ComparisonOperator
  let options: ComparisonOptions
  /// Folded and composed.
  let constant: String
  private let bytes: UnsafeRawBufferPointer
  private let wildcards: WildcardPattern?
  private let expression: RegularExpression?

  /// - Throws: when the regular expression of MATCHES cannot be read.
  init(_ comparator: ComparisonOperator, _ text: String, _ options: ComparisonOptions) throws(HeartwoodError)
  {
    self.comparator = comparator
    self.options = options
    constant = options.isEmpty ? text.normalizedForComparison : text.folded(options)
    wildcards = comparator == .like ? WildcardPattern(constant) : nil
    expression = comparator == .matches ? try RegularExpression(text, options) : nil
    // Last, as an initializer that throws frees nothing.
    bytes = .copy(of: constant)
  }

  deinit { bytes.deallocate() }

  /// Whether the comparison holds for the text in these bytes; false where they are no UTF-8.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    if comparator != .matches {
      if options.isEmpty {
        if text.isSurelyComposed { return holds(text) }
      } else if text.isASCII {
        return options.contains(.caseInsensitive) ? holdsForLowercased(text) : holds(text)
      }
    }
    guard let string = String(validating: text, as: UTF8.self) else { return comparator == .notEqual }
    return matches(string)
  }

  func matches(_ string: String) -> Bool {
    if let expression { return expression.matches(string) }
    var comparable = options.isEmpty ? string.normalizedForComparison : string.folded(options)
    return comparable.withUTF8 { holds(UnsafeRawBufferPointer($0)) }
  }

  /// - Parameter text: composed and folded.
  private func holds(_ text: UnsafeRawBufferPointer) -> Bool {
    switch comparator {
    case .equal: text.isEqual(to: bytes)
    case .notEqual: !text.isEqual(to: bytes)
    case .beginsWith: text.hasPrefix(bytes)
    case .endsWith: text.hasSuffix(bytes)
    case .contains: text.contains(bytes)
    case .like: wildcards?.matches(text) ?? false
    default: comparator.holds(text.order(to: bytes))
    }
  }

  private func holdsForLowercased(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count <= 256 else {
      let copy = text.map { $0.lowercasedASCII }
      return copy.withUnsafeBytes { holds($0) }
    }
    return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { copy in
      for index in 0..<text.count { copy[index] = text[index].lowercasedASCII }
      return holds(UnsafeRawBufferPointer(start: copy.baseAddress, count: text.count))
    }
  }
}

extension UInt8 {
  @inline(__always)
  fileprivate var lowercasedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

/// A regular expression for whole texts.
struct RegularExpression {
  private let expression: Regex<AnyRegexOutput>
  private let ignoresDiacritics: Bool

  init(_ text: String, _ options: ComparisonOptions) throws(HeartwoodError) {
    ignoresDiacritics = options.contains(.diacriticInsensitive)
    do {
      let expression = try Regex(ignoresDiacritics ? text.folded([.diacriticInsensitive]) : text)
      self.expression = options.contains(.caseInsensitive) ? expression.ignoresCase() : expression
    } catch {
      throw .predicate("the regular expression \"\(text)\" cannot be read: \(error)")
    }
  }

  func matches(_ text: String) -> Bool {
    let subject = ignoresDiacritics ? text.folded([.diacriticInsensitive]) : text
    return (try? expression.wholeMatch(in: subject)) ?? nil != nil
  }
}

extension String {
  /// Without what the options disregard, in composed form.
  func folded(_ options: ComparisonOptions) -> String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return options.contains(.caseInsensitive) ? lowercased() : self }
    var folding: String.CompareOptions = []
    if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
    return self.folding(options: folding, locale: nil).precomposedStringWithCanonicalMapping
  }
}
