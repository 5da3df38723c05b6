import Foundation
import Heartwood

extension AnyKeyPath {
  /// The names of the properties of managed objects that the key path reads, with dots between them. The standard library's own is nil here.
  public var _kvcKeyPathString: String? { InspectedObject.names(of: self) }
}

/// Values by key paths, and by names that are no properties of the model.
extension NSManagedObject {
  final func owner(ofPath path: String) -> (NSManagedObject, String) {
    guard let dot = path.lastIndex(of: ".") else { return (self, path) }
    guard let owner = value(forKeyPath: String(path[..<dot])) as? NSManagedObject else {
      raise("mutableSetValueForKeyPath:", "\(path) leads to no object")
    }
    return (owner, String(path[path.index(after: dot)...]))
  }

  /// The value of a name that is no attribute or relationship of the model; nil if there is none.
  final func unmodelledValue(forKey key: String) -> Any?? {
    if entity.fetchedPropertiesByName[key] != nil {
      return .some(fetchedObjects(forKey: key, as: ManagedObject.self))
    }
    switch key {
    case "self": return .some(self)
    case "objectID": return .some(objectID)
    case "managedObjectContext": return .some(managedObjectContext)
    case "entity": return .some(entity)
    case "isInserted", "inserted": return .some(NSNumber(value: isInserted))
    case "isUpdated", "updated": return .some(NSNumber(value: isUpdated))
    case "isDeleted", "deleted": return .some(NSNumber(value: isDeleted))
    case "isFault", "fault": return .some(NSNumber(value: isFault))
    case "hasChanges": return .some(NSNumber(value: hasChanges))
    case "description": return .some(description)
    default: return nil
    }
  }
}
