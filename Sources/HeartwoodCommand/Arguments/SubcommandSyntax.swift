/// The arguments and options of a subcommand, from which the parser and the help text are derived.
struct SubcommandSyntax: Sendable {
  struct Argument: Sendable {
    let name: String
    let summary: String
    var isOptional = false
    /// Whether the argument can be given more than once. Only the last argument can.
    var isRepeated = false
    /// Whether the argument can be an empty string.
    var mayBeEmpty = false
  }

  struct Option: Sendable {
    /// The name without its dashes.
    let name: String
    /// Another name of the same option.
    var alias: String?
    /// A name that it had in earlier versions, which help does not show.
    var formerName: String?
    /// The placeholder of the option's value in the help text; nil for a flag, which has no value.
    var value: String?
    let summary: String
  }

  struct Example: Sendable {
    let line: String
    let meaning: String
  }

  let name: String
  let summary: String
  var arguments: [Argument] = []
  var options: [Option] = []
  var discussion = ""
  var examples: [Example] = []

  var usage: String {
    let written = arguments.map { argument in
      let name = "<\(argument.name)>" + (argument.isRepeated ? "..." : "")
      return argument.isOptional ? "[\(name)]" : name
    }
    let rest = options.isEmpty ? [] : ["[options]"]
    return (["heartwood", name] + written + rest).joined(separator: " ")
  }
}

extension SubcommandSyntax.Option {
  /// The forms of the option on the command line that help shows.
  var spellings: [String] { [name, alias].compactMap { $0 }.map { "--" + $0 } }

  /// Whether a word of the command line is this option.
  func matches(_ word: some StringProtocol) -> Bool {
    spellings.contains(String(word)) || formerName.map { "--" + $0 == word } == true
  }
}

extension SubcommandSyntax.Argument {
  static let store = SubcommandSyntax.Argument(
    name: "store", summary: "the directory that is the store, or its file")
  static let folder = SubcommandSyntax.Argument(name: "store", summary: "the directory that is the store")
  static let entity = SubcommandSyntax.Argument(
    name: "entity", summary: "an entity of the store (see heartwood schema)")
  static let selection = SubcommandSyntax.Argument(
    name: "object", summary: "a URI or short name such as Country/p1; or an entity, with --where")
}

extension SubcommandSyntax.Option {
  static let predicate = SubcommandSyntax.Option(
    name: "where", value: "predicate", summary: "only objects that match")
  static let moment = SubcommandSyntax.Option(
    name: "as-of", alias: "at", formerName: "generation", value: "moment",
    summary: "the store as it was: a generation's number, a date, or the name of a hold")
  static let model = SubcommandSyntax.Option(
    name: "model", value: "file", summary: "the model, for a store of Core Data that keeps none")
  static let format = SubcommandSyntax.Option(
    name: "format", value: "table|json|csv", summary: "how to write the result (default table)")
  static let author = SubcommandSyntax.Option(
    name: "author", value: "name", summary: "the author in the history (default heartwood)")
}
