import Heartwood

/// Writes a whole store in the format that import reads, or as a SQLite database.
enum ExportCommand: Subcommand {
  enum Format: String, CaseIterable { case json, sqlite }

  static let syntax = SubcommandSyntax(
    name: "export",
    summary:
      "write the model and all objects of a store as JSON, to be imported again, or as a SQLite database",
    arguments: [
      .store,
      SubcommandSyntax.Argument(
        name: "file", summary: "with --format sqlite: the database to make", isOptional: true),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "format", value: "json|sqlite", summary: "what to write (default json, to standard output)"),
      .moment, .model,
    ],
    discussion: """
      The output has the format of heartwood import, one object a line: by entity, then in the order of their keys. Importing
      it into a new store gives the same objects and links, with keys of their own. Each link is written on one side, and
      derived and transient attributes are left out, and references to objects that are not there, with a note: deletes leave
      them in relationships without an inverse. The store may be in use: all of one generation is written. An import is a
      save: it refuses objects that the store holds and its model does not allow, such as one that a migration has left with
      too few destinations. heartwood copy copies them as they are.

      With --format sqlite it is a database for other tools: a table for each entity with a column for each attribute and for
      each relationship to one, and a table of links for other relationships. Dates are texts in ISO 8601, decimal numbers and
      UUIDs texts. Nothing of Core Data is in it, and heartwood import does not read it.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood export world.heartwood > world.json",
        meaning: "heartwood import copy.heartwood world.json makes the copy"),
      SubcommandSyntax.Example(
        line: "heartwood export world.heartwood world.db --format sqlite",
        meaning: "sqlite3 world.db 'SELECT count(*) FROM City'"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let moment = arguments.moment()
    let isSQLite = try arguments.choice("format", Format.self) == .sqlite
    let file = arguments.argument(1)
    guard isSQLite == (file != nil) else {
      throw .usage(
        isSQLite
          ? "--format sqlite needs the file to make: heartwood export \(arguments.argument(0) ?? "store") out.db --format sqlite"
          : "\(file ?? ""): only a SQLite database is written to a file; add --format sqlite, or redirect the output"
      )
    }
    try CommandStore.with(
      arguments.argument(0) ?? "", for: .reading, model: arguments.value("model"), console
    ) { store in
      if moment != nil {
        try store.pin(to: moment)
      } else {
        do {
          try store.context.setQueryGenerationFrom(.current)
        } catch let error as HeartwoodError where error.code == .persistentStoreUnsupportedRequestType {
          // A store of one file was read as a whole, and does not change while it is open here.
        }
      }
      try store.checkLinks()
      guard let file else {
        var export = Export(store: store, console: console)
        return try export.write()
      }
      var export = try GraphFailure.catching(file) { try SQLiteExport(store, to: CommandStore.url(file)) }
      try export.write()
      try console.writeLine("wrote \(Amount.text(export.objectCount, "object")) to \(file)")
    }
    return .success
  }
}

private struct Export {
  let store: CommandStore
  let console: any Console
  /// The number of references to objects that are not there, by entity and relationship.
  private var missing: [String: Int] = [:]

  init(store: CommandStore, console: any Console) { (self.store, self.console) = (store, console) }

  mutating func write() throws {
    try console.write("{\"model\": \(JSONWriter.line(DocumentModel(store.model).json)), \"objects\": [")
    var isFirst = true
    for entity in store.model.entities.sorted(by: { $0.name ?? "" < $1.name ?? "" }) where !entity.isAbstract
    {
      let properties = entity.properties.filter(isWritten)
      let request = FetchRequest<ManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.fetchBatchSize = 1000
      for object in try store.context.fetchInBatches(request) {
        let json = ObjectText.json(object, properties) { isThere($1, by: $0) }
        try console.write((isFirst ? "\n" : ",\n") + JSONWriter.line(json))
        isFirst = false
      }
      try store.checkReadings()
    }
    try console.writeLine(isFirst ? "]}" : "\n]}")
    console.noteMissing(missing, in: store.path)
  }

  /// Whether a destination exists. A delete leaves references to its object by relationships without an inverse.
  private mutating func isThere(_ destination: ManagedObject, by relationship: RelationshipDescription)
    -> Bool
  {
    guard relationship.mayLeadNowhere, (try? store.context.existingObject(with: destination.objectID)) == nil
    else { return true }
    missing["\(relationship.entity?.name ?? "").\(relationship.name)", default: 0] += 1
    return false
  }

  /// Whether a property is written: of the two sides of a relationship, the one that says more, or the first by name.
  private func isWritten(_ property: PropertyDescription) -> Bool {
    if let attribute = property as? AttributeDescription {
      return !attribute.isTransient && !(attribute is DerivedAttributeDescription)
    }
    guard let relationship = property as? RelationshipDescription, !relationship.isTransient else {
      return false
    }
    guard let inverse = relationship.inverseRelationship, inverse !== relationship else { return true }
    guard relationship.isToMany else { return inverse.isToMany || isFirst(relationship, of: inverse) }
    guard inverse.isToMany else { return relationship.isOrdered }
    if relationship.isOrdered || inverse.isOrdered { return relationship.isOrdered }
    return isFirst(relationship, of: inverse)
  }

  private func isFirst(_ relationship: RelationshipDescription, of inverse: RelationshipDescription) -> Bool {
    func name(_ relationship: RelationshipDescription) -> String {
      "\(relationship.entity?.name ?? "").\(relationship.name)"
    }
    return name(relationship) < name(inverse)
  }
}

extension RelationshipDescription {
  /// Whether a delete of a destination leaves the reference to it.
  fileprivate var mayLeadNowhere: Bool {
    inverseRelationship.map { $0.deleteRule == .noActionDeleteRule } ?? true
  }
}
