import Foundation
import Heartwood

/// A column whose value is in the row of an object itself.
enum RowColumn {
  case identifier, entity
  /// The stored property with a place in `EntityDescription.storedProperties`.
  case attribute(place: Int, AttributeType)
  /// The destination of a to-one relationship with such a place.
  case destination(place: Int)

  func value(of row: any IncrementalStoreRow) throws -> CellValue {
    switch self {
    case .identifier: return .text(ObjectName.text(row.entity.name ?? "", row.number))
    case .entity: return .text(row.entity.name ?? "")
    case .attribute(let place, let type): return CellValue(stored: try row.value(at: place), type)
    case .destination(let place):
      guard case .object(let id) = try row.value(at: place) else { return .null }
      return .reference(ObjectName.text(id))
    }
  }
}

extension CellValue {
  /// Converts a value of a store, as `init(attribute:)` does that of an object.
  fileprivate init(stored value: StoredValue, _ type: AttributeType) {
    switch value {
    case .null, .object: self = .null
    case .integer(let number): self = .integer(number)
    case .double(let number) where type == .float: self.init(attribute: Float(number))
    case .double(let number): self = .double(number)
    case .decimal(let number): self = .decimal(number)
    case .boolean(let flag): self = .bool(flag)
    case .string(let text) where type == .uri: self.init(attribute: URL(string: text))
    case .string(let text): self = .text(text)
    case .date(let seconds): self = .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .data(let data): self = .data(data)
    case .uuid(let uuid): self = .text(uuid.uuidString)
    }
  }
}
