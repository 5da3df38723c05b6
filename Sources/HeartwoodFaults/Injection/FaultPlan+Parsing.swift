import HeartwoodFiles

extension FaultPlan {
  /// The error for text that is not a plan.
  public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The expected and the actual word.
    public let description: String
  }

  /// Parses a plan from the text that `description` made.
  ///
  /// - Throws: `SyntaxError` if the text is not valid.
  public init(parsing text: String) throws(SyntaxError) {
    self.init()
    var words = try PlanWords(text)
    if !words.take("nothing") {
      repeat { try parseClause(&words) } while words.take(";")
    }
    try words.end()
  }

  private mutating func parseClause(_ words: inout PlanWords) throws(SyntaxError) {
    if words.take("space") {
      spaceLimit = try words.number()
    } else if words.take("reads") {
      largestRead = try words.positiveNumber()
    } else if words.take("writes") {
      largestWrite = try words.positiveNumber()
    } else if words.take("limits") {
      try words.expect("may", "stay", "unused")
      limitsMayStayUnused = true
    } else {
      faults.append(try Fault(&words))
    }
  }
}

extension FaultPlan.Fault {
  fileprivate init(_ words: inout PlanWords) throws(FaultPlan.SyntaxError) {
    let action = try FaultPlan.Action(&words)
    try words.expect("on")
    let calls = try words.value("calls") { FaultPlan.Calls(word: $0) }
    let file = words.take("of") ? try words.string() : ""
    self.init(action, on: calls, file: file, try FaultPlan.Occurrence(&words))
    if words.take("may") {
      try words.expect("stay", "unused")
      mayStayUnused = true
    }
  }
}

extension FaultPlan.Occurrence {
  fileprivate init(_ words: inout PlanWords) throws(FaultPlan.SyntaxError) {
    if words.take("at") {
      self = .nth(try words.positiveNumber())
    } else if words.take("every") {
      self = .every(try words.positiveNumber())
    } else {
      try words.expect("from")
      self = .from(try words.positiveNumber())
    }
  }
}

extension FaultPlan.Action {
  fileprivate init(_ words: inout PlanWords) throws(FaultPlan.SyntaxError) {
    switch try words.next("an action") {
    case "fail":
      try words.expect("with")
      self = .fail(.init(rawValue: try words.string()), try FaultPlan.Effect(&words))
    case "shorten":
      try words.expect("to")
      self = .shorten(to: try words.number(from: 0))
    case "tear":
      try words.expect("keeping")
      let kept: Int = try words.number(from: 0)
      try words.expect("and")
      self = .tear(keeping: kept, rest: try words.value("content") { TornContent(rawValue: $0) })
    case "misdirect":
      try words.expect("by")
      self = .misdirect(by: try words.number())
    case "flip":
      let count = try words.positiveNumber()
      try words.expect("bits", "with", "seed")
      self = .flipBits(count, seed: try words.number())
    case "sync":
      try words.expect("that")
      self = .sync(try words.value("a behavior") { SyncBehavior(rawValue: $0) })
    case "jump":
      try words.expect("by")
      self = .jumpClock(by: try words.number())
    case let other: throw words.unexpected(other, "an action")
    }
  }
}

extension FaultPlan.Effect {
  fileprivate init(_ words: inout PlanWords) throws(FaultPlan.SyntaxError) {
    self = .none
    guard words.take("after") else { return }
    self = try words.value("an effect") { $0 == "half" ? .half : $0 == "all" ? .whole : nil }
  }
}

/// The words of a plan, in order.
private struct PlanWords {
  private enum Word: Equatable {
    case bare(String)
    case quoted(String)
  }

  private var words: ArraySlice<Word> = []

  init(_ text: String) throws(FaultPlan.SyntaxError) {
    var rest = Substring(text).unicodeScalars
    while let first = rest.first {
      switch first {
      case " ", "\n", "\t": rest.removeFirst()
      case ";":
        rest.removeFirst()
        words.append(.bare(";"))
      case "\"": words.append(.quoted(try Self.takeQuoted(&rest)))
      default:
        let word = rest.prefix { !" \n\t;\"".unicodeScalars.contains($0) }
        rest.removeFirst(word.count)
        words.append(.bare(String(word)))
      }
    }
  }

  private static func takeQuoted(
    _ rest: inout Substring.UnicodeScalarView
  ) throws(FaultPlan.SyntaxError) -> String {
    rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      if scalar == "\"" { return String(text) }
      guard scalar == "\\" else {
        text.append(scalar)
        continue
      }
      guard let escaped = rest.popFirst() else { break }
      text.append(escaped == "n" ? "\n" : escaped == "r" ? "\r" : escaped)
    }
    throw FaultPlan.SyntaxError(description: "A quotation mark is missing at the end.")
  }

  /// Consumes the next word if it is this one.
  mutating func take(_ word: String) -> Bool {
    guard words.first == .bare(word) else { return false }
    words.removeFirst()
    return true
  }

  mutating func expect(_ expected: String...) throws(FaultPlan.SyntaxError) {
    for word in expected where !take(word) { throw unexpected(nextText, "'\(word)'") }
  }

  mutating func next(_ expected: String) throws(FaultPlan.SyntaxError) -> String {
    guard case .bare(let word) = words.first else { throw unexpected(nextText, expected) }
    words.removeFirst()
    return word
  }

  mutating func string() throws(FaultPlan.SyntaxError) -> String {
    guard case .quoted(let text) = words.first else {
      throw unexpected(nextText, "a text in quotation marks")
    }
    words.removeFirst()
    return text
  }

  mutating func value<Value>(
    _ expected: String, _ convert: (String) -> Value?
  ) throws(FaultPlan.SyntaxError) -> Value {
    let word = try next(expected)
    guard let value = convert(word) else { throw unexpected(word, expected) }
    return value
  }

  mutating func number<Number: FixedWidthInteger>(
    from least: Number = .min
  ) throws(FaultPlan.SyntaxError) -> Number {
    try value("a number") { word in Number(word).flatMap { $0 >= least ? $0 : nil } }
  }

  mutating func positiveNumber() throws(FaultPlan.SyntaxError) -> Int { try number(from: 1) }

  func end() throws(FaultPlan.SyntaxError) {
    guard words.isEmpty else { throw unexpected(nextText, "';' or the end") }
  }

  func unexpected(_ found: String?, _ expected: String) -> FaultPlan.SyntaxError {
    FaultPlan.SyntaxError(description: "Expected \(expected), found \(found.map { "'\($0)'" } ?? "the end").")
  }

  private var nextText: String? {
    switch words.first {
    case .bare(let text), .quoted(let text): text
    case nil: nil
    }
  }
}
