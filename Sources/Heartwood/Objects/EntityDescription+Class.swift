/// The class of an entity's objects.
extension EntityDescription {
  /// A new entity with the most common options.
  ///
  /// - Parameters:
  ///   - name: The name, unique in the model.
  ///   - properties: The entity's own properties.
  ///   - managedObjectClass: The class of its objects; nil for `ManagedObject`.
  public convenience init(
    name: String, properties: [PropertyDescription] = [], managedObjectClass: ManagedObject.Type? = nil
  ) {
    self.init(named: name, properties: properties)
    self.managedObjectClass = managedObjectClass
  }

  /// The class of the entity's objects; nil for `ManagedObject` itself or a class that is known by name only.
  public var managedObjectClass: ManagedObject.Type? {
    get { givenClass.flatMap { $0 as? ManagedObject.Type } }
    set { setClass(newValue, named: newValue.map { String(reflecting: $0) } ?? "ManagedObject") }
  }

  /// Sets the class without its name, if none is set.
  package func useClass(_ type: ManagedObject.Type) {
    guard givenClass == nil else { return }
    setClass(type, named: managedObjectClassName)
  }

  /// A new object of the entity's class, without a context.
  func makeObject() -> ManagedObject { factory.makeObject() }
}

extension ObjectFactory {
  @inline(__always)
  var objectClass: ManagedObject.Type {
    guard let givenClass else { return ManagedObject.self }
    return CheckedCast.type(givenClass, of: ManagedObject.self)
  }

  /// A new object, without a context.
  @inline(__always)
  func makeObject() -> ManagedObject {
    withEntity { ObjectMaking.make(objectClass, $0) }
  }

  @inline(__always)
  func makes(_ object: ManagedObject) -> Bool {
    withEntity { object.isExactly($0) }
  }
}
