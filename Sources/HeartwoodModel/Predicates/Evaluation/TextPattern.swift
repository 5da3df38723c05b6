import Foundation

/// The constant side of a string comparison, prepared once and compared with the UTF-8 of rows.
///
/// All comparisons except MATCHES and MATCHESWORDS compare UTF-8 of the composed form, folded according to the options. Texts
/// whose bytes are all below 0xCC are in composed form already.
final class TextPattern {
  let comparator: ComparisonOperator
  let options: ComparisonOptions
  /// In folded and composed form.
  let constant: String
  private let bytes: UnsafeRawBufferPointer
  private let wildcards: WildcardPattern?
  private let expression: RegularExpression?
  /// The words that MATCHESWORDS looks for.
  let words: WordQuery?
  /// The other text of an order by dictionary.
  private let dictionaryWord: String?

  /// - Throws: `.invalidPredicate` if the regular expression of MATCHES is invalid, or the words of MATCHESWORDS are nested too deeply.
  init(_ comparator: ComparisonOperator, _ text: String, _ options: ComparisonOptions) throws(HeartwoodError)
  {
    let options = options.effective
    self.comparator = comparator
    self.options = options
    let isOrder = comparator.isOrder && comparator != .equal && comparator != .notEqual
    dictionaryWord = isOrder && options.contains(.localeSensitive) ? text : nil
    constant = options.isEmpty ? text.normalizedForComparison : text.folded(options)
    wildcards = comparator == .like ? WildcardPattern(constant) : nil
    expression = comparator == .matches ? try RegularExpression(text, options) : nil
    words = comparator == .matchesWords ? try WordQuery(text) : nil
    // Last, because `deinit` does not run if the initializer throws.
    bytes = .copy(of: constant)
  }

  deinit { bytes.deallocate() }

  /// Whether the comparison holds for the text in these bytes. Bytes that are not UTF-8 differ from every
  /// text.
  ///
  /// - Throws: If a regular expression takes too many steps, or the fetch is cancelled meanwhile.
  func matches(_ text: UnsafeRawBufferPointer) throws -> Bool {
    if let words { return words.matches(TextWords(text)) }
    if comparator != .matches, dictionaryWord == nil {
      if options == .normalized { return holds(text) }
      if options.isEmpty {
        if text.isSurelyComposed { return holds(text) }
      } else if text.isASCII {
        return options.contains(.caseInsensitive) ? holdsForLowercased(text) : holds(text)
      }
    }
    guard let string = String(validating: text, as: UTF8.self) else { return comparator == .notEqual }
    return try matches(string)
  }

  func matches(_ string: String) throws -> Bool {
    if let words { return words.matches(TextWords(string)) }
    if let expression { return try expression.matches(string) }
    if let dictionaryWord { return comparator.holds(ComparableText.order(string, dictionaryWord, options)) }
    var comparable = options.isEmpty ? string.normalizedForComparison : string.folded(options)
    return comparable.withUTF8 { holds(UnsafeRawBufferPointer($0)) }
  }

  /// - Parameter text: in composed and folded form. The empty text is in no other, as in Core Data.
  private func holds(_ text: UnsafeRawBufferPointer) -> Bool {
    switch comparator {
    case .equal: text.isEqual(to: bytes)
    case .notEqual: !text.isEqual(to: bytes)
    case .beginsWith: !bytes.isEmpty && text.hasPrefix(bytes)
    case .endsWith: !bytes.isEmpty && text.hasSuffix(bytes)
    case .contains: !bytes.isEmpty && text.contains(bytes)
    case .like: wildcards?.matches(text) ?? false
    default: comparator.holds(text.order(to: bytes))
    }
  }

  private func holdsForLowercased(_ text: UnsafeRawBufferPointer) -> Bool {
    text.withLowercasedASCII { holds($0) }
  }
}

extension String {
  /// The string in composed form, without the differences that the options ignore. Texts that are canonically equal have the same: Foundation's
  /// `folding` alone treats some letters and symbols otherwise than the same in parts.
  func folded(_ options: ComparisonOptions) -> String {
    if options.contains(.normalized) { return self }
    if utf8.allSatisfy({ $0 < 0x80 }) { return options.contains(.caseInsensitive) ? lowercased() : self }
    var folding: String.CompareOptions = []
    if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
    if folding.isEmpty { return normalizedForComparison }
    return normalizedForComparison.folding(options: folding, locale: nil).normalizedForComparison
  }
}
