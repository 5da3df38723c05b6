/// Taking back the changes of one object at the other sides of its relationships.
extension RelationshipRestoring {
  /// Takes back what the unsaved relationship changes of `object` have changed at registered objects. The object itself
  /// is not changed.
  func restoreInverses(of object: ManagedObject) {
    for relationship in object.entity.relationshipsBySlot { restoreInverse(of: object, relationship) }
  }

  /// The same for one property; nothing for an attribute.
  func restoreInverses(of object: ManagedObject, slot: Int) {
    if let relationship = object.entity.compiled.relationshipBySlot[slot] {
      restoreInverse(of: object, relationship)
    }
  }

  private func restoreInverse(of object: ManagedObject, _ relationship: RelationshipDescription) {
    guard let inverse = relationship.inverseRelationship else { return }
    if relationship.isToMany {
      guard let state = object.relationshipState(at: relationship.slot) else { return }
      for key in state.added {
        take(object, outOf: inverse, of: relationship, at: registered(relationship, key))
      }
      for key in state.removed {
        putBack(object, into: inverse, of: relationship, at: registered(relationship, key))
      }
    } else if let edit = object.pending?.edit(relationship.slot) {
      let committed = object.committedValue(at: relationship.slot)
      guard edit != committed else { return }
      if case .object(let id) = edit {
        take(object, outOf: inverse, of: relationship, at: registered(relationship, id.key))
      }
      if case .object(let id) = committed {
        putBack(object, into: inverse, of: relationship, at: registered(relationship, id.key))
      }
    }
  }

  /// The deleted objects that an object was related to before.
  func deletedPartners(of object: ManagedObject) -> [ManagedObject] {
    object.entity.relationshipsBySlot.flatMap { relationship -> [ManagedObject] in
      let former: [UInt64]
      if relationship.isToMany {
        former = object.relationshipState(at: relationship.slot).map { Array($0.removed) } ?? []
      } else if object.pending?.edit(relationship.slot) != nil,
        case .object(let id) = object.committedValue(at: relationship.slot)
      {
        former = [id.key]
      } else {
        former = []
      }
      return former.compactMap { registered(relationship, $0) }.filter { $0.state.contains(.deleted) }
    }
  }

  /// Puts an object that a delete rule has taken out of the other side of its relationships back into it.
  func rejoinPartners(of object: ManagedObject) {
    forEachPartner(of: object) { partner, inverse, relationship in
      putBack(object, into: inverse, of: relationship, at: partner)
    }
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      guard let inverse = relationship.inverseRelationship, relationship.deleteRule == .nullifyDeleteRule
      else { continue }
      for key in context.relatedKeys(object, relationship.slot) {
        guard let partner = registered(relationship, key) else { continue }
        let wasTaken =
          inverse.isToMany
          ? partner.relationshipState(at: inverse.slot)?.removed.contains(object.identifier.key) == true
          : partner.pending?.edit(inverse.slot)?.isNull == true
        if wasTaken { putBack(object, into: inverse, of: relationship, at: partner) }
      }
    }
  }

  /// Adds an object whose row is inserted again to the to-many relationships at its other sides, as any new object is: other contexts
  /// have to read these again.
  func joinRelationships(with object: ManagedObject) {
    context.view.held = nil
    for relationship in object.entity.relationshipsBySlot {
      guard let inverse = relationship.inverseRelationship, inverse.isToMany else { continue }
      let partners: [UInt64] =
        if relationship.isToMany {
          context.relatedKeys(object, relationship.slot)
        } else if case .object(let id) = object.value(at: relationship.slot) {
          [id.key]
        } else {
          []
        }
      for partner in partners {
        let root: EntityDescription = relationship.destinationEntity.rootEntity
        // Those that are gone, too, are a conflict of their own.
        guard let exists = try? context.readingView().withRow(root, partner, { $0 != nil }), exists else {
          continue
        }
        let other = context.object(relationship.destinationEntity, partner)
        guard other !== object, other.state.isDisjoint(with: [.inserted, .deleted]) else { continue }
        addAgain(object, to: other, inverse.slot)
      }
    }
  }

  /// Makes the partners of an object whose row is gone read their to-many relationships again.
  func unloadPartners(of object: ManagedObject) {
    forEachPartner(of: object) { partner, inverse, _ in
      guard inverse.isToMany, let state = partner.relationshipState(at: inverse.slot) else { return }
      state.unload()
    }
  }

  /// Calls `body` with the registered destinations of to-one relationships, the inverse and the relationship.
  private func forEachPartner(
    of object: ManagedObject,
    _ body: (ManagedObject, RelationshipDescription, RelationshipDescription) -> Void
  ) {
    for relationship in object.entity.relationshipsBySlot where !relationship.isToMany {
      guard let inverse = relationship.inverseRelationship,
        case .object(let id) = object.committedValue(at: relationship.slot),
        let partner = registered(relationship, id.key)
      else { continue }
      body(partner, inverse, relationship)
    }
  }

  private func registered(_ relationship: RelationshipDescription, _ key: UInt64) -> ManagedObject? {
    context.registered(relationship.destinationEntity.rootEntity, key)
  }

  private func take(
    _ object: ManagedObject, outOf inverse: RelationshipDescription, of relationship: RelationshipDescription,
    at other: ManagedObject?
  ) {
    // An object that is related to itself by one relationship has no other side.
    guard let other, other !== object || inverse !== relationship else { return }
    context.forget(object, in: inverse, of: other)
  }

  private func putBack(
    _ object: ManagedObject, into inverse: RelationshipDescription, of relationship: RelationshipDescription,
    at other: ManagedObject?
  ) {
    guard let other, other !== object || inverse !== relationship, !other.state.contains(.deleted) else {
      return
    }
    let key = object.identifier.key
    if inverse.isToMany {
      let state = context.state(other, inverse.slot)
      guard !state.contains(key) else { return }
      context.willEdit(other)
      state.putBack(key)
    } else if other.value(at: inverse.slot).isNull {
      context.willEdit(other)
      other.setEdit(inverse.slot, .object(object.identifier))
    }
  }
}

/// Unsaved to-one relationships over a newer row.
extension RelationshipRestoring {
  /// Where the newest row names another partner than the former row, and an unsaved value a third one, takes the object out of
  /// the other side at the new partner.
  ///
  /// - Parameter former: The partners in the former row, by slot.
  func leaveNewPartners(of object: ManagedObject, _ former: [(slot: Int, partner: Value)]) {
    for (slot, partner) in former {
      let newest = object.committedValue(at: slot)
      guard newest != partner, case .object(let id) = newest, object.pending?.edit(slot) != newest,
        let inverse = object.entity.relationship(at: slot).inverseRelationship
      else { continue }
      let destination: EntityDescription = object.entity.relationship(at: slot).destinationEntity
      let other = context.object(destination, id.key)
      if inverse.isToMany, let state = other.relationshipState(at: inverse.slot), state.isLoaded,
        !state.contains(object.identifier.key)
      {
        // Loaded before the object was added there.
        context.reload(state, other, inverse.slot)
      }
      context.forget(object, in: inverse, of: other)
    }
  }
}

/// To-one relationships that others have changed, too.
extension RelationshipRestoring {
  /// Has the owners that an object has by unsaved values, and not by its newest row, know it as an addition: they may have read it in the store
  /// before others took it out again.
  func stayWithOwners(of object: ManagedObject) {
    for slot in object.editedSlots {
      guard let relationship = object.entity.compiled.relationshipBySlot[slot], !relationship.isToMany,
        let inverse = relationship.inverseRelationship, inverse.isToMany,
        case .object(let id)? = object.pending?.edit(slot),
        object.committedValue(at: slot) != .object(id),
        let other = registered(relationship, id.key), !other.state.contains(.deleted)
      else { continue }
      addAgain(object, to: other, inverse.slot)
    }
  }
}

/// To-many relationships that were loaded before others changed their destinations: they are read again.
extension RelationshipRestoring {
  /// Unloads the relationships that have one of these objects, which others have deleted.
  ///
  /// - Returns: The objects whose rows, as they are known, refer to one of them by a relationship with an inverse: the rows are others now.
  /// - Complexity: Linear in the number of registered objects and of their loaded destinations, if there is one of the identifiers.
  func unloadRelationships(to deleted: Set<ManagedObjectID>) -> [ManagedObject] {
    let keys = Dictionary(grouping: deleted.filter { context.isOfStore($0) }) { $0.entity.rootEntity.number }
      .mapValues { Set($0.compactMap(context.localKey)) }
    guard !keys.isEmpty else { return [] }
    var owners: [ManagedObject] = []
    context.identities.forEach { object in
      for relationship in object.entity.relationshipsBySlot {
        guard let gone = keys[relationship.destinationEntity.rootEntity.number] else { continue }
        guard relationship.isToMany else {
          if relationship.inverseRelationship != nil, !relationship.isTransient, object.storedRow != nil,
            object.state.isDisjoint(with: [.inserted, .deleted]), owners.last !== object,
            case .object(let id) = object.committedValue(at: relationship.slot), gone.contains(id.key)
          {
            owners.append(object)
          }
          continue
        }
        guard let state = object.relationshipState(at: relationship.slot), state.isLoaded,
          gone.count < state.count
            ? gone.contains(where: state.contains) : state.keys().contains(where: gone.contains)
        else { continue }
        if relationship.isTransient {
          for key in gone { state.drop(key) }
        } else {
          context.reload(state, object, relationship.slot)
        }
      }
    }
    return owners
  }

  /// Unloads the relationships that an object has left or joined with its newest row.
  ///
  /// - Parameter former: The owners in the former row, by slot.
  func unloadOwners(of object: ManagedObject, _ former: [(slot: Int, owner: Value)]) {
    let key = object.identifier.key
    for (slot, owner) in former where object.pending?.edit(slot) == nil {
      let relationship = object.entity.relationship(at: slot)
      let newest = object.committedValue(at: slot)
      guard newest != owner, let inverse = relationship.inverseRelationship else { continue }
      for (owner, has) in [(owner, true), (newest, false)] {
        guard case .object(let id) = owner, let other = registered(relationship, id.key),
          let state = other.relationshipState(at: inverse.slot), state.isLoaded, state.contains(key) == has
        else { continue }
        context.reload(state, other, inverse.slot)
      }
    }
  }
}
