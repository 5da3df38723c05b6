/// A type of results that a fetch can return: managed objects, their identifiers, dictionaries, and numbers of objects.
///
/// Only the types of this module conform.
public protocol FetchRequestResult {
  /// The kind of result.
  static var fetchRequestResultType: FetchRequestResultType { get }
}

/// The kinds of results of a fetch. The raw values are Core Data's.
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

extension FetchRequest {
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
