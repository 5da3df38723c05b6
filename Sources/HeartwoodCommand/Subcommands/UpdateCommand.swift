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
      SubcommandSyntax.Option(name: "dry-run", summary: "print how many objects match, and change nothing"),
      .author,
    ],
    discussion: """
      All is changed in one transaction, or nothing if a value breaks a rule of the model. --where TRUEPREDICATE means every
      object of the entity.


      """ + PredicateHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood update shop.heartwood Track --set 'price = price * 1.1' --where 'album.year < 1970'",
        meaning: "raises prices by a tenth"),
      SubcommandSyntax.Example(
        line:
          "heartwood update world.heartwood Country --set 'name = \"Eire\", motto = nil' --where 'id == 7'",
        meaning: "sets a text, and removes another one"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    guard let set = try arguments.list("set") else { throw .usage("update needs --set 'name = expression'") }
    PredicateHelp.noteHabits(arguments.value("where"), console)
    guard let condition = arguments.value("where") else {
      throw .usage("update needs --where; --where TRUEPREDICATE means every object")
    }
    let isDryRun = arguments.has("dry-run")
    let path = arguments.argument(0) ?? ""
    try CommandStore.with(path, for: isDryRun ? .reading : .changing, console) { store in
      if let author = arguments.value("author") { store.context.transactionAuthor = author }
      let entity = try store.entity(named: arguments.argument(1) ?? "")
      let request = BatchUpdateRequest(entity: entity)
      request.predicate = try store.request(entity, where: condition).predicate
      request.propertiesToUpdate = try values(set, of: entity)
      request.resultType = .count
      request.validates = true
      guard !isDryRun else {
        let count = try store.context.count(for: store.request(entity, where: condition))
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
      do {
        // As in predicates, where a name may be a word of the language.
        let name = sides[0].hasPrefix("#") ? String(sides[0].dropFirst()) : sides[0]
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

  /// Checks a constant, which is a value as it is written. What an expression computes becomes one of the attribute's type.
  private static func check(
    _ expression: FormatExpression, _ text: String, fits attribute: AttributeDescription
  ) throws(CommandFailure) {
    guard case .value(let value) = expression.expression.kind, !value.isExact(as: attribute) else { return }
    throw .usage(
      "--set \(attribute.name) = \(text): \(attribute.displayName) is \(attribute.type), which does not have this number"
    )
  }
}

extension Value {
  /// Whether an attribute has the number: no integer has a fraction, and no number of a text is infinite. True for what is no number.
  fileprivate func isExact(as attribute: AttributeDescription) -> Bool {
    switch (self, stored(as: attribute)) {
    case (.double(let given), .int(let held)): Double(held) == given
    case (.decimal(let given), .int(let held)): Decimal(held) == given
    case (.int, .double(let held)), (.double, .double(let held)), (.decimal, .double(let held)): held.isFinite
    default: true
    }
  }
}
