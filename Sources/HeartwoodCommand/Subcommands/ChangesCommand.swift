import Foundation
import Heartwood
import HeartwoodArchives

/// Makes, applies and inverts change sets.
enum ChangesCommand: Subcommand {
  enum Verb: String, CaseIterable { case export, apply, invert, show, positions, lineage }

  static let syntax = SubcommandSyntax(
    name: "changes",
    summary: "exchange change sets between copies of a store",
    arguments: [
      SubcommandSyntax.Argument(name: "verb", summary: "export, apply, invert, show, positions or lineage"),
      SubcommandSyntax.Argument(
        name: "store", summary: "the store; of invert and show, the file of a change set"),
      SubcommandSyntax.Argument(
        name: "from", summary: "of export, the earlier state: a number, a date or a hold; of apply, the file",
        isOptional: true),
      SubcommandSyntax.Argument(
        name: "to", summary: "of export, the later state (default: the newest)", isOptional: true),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "output", value: "file", summary: "of export and invert, the file to make"),
      SubcommandSyntax.Option(
        name: "after", value: "file",
        summary: "of export, from what this output of positions of the other copy says"),
      SubcommandSyntax.Option(
        name: "policy", value: "error|newest|mine|theirs",
        summary: "of apply, what decides where both have changed the same (default error)"),
    ],
    discussion: """
      A change set has what differs between two states of a store, and another copy of the store applies it, also twice.
      export makes one, apply takes it in one transaction, invert makes the one that takes it back, show lists it.
      positions prints what a store has of each copy; export --after makes what another copy does not have yet.
      A store that was copied begins a lineage of its own, by lineage, before anything is saved to it: its new objects are
      then told from those of the other copy. With --policy newest copies become equal in whatever order they exchange.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood changes export world.heartwood 12 --output changes.hwc",
        meaning: "what has changed since 12"),
      SubcommandSyntax.Example(
        line: "heartwood changes apply copy.heartwood changes.hwc", meaning: "makes the copy equal"),
      SubcommandSyntax.Example(
        line: "heartwood changes positions copy.heartwood > has.json", meaning: "then export --after has.json"
      ),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let word = arguments.argument(0) ?? ""
    guard let verb = Verb(rawValue: word) else {
      throw .usage(
        "changes needs one of \(Verb.allCases.map(\.rawValue).joined(separator: ", ")), not \"\(word)\"")
    }
    let path = arguments.argument(1) ?? ""
    switch verb {
    case .export: try export(path, arguments, console)
    case .apply: try apply(path, arguments, console)
    case .invert:
      let set = try read(path)
      try write(set.inverted, arguments, console)
    case .show: try show(path, console)
    case .positions: try positions(path, console)
    case .lineage:
      try CommandStore.requireFolder(path, "it has no history")
      try CommandStore.with(path, for: .changing, console) { store in
        try console.writeLine("\(try store.coordinator.beginLineage())")
      }
    }
    return .success
  }

  private static func export(
    _ path: String, _ arguments: ParsedArguments, _ console: any Console
  ) throws(CommandFailure) {
    let from = arguments.argument(2).map(Moment.init)
    let to = arguments.argument(3).map(Moment.init)
    let after = arguments.value("after")
    guard (from == nil) != (after == nil) else {
      throw .usage("export needs the earlier state, or --after with the positions of the other copy")
    }
    let positions = try after.map { (file) throws(CommandFailure) in try Self.positions(inFile: file) }
    try CommandStore.requireFolder(path, "it has no past generations")
    let set = try CommandStore.with(path, for: .reading, console) { store in
      if let positions { return try store.coordinator.changeSet(after: positions) }
      return try store.coordinator.changeSet(
        from: store.number(of: from ?? .generation(0)), to: to.map { try store.number(of: $0) })
    }
    try write(set, arguments, console)
  }

  private static func apply(
    _ path: String, _ arguments: ParsedArguments, _ console: any Console
  ) throws(CommandFailure) {
    guard let file = arguments.argument(2) else { throw .usage("apply needs the file of a change set") }
    let policy = try arguments.choice("policy", ChangeSetPolicy.self) ?? .error
    let set = try read(file)
    try CommandStore.requireFolder(path, "it has no history")
    try CommandStore.with(path, for: .changing, console) { store in
      let report = try store.coordinator.apply(set, policy: policy, author: "heartwood")
      for conflict in report.conflicts {
        let name = conflict.objectID.map(ObjectName.text) ?? "an object that was deleted"
        let property = conflict.property.map { ".\($0)" } ?? ""
        console.writeNote("heartwood: note: both have changed \(name)\(property)\n")
      }
      for object in report.unitedObjectIDs {
        console.writeNote(
          "heartwood: note: \(ObjectName.text(object)) has the unique values of another object, and was deleted\n"
        )
      }
      try console.writeLine(
        report.wasKnown
          ? "the store has all of it already"
          : "changed \(Amount.text(report.changedObjectIDs.count, "object"))")
    }
  }

  private static func show(_ file: String, _ console: any Console) throws(CommandFailure) {
    let set = try read(file)
    let between = set.generations.map { "of \(set.lineage) from \($0.lowerBound) to \($0.upperBound)" }
    try console.writeLine(
      "\(Amount.text(set.count, "object")) \(between ?? "of \(set.lineage), to be applied as new changes")")
    for line in set.lines { try console.writeLine(line.escapingControls) }
  }

  private static func positions(_ path: String, _ console: any Console) throws(CommandFailure) {
    try CommandStore.requireFolder(path, "it has no history")
    try CommandStore.with(path, for: .reading, console) { store in
      let members = try store.coordinator.changeSetPositions().map {
        ($0.key.uuidString, JSONValue.integer(Int64(clamping: $0.value)))
      }
      try console.writeLine(JSONWriter.pretty(.object(JSONObject(members.sorted { $0.0 < $1.0 }))))
    }
  }

  private static func positions(inFile file: String) throws(CommandFailure) -> [UUID: UInt64] {
    let bytes = try InputFile.read(file)
    let known = try? JSONDecoder().decode([String: UInt64].self, from: Data(bytes))
    guard let known else { throw .data("\(file): this is no output of changes positions") }
    var positions: [UUID: UInt64] = [:]
    for (text, number) in known {
      guard let lineage = UUID(uuidString: text) else { throw .data("\(file): \"\(text)\" is no lineage") }
      positions[lineage] = number
    }
    return positions
  }

  private static func read(_ file: String) throws(CommandFailure) -> ChangeSet {
    let bytes = try InputFile.read(file)
    return try GraphFailure.catching(file) { try ChangeSet(decoding: Data(bytes)) }
  }

  private static func write(
    _ set: ChangeSet, _ arguments: ParsedArguments, _ console: any Console
  ) throws(CommandFailure) {
    guard let output = arguments.value("output") else {
      guard console.terminalWidth == nil else {
        throw .usage("a change set is no text: name a file with --output, or redirect the output")
      }
      return try console.write(Array(set.encoded()))
    }
    do {
      try set.encoded().write(to: CommandStore.url(output), options: .atomic)
    } catch {
      throw CommandFailure(
        .inputOutput, "\(output): the change set cannot be written: \(DecodingText.text(of: error))")
    }
    try console.writeLine("wrote \(Amount.text(set.count, "object")) to \(output)")
  }
}
