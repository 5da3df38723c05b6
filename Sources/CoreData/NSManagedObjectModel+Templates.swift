import Foundation
import Heartwood
import HeartwoodBytes

/// Requests of a model by name.
extension ManagedObjectModel {
  /// The request of the model with this name, which has no variables.
  public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    bindClasses()
    return anyFetchRequestTemplate(name, [:]).map(Self.request)
  }

  /// A copy of the request of the model with this name, with values for its variables.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    bindClasses()
    return anyFetchRequestTemplate(name, variables.mapValues { GivenArgument($0) }).map(Self.request)
  }

  /// Sets a request of the model, or removes it for nil. Its predicate may have variables.
  ///
  /// - Precondition: The model is not in use, and the request is one for an entity of the model.
  public func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
  ) {
    bindClasses()
    do {
      try setAnyFetchRequestTemplate(fetchRequestTemplate?.template(), name)
    } catch {
      programError("setFetchRequestTemplate:forName: \(name): \(error)")
    }
  }

  /// All requests of the model by their names.
  public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
    Dictionary(
      uniqueKeysWithValues: fetchRequestTemplateNames.compactMap { name in
        fetchRequestTemplate(forName: name).map { (name, $0) }
      })
  }

  static func request(_ known: FetchRequest<ManagedObject>) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: known.entityName ?? "")
    request.predicate = (known.predicate as? FormatPredicate).map { NSPredicate.made(of: $0.condition) }
    request.sortDescriptors = known.sortDescriptors?.compactMap {
      ($0 as? NamedSort)?.parts.map { NSSortDescriptor(key: $0.path, ascending: $0.isAscending) }
    }
    request.fetchLimit = known.fetchLimit
    request.fetchOffset = known.fetchOffset
    request.fetchBatchSize = known.fetchBatchSize
    request.includesSubentities = known.includesSubentities
    request.includesPendingChanges = known.includesPendingChanges
    request.returnsObjectsAsFaults = known.returnsObjectsAsFaults
    request.includesPropertyValues = known.includesPropertyValues
    request.shouldRefreshRefetchedObjects = known.shouldRefreshRefetchedObjects
    request.returnsDistinctResults = known.returnsDistinctResults
    return request
  }
}
