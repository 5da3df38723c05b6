/// The objects that something may have changed: an event, a merge, a save.
struct TouchedObjects {
  private(set) var objects: [ManagedObject] = []
  /// Of objects that may not be registered.
  private(set) var identifiers: [ManagedObjectID] = []
  /// The objects whose values may show differently.
  private(set) var told: Set<ObjectIdentifier> = []
  /// Whether any other object may have changed, too.
  private(set) var includesAll = false
  /// Whether objects may have got other keys.
  private(set) var mayChangeKeys = false

  /// Anything.
  static var everything: TouchedObjects {
    var touched = TouchedObjects()
    touched.includesAll = true
    return touched
  }

  private init() {}

  init(_ event: ContextEvent) {
    let changed = event.changes.map(\.object) + event.refreshed + event.invalidated
    objects = changed + event.insertedElsewhere
    identifiers = event.touchedElsewhere
    told = Set(changed.lazy.map { ObjectIdentifier($0) })
  }

  /// Objects whose rows or keys have changed, but no value.
  init(rewritten objects: [ManagedObject]) {
    self.objects = objects
    mayChangeKeys = true
  }

  mutating func add(_ other: TouchedObjects) {
    objects += other.objects
    identifiers += other.identifiers
    told.formUnion(other.told)
    includesAll = includesAll || other.includesAll
    mayChangeKeys = mayChangeKeys || other.mayChangeKeys
  }
}
