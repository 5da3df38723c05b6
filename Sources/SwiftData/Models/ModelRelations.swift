import CoreData
import Heartwood

/// Relationships of models: between models in memory and objects of the graph.
enum ModelRelations {
  static func empty<Collection: RelationshipCollection>(_ type: Collection.Type) -> Any {
    Collection._collection(of: [])
  }

  /// The model that a to-one relationship leads to.
  static func destination(of object: _ModelObject, _ property: ModelProperty) -> (any PersistentModel)? {
    guard let destination = object._destination(property.name) as? _ModelObject else { return nil }
    return object.home?.model(of: destination)
  }

  /// Whether a model is one of a class.
  static func isModel<Model: PersistentModel>(_ model: AnyObject, _ type: Model.Type) -> Bool {
    Swift.type(of: model) == type || model is Model
  }

  /// A model as one of a class; nil if it is none.
  static func cast<Model: PersistentModel>(_ model: AnyObject) -> Model? {
    // Exactly the class, as nearly always: a look at one pointer.
    type(of: model) == Model.self ? unsafeDowncast(model, to: Model.self) : model as? Model
  }

  /// The models of a relationship's value.
  static func models(in value: Any) -> [any PersistentModel] {
    if let collection = value as? any RelationshipCollection { return elements(of: collection) }
    if let optional = value as? any OptionalType { return optional.wrapped.map { models(in: $0) } ?? [] }
    return (value as? any PersistentModel).map { [$0] } ?? []
  }

  private static func elements<Collection: RelationshipCollection>(of value: Collection)
    -> [any PersistentModel]
  {
    value._models.map { $0 as any PersistentModel }
  }

  /// Sets a relationship of a model in a context. Models that have none are inserted.
  static func set(_ value: Any, of object: _ModelObject, _ property: ModelProperty) {
    if case .toMany = property.kind, let collection = value as? any RelationshipCollection {
      return setElements(of: collection, of: object, property)
    }
    setAll(models(in: value), of: object, property)
  }

  private static func setElements<Collection: RelationshipCollection>(
    of value: Collection, of object: _ModelObject, _ property: ModelProperty
  ) { setList(value._models, of: object, property) }

  static func setAll(_ models: [any PersistentModel], of object: _ModelObject, _ property: ModelProperty) {
    guard let context = object.home else { return }
    guard case .toMany = property.kind else {
      let destination = models.first.flatMap { context.object(of: $0, relating: property.name) }
      return setOne(destination, of: object, property, in: context)
    }
    guard let slot = object.slotIndex(named: property.name, property.hash) else { return }
    let destinations = models.compactMap { context.object(of: $0, relating: property.name) }
    object.setStoredDestinations(destinations, at: slot)
    object.keepModel(in: context)
    for destination in destinations { destination.keepModel(in: context) }
  }

  /// Sets the model that a relationship of a model in a context leads to. One that has none is inserted.
  static func setOne(_ model: (any PersistentModel)?, of object: _ModelObject, _ property: ModelProperty) {
    guard let context = object.home else { return }
    let destination = model.flatMap { context.object(of: $0, relating: property.name) }
    setOne(destination, of: object, property, in: context)
  }

  /// Sets the destination of a relationship to an object of the same context.
  static func setOne(
    _ destination: _ModelObject?, of object: _ModelObject, _ property: ModelProperty,
    in context: ModelObjectContext
  ) {
    guard let slot = object.slotIndex(named: property.name, property.hash) else { return }
    object.setStoredDestination(destination, at: slot)
    object.keepModel(in: context)
    destination?.keepModel(in: context)
  }

  /// Adds to a relationship of a model that is being inserted: models that are inserted with it may have set the other side.
  static func add(_ models: [any PersistentModel], to object: _ModelObject, _ property: ModelProperty) {
    guard case .toMany = property.kind, let context = object.home else {
      return setAll(models, of: object, property)
    }
    let related = object.relatedObjects(forKey: property.name)
    for model in models {
      guard let destination = context.object(of: model, relating: property.name) else { continue }
      related.insert(destination)
      destination.keepModel(in: context)
    }
    object.keepModel(in: context)
  }

  /// Inserts a model without a context that was related to one in a context, where the relationship leads back.
  static func joinContext<Model: PersistentModel>(
    of models: [any PersistentModel], _ model: Model, _ property: ModelProperty
  ) {
    for destination in models where joinContext(of: destination, model, property) { return }
  }

  /// As for several models.
  ///
  /// - Returns: Whether it was inserted.
  @discardableResult
  static func joinContext<Model: PersistentModel>(
    of destination: any PersistentModel, _ model: Model, _ property: ModelProperty
  ) -> Bool {
    guard let object = destination._$storage.object, let context = object.home,
      context.container.models.hasInverse(property, of: type(of: model))
    else { return false }
    context.insertModel(model)
    return true
  }
}
