/// A batch update whose names are resolved, for an ``IncrementalStore`` that translates it: `IncrementalStore.resolve(_:)`.
public struct StoreUpdate: Sendable {
  /// A property and the value that it gets.
  public struct Change: Sendable {
    /// An attribute, or a to-one relationship.
    public let property: PropertyDescription
    /// A constant in the type of the attribute, or what is computed from each object.
    public let value: StoreExpression
  }

  /// The entity of the objects that are changed.
  public let entity: EntityDescription
  /// Whether objects of subentities are changed too.
  public let includesSubentities: Bool
  /// Selects the objects; nil for all.
  public let condition: StoreCondition?
  /// The new values; those of composite attributes by their elements.
  public let changes: [Change]
}

extension IncrementalStore {
  /// A batch update, resolved.
  ///
  /// - Throws: `.coreData` and `.managedObjectValidation` for what does not fit the model; `.persistentStoreUnsupportedRequestType`, naming the part, if
  ///   it has one that a ``StoreExpression`` cannot say.
  public final func resolve(_ request: BatchUpdateRequest) throws -> StoreUpdate {
    guard let entity = managedObjectModel.entitiesByName[request.entityName] else {
      throw HeartwoodError.unknownEntity(
        request.entityName, managedObjectModel.entities.map(\.displayName).sorted())
    }
    // First: what is wrong with it, as any other store says it.
    _ = try BatchChange(
      request, BatchRowReader(entity: entity, store: objectStore.identity, indexes: { _ in [] }))
    var changes: [StoreUpdate.Change] = []
    func add(_ slot: Int, _ value: StoreExpression) {
      guard entity.layout.columns[slot].kind != .composite else { return }
      changes.append(StoreUpdate.Change(property: entity.property(at: slot), value: value))
    }
    func add(_ slot: Int, _ expression: ConditionExpression) throws {
      var lowering = StoreConditionLowering(entity, in: identityOfObjects)
      add(slot, try lowering.expression(expression))
    }
    func slot(_ name: String) throws -> Int {
      guard let slot = entity.slot(named: name) else { throw HeartwoodError.unknownProperty(name, entity) }
      return slot
    }
    for (keyPath, value) in request.typed {
      let slot = try slot(entity.propertyNames(of: keyPath).joined(separator: "."))
      switch value {
      case .value(let stored):
        for (slot, value) in entity.columnValues(of: stored, at: slot) {
          add(slot, .constant(value.constant))
        }
      case .expression(let expression): try add(slot, expression)
      }
    }
    for (name, value) in (request.propertiesToUpdate ?? [:]).sorted(by: { $0.key < $1.key }) {
      let slot = try slot(name)
      if let expression = value as? FormatExpression {
        try add(slot, expression.expression)
      } else if entity.compiled.relationshipBySlot[slot] != nil {
        add(slot, .constant((value as? ManagedObject)?.objectID ?? value as? ManagedObjectID))
      } else {
        for (slot, value) in try entity.columnValues(ofAny: value, at: slot) {
          add(slot, .constant(value.constant))
        }
      }
    }
    return StoreUpdate(
      entity: entity, includesSubentities: request.includesSubentities,
      condition: try request.predicate.map { try condition($0, on: entity) }, changes: changes)
  }

  /// The objects that a batch delete selects, as a request for their identifiers.
  ///
  /// - Parameters:
  ///   - request: The batch delete.
  ///   - context: The context that executes the request.
  /// - Throws: `.coreData` for what does not fit the model, and identifiers that are not of objects of this store.
  public final func selection(
    of request: BatchDeleteRequest, in context: ManagedObjectContext
  ) throws -> FetchRequest<ManagedObject> {
    let selection = FetchRequest<ManagedObject>()
    selection.resultType = .managedObjectIDResultType
    selection.includesPendingChanges = false
    switch request.selection {
    case .fetch(let resolve):
      let resolved = try resolve(context, objectStore.identity)
      selection.entity = resolved.entity
      selection.predicate = resolved.predicate?.condition
      selection.sortDescriptors = resolved.sorts.isEmpty ? nil : resolved.sorts
      (selection.fetchLimit, selection.fetchOffset) = (resolved.limit ?? 0, resolved.offset)
      selection.includesSubentities = resolved.includesSubentities
    case .identifiers(let identifiers):
      let root = identifiers.first?.entity.rootEntity
      if let wrong = identifiers.first(where: { id in
        id.isTemporaryID || id.store != objectStore.identity || id.entity.rootEntity !== root
      }) {
        throw HeartwoodError(
          .coreData,
          "a batch delete cannot delete \(wrong): it is not an object of this store and of the entities of the others",
          objectIDs: [wrong])
      }
      selection.entity = root ?? managedObjectModel.entities.first
      selection.predicate = Condition.comparing(
        .path(PropertyPath(.fetched)), .isIn, .list(identifiers.map(Value.object)))
    }
    return selection
  }
}

extension IncrementalStore {
  /// Calls `body` with each row of a batch insert: the values of `EntityDescription.storedProperties` of its entity, in their order, with the
  /// defaults of those that the row does not give. To-one relationships are given by identifiers.
  ///
  /// - Returns: The entity.
  /// - Throws: An error if a value does not fit the model; `.managedObjectValidation` for a row with destinations of a to-many
  ///   relationship; what `body` throws.
  @discardableResult
  public final func enumerateRows(
    of request: BatchInsertRequest, _ body: ([StoredValue]) throws -> Void
  ) throws -> EntityDescription {
    let names = managedObjectModel.entitiesByName
    guard let entity = names[request.entityName] else {
      throw HeartwoodError.unknownEntity(request.entityName, names.keys.sorted())
    }
    guard !entity.isAbstract else {
      throw HeartwoodError(
        .coreData, "\(entity.displayName) is abstract: insert rows of a subentity")
    }
    let slots = entity.storedSlots
    let derivations = OwnDerivations(entity, self)
    var number = 0
    try request.withRows(
      BatchRowReader(entity: entity, store: objectStore.identity, indexes: { _ in [] })
    ) { next in
      while let row = try next() {
        number += 1
        guard let derivations else {
          try body(slots.map { StoredValue(try row.value(at: $0, entity, number)) })
          continue
        }
        var values = try entity.slots.map { try row.value(at: $0, entity, number) }
        try derivations.derive(&values)
        try body(slots.map { StoredValue(values[$0]) })
      }
    }
    return entity
  }
}

extension BatchRow {
  fileprivate func value(at slot: Int, _ entity: EntityDescription, _ number: Int) throws(HeartwoodError)
    -> Value
  {
    if let many = links.first(where: { $0.relationship.isToMany }) {
      throw HeartwoodError.batchReference(
        many.relationship, "a batch insert of this kind of store has no destinations of to-many relationships"
      ).inRow(number)
    }
    if let link = links.first(where: { $0.relationship.slot == slot }) {
      guard case .key(let id)? = link.targets.first else { return .null }
      return .object(id)
    }
    return entity.value(at: slot, given: values)
  }
}
