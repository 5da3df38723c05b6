import Foundation
import Heartwood
import HeartwoodBytes

/// Fetching and counting.
extension ManagedObjectContext {
  /// The results of a request: objects, identifiers, dictionaries, or one number, as its `resultType` says.
  ///
  /// - Throws: `.coreData` if the request does not fit the model, otherwise the store's error.
  public func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
    try asCocoa(in: self) {
      if request.resultType == .managedObjectResultType {
        let objects = try fetch(request.converted(in: self, as: ManagedObject.self))
        return try typed(objects, of: request)
      }
      return try results(of: request).map { result in
        if let result = result as? Result { return result }
        throw otherResult(result, of: request)
      }
    }
  }

  /// The results of a request of any type, where a protocol asks for them as they are here.
  @_disfavoredOverload
  public func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    let results: [any NSFetchRequestResult] = try fetch(request)
    return results
  }

  /// The number of objects that a request finds; of dictionaries, if it groups objects or returns distinct results.
  ///
  /// - Throws: As `fetch(_:)`.
  public func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
    try asCocoa(in: self) {
      request.unitesObjects
        ? try fetchDictionaries(request.converted(in: self, as: [String: Any].self)).count
        : try count(for: request.converted(in: self, as: ManagedObject.self))
    }
  }

  /// The results of a request of any type.
  func results(of request: FetchRequestBase) throws -> [Any] {
    switch request.resultType {
    case .managedObjectIDResultType:
      return try fetchIdentifiers(request.converted(in: self, as: ManagedObject.self))
    case .countResultType:
      return [NSNumber(value: try count(for: request.converted(in: self, as: ManagedObject.self)))]
    case .dictionaryResultType:
      let computed = (request.propertiesToFetch ?? []).compactMap { $0 as? NSExpressionDescription }
      return try fetchDictionaries(request.converted(in: self, as: [String: Any].self)).map { row in
        for column in computed { if let value = row[column.name] { try column.check(value) } }
        return NSDictionary(dictionary: row.mapValues { FoundationValue.of($0) })
      }
    default: return try fetch(request.converted(in: self, as: ManagedObject.self))
    }
  }

  private func typed<Result>(_ objects: [ManagedObject], of request: NSFetchRequest<Result>) throws
    -> [Result]
  {
    // Subclasses have the same form in arrays; one of another class would be wrong in all uses.
    if let wrong = objects.first(where: { !($0 is Result) }) { throw otherResult(wrong, of: request) }
    return objects.map { $0 as! Result }
  }

  private func otherResult<Result>(_ result: Any, of request: NSFetchRequest<Result>) -> HeartwoodError {
    HeartwoodError(
      .coreData,
      "the fetch request for \(request.entityName ?? "?") is of \(Result.self), and a result is \(type(of: result)): check its resultType and the class of the entity"
    )
  }

  /// The context on whose queue the code runs.
  static var current: NSManagedObjectContext {
    guard let context = runningContext else {
      programError(
        "execute(): call it within perform or performAndWait of a context, or use fetch(_:) of the context")
    }
    return context
  }
}
