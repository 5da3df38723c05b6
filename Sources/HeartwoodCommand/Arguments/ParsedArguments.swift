/// The words after a subcommand, parsed into the options and arguments of its syntax.
struct ParsedArguments: Sendable {
  private(set) var positionals: [String] = []
  private(set) var values: [String: String] = [:]
  private(set) var flags: Set<String> = []

  /// Parses `words` according to `syntax`.
  ///
  /// - Throws: A usage failure that names the word: an unknown option, a missing or surplus value, a missing
  ///   argument.
  init(_ words: [String], for syntax: SubcommandSyntax) throws(CommandFailure) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        positionals += rest
        break
      } else if word.hasPrefix("-"), word.count > 1 {
        try takeOption(word, rest: &rest, syntax: syntax)
      } else {
        positionals.append(word)
      }
    }
    try checkCount(syntax)
  }

  private mutating func takeOption(
    _ word: String, rest: inout ArraySlice<String>, syntax: SubcommandSyntax
  ) throws(CommandFailure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let option = syntax.options.first(where: { $0.matches(parts[0]) }) else {
      throw unknownOption(String(parts[0]), syntax)
    }
    guard values[option.name] == nil, !flags.contains(option.name) else {
      throw .usage("--\(option.name) is given twice")
    }
    guard option.value != nil else {
      guard parts.count == 1 else { throw .usage("--\(option.name) takes no value") }
      flags.insert(option.name)
      return
    }
    guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
      throw .usage("--\(option.name) needs a value: --\(option.name) <\(option.value ?? "value")>")
    }
    values[option.name] = value
  }

  private func unknownOption(_ word: String, _ syntax: SubcommandSyntax) -> CommandFailure {
    let known = syntax.options.flatMap(\.spellings)
    // An entity may be called so.
    let hint =
      word.hasPrefix("--")
      ? Spelling.hint(word, among: known) : ": write -- before words that begin with - and are none"
    return .usage("\(syntax.name) has no option \(word)\(hint); see heartwood \(syntax.name) --help")
  }

  private func checkCount(_ syntax: SubcommandSyntax) throws(CommandFailure) {
    let required = syntax.arguments.filter { !$0.isOptional }.count
    if positionals.count < required {
      throw .usage("<\(syntax.arguments[positionals.count].name)> is missing; usage: \(syntax.usage)")
    }
    for (word, argument) in zip(positionals, syntax.arguments) where word.isEmpty && !argument.mayBeEmpty {
      throw .usage("<\(argument.name)> is empty; usage: \(syntax.usage)")
    }
    if positionals.count > syntax.arguments.count, syntax.arguments.last?.isRepeated != true {
      throw .usage("too much: \"\(positionals[syntax.arguments.count])\"; usage: \(syntax.usage)")
    }
  }
}

extension ParsedArguments {
  /// The argument at this index, or nil if it was not given.
  func argument(_ place: Int) -> String? {
    place < positionals.count ? positionals[place] : nil
  }

  /// The arguments from this index on.
  func arguments(from place: Int) -> ArraySlice<String> { positionals.dropFirst(place) }

  func value(_ option: String) -> String? { values[option] }

  func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// The non-negative integer value of an option; nil if the option was not given.
  func count(_ option: String) throws(CommandFailure) -> Int? {
    guard let text = values[option] else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw .usage("--\(option) needs a whole number, 0 or more, not \"\(text)\"")
    }
    return number
  }

  /// The value of `--as-of`.
  func moment() -> Moment? { value("as-of").map(Moment.init) }

  /// The value of an option that takes one of several words.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ option: String, _ type: Choice.Type
  ) throws(CommandFailure) -> Choice? where Choice.RawValue == String {
    guard let text = values[option] else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let known = type.allCases.map(\.rawValue).joined(separator: ", ")
      throw .usage("--\(option) is one of \(known), not \"\(text)\"")
    }
    return choice
  }

  /// The comma-separated values of an option.
  func list(_ option: String) throws(CommandFailure) -> [String]? {
    guard let text = values[option] else { return nil }
    let words = Self.parts(of: text).map {
      String($0.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
    guard !words.contains("") else { throw .usage("--\(option) has an empty name in \"\(text)\"") }
    return words
  }

  /// The parts of the text between commas, apart from those in parentheses, braces and quotation marks.
  private static func parts(of text: String) -> [String] {
    var parts = [""]
    var depth = 0
    var quote: Character?
    for character in text {
      switch character {
      case _ where character == quote: quote = nil
      case _ where quote != nil: break
      case "\"", "'": quote = character
      case "(", "{": depth += 1
      case ")", "}": depth -= 1
      case "," where depth == 0:
        parts.append("")
        continue
      default: break
      }
      parts[parts.count - 1].append(character)
    }
    return parts
  }
}
