/// Characters, escapes and classes.
extension PatternParser {
  /// Nil for what matches nothing by itself: a comment, flags.
  mutating func atom() throws(Mistake) -> PatternNode? {
    guard let scalar = take() else { return nil }
    switch scalar {
    case "(": return try group()
    case "[":
      return .one(try characterClass())
    case ".":
      return .one(flags.dotTakesAll ? .range(0, .max) : .not(.property(.lineEnd)))
    case "^": return .place(flags.isMultiline ? .lineStart : .start)
    case "$": return .place(flags.isMultiline ? .lineEnd : .lastEnd)
    case "\\": return try escape()
    case "*", "+", "?", "{":
      position -= 1
      throw mistake("there is nothing to repeat before \(scalar)")
    default: return literal(scalar)
    }
  }

  // MARK: Escapes

  private mutating func escape() throws(Mistake) -> PatternNode {
    let start = position - 1
    guard let scalar = next else {
      throw Mistake(what: "the pattern ends after a backslash", position: start)
    }
    switch scalar {
    case "A": return place(.start)
    case "Z": return place(.lastEnd)
    case "z": return place(.end)
    case "b": return place(.wordBoundary)
    case "B": return place(.noWordBoundary)
    case "R":
      position += 1
      return .choice([
        .sequence([.one(.one("\r")), .one(.one("\n"))]), .one(.property(.lineEnd)),
      ])
    case "k":
      position += 1
      guard skip("<") else { throw Mistake(what: "\\k is followed by <name>", position: start) }
      return try refer(toNamed: take(upTo: ">", "the name of a group"), at: start)
    case "1"..."9":
      return refer(to: takeReference(), at: start)
    default:
      return .one(try escapedSet(inClass: false))
    }
  }

  private mutating func place(_ place: PatternPlace) -> PatternNode {
    position += 1
    return .place(place)
  }

  /// The number of a group: as many digits as there are groups so far, at least one.
  private mutating func takeReference() -> Int {
    var number = 0
    while let digit = next.flatMap({ Int(String($0)) }), next?.isASCII == true {
      let longer = number * 10 + digit
      guard number == 0 || longer <= groups else { break }
      number = longer
      position += 1
    }
    return number
  }

  /// The set of an escape, after its backslash.
  private mutating func escapedSet(inClass isInClass: Bool) throws(Mistake) -> ScalarSet.Node {
    let start = position - 1
    guard let scalar = take() else {
      throw Mistake(what: "the pattern ends after a backslash", position: start)
    }
    switch scalar {
    case "d": return .property(.digit)
    case "D": return .not(.property(.digit))
    case "s": return .property(.space)
    case "S": return .not(.property(.space))
    case "w": return .property(.word)
    case "W": return .not(.property(.word))
    case "h": return .property(.horizontalSpace)
    case "H": return .not(.property(.horizontalSpace))
    case "v": return .property(.lineEnd)
    case "V": return .not(.property(.lineEnd))
    case "p": return try property(isNegated: false, start)
    case "P": return try property(isNegated: true, start)
    default: return cased(.one(try character(scalar, start, inClass: isInClass)))
    }
  }

  private mutating func property(isNegated: Bool, _ start: Int) throws(Mistake) -> ScalarSet.Node {
    var name: String
    if skip("{") {
      name = try take(upTo: "}", "the name of a property")
    } else {
      name = take().map(String.init) ?? ""
    }
    let isInverse = name.hasPrefix("^")
    if isInverse { name.removeFirst() }
    return try property(named: name, isNegated: isNegated != isInverse, start)
  }

  private func property(
    named name: String, isNegated: Bool, _ start: Int
  ) throws(Mistake) -> ScalarSet.Node {
    guard let property = ScalarProperty(named: name) else {
      throw Mistake(what: "there is no property \"\(name.prefix(40))\" of characters", position: start)
    }
    return isNegated ? .not(cased(.property(property))) : cased(.property(property))
  }

  private mutating func character(
    _ scalar: Unicode.Scalar, _ start: Int, inClass isInClass: Bool
  ) throws(Mistake) -> Unicode.Scalar {
    switch scalar {
    case "t": return "\t"
    case "n": return "\n"
    case "r": return "\r"
    case "f": return "\u{0C}"
    case "a": return "\u{07}"
    case "e": return "\u{1B}"
    case "b" where isInClass: return "\u{08}"
    case "c":
      guard let letter = take(), letter.isASCII else {
        throw Mistake(what: "\\c is followed by a letter", position: start)
      }
      return Unicode.Scalar(UInt8(letter.value) & 0x1F)
    case "0": return try code(octalDigits(), 8, start)
    case "x": return try code(skip("{") ? take(upTo: "}", "a code") : hexadecimal(2), 16, start)
    case "u": return try code(skip("{") ? take(upTo: "}", "a code") : hexadecimal(4), 16, start)
    case "U": return try code(hexadecimal(8), 16, start)
    default:
      guard !scalar.isASCII || !ScalarProperty.isOfWord(scalar) || scalar == "_" else {
        throw Mistake(what: "\\\(scalar) has no meaning that is known", position: start)
      }
      return scalar
    }
  }

  private mutating func hexadecimal(_ count: Int) -> String {
    var digits = ""
    while digits.count < count, let scalar = next, scalar.properties.isASCIIHexDigit {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    return digits.count == count ? digits : ""
  }

  private mutating func octalDigits() -> String {
    var digits = ""
    while digits.count < 3, let scalar = next, "0"..."7" ~= scalar {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    return digits
  }

  private func code(_ digits: String, _ radix: Int, _ start: Int) throws(Mistake) -> Unicode.Scalar {
    guard let number = UInt32(digits, radix: radix), let scalar = Unicode.Scalar(number) else {
      throw Mistake(what: "the code of a character is missing or wrong", position: start)
    }
    return scalar
  }

  // MARK: Classes

  /// A class, after its `[`.
  private mutating func characterClass() throws(Mistake) -> ScalarSet.Node {
    try descend()
    defer { depth -= 1 }
    let start = position - 1
    let isNegated = skip("^")
    var members: [ScalarSet.Node] = []
    var left: (node: ScalarSet.Node, isIntersection: Bool)?
    func joined() -> ScalarSet.Node {
      let right = ScalarSet.Node.union(members)
      guard let left else { return right }
      return left.isIntersection ? .both(left.node, right) : .without(left.node, right)
    }
    while true {
      skipSpace()
      guard next != nil else { throw Mistake(what: "a [ is not closed", position: start) }
      if next == "]" {
        guard !members.isEmpty else {
          throw mistake("a class or a part of it is empty; write \\] for the character")
        }
        position += 1
        return isNegated ? .not(joined()) : joined()
      }
      if !members.isEmpty, skip("&&") {
        left = (joined(), true)
        members = []
      } else if !members.isEmpty, next == "-", peek(1) == "-" {
        position += 2
        left = (joined(), false)
        members = []
      } else {
        members.append(try member())
      }
    }
  }

  private mutating func member() throws(Mistake) -> ScalarSet.Node {
    let start = position
    if skip("[:") {
      var name = try take(upTo: ":", "the name of a class")
      guard skip("]") else { throw Mistake(what: "[:name:] is not closed", position: start) }
      let isInverse = name.hasPrefix("^")
      if isInverse { name.removeFirst() }
      return try property(named: name, isNegated: isInverse, start)
    }
    if skip("[") { return try characterClass() }
    guard let first = try classCharacter() else { return try escapedMember() }
    guard next == "-", let after = peek(1), after != "]", after != "-", after != "[" else {
      return cased(.one(first))
    }
    position += 1
    guard let last = try classCharacter(), first.value <= last.value else {
      throw Mistake(what: "a range of characters ends before it begins, or with a class", position: start)
    }
    return cased(.range(first.value, last.value))
  }

  /// A character; nil if an escape of a class is next.
  private mutating func classCharacter() throws(Mistake) -> Unicode.Scalar? {
    guard let scalar = next else { return nil }
    guard scalar == "\\" else {
      position += 1
      return scalar
    }
    guard let after = peek(1), !"dDsSwWhHvVpPQ".unicodeScalars.contains(after) else { return nil }
    let start = position
    position += 2
    return try character(after, start, inClass: true)
  }

  /// An escape of a class, or `\Q…\E`.
  private mutating func escapedMember() throws(Mistake) -> ScalarSet.Node {
    if skip("\\Q") {
      var members: [ScalarSet.Node] = []
      while next != nil, !skip("\\E") {
        if let scalar = take() { members.append(cased(.one(scalar))) }
      }
      return .union(members)
    }
    position += 1
    return try escapedSet(inClass: true)
  }
}
