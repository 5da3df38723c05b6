/// A property whose value is the result of a fetch: a weak, one-way link to the objects that the fetch finds.
///
/// The fetch runs when the property is first read, through the object's context. Its result is kept until the object turns into a fault, as
/// by `refresh(_:mergeChanges: false)`, and is not updated meanwhile; a result with unsaved objects is not kept. The predicate may use
/// `$FETCH_SOURCE`, the object, with its attributes and to-one relationships (`$FETCH_SOURCE.company`), and `$FETCHED_PROPERTY`, the
/// name of this property, with its user info (`$FETCHED_PROPERTY.userInfo.search`).
///
/// ```swift
/// let request = FetchRequest<ManagedObject>(entityName: "Person")
/// request.predicate = try FormatPredicate("company == $FETCH_SOURCE.company AND SELF != $FETCH_SOURCE")
/// FetchedPropertyDescription(name: "colleagues", fetchRequest: request)
/// ```
///
/// The value is an array of objects, in the order of the request: `value(forKey:)` or `ManagedObject.fetchedObjects(forKey:)`. It
/// cannot be set, and conditions cannot use it. It is no part of the version hash.
open class FetchedPropertyDescription: PropertyDescription, @unchecked Sendable {
  /// The request as text; nil if none was given, or one that cannot be used.
  package var template: FetchRequestTemplate? { willSet { willEdit() } }
  /// Why the request that was given cannot be used.
  package var problem: String?

  /// A new fetched property; set at least its name and its request.
  public override init() { super.init() }
}

extension ModelChecks {
  func check(_ property: FetchedPropertyDescription) throws(HeartwoodError) {
    let name = property.displayName
    guard !property.isTransient else {
      throw .model("\(name) is a fetched property: it is not stored anyway, and cannot be transient")
    }
    guard let template = property.template else {
      throw .model("\(name) is a fetched property: \(property.problem ?? "set its `fetchRequest`")")
    }
    guard model.entitiesByName[template.entityName] != nil else {
      throw .model(
        "\(name) fetches objects of \(template.entityName), which is no entity of the model")
    }
  }
}
