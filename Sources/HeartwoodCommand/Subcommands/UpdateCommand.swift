import Foundation
import Heartwood

/// Sets attributes of the objects that match.
enum UpdateCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "update",
    summary: "set attributes of the objects that match",
    arguments: [.store, .entity],
    options: [
      SubcommandSyntax.Option(
        name: "set", value: "name = expression, ...",
        summary: "the new values, computed from those before the change; nil for none"),
      .predicate,
      SubcommandSyntax.Option(
        name: "dry-run", summary: "check the new values, print how many objects match, and change nothing"),
      .author,
    ],
    discussion: """
      All is changed in one transaction, or nothing if a value breaks a rule of the model, or an attribute cannot hold it: a
      fraction is no integer, and is rounded with trunc(...), round(...), floor(...) or ceiling(...). --where TRUEPREDICATE
      means every object of the entity. --dry-run checks all of this, and needs a store that may be written.


      """ + PredicateHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood update shop.heartwood Track --set 'price = price * 1.1' --where 'album.year < 1970'",
        meaning: "raises prices by a tenth"),
      SubcommandSyntax.Example(
        line:
          "heartwood update world.heartwood Country --set 'name = \"Eire\", demonym = nil' --where 'code == \"IE\"'",
        meaning: "sets a text, and removes another one"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    guard let set = try arguments.list("set") else { throw .usage("update needs --set 'name = expression'") }
    PredicateHelp.noteHabits(arguments.value("where"), console)
    guard let condition = arguments.value("where") else {
      throw .usage("update needs --where; --where TRUEPREDICATE means every object")
    }
    let isDryRun = arguments.has("dry-run")
    try CommandStore.with(arguments.argument(0) ?? "", for: .changing, console) { store in
      if let author = arguments.value("author") { store.context.transactionAuthor = author }
      let entity = try store.entity(named: arguments.argument(1) ?? "")
      let request = BatchUpdateRequest(entity: entity)
      request.predicate = try store.request(entity, where: condition).predicate
      request.propertiesToUpdate = try values(set, of: entity)
      request.resultType = .count
      request.validates = true
      request.truncatesFractions = false
      guard !isDryRun else {
        let count = try store.context.rehearse(request)
        return try console.writeLine("would update \(Amount.text(count, "object"))")
      }
      let result = try store.context.execute(request)
      try console.writeLine("updated \(Amount.text(result.count, "object"))")
    }
    return .success
  }

  private static func values(_ parts: [String], of entity: EntityDescription) throws -> [String: Any] {
    var values: [String: Any] = [:]
    for part in parts {
      let sides = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else {
        throw CommandFailure.usage("--set has \"\(part)\", and no name = expression")
      }
      // As in predicates, where a name may be a word of the language.
      let name = sides[0].hasPrefix("#") ? String(sides[0].dropFirst()) : sides[0]
      guard values[name] == nil else { throw CommandFailure.usage("--set has \(name) twice") }
      do {
        let expression = try FormatExpression(sides[1])
        if let slot = entity.slot(named: name), let attribute = entity.attribute(at: slot) {
          try check(expression, sides[1], fits: attribute)
        }
        values[name] = expression
      } catch let error as HeartwoodError {
        throw CommandFailure.usage("--set \(sides[0]): \(error.message)")
      }
    }
    return values
  }

  /// Checks a constant, which is known before any object is read. What an expression computes is checked for each object.
  private static func check(
    _ expression: FormatExpression, _ text: String, fits attribute: AttributeDescription
  ) throws(CommandFailure) {
    guard case .value(let value) = expression.expression.kind, ValueKind(attribute.type) == .number else {
      return
    }
    let isHeld =
      switch value {
      case .double(let number): number.isFinite && attribute.holds(value, writtenAs: text)
      case .int, .decimal: attribute.holds(value, writtenAs: text)
      default: true
      }
    guard !isHeld else { return }
    throw .usage(
      "--set \(attribute.name) = \(text): \(attribute.displayName) is \(attribute.type), which does not have this number"
    )
  }
}

extension AttributeDescription {
  /// Whether the attribute has a number with all digits before its point, and of integers with those behind it.
  fileprivate func holds(_ value: Value, writtenAs text: String) -> Bool {
    guard value.held(by: self) != nil else { return false }
    guard [.integer16, .integer32, .integer64].contains(type), !text.contains(where: { "eE".contains($0) })
    else { return true }
    // A number of many digits is rounded when it is read.
    return !text.drop { $0 != "." }.contains { ("1"..."9").contains($0) }
  }
}
