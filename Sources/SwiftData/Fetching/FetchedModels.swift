import Heartwood

/// The models of fetched objects, in their order: what depends on their class is looked up once for all.
final class FetchedModels<Model: PersistentModel> {
  private let context: ModelObjectContext
  private let entity: EntityDescription?
  @exclusivity(unchecked) private var template: Template?
  // An array of the models, or an optional one, would be of a type that is looked up at every step, as the compiler does not know the class.
  @exclusivity(unchecked) private var models: [AnyObject] = []

  /// Backing data that have the values of one object after the other.
  private final class Template {
    @exclusivity(unchecked) var backing: any BackingData<Model.Root>

    init(_ object: _ModelObject) { backing = _ObjectBackingData<Model.Root>(object) }
  }

  init(in context: ModelObjectContext) {
    self.context = context
    entity = context.container.models.entity(of: Model.self)
  }

  /// Expects a number of models.
  func reserve(_ count: Int) { models.reserveCapacity(count) }

  /// Adds the model of an object of the context: the one that the program has, or a new one.
  func add(_ object: ManagedObject) {
    // All objects of such a context are of this class.
    let object = unsafeDowncast(object, to: _ModelObject.self)
    if let known = object.anyModel, ModelRelations.isModel(known, Model.self) {
      models.append(known)
    } else if let entity, object.isExactly(entity) {
      models.append(made(of: object))
    } else if let made = context.made(of: object, as: Model.self) {
      models.append(made)
    }
  }

  private func made(of object: _ModelObject) -> Model {
    let template = template ?? Template(object)
    self.template = template
    template.backing._take(object)
    return ModelMaking.withStored { Model(backingData: template.backing) }
  }

  var all: [Model] {
    // Each is one of the class.
    unsafeBitCast(models, to: [Model].self)
  }
}
