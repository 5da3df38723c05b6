/// A set of Unicode scalars: a character or a class of a regular expression.
struct ScalarSet: Sendable {
  /// How a set is made of others.
  indirect enum Node: Sendable {
    case range(UInt32, UInt32)
    case property(ScalarProperty)
    case union([Node])
    case both(Node, Node)
    case without(Node, Node)
    case not(Node)
    /// The scalars that differ only in case from one of the set, and the set.
    case anyCase(Node)

    static func one(_ scalar: Unicode.Scalar) -> Node { .range(scalar.value, scalar.value) }

    func contains(_ scalar: UInt32) -> Bool {
      switch self {
      case .range(let first, let last): first <= scalar && scalar <= last
      case .property(let property): Unicode.Scalar(scalar).map(property.holds) ?? false
      case .union(let nodes): nodes.contains { $0.contains(scalar) }
      case .both(let left, let right): left.contains(scalar) && right.contains(scalar)
      case .without(let left, let right): left.contains(scalar) && !right.contains(scalar)
      case .not(let node): !node.contains(scalar)
      case .anyCase(let node):
        node.contains(scalar) || ScalarSet.variants(of: scalar).contains { node.contains($0) }
      }
    }
  }

  private let low: UInt64
  private let high: UInt64
  private let node: Node

  init(_ node: Node) {
    self.node = node
    var (low, high): (UInt64, UInt64) = (0, 0)
    for scalar in 0..<UInt32(64) {
      if node.contains(scalar) { low |= 1 << UInt64(scalar) }
      if node.contains(scalar + 64) { high |= 1 << UInt64(scalar) }
    }
    (self.low, self.high) = (low, high)
  }

  @inline(__always)
  func contains(_ scalar: UInt32) -> Bool {
    if scalar < 64 { return low >> UInt64(scalar) & 1 == 1 }
    if scalar < 128 { return high >> UInt64(scalar - 64) & 1 == 1 }
    return node.contains(scalar)
  }

  // MARK: Case

  /// The scalars that differ from one only in case. Those whose other case has several scalars, such as ß, have no others.
  static func variants(of scalar: UInt32) -> [UInt32] {
    if scalar < 0x80 {
      switch scalar {
      case 0x41...0x5A: return [scalar + 0x20] + signs(scalar + 0x20)
      case 0x61...0x7A: return [scalar - 0x20] + signs(scalar)
      default: return []
      }
    }
    guard let found = Unicode.Scalar(scalar) else { return [] }
    let mappings = found.properties
    var variants = [mappings.lowercaseMapping, mappings.uppercaseMapping, mappings.titlecaseMapping]
      .compactMap(
        single)
    variants += variants.compactMap(Unicode.Scalar.init).flatMap {
      [$0.properties.lowercaseMapping, $0.properties.uppercaseMapping].compactMap(single)
    }
    if scalar == 0xE5 || scalar == 0xC5 { variants.append(0x212B) }
    return variants.filter { $0 != scalar }
  }

  /// The signs of units and old forms whose lower case is an ASCII letter.
  private static func signs(_ letter: UInt32) -> [UInt32] {
    letter == 0x6B ? [0x212A] : letter == 0x73 ? [0x17F] : []
  }

  private static func single(_ text: String) -> UInt32? {
    let scalars = text.unicodeScalars
    guard let first = scalars.first, scalars.dropFirst().isEmpty else { return nil }
    return first.value
  }

  /// The same scalar for all that differ only in case.
  static func folded(_ scalar: UInt32) -> UInt32 {
    if scalar < 0x80 { return 0x41...0x5A ~= scalar ? scalar + 0x20 : scalar }
    guard let found = Unicode.Scalar(scalar) else { return scalar }
    let upper = single(found.properties.uppercaseMapping).flatMap(Unicode.Scalar.init) ?? found
    return single(upper.properties.lowercaseMapping) ?? scalar
  }
}

/// A property of scalars, such as being a letter.
struct ScalarProperty: Sendable {
  let holds: @Sendable (Unicode.Scalar) -> Bool
}

extension ScalarProperty {
  static let digit = ScalarProperty { $0.properties.generalCategory == .decimalNumber }
  static let space = ScalarProperty { $0.properties.isWhitespace }
  static let word = ScalarProperty(holds: isOfWord)
  /// `\h`.
  static let horizontalSpace = ScalarProperty {
    $0 == "\t" || $0.properties.generalCategory == .spaceSeparator
  }
  /// `\v`, and what ends a line.
  static let lineEnd = ScalarProperty { isLineEnd($0.value) }

  static func isLineEnd(_ scalar: UInt32) -> Bool {
    0x0A...0x0D ~= scalar || scalar == 0x85 || scalar == 0x2028 || scalar == 0x2029
  }

  /// Whether `\w` takes it.
  static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return scalar == "_" || "0"..."9" ~= scalar || "a"..."z" ~= scalar || "A"..."Z" ~= scalar
    }
    switch scalar.properties.generalCategory {
    case .decimalNumber, .connectorPunctuation, .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return scalar.properties.isAlphabetic || scalar == "\u{200C}" || scalar == "\u{200D}"
    }
  }

  /// The property of a name of Unicode or POSIX, as `\p{…}` and `[:…:]` have them; nil if there is none.
  init?(named text: String) {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(Self.canonical)
    if parts.count == 2, ["generalcategory", "gc"].contains(parts[0]) {
      guard let categories = Self.categories[parts[1]] else { return nil }
      self = Self.of(categories)
      return
    }
    if parts.count == 1, let name = parts.first {
      if let categories = Self.categories[name] {
        self = Self.of(categories)
        return
      }
      if let known = Self.known[name] {
        self.init(holds: known)
        return
      }
    }
    self.init(ofRegexNamed: text)
  }

  /// Scripts and rarer properties, of which the standard library has tables in its own expressions only.
  private init?(ofRegexNamed text: String) {
    let isName = text.unicodeScalars.allSatisfy { Self.isNamePart($0) }
    guard isName, text.utf8.count < 64 else { return nil }
    let pattern = "\\p{\(text)}"
    guard (try? Regex(pattern)) != nil else { return nil }
    self.init { scalar in
      // Made for each scalar: an expression cannot be shared by threads.
      (try? Regex(pattern).wholeMatch(in: String(Character(scalar)))) ?? nil != nil
    }
  }

  private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII && (isOfWord(scalar) || scalar == "=" || scalar == " " || scalar == "-")
  }

  private static func canonical(_ name: Substring) -> String {
    String(String.UnicodeScalarView(name.unicodeScalars.filter { $0 != "_" && $0 != " " && $0 != "-" }))
      .lowercased()
  }

  private static func of(_ categories: Set<Unicode.GeneralCategory>) -> ScalarProperty {
    ScalarProperty { categories.contains($0.properties.generalCategory) }
  }

  private static let categories: [String: Set<Unicode.GeneralCategory>] = {
    let single: [(String, String, Unicode.GeneralCategory)] = [
      ("lu", "uppercaseletter", .uppercaseLetter), ("ll", "lowercaseletter", .lowercaseLetter),
      ("lt", "titlecaseletter", .titlecaseLetter), ("lm", "modifierletter", .modifierLetter),
      ("lo", "otherletter", .otherLetter), ("mn", "nonspacingmark", .nonspacingMark),
      ("mc", "spacingmark", .spacingMark), ("me", "enclosingmark", .enclosingMark),
      ("nd", "decimalnumber", .decimalNumber), ("nl", "letternumber", .letterNumber),
      ("no", "othernumber", .otherNumber), ("pc", "connectorpunctuation", .connectorPunctuation),
      ("pd", "dashpunctuation", .dashPunctuation), ("ps", "openpunctuation", .openPunctuation),
      ("pe", "closepunctuation", .closePunctuation), ("pi", "initialpunctuation", .initialPunctuation),
      ("pf", "finalpunctuation", .finalPunctuation), ("po", "otherpunctuation", .otherPunctuation),
      ("sm", "mathsymbol", .mathSymbol), ("sc", "currencysymbol", .currencySymbol),
      ("sk", "modifiersymbol", .modifierSymbol), ("so", "othersymbol", .otherSymbol),
      ("zs", "spaceseparator", .spaceSeparator), ("zl", "lineseparator", .lineSeparator),
      ("zp", "paragraphseparator", .paragraphSeparator), ("cc", "control", .control),
      ("cf", "format", .format), ("cs", "surrogate", .surrogate), ("co", "privateuse", .privateUse),
      ("cn", "unassigned", .unassigned),
    ]
    var all: [String: Set<Unicode.GeneralCategory>] = [:]
    let groups = [
      "l": "letter", "m": "mark", "n": "number", "p": "punctuation", "s": "symbol", "z": "separator",
      "c": "other",
    ]
    for (short, long, category) in single {
      (all[short], all[long]) = ([category], [category])
      let group = String(short.prefix(1))
      for name in [group, groups[group] ?? group] { all[name, default: []].insert(category) }
    }
    all["lc"] = [.uppercaseLetter, .lowercaseLetter, .titlecaseLetter]
    all["punct"] = all["p"]
    return all
  }()

  private static let known: [String: @Sendable (Unicode.Scalar) -> Bool] = [
    "any": { _ in true }, "ascii": { $0.isASCII },
    "assigned": { $0.properties.generalCategory != .unassigned },
    "alphabetic": { $0.properties.isAlphabetic }, "alpha": { $0.properties.isAlphabetic },
    "uppercase": { $0.properties.isUppercase }, "upper": { $0.properties.isUppercase },
    "lowercase": { $0.properties.isLowercase }, "lower": { $0.properties.isLowercase },
    "digit": { $0.properties.generalCategory == .decimalNumber },
    "alnum": { $0.properties.isAlphabetic || $0.properties.generalCategory == .decimalNumber },
    "whitespace": { $0.properties.isWhitespace }, "wspace": { $0.properties.isWhitespace },
    "space": { $0.properties.isWhitespace },
    "blank": { $0 == "\t" || $0.properties.generalCategory == .spaceSeparator },
    "cntrl": { $0.properties.generalCategory == .control },
    "xdigit": { $0.properties.isHexDigit }, "hexdigit": { $0.properties.isHexDigit },
    "asciihexdigit": { $0.properties.isASCIIHexDigit }, "word": { isOfWord($0) },
    "graph": { isGraphic($0) && !$0.properties.isWhitespace },
    "print": { isGraphic($0) },
    "emoji": { $0.properties.isEmoji }, "emojipresentation": { $0.properties.isEmojiPresentation },
    "ideographic": { $0.properties.isIdeographic }, "math": { $0.properties.isMath },
    "dash": { $0.properties.isDash }, "diacritic": { $0.properties.isDiacritic },
    "idstart": { $0.properties.isIDStart }, "idcontinue": { $0.properties.isIDContinue },
    "xidstart": { $0.properties.isXIDStart }, "xidcontinue": { $0.properties.isXIDContinue },
    "quotationmark": { $0.properties.isQuotationMark },
  ]

  private static func isGraphic(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .surrogate, .unassigned: false
    default: true
    }
  }
}
