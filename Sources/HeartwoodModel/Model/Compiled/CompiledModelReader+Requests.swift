import Foundation
import HeartwoodArchives

/// Fetch requests and fetched properties.
extension CompiledModelReader {
  /// The flags of a request that nothing is changed in.
  private static let usualFlags: Int64 = 30

  mutating func readRequests(
    _ root: ArchivedObject, _ names: Set<String>, into document: inout ModelDocument
  ) throws(ArchiveError) {
    for (name, value) in try entries("NSFetchRequestTemplates", of: root) {
      guard let object = value.object else {
        throw ArchiveError("the fetch request \(name) is \(value.kind)")
      }
      guard let request = try request(object, "the fetch request \(name)", nil) else { continue }
      guard names.contains(request.entityName) else {
        note(
          "the fetch request \(name) is of \"\(request.entityName)\", which is no entity of the model, and is left out"
        )
        continue
      }
      document.fetchRequests = document.fetchRequests ?? [:]
      document.fetchRequests?[name] = request
    }
  }

  mutating func read(
    fetchedProperty object: ArchivedObject, into property: inout ModelDocument.Property, _ path: String
  ) throws(ArchiveError) -> Bool {
    guard let request = try object.object("NSFetchRequest") else {
      note("the fetched property \(path) has no request, and is left out")
      return false
    }
    let entity = try text("_NSFetchRequestEntityName", of: object)
    property.fetched = try self.request(
      request, "the request of \(path)", entity, of: (property.name, property.userInfo))
    return property.fetched != nil
  }

  /// - Parameters:
  ///   - entity: The name of the entity if the request has none.
  ///   - fetchedProperty: The name and the user info of the fetched property whose request it is.
  /// - Returns: Nil if it is left out, with a note.
  private mutating func request(
    _ object: ArchivedObject, _ owner: String, _ entity: String?,
    of fetchedProperty: (name: String, userInfo: [String: String])? = nil
  ) throws(ArchiveError) -> FetchRequestTemplate? {
    try take(1)
    noteUnknown(object, owner)
    var name = try object.object("NSEntity")?.string("NSEntityName")
    if name == nil { name = try text("NSEntityName", of: object) }
    guard let name = name ?? entity else {
      note("\(owner) names no entity, and is left out")
      return nil
    }
    var predicate: String?
    let given = try object.value("NSPredicate")
    if !given.isNull {
      // Without its predicate it would find other objects.
      predicate = understood("the predicate of \(owner)", "the request is left out") {
        (budget) throws(HeartwoodError) in
        try ArchivedText.predicate(given, of: fetchedProperty, budget: &budget)
      }
      if predicate == nil { return nil }
    }
    let flags = try object.integer("NSFetchRequestFlags")
    if let flags, flags != Self.usualFlags {
      note("NSFetchRequestFlags of \(owner) is \(flags), which is not understood, and has no effect")
    }
    for key in ["NSValuesToFetch", "NSValuesToGroupBy", "NSHavingPredicate"] {
      let value = try object.value(key)
      if !value.isNull, value.list?.count != 0 {
        note("\(key) of \(owner) is left out: the request finds objects")
      }
    }
    let prefetched = try strings("NSRelationshipKeyPathsForPrefetching", of: object)
    return FetchRequestTemplate(
      entityName: name, predicate: predicate == "TRUEPREDICATE" ? nil : predicate,
      sort: try order(of: object, owner), limit: try count("NSFetchLimit", of: object),
      offset: try count("NSFetchOffset", of: object), batchSize: try count("NSBatchSize", of: object),
      includesSubentities: true, includesPendingChanges: true, returnsObjectsAsFaults: true,
      refreshesRefetchedObjects: false, prefetching: prefetched.isEmpty ? nil : prefetched)
  }

  private func count(_ key: String, of object: ArchivedObject) throws(ArchiveError) -> Int {
    max(0, Int(clamping: try object.integer(key) ?? 0))
  }

  private static let selectors: [String: ComparisonOptions] = [
    "compare:": [], "caseInsensitiveCompare:": .caseInsensitive, "localizedCompare:": .localized,
    "localizedCaseInsensitiveCompare:": [.localized, .caseInsensitive],
    "localizedStandardCompare:": .localizedStandard,
  ]

  private mutating func order(
    of object: ArchivedObject, _ owner: String
  ) throws(ArchiveError) -> [FetchRequestTemplate.Order] {
    var order: [FetchRequestTemplate.Order] = []
    for value in try object.list("NSSortDescriptors")?.values() ?? [] {
      guard let descriptor = value.object, let key = try descriptor.string("NSKey") else {
        note("\(owner) is sorted by \(value.kind), which is left out")
        continue
      }
      noteUnknown(descriptor, "the order of \(owner)")
      let selector = try descriptor.string("NSSelector") ?? "compare:"
      let options = Self.selectors[selector]
      if options == nil {
        note("\(owner) is sorted by \(selector), in place of which values are in their order")
      }
      order.append(
        FetchRequestTemplate.Order(
          key: key, isAscending: try descriptor.bool("NSAscending") ?? true, options: (options ?? []).rawValue
        ))
    }
    return order
  }
}
