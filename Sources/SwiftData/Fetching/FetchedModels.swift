import Heartwood

/// The models of fetched objects, in their order: what depends on their class is looked up once for all.
final class FetchedModels<Model: PersistentModel> {
  private let context: ModelObjectContext
  /// Kept by the context.
  private let entity: UnownedReference<EntityDescription>?
  private let making = ModelMaking.current
  private let backing: any BackingData<Model.Root> = _NextBackingData<Model.Root>()
  private let keeper: ContextKeeper
  // An array of the models, or an optional one, would be of a type that is looked up at every step, as the compiler does not know the class.
  @exclusivity(unchecked) private var models: [AnyObject] = []

  init(in context: ModelObjectContext) {
    self.context = context
    keeper = ContextKeeper(context)
    entity = context.container.models.entity(of: Model.self).map { UnownedReference($0) }
  }

  /// Expects a number of models.
  func reserve(_ count: Int) { models.reserveCapacity(count) }

  /// Adds the model of an object of the context: the one that the program has, or a new one.
  func add(_ object: ManagedObject) {
    // All objects of such a context are of this class.
    let object = unsafeDowncast(object, to: _ModelObject.self)
    if let known = object.anyModel, ModelRelations.isModel(known, Model.self) {
      models.append(known)
    } else if let entity, entity.with({ object.isExactly($0) }) {
      object.realiseLoaded()
      models.append(making.make(object, in: keeper) { Model(backingData: backing) })
    } else if let made = context.made(of: object, as: Model.self) {
      models.append(made)
    }
  }

  var all: [Model] {
    // Each is one of the class.
    unsafeBitCast(models, to: [Model].self)
  }
}

/// Keeps a context for the models of a fetch. A context has weak references, so that to count one more to it takes longer than to count one to this.
final class ContextKeeper {
  private let context: ModelObjectContext
  init(_ context: ModelObjectContext) { self.context = context }
}
