import Heartwood

/// The completions of a line of the shell: commands, options, entities and properties.
struct ShellCompletion {
  private let model: ManagedObjectModel

  init(model: ManagedObjectModel) { self.model = model }

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
    return property(
      line, start, of: complete.dropFirst().lazy.map(\.text).first { model.entitiesByName[$0] != nil })
  }

  /// The completion of the last name of a condition.
  func callAsFunction(_ condition: [Character], ofConditionOf entity: String) -> LineEditor.Completion {
    property(condition, condition.count, of: entity)
  }

  /// Whether a word is the value of the option before it, as `-population` is in `--sort -population`.
  private func isValue(after option: String?, _ syntax: SubcommandSyntax) -> Bool {
    guard let option else { return false }
    return syntax.options.contains { $0.value != nil && $0.matches(option) }
  }

  /// A name inside a predicate in quotation marks.
  private func inQuotes(_ line: [Character]) -> LineEditor.Completion {
    let words = ShellWords(line).words
    return property(line, line.count, of: words.lazy.map(\.text).first { model.entitiesByName[$0] != nil })
  }

  /// The property at the end of a path such as `capital.na`.
  private func property(_ line: [Character], _ end: Int, of name: String?) -> LineEditor.Completion {
    let start = line.lastIndex { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }.map { $0 + 1 } ?? 0
    var parts = String(line[start...]).split(separator: ".", omittingEmptySubsequences: false).map(
      String.init)
    guard let name, var entity = model.entitiesByName[name], let last = parts.popLast() else {
      return LineEditor.Completion(start: end, candidates: [])
    }
    for part in parts {
      guard let next = entity.relationshipsByName[part]?.destinationEntity else {
        return LineEditor.Completion(start: end, candidates: [])
      }
      entity = next
    }
    let head = parts.map { $0 + "." }.joined()
    return LineEditor.Completion(
      start: start, candidates: matching(last, entity.propertiesByName.keys.sorted()).map { head + $0 })
  }

  private func matching(_ text: String, _ names: [String]) -> [String] { names.filter { $0.hasPrefix(text) } }
}
