/// Names that a model exchanges. What has the same form has the same version hash then, so that no migration is needed that would
/// exchange the values.
extension InferredChanges {
  /// Which entities and properties have the name of another one that stays, in sentences without an end.
  private func exchanges() -> [String] {
    sorted(destination).flatMap { entity -> [String] in
      guard let former = source(of: entity) else { return [] }
      var exchanges: [String] = []
      if former.displayName != entity.displayName, sources[former.displayName] != nil {
        exchanges.append("\(entity.displayName) is renamed from \(former.displayName)")
      }
      for property in entity.ownColumns {
        guard let old = sourceProperty(at: property.slot, of: entity), old.name != property.name,
          let other = entity.slot(named: old.name), sourceSlot(other, of: entity) != nil
        else { continue }
        exchanges.append("\(property.displayName) is renamed from \(old.name)")
      }
      return exchanges
    }
  }

  /// - Precondition: The models have the same version hashes.
  /// - Throws: `.inferredMappingModel` if names are exchanged.
  func refuseExchanges(_ path: String) throws(HeartwoodError) {
    let exchanges = exchanges()
    guard !exchanges.isEmpty else { return }
    throw HeartwoodError(
      .inferredMappingModel,
      "the store at \(path) cannot be migrated: \(exchanges.joined(separator: ", and ")), which leaves the version hash as it is: give "
        + "one of them another versionHashModifier")
  }
}
