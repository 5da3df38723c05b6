/// A request that inserts rows into a store in one transaction, without making objects.
///
/// ```swift
/// let request = BatchInsertRequest(City.self, objects: [
///   ["name": "Lyon", "population": 522_000, "country": "FR"],
/// ])
/// request.resultType = .count
/// try context.execute(request)
/// ```
///
/// A row has values by property name; other properties have their defaults. A relationship is given by the identifier of a
/// destination, or by its value of a uniqueness constraint: the value itself if the destination's entity has one constraint of one
/// attribute, otherwise a dictionary of the constraint's attributes. A to-many relationship has an array of these. Rows may refer to
/// rows of the same request that come later.
///
/// If a row has the unique values of a stored one, the context's merge policy decides: `error` makes the request fail;
/// `mergeByPropertyObjectTrump` gives the stored row the values of the new one, and `overwrite` the defaults of the others too;
/// `mergeByPropertyStoreTrump` and `rollback` leave the stored row as it is. Only the type of the policy counts.
///
/// No life-cycle methods are called. Unlike in Core Data, the request may have relationships and be validated.
public final class BatchInsertRequest: PersistentStoreRequest {
  /// The entity's name.
  public let entityName: String
  /// The kind of the result.
  public var resultType = BatchInsertRequestResultType.statusOnly
  /// Whether the values are checked by the rules of the model, as a save does it. Methods of the class are not called.
  public var validates = false

  /// Rows as dictionaries. Setting it replaces whatever else the request inserts.
  public var objectsToInsert: [[String: Any]]? {
    didSet { source = objectsToInsert.map { .objects($0) } ?? .objects([]) }
  }

  private(set) var source: Source

  /// Where the rows come from.
  enum Source {
    case objects([[String: Any]])
    case dictionaries((inout [String: Any]) -> Bool)
    case object((ManagedObject) -> Bool)
    case rows(() throws -> [String: Any]?)
    case made([BatchRow])
    case kept(KeptBatchRows)
  }

  private init(_ entityName: String, _ source: Source) {
    self.entityName = entityName
    self.source = source
  }

  convenience init(entityName: String, made rows: [BatchRow]) { self.init(entityName, .made(rows)) }

  /// A request for the same rows that can be executed again, for a store whose transaction may be taken back: rows that a closure makes are
  /// kept when they are read.
  ///
  /// - Parameter most: The most rows that are kept. If there are more, the request cannot be executed again.
  public func repeatable(keeping most: Int) -> BatchInsertRequest {
    if canBeRepeated { return self }
    let made = BatchInsertRequest(entityName, .kept(KeptBatchRows(self, most)))
    (made.resultType, made.validates, made.affectedStores) = (resultType, validates, affectedStores)
    return made
  }

  /// Whether the request gives the same rows when it is executed again: those of an array, or all that were read so far and kept.
  public var canBeRepeated: Bool {
    switch source {
    case .objects, .made: true
    case .kept(let kept): kept.isWhole
    default: false
    }
  }

  public override var requestType: PersistentStoreRequestType { .batchInsertRequestType }

  /// A request that inserts rows given as dictionaries.
  ///
  /// - Parameters:
  ///   - entityName: The name of the entity.
  ///   - objects: The values of each row by property name, in the types of `ManagedObject.setValue(_:forKey:)`; `NSNull` for nil.
  public convenience init(entityName: String, objects: [[String: Any]]) {
    self.init(entityName, .objects(objects))
    objectsToInsert = objects
  }

  /// A request that inserts rows which a closure makes, one after the other.
  ///
  /// - Parameters:
  ///   - entityName: The name of the entity.
  ///   - dictionaryHandler: Fills the dictionary, which is empty, with the values of a row; or returns true if there are no more
  ///     rows. It is called in the transaction, and may not save.
  public convenience init(
    entityName: String, dictionaryHandler: @escaping (_ row: inout [String: Any]) -> Bool
  ) {
    self.init(entityName, .dictionaries(dictionaryHandler))
  }

  /// A request that inserts rows which a closure makes, one after the other, as an object.
  ///
  /// - Parameters:
  ///   - entityName: The name of the entity.
  ///   - managedObjectHandler: Sets the attributes of an object, which is always the same one and belongs to no context; or returns
  ///     true if there are no more rows. It cannot set relationships. It is called in the transaction, and may not save.
  public convenience init(
    entityName: String, managedObjectHandler: @escaping (_ object: ManagedObject) -> Bool
  ) {
    self.init(entityName, .object(managedObjectHandler))
  }

  /// A request that inserts encodable values, such as structs.
  ///
  /// - Parameters:
  ///   - entityName: The name of the entity.
  ///   - rows: The rows, each encoded as a keyed container whose keys are property names. A nested keyed container is a composite
  ///     attribute, or a destination by its unique values. It is iterated in the transaction, once for each execution.
  public convenience init<Rows: Sequence>(entityName: String, rows: Rows) where Rows.Element: Encodable {
    var iterator: Rows.Iterator?
    self.init(
      entityName,
      .rows {
        if iterator == nil { iterator = rows.makeIterator() }
        guard let row = iterator?.next() else {
          iterator = nil
          return nil
        }
        return try RowEncoder.dictionary(of: row)
      })
  }

  /// A request that inserts rows given as dictionaries.
  public convenience init(entity: EntityDescription, objects: [[String: Any]]) {
    self.init(entityName: entity.displayName, objects: objects)
  }

  /// A request that inserts rows which a closure makes; see `init(entityName:dictionaryHandler:)`.
  public convenience init(
    entity: EntityDescription, dictionaryHandler: @escaping (_ row: inout [String: Any]) -> Bool
  ) {
    self.init(entityName: entity.displayName, dictionaryHandler: dictionaryHandler)
  }

  /// A request that inserts rows which a closure makes as an object; see `init(entityName:managedObjectHandler:)`.
  public convenience init(
    entity: EntityDescription, managedObjectHandler: @escaping (_ object: ManagedObject) -> Bool
  ) {
    self.init(entityName: entity.displayName, managedObjectHandler: managedObjectHandler)
  }

  /// A request that inserts rows given as dictionaries, of the entity of a class.
  ///
  /// - Precondition: A model in use has exactly one entity with this class.
  public convenience init(_ type: ManagedObject.Type, objects: [[String: Any]]) {
    self.init(entity: type.entity(), objects: objects)
  }

  /// A request that inserts encodable values, of the entity of a class; see `init(entityName:rows:)`.
  ///
  /// - Precondition: A model in use has exactly one entity with this class.
  public convenience init<Rows: Sequence>(_ type: ManagedObject.Type, rows: Rows)
  where Rows.Element: Encodable {
    self.init(entityName: type.entity().displayName, rows: rows)
  }
}
