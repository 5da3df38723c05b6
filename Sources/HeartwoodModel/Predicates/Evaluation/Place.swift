/// The object for which a condition is evaluated.
@usableFromInline package struct Place {
  @usableFromInline package private(set) var row: RowView
  @usableFromInline package private(set) var key: UInt64
  /// The caller that evaluates keeps it alive: counting references to it would cost more than most tests.
  @usableFromInline package unowned(unsafe) let source: any RowSource
  /// The object whose to-many relationship leads here; nil for the fetched object.
  @usableFromInline package let outer: OuterPlace?

  @inlinable package init(row: RowView, key: UInt64, source: any RowSource, outer: OuterPlace?) {
    self.row = row
    self.key = key
    self.source = source
    self.outer = outer
  }

  /// Another fetched object of the same source. Copies plain bits, whereas making a new place would count a
  /// reference to the source for every row.
  @inlinable @inline(__always)
  package func moved(to found: FoundRow) -> Place {
    var place = self
    place.row = found.row
    place.key = found.key
    return place
  }

  /// A place without a row, to be moved before use. The caller keeps the source alive.
  @inlinable package init(in source: any RowSource) {
    self.init(row: RowView.nowhere, key: 0, source: source, outer: nil)
  }
}

/// The place of an object whose to-many relationship is followed. It is on the stack of the caller that evaluates.
@usableFromInline package struct OuterPlace {
  private let pointer: UnsafePointer<Place>

  @inline(__always)
  var place: Place { pointer.pointee }

  /// Calls `body` with a place as an outer one, which is valid during the call.
  @inline(__always)
  static func with(_ place: Place, _ body: (OuterPlace) throws -> Void) rethrows {
    try withUnsafePointer(to: place) { try body(OuterPlace(pointer: $0)) }
  }
}
