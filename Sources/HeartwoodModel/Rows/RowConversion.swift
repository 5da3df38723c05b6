/// The conversion of rows of a former layout to the layout of the model.
@usableFromInline package final class RowConversion: Sendable {
  /// The conversion of a slot of the model's layout.
  package enum Step: Sendable {
    /// There was no such property, or its value is not in rows.
    case null
    /// The value that a later version of the model gave to rows without the property.
    case constant(Value)
    /// The value of the row.
    case copy(Column)
    /// The value of the row with all the types that the property has had since.
    case convert(Column, [ColumnKind])
    /// As `convert`, with a value where the row has none.
    case filled(Column, [ColumnKind], Value)
    /// As `convert`, with a value where the composite attribute gets one that the element is in: where that has one, the element stays without.
    case filledWithWhole(Column, [ColumnKind], Value)
  }

  private let layout: RowLayout
  /// By slot of the model's layout.
  private let steps: [Step]
  /// By slot, that of the composite attribute that a column is an element of; empty if there are no composite attributes.
  private let wholes: [Int?]
  /// Whether only the number in the row's header differs.
  private let isRenumbering: Bool

  package init(to layout: RowLayout, _ steps: [Step], wholes: [Int?] = [], isRenumbering: Bool) {
    self.layout = layout
    self.steps = steps
    self.wholes = wholes
    self.isRenumbering = isRenumbering
  }

  /// The bytes of the row in the model's layout.
  @usableFromInline package func convert(_ row: RowView) -> [UInt8] {
    guard !isRenumbering else {
      var bytes = Array(row.bytes)
      bytes.store(layout.entityNumber, at: 0)
      return bytes
    }
    var writer = RowWriter(layout, version: row.version, estimatedVariableSize: row.bytes.count)
    for (slot, column) in layout.columns.enumerated() {
      let isMissing = EntityDescription.isElementOfNothing(slot, wholes) { Self.isNull(step($0, row), row) }
      Self.write(column, isMissing ? .null : step(slot, row), row, to: &writer)
    }
    return writer.row
  }

  /// The step of a slot for a row.
  private func step(_ slot: Int, _ row: RowView) -> Step {
    guard case .filledWithWhole(let source, let kinds, let value) = steps[slot] else { return steps[slot] }
    if let whole = wholes[slot], isFilled(whole, row) { return .constant(value) }
    return kinds.isEmpty ? .copy(source) : .convert(source, kinds)
  }

  /// Whether a composite attribute gets the value that it lacks in a row.
  private func isFilled(_ slot: Int, _ row: RowView) -> Bool {
    switch steps[slot] {
    case .filled(let source, _, _): row.isNull(source)
    case .filledWithWhole: if case .constant = step(slot, row) { true } else { false }
    default: false
    }
  }

  private static func isNull(_ step: Step, _ row: RowView) -> Bool {
    switch step {
    case .null: true
    case .constant(let value): value.isNull
    case .copy(let source), .convert(let source, _): row.isNull(source)
    case .filled(let source, _, let value), .filledWithWhole(let source, _, let value):
      value.isNull && row.isNull(source)
    }
  }

  private static func write(_ column: Column, _ step: Step, _ row: RowView, to writer: inout RowWriter) {
    switch step {
    case .null: writer.write(.null, column)
    case .constant(let value): writer.write(value, column)
    case .copy(let source): writer.copy(source, of: row, to: column)
    case .convert(let source, let kinds):
      writer.write(row.value(source).converted(through: [source.kind] + kinds), column)
    case .filled(let source, let kinds, let value), .filledWithWhole(let source, let kinds, let value):
      guard !row.isNull(source) else { return writer.write(value, column) }
      write(column, kinds.isEmpty ? .copy(source) : .convert(source, kinds), row, to: &writer)
    }
  }
}

extension Value {
  /// Whether another type has the value exactly, to which its own `mayWiden(to:)`.
  package func isExact(as kind: ColumnKind) -> Bool {
    guard case .int(let number) = self, kind == .double else { return true }
    return Int64(exactly: Double(number)) == number
  }

  /// The value of a column after changes of its type, one after the other.
  ///
  /// - Parameter kinds: the former type first; each change loses nothing, as `ColumnKind.mayWiden(to:)` says.
  package func converted(through kinds: [ColumnKind]) -> Value {
    zip(kinds, kinds.dropFirst()).reduce(self) { $0.converted(from: $1.0, to: $1.1) }
  }

  private func converted(from former: ColumnKind, to kind: ColumnKind) -> Value {
    switch (self, kind) {
    case (.null, _): .null
    case (.int, .int16), (.int, .int32), (.int, .int64), (.double, .double), (.double, .float): self
    case (.bool(let flag), .int16), (.bool(let flag), .int32), (.bool(let flag), .int64): .int(flag ? 1 : 0)
    case (.int(let number), .double), (.int(let number), .float): .double(Double(number))
    case (.int(let number), .decimal): .decimal(.init(number))
    case (.double(let number), .string) where !number.isFinite: .string(Self.text(of: number))
    case (.date(let seconds), .string) where !seconds.isFinite: .string(Self.text(of: seconds))
    case (.double(let number), .string) where former == .float: .string("\(Float(number))")
    case (_, .string): plainText.map(Value.string) ?? .null
    default: former == kind ? self : .null
    }
  }

  /// The text of a number that is not finite, as in documents.
  private static func text(of number: Double) -> String {
    number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
  }
}

extension ColumnKind {
  /// Whether the values of this type can become those of another one, if that has each of them exactly: see `Value.isExact(as:)`.
  package func mayWiden(to other: ColumnKind) -> Bool {
    widensLosslessly(to: other) || self == .int64 && other == .double
  }

  /// Whether every value of this type can become one of another type that says the same.
  package func widensLosslessly(to other: ColumnKind) -> Bool {
    switch (self, other) {
    case (.bool, .int16), (.bool, .int32), (.bool, .int64), (.int16, .int32), (.int16, .int64),
      (.int32, .int64),
      (.int16, .float), (.int16, .double), (.int32, .double), (.float, .double),
      (.int16, .decimal), (.int32, .decimal), (.int64, .decimal):
      true
    case (.bool, .string), (.int16, .string), (.int32, .string), (.int64, .string), (.float, .string),
      (.double, .string), (.decimal, .string), (.uuid, .string), (.uri, .string), (.date, .string):
      true
    default: self == other && self != .toMany
    }
  }
}
