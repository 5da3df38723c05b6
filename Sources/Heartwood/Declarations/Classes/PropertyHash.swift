/// Hashes of the names of properties, by which generated code finds them.
public enum _PropertyHash {
  /// The hash of a name: FNV-1a over its bytes in UTF-8, with the upper half folded into the lower one. Never 0.
  ///
  /// - Complexity: O(*n*) in the length of the name.
  public static func of(_ name: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash ^= hash >> 32
    return hash == 0 ? 1 : hash
  }

  /// The number of a type of attributes, as in `_NamedColumn`. The compiler makes it a constant.
  @inlinable @inline(__always)
  static func number(_ type: AttributeDescription.AttributeType) -> UInt64 {
    switch type {
    case .integer16: 100
    case .integer32: 200
    case .integer64: 300
    case .decimal: 400
    case .double: 500
    case .float: 600
    case .string: 700
    case .boolean: 800
    case .date: 900
    case .binaryData: 1000
    case .uuid: 1100
    case .uri: 1200
    case .transformable: 1800
    // No type of a row is read as one of these.
    default: .max - 1
    }
  }

  /// The columns of an entity's properties, by name.
  static func columns(of entity: EntityDescription, _ layout: RowLayout) -> [_NamedColumn] {
    // Fetched properties have no column.
    entity.declaredProperties.filter { layout.columns.indices.contains($0.slot) }.map { property in
      let column = layout.columns[property.slot]
      let attribute = property as? AttributeDescription
      let isInRow = column.kind != .transient && column.kind != .composite
      let type = isInRow ? attribute.map { UInt64($0.type.rawValue) } : nil
      let other = column.kind == .toOne ? _NamedColumn.toOne : _NamedColumn.none
      return _NamedColumn(hash: of(property.name), type: type ?? other, column: column)
    }
  }
}

typealias PropertyHash = _PropertyHash
