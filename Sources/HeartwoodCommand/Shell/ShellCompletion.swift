import Heartwood

/// The completions of a line of the shell: commands, options, entities and properties.
struct ShellCompletion {
  private let model: ManagedObjectModel
  private let properties: PropertyCompletion

  init(model: ManagedObjectModel) {
    self.model = model
    properties = PropertyCompletion(model: model)
  }

  func callAsFunction(_ line: [Character]) -> LineEditor.Completion {
    let words = ShellWords(line)
    let complete = words.endsInWord ? words.words.dropLast() : words.words[...]
    let started = words.endsInWord ? words.words.last : nil
    let start = started?.start ?? line.count
    let text = String(line[start...])
    guard words.openQuote == nil, let command = complete.first?.text else {
      if words.openQuote != nil { return inQuotes(line) }
      return LineEditor.Completion(start: start, candidates: matching(text, ShellCommand.verbs))
    }
    guard let syntax = ShellCommand.syntax(of: complete.map(\.text)) else {
      let names = command == KeyValueSubcommands.name ? ShellCommand.keyValueVerbs : []
      return LineEditor.Completion(start: start, candidates: matching(text, names))
    }
    if text.hasPrefix("-"), !isValue(after: complete.last?.text, syntax) {
      return LineEditor.Completion(
        start: start, candidates: matching(text, syntax.options.flatMap(\.spellings)))
    }
    let given = complete.dropFirst().prefix { !$0.text.hasPrefix("-") }.count
    let places = syntax.arguments.filter { $0.name != SubcommandSyntax.Argument.store.name }
    if complete.count == given + 1, given < places.count,
      places[given].name == SubcommandSyntax.Argument.entity.name
    {
      return LineEditor.Completion(
        start: start, candidates: matching(text, model.entitiesByName.keys.sorted()))
    }
    return properties(
      line, start, of: complete.dropFirst().lazy.map(\.text).first { model.entitiesByName[$0] != nil })
  }

  /// Whether a word is the value of the option before it, as `-population` is in `--sort -population`.
  private func isValue(after option: String?, _ syntax: SubcommandSyntax) -> Bool {
    guard let option else { return false }
    return syntax.options.contains { $0.value != nil && $0.matches(option) }
  }

  /// A name inside a predicate in quotation marks.
  private func inQuotes(_ line: [Character]) -> LineEditor.Completion {
    let words = ShellWords(line).words
    return properties(line, line.count, of: words.lazy.map(\.text).first { model.entitiesByName[$0] != nil })
  }

  private func matching(_ text: String, _ names: [String]) -> [String] { names.filter { $0.hasPrefix(text) } }
}
