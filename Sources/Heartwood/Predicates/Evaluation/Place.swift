/// The object for which a condition is evaluated.
struct Place {
  private(set) var row: RowView
  private(set) var key: UInt64
  /// The caller that evaluates keeps it alive: counting references to it would cost more than most tests.
  unowned(unsafe) let source: any RowSource
  /// The object whose to-many relationship leads here; nil for the fetched object.
  let outer: OuterPlace?

  /// Another fetched object of the same source. Copies plain bits, whereas making a new place would count a
  /// reference to the source for every row.
  @inline(__always)
  func moved(to found: FoundRow) -> Place {
    var place = self
    place.row = found.row
    place.key = found.key
    return place
  }
}

extension Place {
  /// A place without a row, to be moved before use. The caller keeps the source alive.
  init(in source: any RowSource) {
    self.init(row: RowView.nowhere, key: 0, source: source, outer: nil)
  }
}

/// The place of an object whose to-many relationship is followed. It is on the stack of the caller that evaluates.
struct OuterPlace {
  private let pointer: UnsafePointer<Place>

  @inline(__always)
  var place: Place { pointer.pointee }

  /// Calls `body` with a place as an outer one, which is valid during the call.
  @inline(__always)
  static func with(_ place: Place, _ body: (OuterPlace) throws -> Void) rethrows {
    try withUnsafePointer(to: place) { try body(OuterPlace(pointer: $0)) }
  }
}
