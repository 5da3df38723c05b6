import Foundation
import Heartwood

/// The names of the methods that managed objects have on Apple's systems.
enum AccessorNames {
  /// Whether objects of an entity have a method with this name.
  static func has(_ name: String, _ entity: NSEntityDescription) -> Bool {
    if ofAllObjects.contains(name) { return true }
    guard name.last == ":" else { return property(name, entity) != nil }
    let key = name.dropLast()
    guard key.last != ":" else { return false }
    if let rest = rest(of: key, after: "set") { return property(rest, entity) != nil }
    return ["add", "remove", "intersect"].contains { word in
      guard let rest = rest(of: key, after: word) else { return false }
      let names = rest.hasSuffix("Object") ? [rest, String(rest.dropLast(6))] : [rest]
      return names.contains { (property($0, entity) as? NSRelationshipDescription)?.isToMany == true }
    }
  }

  private static func rest(of key: Substring, after word: String) -> String? {
    key.hasPrefix(word) && key.count > word.count ? String(key.dropFirst(word.count)) : nil
  }

  /// The property of a name, also of one that begins with a capital as in `setName:`.
  private static func property(_ name: String, _ entity: NSEntityDescription) -> NSPropertyDescription? {
    let properties = entity.propertiesByName
    return properties[name] ?? properties[name.prefix(1).lowercased() + name.dropFirst()]
  }

  private static let ofAllObjects: Set<String> = [
    "self", "class", "hash", "isEqual:", "description", "debugDescription", "objectID",
    "managedObjectContext",
    "entity", "isInserted", "isUpdated", "isDeleted", "isFault", "hasChanges", "hasPersistentChangedValues",
    "faultingState", "awakeFromFetch", "awakeFromInsert", "awakeFromSnapshotEvents:", "prepareForDeletion",
    "willSave", "didSave", "willTurnIntoFault", "didTurnIntoFault", "willAccessValueForKey:",
    "didAccessValueForKey:", "willChangeValueForKey:", "didChangeValueForKey:", "valueForKey:",
    "setValue:forKey:", "primitiveValueForKey:", "setPrimitiveValue:forKey:", "valueForKeyPath:",
    "setValue:forKeyPath:", "valueForUndefinedKey:", "setValue:forUndefinedKey:",
    "setValuesForKeysWithDictionary:",
    "dictionaryWithValuesForKeys:", "mutableSetValueForKey:", "mutableOrderedSetValueForKey:",
    "committedValuesForKeys:", "changedValues", "changedValuesForCurrentEvent",
    "objectIDsForRelationshipNamed:",
    "hasFaultForRelationshipNamed:", "validateValue:forKey:error:", "validateForInsert:",
    "validateForUpdate:",
    "validateForDelete:",
  ]
}
