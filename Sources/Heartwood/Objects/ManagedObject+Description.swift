import Foundation

extension ManagedObject {
  final var descriptionText: String {
    let changes = isDeleted ? ", deleted" : isInserted ? ", inserted" : isUpdated ? ", updated" : ""
    return
      "\(type(of: self)) \(objectID)\(isFault ? ", fault" : "")\(changes)\(isFault ? "" : " (\(valuesText))")"
  }

  private var valuesText: String {
    guard !entity.slots.isEmpty, isRealised else { return "" }
    return entity.slots.map { "\(entity.property(at: $0).name): \(valueText(at: $0))" }.joined(
      separator: ", ")
  }

  private func valueText(at slot: Int) -> String {
    if let relationship = entity.compiled.relationshipBySlot[slot], relationship.isToMany {
      guard let state = relationshipState(at: slot), state.isLoaded else { return "not loaded" }
      let count = state.keys().count
      return count == 1 ? "1 object" : "\(count) objects"
    }
    switch value(at: slot) {
    case .null: return "nil"
    case .object(let id): return "\(id)"
    case .data(let data): return "\(data.count) bytes"
    case let value:
      guard let shown = entity.anyValue(value, at: slot) else { return "nil" }
      return shown is String ? "\"\(shown)\"" : "\(shown)"
    }
  }
}
