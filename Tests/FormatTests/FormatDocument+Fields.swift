import Testing

extension FormatDocument {
  /// Checks the fields of a structure that the code wrote, in which each field has a distinct value.
  func expect(
    _ heading: String, in bytes: [UInt8], has values: [String: UInt64], but other: Set<String>,
    byteCount: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let table = try #require(FieldTable(self, heading), "\(heading): no table, or one with gaps")
    #expect(table.byteCount == byteCount, "\(heading)", sourceLocation: sourceLocation)
    #expect(Set(table.names) == other.union(values.keys), "\(heading)", sourceLocation: sourceLocation)
    for (name, value) in values {
      let found = table.number(name, in: bytes)
      #expect(found == value, "\(heading), \(name)", sourceLocation: sourceLocation)
    }
    #expect(table.isReservedZero(in: bytes), "\(heading)", sourceLocation: sourceLocation)
  }
}
