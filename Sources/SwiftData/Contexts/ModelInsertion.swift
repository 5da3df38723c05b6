import Heartwood

/// Inserts models that have no context into one, with all that they lead to.
private struct ModelInsertion {
  /// Models that relationships lead to, and the relationships that are set when these have their objects.
  private struct Relation {
    let object: _ModelObject
    let property: ModelProperty
    let models: [any PersistentModel]
  }

  private let context: ModelObjectContext
  private var waiting: [any PersistentModel] = []
  private var relations: [Relation] = []

  init(_ context: ModelObjectContext) { self.context = context }

  /// Gives each model an object with its attributes, then sets the relationships between the objects.
  mutating func insert(_ model: any PersistentModel) -> _ModelObject? {
    let object = insertAlone(model)
    while let next = waiting.popLast() { insertAlone(next) }
    for relation in relations {
      ModelRelations.add(relation.models, to: relation.object, relation.property)
    }
    return object
  }

  @discardableResult
  private mutating func insertAlone<Model: PersistentModel>(_ model: Model) -> _ModelObject? {
    guard model._$storage.object == nil else { return nil }
    let type = type(of: model)
    guard let entity = context.container.models.entity(of: type) else {
      context.noteProblem(
        "\(Model.self) is no model of the container: add it to those that the container is made for")
      return nil
    }
    let modelClass = ModelClass.of(type)
    let values = ModelValues.free(of: model)
    let object = _ModelObject(entity: entity, insertInto: context)
    ModelValues.fill(object, with: values, of: modelClass)
    ModelValues.attach(model, with: values, to: object, in: context)
    if let identifier = values.identifier, identifier.isTemporary {
      object.temporaryIdentifier = identifier
      context.noteTemporary(identifier, object)
    }
    if let hashed = values.hashedIdentifier { object.hashedIdentifier = hashed }
    object.keep(model, in: context)
    context.noteChange()
    for property in modelClass.relationships {
      if let value = values[property.hash] { relate(object, property, to: value) }
    }
    return object
  }

  private mutating func relate(_ object: _ModelObject, _ property: ModelProperty, to value: _FreeValues.Slot)
  {
    switch value {
    case .stored, .one(nil): break
    case .one(let model?):
      // Nothing to wait for, as nearly always where many models are inserted. Otherwise relationships are set in the order of their models.
      if relations.isEmpty, let destination = model._$storage.object, destination.belongs(to: context) {
        ModelRelations.setOne(destination, of: object, property, in: context)
      } else {
        wait(for: [model], object, property)
      }
    case .many(let models): wait(for: models, object, property)
    case .other(let value): wait(for: ModelRelations.models(in: value), object, property)
    }
  }

  private mutating func wait(
    for models: [any PersistentModel], _ object: _ModelObject, _ property: ModelProperty
  ) {
    guard !models.isEmpty else { return }
    relations.append(Relation(object: object, property: property, models: models))
    // In the order of the relationship: the last is inserted last.
    for model in models.reversed() where model._$storage.object == nil { waiting.append(model) }
  }
}

extension ModelObjectContext {
  /// Inserts a model that has no context, with all that it leads to.
  ///
  /// - Returns: Its object; nil, and an error at the next save, for a model that is not in the schema.
  @discardableResult
  func insertModel(_ model: any PersistentModel) -> _ModelObject? {
    var insertion = ModelInsertion(self)
    return insertion.insert(model)
  }

  /// The object of a model that one of this context is related to; it is inserted if it has no context. Nil, and an error at the next save, for a
  /// model of another context that has not saved it.
  func object(of model: any PersistentModel, relating name: String) -> _ModelObject? {
    guard let object = model._$storage.object else { return insertModel(model) }
    if object.belongs(to: self) { return object }
    guard !object.objectID.isTemporaryID, let known = anyObject(with: object.objectID) as? _ModelObject else {
      noteProblem(
        "\(name) leads to a model of another context: save it there, and get it here by its persistentModelID"
      )
      return nil
    }
    return known
  }
}
