/// Reads regular expressions in ICU's syntax.
///
/// Groups and classes may be nested to a depth that keeps every recursion over a pattern within a thread's stack.
struct PatternParser {
  /// The flags that the letters in `(?…)` switch.
  struct Flags {
    var ignoresCase = false
    var dotTakesAll = false
    var isMultiline = false
    var ignoresSpace = false
  }

  /// Why a pattern can't be read, and where.
  struct Mistake: Error {
    let what: String
    /// In scalars, from 0.
    let position: Int
  }

  /// How deep groups and classes may be nested.
  static let deepest = 100
  /// The longest pattern, in scalars.
  static let longest = 100_000

  let text: [Unicode.Scalar]
  var position = 0
  var flags: Flags
  var depth = 0
  private(set) var groups = 0
  private var names: [String: Int] = [:]
  /// The greatest number of a group that something refers to, and where.
  private var referred: (number: Int, position: Int)?

  private init(_ text: String, _ flags: Flags) {
    self.text = Array(text.unicodeScalars)
    self.flags = flags
  }

  static func parse(_ text: String, _ flags: Flags) throws(Mistake) -> PatternNode {
    guard text.utf8.count <= 4 * longest else {
      throw Mistake(what: "it is longer than \(longest) characters", position: 0)
    }
    var parser = PatternParser(text, flags)
    guard parser.text.count <= longest else {
      throw Mistake(what: "it is longer than \(longest) characters", position: 0)
    }
    let node = try parser.choice()
    guard parser.next == nil else { throw parser.mistake("a ) without a (") }
    if let referred = parser.referred, referred.number > parser.groups {
      throw Mistake(what: "there is no group \(referred.number)", position: referred.position)
    }
    return node
  }

  // MARK: Characters

  var next: Unicode.Scalar? { position < text.count ? text[position] : nil }

  func peek(_ distance: Int) -> Unicode.Scalar? {
    position + distance < text.count ? text[position + distance] : nil
  }

  mutating func take() -> Unicode.Scalar? {
    guard let scalar = next else { return nil }
    position += 1
    return scalar
  }

  mutating func skip(_ wanted: String) -> Bool {
    let scalars = Array(wanted.unicodeScalars)
    guard position + scalars.count <= text.count,
      text[position..<position + scalars.count].elementsEqual(scalars)
    else { return false }
    position += scalars.count
    return true
  }

  /// The text before a character, which is taken too.
  mutating func take(upTo end: Unicode.Scalar, _ what: String) throws(Mistake) -> String {
    let start = position
    while let scalar = take() {
      guard scalar == end else { continue }
      var found = ""
      found.unicodeScalars.append(contentsOf: text[start..<position - 1])
      return found
    }
    throw Mistake(what: "\(what) is not closed by \(end)", position: start)
  }

  func mistake(_ what: String) -> Mistake { Mistake(what: what, position: position) }

  /// Skips spaces and comments where they have no meaning.
  mutating func skipSpace() {
    guard flags.ignoresSpace else { return }
    while let scalar = next {
      if scalar == "#" {
        while let scalar = take(), !ScalarProperty.isLineEnd(scalar.value) {}
      } else if scalar.properties.isWhitespace {
        position += 1
      } else {
        return
      }
    }
  }

  mutating func descend() throws(Mistake) {
    depth += 1
    guard depth <= Self.deepest else {
      throw mistake("groups or classes are nested deeper than \(Self.deepest) levels")
    }
  }

  // MARK: Choices and sequences

  mutating func choice() throws(Mistake) -> PatternNode {
    var parts = [try sequence()]
    while skip("|") { parts.append(try sequence()) }
    return parts.count == 1 ? parts[0] : .choice(parts)
  }

  private mutating func sequence() throws(Mistake) -> PatternNode {
    var parts: [PatternNode] = []
    while true {
      skipSpace()
      guard let scalar = next, scalar != "|", scalar != ")" else { break }
      if skip("\\Q") {
        try quoted(&parts)
      } else if let part = try repeated() {
        parts.append(part)
      }
    }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .empty : .sequence(parts)
  }

  /// Parses the text between `\Q` and `\E`. A repetition after it is of its last character.
  private mutating func quoted(_ parts: inout [PatternNode]) throws(Mistake) {
    let first = parts.count
    while next != nil, !skip("\\E") {
      if let scalar = take() { parts.append(literal(scalar)) }
    }
    if parts.count > first { parts.append(try repetition(of: parts.removeLast())) }
  }

  func literal(_ scalar: Unicode.Scalar) -> PatternNode { .one(cased(.one(scalar))) }

  func cased(_ node: ScalarSet.Node) -> ScalarSet.Node { flags.ignoresCase ? .anyCase(node) : node }

  // MARK: Repetitions

  private mutating func repeated() throws(Mistake) -> PatternNode? {
    guard let atom = try atom() else { return nil }
    return try repetition(of: atom)
  }

  /// An atom with the quantifier that follows.
  private mutating func repetition(of atom: PatternNode) throws(Mistake) -> PatternNode {
    skipSpace()
    guard let (least, most) = try bounds() else { return atom }
    let isPossessive = skip("+")
    let node = PatternNode.repeated(atom, least: least, most: most, isLazy: !isPossessive && skip("?"))
    skipSpace()
    if let next, "*+?{".unicodeScalars.contains(next) {
      throw mistake("there is nothing to repeat before \(next)")
    }
    return isPossessive ? .atomic(node) : node
  }

  private mutating func bounds() throws(Mistake) -> (least: Int, most: Int?)? {
    switch next {
    case "*":
      position += 1
      return (0, nil)
    case "+":
      position += 1
      return (1, nil)
    case "?":
      position += 1
      return (0, 1)
    case "{":
      position += 1
      return try interval()
    default: return nil
    }
  }

  private mutating func interval() throws(Mistake) -> (least: Int, most: Int?) {
    let start = position - 1
    let parts = try take(upTo: "}", "the number of repetitions").split(
      separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.map { part in
      Int(String(String.UnicodeScalarView(part.unicodeScalars.filter { !$0.properties.isWhitespace })))
    }
    guard parts.count <= 2, let least = numbers.first ?? nil, least >= 0 else {
      throw Mistake(
        what: "{ begins a number of repetitions, as in {2} or {2,5}; write \\{ for the character",
        position: start)
    }
    guard parts.count == 2 else { return (least, least) }
    if parts[1].allSatisfy(\.isWhitespace) { return (least, nil) }
    guard let most = numbers[1], most >= least else {
      throw Mistake(
        what: "the second number of repetitions is smaller than the first, or no number", position: start)
    }
    return (least, most)
  }

  // MARK: Groups

  mutating func nextGroup() -> Int {
    groups += 1
    return groups
  }

  mutating func refer(to number: Int, at position: Int) -> PatternNode {
    if number > referred?.number ?? 0 { referred = (number, position) }
    return .same(number, ignoresCase: flags.ignoresCase)
  }

  mutating func refer(toNamed name: String, at position: Int) throws(Mistake) -> PatternNode {
    guard let number = names[name] else {
      throw Mistake(what: "there is no group \(name) before this", position: position)
    }
    return refer(to: number, at: position)
  }

  /// A group, after its `(`; nil for a comment or for flags of what follows.
  mutating func group() throws(Mistake) -> PatternNode? {
    try descend()
    defer { depth -= 1 }
    guard skip("?") else {
      let number = nextGroup()
      return .group(try body(), number)
    }
    if skip("#") {
      _ = try take(upTo: ")", "a comment")
      return nil
    }
    if skip(":") { return try body() }
    if skip(">") { return .atomic(try body()) }
    if skip("=") { return .look(try body(), isBehind: false, isNegated: false) }
    if skip("!") { return .look(try body(), isBehind: false, isNegated: true) }
    if skip("<=") { return .look(try body(), isBehind: true, isNegated: false) }
    if skip("<!") { return .look(try body(), isBehind: true, isNegated: true) }
    if skip("<") || skip("P<") {
      let start = position
      let name = try take(upTo: ">", "the name of a group")
      let number = nextGroup()
      guard !name.isEmpty, names.updateValue(number, forKey: name) == nil else {
        throw Mistake(what: "a group has no name, or one that another has", position: start)
      }
      return .group(try body(), number)
    }
    return try flagged()
  }

  /// Parses the pattern between the parentheses. Flags in it end with it.
  private mutating func body() throws(Mistake) -> PatternNode {
    let start = position
    let outer = flags
    let node = try choice()
    flags = outer
    guard skip(")") else { throw Mistake(what: "a ( is not closed", position: start - 1) }
    return node
  }

  /// `(?i)` or `(?i:…)`.
  private mutating func flagged() throws(Mistake) -> PatternNode? {
    let outer = flags
    var isOn = true
    while let scalar = take() {
      switch scalar {
      case "-": isOn = false
      case "i": flags.ignoresCase = isOn
      case "s": flags.dotTakesAll = isOn
      case "m": flags.isMultiline = isOn
      case "x": flags.ignoresSpace = isOn
      // The words of Unicode, and lines that end with a line feed only, make no difference here.
      case "w", "d", "u": break
      case ")": return nil
      case ":":
        let node = try body()
        flags = outer
        return node
      default:
        position -= 1
        throw mistake("(?\(scalar) begins no group that is known")
      }
    }
    throw mistake("a ( is not closed")
  }
}
