import Heartwood

/// Inserts models that have no context into one, with all that they lead to.
struct ModelInsertion {
  private let objects: ModelObjectContext

  init(_ objects: ModelObjectContext) { self.objects = objects }

  /// Gives each model an object with its attributes, then sets the relationships between the objects.
  @discardableResult
  func insert(_ model: any PersistentModel) -> _ModelObject? {
    var waiting: [any PersistentModel] = [model]
    var relations: [(object: _ModelObject, property: ModelProperty, models: [any PersistentModel])] = []
    var first: _ModelObject?
    while let next = waiting.popLast() {
      guard next._$storage.object == nil else { continue }
      guard let (object, own) = insertAlone(next) else { continue }
      if first == nil { first = object }
      for (property, destinations) in own where !destinations.isEmpty {
        relations.append((object, property, destinations))
        // In the order of the relationship: the last is inserted last.
        for destination in destinations.reversed() where destination._$storage.object == nil {
          waiting.append(destination)
        }
      }
    }
    for (object, property, models) in relations { ModelRelations.add(models, to: object, property) }
    return first
  }

  private func insertAlone<Model: PersistentModel>(
    _ model: Model
  ) -> (_ModelObject, [(property: ModelProperty, models: [any PersistentModel])])? {
    guard let entity = objects.container.models.entity(of: type(of: model)) else {
      objects.noteProblem(
        "\(Model.self) is no model of the container: add it to those that the container is made for")
      return nil
    }
    let identifier = ModelValues.free(of: model).identifier
    let object = objects.insertObject(for: model, as: entity)
    let relations = ModelValues.fill(object, from: model)
    ModelValues.attach(model, to: object)
    if let identifier, identifier.isTemporary {
      object.temporaryIdentifier = identifier
      objects.noteTemporary(identifier, object)
    }
    object.keepModel()
    return (object, relations)
  }
}

extension ModelObjectContext {
  /// The object of a model that one of this context is related to; it is inserted if it has no context. Nil, and an error at the next save, for a
  /// model of another context that has not saved it.
  func object(of model: any PersistentModel, relating name: String) -> _ModelObject? {
    guard let object = model._$storage.object else { return ModelInsertion(self).insert(model) }
    if object.home === self { return object }
    guard !object.objectID.isTemporaryID, let known = anyObject(with: object.objectID) as? _ModelObject else {
      noteProblem(
        "\(name) leads to a model of another context: save it there, and get it here by its persistentModelID"
      )
      return nil
    }
    return known
  }
}
