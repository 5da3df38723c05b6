import Heartwood

/// Writes a whole store in the format that import reads.
enum ExportCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "export",
    summary: "write the model and all objects of a store as JSON, to be imported again",
    arguments: [.store],
    options: [.generation],
    discussion: """
      The output has the format of heartwood import, one object a line: by entity, then in the order of their keys. Importing
      it into a new store gives the same objects and links, with keys of their own. Each link is written on one side, and
      derived and transient attributes are left out. The store may be in use: all of one generation is written.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood export world.heartwood > world.json",
        meaning: "heartwood import copy.heartwood world.json makes the copy")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let generation = try arguments.generation()
    try CommandStore.with(arguments.argument(0) ?? "", for: .reading, console) { store in
      if generation != nil {
        try store.pin(to: generation)
      } else {
        do {
          try store.context.setQueryGenerationFrom(.current)
        } catch let error as HeartwoodError where error.code == .persistentStoreUnsupportedRequestType {
          // A store of one file was read as a whole, and does not change while it is open here.
        }
      }
      try Export(store: store, console: console).write()
    }
    return .success
  }
}

private struct Export {
  let store: CommandStore
  let console: any Console

  func write() throws {
    try console.write("{\"model\": \(JSONWriter.line(DocumentModel(store.model).json)), \"objects\": [")
    var isFirst = true
    for entity in store.model.entities.sorted(by: { $0.name ?? "" < $1.name ?? "" }) where !entity.isAbstract
    {
      let properties = entity.properties.filter(isWritten)
      let request = FetchRequest<ManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.fetchBatchSize = 1000
      for object in try store.context.fetchInBatches(request) {
        try console.write((isFirst ? "\n" : ",\n") + JSONWriter.line(ObjectText.json(object, properties)))
        isFirst = false
      }
      try store.checkReadings()
    }
    try console.writeLine(isFirst ? "]}" : "\n]}")
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
