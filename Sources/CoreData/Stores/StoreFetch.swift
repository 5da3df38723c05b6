import Foundation
import Heartwood

/// A fetch as a custom store gets it.
enum StoreFetch {
  static func request(_ fetch: FetchRequest<ManagedObject>) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = fetch.entity
    request.predicate = (fetch.predicate as? Condition).map { NSPredicate.made(of: $0) }
    request.sortDescriptors = fetch.sortDescriptors?.compactMap { ($0 as? NamedSort)?.parts }.map { parts in
      NSSortDescriptor(
        key: parts.path == "objectID" ? "self" : parts.path, ascending: parts.isAscending,
        selector: TextOrder.selector(parts.options))
    }
    request.fetchLimit = fetch.fetchLimit
    request.fetchOffset = fetch.fetchOffset
    request.includesSubentities = fetch.includesSubentities
    request.includesPendingChanges = false
    switch fetch.resultType {
    case .managedObjectIDResultType: request.resultType = .managedObjectIDResultType
    case .countResultType: request.resultType = .countResultType
    default: request.resultType = .managedObjectResultType
    }
    return request
  }

  /// The result of a custom store, in the types that `IncrementalStore` takes.
  static func result(_ any: Any) -> Any {
    guard let elements = KeyValues.elements(of: any) else { return (any as? NSNumber)?.intValue ?? any }
    let objects = elements.compactMap { $0 as? ManagedObject }
    if objects.count == elements.count { return objects }
    let identifiers = elements.compactMap { $0 as? NSManagedObjectID }
    if identifiers.count == elements.count { return identifiers }
    let numbers = elements.compactMap { ($0 as? NSNumber)?.intValue }
    return numbers.count == elements.count ? numbers : any
  }
}

/// A request of a class of the program, on its way to a custom store.
final class ProgramRequest: PersistentStoreRequest {
  let request: NSPersistentStoreRequest
  init(_ request: NSPersistentStoreRequest) { self.request = request }

  override var requestType: NSPersistentStoreRequestType { request.requestType }
}

/// A context for calls to a custom store that come without one.
final class ReadingContext: @unchecked Sendable {
  private let lock = NSLock()
  private var context: NSManagedObjectContext?

  func using<Result>(
    _ given: NSManagedObjectContext?, of store: NSPersistentStore,
    _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    if let given { return try body(given) }
    let own = lock.withLock {
      if let context { return context }
      let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      made.persistentStoreCoordinator = store.persistentStoreCoordinator
      context = made
      return made
    }
    return try own.performAndWait {
      defer { own.reset() }
      return try body(own)
    }
  }
}

/// Values for places that take only what may be sent between threads. Those of stores are used as their classes use them.
enum SentValue {
  static func of(_ any: Any) -> any Sendable {
    // Both have the same form. Passed by itself, the value would be opened.
    unsafeBitCast(Held(value: any), to: Sent.self).value
  }

  private struct Held { let value: Any }
  private struct Sent { let value: any Sendable }

  /// A reference in a type that `IncrementalStore` and `AtomicStore` know: numbers are integers.
  static func reference(_ any: Any) -> Any {
    if any is String || any is any BinaryInteger { return any }
    if let number = any as? NSNumber { return number.int64Value }
    return any
  }
}

extension StoreTypes {
  /// Options by their names.
  static func named(_ options: PersistentStore.Options?) -> [AnyHashable: Any]? {
    options.map { options in
      Dictionary(uniqueKeysWithValues: options.map { (AnyHashable($0.key.rawValue), $0.value as Any) })
    }
  }

  /// Options of the library by their names; others are left out.
  static func options(_ options: [AnyHashable: Any]?) -> PersistentStore.Options? {
    options.map { options in
      Dictionary(
        options.compactMap { key, value in
          (key.base as? String).map { (PersistentStore.OptionKey(rawValue: $0), SentValue.of(value)) }
        }, uniquingKeysWith: { first, _ in first })
    }
  }
}
