import HeartwoodEngine

/// Arguments and options for keys, values and key ranges.
extension ParsedArguments {
  var notation: ByteNotation { has("hex") ? .hexadecimal : .text }

  /// The key at this index.
  func key(_ place: Int) throws(CommandFailure) -> [UInt8] {
    try bytes(argument(place) ?? "", called: "<key>")
  }

  /// The keys from this index on.
  func keys(from place: Int) throws(CommandFailure) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    for word in arguments(from: place) { keys.append(try bytes(word, called: "<key>")) }
    return keys
  }

  /// The bytes that a word denotes.
  ///
  /// - Throws: A usage failure that names the argument or option.
  func bytes(_ word: String, called name: String) throws(CommandFailure) -> [UInt8] {
    // The runtime replaces invalid UTF-8 of the command line with this scalar. The original bytes are lost.
    guard !word.unicodeScalars.contains("\u{FFFD}") else {
      throw .usage("\(name) has bytes that are no UTF-8, or U+FFFD; write them as \\xNN")
    }
    do {
      return try notation.bytes(Array(word.utf8)[...], in: .word)
    } catch {
      throw .usage("\(name): \(error.message)")
    }
  }

  /// The range given by `--from`, `--to` and `--prefix`.
  func range() throws(CommandFailure) -> KeyRange {
    let prefix = try bound("prefix")
    let (from, to) = (try bound("from"), try bound("to"))
    guard let prefix else { return KeyRange(from: from, to: to) }
    guard from == nil, to == nil else {
      throw .usage("--prefix is a range of its own, and does not go with --from and --to")
    }
    return .prefix(prefix)
  }

  private func bound(_ option: String) throws(CommandFailure) -> [UInt8]? {
    guard let word = value(option) else { return nil }
    return try bytes(word, called: "--\(option)")
  }
}

extension SubcommandSyntax.Argument {
  static let key = SubcommandSyntax.Argument(
    name: "key", summary: "a key, as text with \\\\ and \\xNN as escapes")
}

extension SubcommandSyntax.Option {
  static let hexadecimal = SubcommandSyntax.Option(
    name: "hex", summary: "keys and values are read and written as hexadecimal digits")
  static let force = SubcommandSyntax.Option(
    name: "force", summary: "change the store even if it holds a graph")
  static let range = [
    SubcommandSyntax.Option(name: "from", value: "key", summary: "the first key"),
    SubcommandSyntax.Option(name: "to", value: "key", summary: "the first key after the range"),
    SubcommandSyntax.Option(name: "prefix", value: "key", summary: "the prefix of the keys"),
  ]
}
