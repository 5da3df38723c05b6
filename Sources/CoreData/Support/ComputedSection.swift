import Foundation
import Heartwood

/// A property of a class that its model does not have, where it names the sections of a controller.
final class ComputedSection: Hashable {
  private let path: [String]
  /// The entity of an object whose class has no such property.
  private var unknown: NSEntityDescription?

  /// - Returns: Nil if the path does not lead over to-one relationships to a name that is none of the model.
  init?(_ path: String, of entity: NSEntityDescription?) {
    self.path = path.split(separator: ".").map(String.init)
    guard var entity, let last = self.path.last else { return nil }
    for name in self.path.dropLast() {
      guard let relationship = entity.relationshipsByName[name], !relationship.isToMany,
        let destination = relationship.destinationEntity
      else { return nil }
      entity = destination
    }
    guard entity.propertiesByName[last] == nil else { return nil }
  }

  fileprivate func value(of object: ManagedObject) -> Any? {
    // Code that inspects a key path would take the properties that are read here for its own.
    guard !object._isInspected, let last = path.last else { return nil }
    var owner: ManagedObject? = object
    for name in path.dropLast() { owner = owner?.value(forKey: name) as? ManagedObject }
    guard let owner = owner as? NSManagedObject else { return nil }
    if let value = owner._ownValue(forKey: last) { return value }
    unknown = owner.entity
    return nil
  }

  /// - Throws: `.coreData` if the class of an object has no such property that is found by its name.
  func check() throws(HeartwoodError) {
    guard let unknown, let last = path.last else { return }
    throw HeartwoodError(
      .coreData,
      "the path of the section names is wrong: \(unknown.name ?? "?") has no property \(last), and its class has none that is marked with "
        + "@objc in translated sources")
  }

  static func == (left: ComputedSection, right: ComputedSection) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject {
  /// The value that names the section of the object.
  final subscript(section section: ComputedSection) -> Any? { section.value(of: self) }
}
