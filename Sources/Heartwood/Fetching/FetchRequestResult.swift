/// What a fetch can return: managed objects, their identifiers, dictionaries, and numbers of objects.
///
/// Only the types of this module conform.
public protocol FetchRequestResult {
  /// The kind of result.
  static var fetchRequestResultType: FetchRequestResultType { get }
}

/// What a fetch returns. The raw values are Core Data's.
public enum FetchRequestResultType: UInt, Sendable {
  /// Objects: `FetchRequest<Person>`.
  case managedObjectResultType = 0
  /// Identifiers: `FetchRequest<ManagedObjectID>`.
  case managedObjectIDResultType = 1
  /// Dictionaries of the columns: `FetchRequest<[String: Any]>`.
  case dictionaryResultType = 2
  /// One number, that of the objects: `FetchRequest<Int>`.
  case countResultType = 4
}

extension ManagedObject: FetchRequestResult {
  /// `.managedObjectResultType`.
  public static var fetchRequestResultType: FetchRequestResultType { .managedObjectResultType }
}

extension ManagedObjectID: FetchRequestResult {
  /// `.managedObjectIDResultType`.
  public static var fetchRequestResultType: FetchRequestResultType { .managedObjectIDResultType }
}

extension Dictionary: FetchRequestResult where Key == String, Value == Any {
  /// `.dictionaryResultType`.
  public static var fetchRequestResultType: FetchRequestResultType { .dictionaryResultType }
}

extension Int: FetchRequestResult {
  /// `.countResultType`.
  public static var fetchRequestResultType: FetchRequestResultType { .countResultType }
}

/// Fetching what is not an object by a request of its type, as in Core Data.
extension ManagedObjectContext {
  /// The identifiers of the objects that a request finds, as `fetchIdentifiers(_:)` returns them.
  ///
  /// - Parameter request: A request with the name of an entity.
  /// - Throws: As `fetch(_:)` for objects.
  public func fetch(_ request: FetchRequest<ManagedObjectID>) throws -> [ManagedObjectID] {
    try fetchIdentifiers(request.forObjects())
  }

  /// The dictionaries of a request, as `fetchDictionaries(_:)` returns them.
  ///
  /// - Parameter request: A request with the name of an entity.
  /// - Throws: As `fetchDictionaries(_:)`.
  public func fetch(_ request: FetchRequest<[String: Any]>) throws -> [[String: Any]] {
    try fetchDictionaries(request.forObjects())
  }

  /// The number of objects that a request finds, in an array of one element.
  ///
  /// - Parameter request: A request with the name of an entity.
  /// - Throws: As `count(for:)`.
  public func fetch(_ request: FetchRequest<Int>) throws -> [Int] {
    [try count(for: request.forObjects())]
  }

  /// The number of objects of a request for identifiers, dictionaries or a count. Columns do not matter.
  ///
  /// - Parameter request: A request with the name of an entity.
  /// - Throws: As `fetch(_:)` for objects.
  public func count<Result: FetchRequestResult>(for request: FetchRequest<Result>) throws -> Int {
    try count(for: request.forObjects(ofAnyResultType: true))
  }
}

extension FetchRequest {
  /// A request for the objects that this one is about.
  ///
  /// - Parameter isAnyType: Whether the result type does not matter.
  /// - Throws: `.coreData` if the result type is not that of `Object`.
  func forObjects(ofAnyResultType isAnyType: Bool = false) throws(HeartwoodError) -> FetchRequest<
    ManagedObject
  > {
    if !isAnyType { try checkResultType() }
    guard entityName != nil else {
      throw HeartwoodError(
        .coreData, "a fetch request for \(Object.self) has no class that names its entity: set its entityName"
      )
    }
    let request = FetchRequest<ManagedObject>()
    request.copyParts(of: self)
    return request
  }

  /// - Throws: `.coreData` if the result type is not that of `Object`.
  func checkResultType() throws(HeartwoodError) {
    guard resultType != Object.fetchRequestResultType else { return }
    throw HeartwoodError(
      .coreData,
      "the fetch request for \(entityName ?? "\(Object.self)") is of \(Object.self), and its result type is \(resultType): "
        + "use \(resultType.example), whose result type need not be set")
  }
}

extension FetchRequestResultType {
  fileprivate var example: String {
    switch self {
    case .managedObjectResultType: "FetchRequest of the class"
    case .managedObjectIDResultType: "FetchRequest<ManagedObjectID>"
    case .dictionaryResultType: "FetchRequest<[String: Any]>"
    case .countResultType: "FetchRequest<Int>"
    }
  }
}
