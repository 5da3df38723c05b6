import CoreData
import Heartwood

/// The lists of to-many relationships, which are kept between reads and set by what differs.
extension ModelRelations {
  /// The models that a to-many relationship leads to, in the order of their insertion.
  static func destinations<Collection: RelationshipCollection>(
    of object: _ModelObject, _ property: ModelProperty, in type: Collection.Type
  ) -> Any {
    let list: [Collection.PersistentElement] = _ModelStorage.allRelated(object, property.name, property.hash)
    return Collection._collection(of: list)
  }

  /// Sets a to-many relationship of a model in a context. Only the difference from the list that was last read or set is written, if that is still
  /// kept: a property's own `append` reads the list, changes it and sets it.
  static func setList<Model: PersistentModel>(
    _ list: [Model], of object: _ModelObject, _ property: ModelProperty
  ) {
    guard let context = object.home else { return }
    let related = object.relatedObjects(forKey: property.name)
    let former = related.lastCollection as? [Model]
    let isInOrder: Bool
    if let change = former.flatMap({ ListChange(from: $0, to: list) }),
      let isWritten = write(change, to: object, property, in: context)
    {
      isInOrder = isWritten
    } else {
      setAll(list, of: object, property)
      isInOrder = related.keys.elementsEqual(list) { key, model in
        model._$storage.object.map {
          $0.home === context && isRead(model, of: $0) && related.destination($0).key == key
        } == true
      }
    }
    if isInOrder, context.keepsModels, related.count == list.count { related.lastCollection = list }
  }

  /// - Returns: Whether the relationship has the order of the list now; nil if nothing is written.
  private static func write<Model: PersistentModel>(
    _ change: ListChange<Model>, to object: _ModelObject, _ property: ModelProperty,
    in context: ModelObjectContext
  ) -> Bool? {
    let related = object.relatedObjects(forKey: property.name)
    let before = related.revision
    let added = change.added.compactMap { context.object(of: $0, relating: property.name) }
    let removed = change.removed.compactMap { $0._$storage.object }
    // Models that are inserted by this may have changed the relationship from their side.
    guard added.count == change.added.count, removed.count == change.removed.count,
      let slot = object.slotIndex(named: property.name, property.hash), let before,
      let now = related.revision, before.state === now.state, before.version == now.version
    else { return nil }
    let areLast = object.changeStoredDestinations(at: slot, removing: removed, adding: added)
    object.keepModel(in: context)
    for destination in added { destination.keepModel(in: context) }
    return areLast && (added.isEmpty || change.isAtEnd) && zip(change.added, added).allSatisfy(isRead)
  }

  /// Whether reads give a model for an object: not one of another context, or a second one of the object.
  private static func isRead<Model: PersistentModel>(_ model: Model, of object: _ModelObject) -> Bool {
    model._$storage.object === object && object.anyModel === model
  }
}

/// How a list differs from a former one: by elements that are added or removed at one place.
private struct ListChange<Element: AnyObject> {
  let removed: ArraySlice<Element>
  let added: ArraySlice<Element>
  /// Whether nothing of the former list is behind the change.
  let isAtEnd: Bool

  /// Nil if the lists differ otherwise.
  init?(from former: [Element], to list: [Element]) {
    let least = min(former.count, list.count)
    var (start, rest) = (0, 0)
    while start < least, former[start] === list[start] { start += 1 }
    while rest < least - start, former[former.count - 1 - rest] === list[list.count - 1 - rest] { rest += 1 }
    removed = former[start..<former.count - rest]
    added = list[start..<list.count - rest]
    isAtEnd = rest == 0
    guard removed.isEmpty || added.isEmpty else { return nil }
  }
}
