import Foundation
import Heartwood
import HeartwoodBytes

/// Requests of a model by name.
extension ManagedObjectModel {
  /// The request of the model with this name, which has no variables.
  public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    bindClasses()
    return request(name, [:])
  }

  /// A copy of the request of the model with this name, with values for its variables.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    bindClasses()
    return request(name, variables.mapValues { GivenArgument($0) })
  }

  /// Sets a request of the model, or removes it for nil. Its predicate may have variables.
  ///
  /// - Precondition: The model is not in use, and the request is one for an entity of the model, whose predicates and columns have a text.
  public func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
  ) {
    bindClasses()
    do {
      try setAnyFetchRequestTemplate(fetchRequestTemplate?.template(in: self), name)
      fetchRequestTemplates[name]?.resultType = fetchRequestTemplate?.resultType.rawValue
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

  private func request(
    _ name: String, _ variables: [String: GivenArgument]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    guard let template = fetchRequestTemplates[name],
      let request = anyFetchRequestTemplate(name, variables).map(Self.request)
    else { return nil }
    request.resultType = NSFetchRequestResultType(rawValue: template.resultType ?? 0)
    request.relationshipKeyPathsForPrefetching = template.prefetching
    request.propertiesToFetch = template.columns?.map { Self.property($0, variables) }
    request.propertiesToGroupBy = template.groups?.map { Self.property($0, variables) }
    return request
  }

  /// The name of a property, or a computed column.
  private static func property(
    _ column: FetchRequestTemplate.Column, _ variables: [String: GivenArgument]
  ) -> Any {
    guard "\(NSExpression(forKeyPath: column.name).expression)" != column.expression else {
      return column.name
    }
    let computed = NSExpressionDescription()
    computed.name = column.name
    computed.expressionResultType = NSAttributeType(rawValue: column.type) ?? .undefined
    computed.expression = NSExpression(
      (try? ConditionExpression(format: column.expression, argumentArray: []))?
        .withSubstitutionVariables(variables) ?? ConditionExpression(forKeyPath: column.name))
    return computed
  }

  static func request(_ known: FetchRequest<ManagedObject>) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: known.entityName ?? "")
    request.predicate = (known.predicate as? FormatPredicate).map { NSPredicate.made(of: $0.condition) }
    request.havingPredicate = (known.havingPredicate as? FormatPredicate).map {
      NSPredicate.made(of: $0.condition)
    }
    request.sortDescriptors = known.sortDescriptors?.compactMap {
      ($0 as? NamedSort)?.parts.map {
        NSSortDescriptor(key: $0.path, ascending: $0.isAscending, selector: TextOrder.selector($0.options))
      }
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
