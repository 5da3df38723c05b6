/// Short forms for `dump` and debuggers: by their fields, objects would lead to the whole graph and to the memory of the engine.

extension ManagedObjectModel: CustomReflectable {
  /// The names of the entities, with those of their properties.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: entities.map { entity in
        (
          label: Optional(entity.name ?? ""),
          value: entity.properties.map(\.name).joined(separator: ", ") as Any
        )
      }, displayStyle: .class)
  }
}

extension EntityDescription: CustomReflectable {
  /// The name, the superentity's, and the names of the properties.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "name": name as Any, "superentity": superentity?.name as Any,
        "properties": properties.map(\.name).joined(separator: ", "),
      ], displayStyle: .class)
  }
}

extension PersistentStoreCoordinator: CustomReflectable {
  /// Where the stores are.
  public var customMirror: Mirror {
    Mirror(self, children: ["persistentStores": persistentStores.map(\.place)], displayStyle: .class)
  }
}

extension PersistentStore: CustomReflectable {
  /// Type and place.
  public var customMirror: Mirror {
    Mirror(self, children: ["type": kind.rawValue, "place": place], displayStyle: .class)
  }
}

extension ManagedObjectID: CustomReflectable {
  /// No parts: the identifier is shown by its URI.
  public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension Attribute: CustomReflectable {
  /// No parts: the value is one of the object's.
  public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension Relationship: CustomReflectable {
  /// No parts: the destinations are the object's.
  public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension _RowFields: CustomReflectable {
  /// No parts.
  public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension _AccessTable: CustomReflectable {
  /// No parts.
  public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension StoredRow: CustomReflectable {
  @usableFromInline package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension UnownedReference: CustomReflectable {
  @usableFromInline package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension PendingValues: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: [], displayStyle: .class) }
}
