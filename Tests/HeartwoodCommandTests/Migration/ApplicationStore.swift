import Foundation
import Heartwood
import HeartwoodFaults
import Testing

/// A store that is opened with one version of an application's model after the other.
struct ApplicationStore {
  let application: Application
  let url: URL

  func with<Result>(
    _ version: Int, _ edit: (PersistentStoreDescription) throws -> Void = { _ in },
    _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try application.model(version))
    let description = PersistentStoreDescription(url: url)
    try edit(description)
    try coordinator.addPersistentStore(with: description)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let result = try context.performAndWait { try body(context) }
    try coordinator.close()
    return result
  }

  func copy(to url: URL) throws -> ApplicationStore {
    try FileManager.default.copyItem(at: self.url, to: url)
    return ApplicationStore(application: application, url: url)
  }

  /// The objects of the store, opened with a version's model and not migrated; a finding of `verify` is an
  /// issue.
  func read(_ version: Int) throws -> PlainObjects {
    try with(version) {
      $0.shouldMigrateStoreAutomatically = false
    } _: { context in
      #expect(try context.persistentStoreCoordinator?.verify().findings == [])
      return try PlainObjects(reading: context)
    }
  }
}

// MARK: Reading

extension PlainObjects {
  init(reading context: ManagedObjectContext) throws {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    for entity in model.entities {
      let name = try #require(entity.name)
      parents[name] = entity.superentity?.name
      let request = FetchRequest<ManagedObject>(entityName: name)
      request.includesSubentities = false
      for object in try context.fetch(request) {
        let uid = try #require(object.value(forKey: "uid") as? String)
        #expect(objects[uid] == nil, "\(uid) is there twice")
        objects[uid] = Object(entity: name, reading: object)
      }
    }
  }

  /// Differences from what is expected, one line each. Orders are compared where both have one.
  func differences(from expected: PlainObjects) -> [String] {
    let ordered = self.ordered.intersection(expected.ordered)
    return lines(ordered).symmetricDifference(expected.lines(ordered)).sorted()
  }

  private var ordered: Set<String> {
    Set(objects.flatMap { uid, object in object.ordered.map { "\(uid) \($0)" } })
  }

  private func lines(_ ordered: Set<String>) -> Set<String> {
    var lines: Set<String> = []
    for (uid, object) in objects {
      lines.insert("\(uid) is of \(object.entity)")
      for (name, value) in object.values { lines.insert("\(uid) \(name) = \(value)") }
      for (name, targets) in object.links where !targets.isEmpty {
        lines.insert("\(uid) \(name) → \(ordered.contains("\(uid) \(name)") ? targets : targets.sorted())")
      }
    }
    return lines
  }
}

extension PlainObjects.Object {
  init(entity: String, reading object: ManagedObject) {
    self.entity = entity
    for attribute in object.entity.attributesByName.values {
      let value = object.value(forKey: attribute.name)
      if let composite = attribute as? CompositeAttributeDescription {
        for element in composite.elements {
          values["\(attribute.name).\(element.name)"] = PlainText.text(
            (value as? [String: Any])?[element.name])
        }
      } else {
        values[attribute.name] = PlainText.text(value)
      }
    }
    for (name, relationship) in object.entity.relationshipsByName {
      if relationship.isOrdered { ordered.insert(name) }
      let value = object.value(forKey: name)
      let targets =
        (value as? [ManagedObject]) ?? (value as? Set<ManagedObject>).map(Array.init)
        ?? (value as? ManagedObject).map { [$0] } ?? []
      links[name] = targets.map { $0.value(forKey: "uid") as? String ?? "?" }
    }
  }
}

/// Values as texts, whatever their type is now.
enum PlainText {
  static func text(_ value: Any?) -> String? {
    switch value {
    case let value as Bool: "\(value)"
    case let value as any BinaryInteger: "\(value)"
    case let value as Double: "\(value)"
    case let value as Float: "\(value)"
    case let value as Decimal: "\(value)"
    case let value as String: value
    case let value as Date: "\(Int(value.timeIntervalSince1970))"
    case let value as Data: value.base64EncodedString()
    case let value as UUID: value.uuidString
    case let value as URL: value.absoluteString
    default: nil
    }
  }
}
