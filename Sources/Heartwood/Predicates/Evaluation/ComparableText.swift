/// The reference semantics of comparing texts under options. Faster tests give the same results.
enum ComparableText {
  static func areEqual(_ left: String, _ right: String, _ options: ComparisonOptions) -> Bool {
    let options = options.effective
    return left.folded(options).utf8.elementsEqual(right.folded(options).utf8)
  }

  static func order(_ left: String, _ right: String, _ options: ComparisonOptions) -> Int {
    let options = options.effective
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

  private static func bytes(_ left: String, _ right: String) -> Int {
    if left.utf8.elementsEqual(right.utf8) { return 0 }
    return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
  }
}
