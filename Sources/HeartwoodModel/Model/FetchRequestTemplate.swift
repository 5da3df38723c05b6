/// A fetch request of a model by name, as text: what a model stores of it.
package struct FetchRequestTemplate: Codable, Hashable, Sendable {
  package struct Order: Codable, Hashable {
    package var key: String
    package var isAscending: Bool
    package var options: UInt8

    package init(key: String, isAscending: Bool, options: UInt8) {
      self.key = key
      self.isAscending = isAscending
      self.options = options
    }
  }

  /// A column of dictionaries.
  package struct Column: Codable, Hashable {
    package var name: String
    package var expression: String
    /// The raw value of an `AttributeType`.
    package var type: Int

    package init(name: String, expression: String, type: Int) {
      self.name = name
      self.expression = expression
      self.type = type
    }
  }

  package var entityName: String
  package var predicate: String?
  package var sort: [Order]
  package var limit: Int
  package var offset: Int
  package var batchSize: Int
  package var includesSubentities: Bool
  package var includesPendingChanges: Bool
  package var returnsObjectsAsFaults: Bool
  package var refreshesRefetchedObjects: Bool
  // Models of earlier versions do not have these.
  package var includesPropertyValues: Bool?
  package var prefetching: [String]?
  package var columns: [Column]?
  package var groups: [Column]?
  package var having: String?
  package var isDistinct: Bool?
  /// The raw value of the kind of results that the module `CoreData` was given.
  package var resultType: UInt?

  package init(
    entityName: String, predicate: String? = nil, sort: [Order], limit: Int, offset: Int, batchSize: Int,
    includesSubentities: Bool, includesPendingChanges: Bool, returnsObjectsAsFaults: Bool,
    refreshesRefetchedObjects: Bool, includesPropertyValues: Bool? = nil, prefetching: [String]? = nil,
    columns: [Column]? = nil, groups: [Column]? = nil, having: String? = nil, isDistinct: Bool? = nil
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
    self.batchSize = batchSize
    self.includesSubentities = includesSubentities
    self.includesPendingChanges = includesPendingChanges
    self.returnsObjectsAsFaults = returnsObjectsAsFaults
    self.refreshesRefetchedObjects = refreshesRefetchedObjects
    self.includesPropertyValues = includesPropertyValues
    self.prefetching = prefetching
    self.columns = columns
    self.groups = groups
    self.having = having
    self.isDistinct = isDistinct
  }
}

extension ManagedObjectModel {
  /// The place of a request in a file, for messages.
  static func place(ofFetchRequest name: String) -> String { "the fetch request \(name)" }
}
