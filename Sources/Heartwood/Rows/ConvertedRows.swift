import HeartwoodFiles

/// The rows of former layouts that a view or a transaction has read, in the form of the model.
///
/// Their bytes live as long as this object. A view converts each row once; its memory is at most that of its rows of former layouts,
/// and none for a store that was not migrated.
final class ConvertedRows: @unchecked Sendable {
  private struct State: @unchecked Sendable {
    var places: [UnsafeRawPointer: UnsafeRawBufferPointer] = [:]
    var slabs: [UnsafeMutableRawPointer] = []
    /// Free bytes at the end of the last slab.
    var room = 0
    var next = UnsafeMutableRawPointer(bitPattern: 16).unsafelyUnwrapped
  }

  private static let slabSize = 1 << 16
  /// Whether the bytes of a row of the store stay where they are, so that a row is converted once.
  private let keepsPlaces: Bool
  private let state = Guarded(State())

  init(keepsPlaces: Bool) { self.keepsPlaces = keepsPlaces }

  deinit {
    state.withLock { state in
      for slab in state.slabs { slab.deallocate() }
    }
  }

  /// The row with these bytes of the store, in place if it has the model's layout.
  ///
  /// - Throws: `.persistentStoreDamaged` if the bytes are not a row of the family.
  func row(_ bytes: UnsafeRawBufferPointer, of family: RowFamily) throws(HeartwoodError) -> RowView {
    guard bytes.count >= RowLayout.headerSize, let place = bytes.baseAddress else {
      throw .damagedRow("it has \(bytes.count) bytes")
    }
    let number = UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self))
    guard let (layout, conversion) = family.stored(number) else { throw .damagedRow(number, notIn: family) }
    let row = try RowView(validating: bytes, layout: layout)
    guard let conversion else { return row }
    return state.withLock { state in
      if keepsPlaces, let known = state.places[place] { return Self.view(known) }
      let made = Self.keep(conversion.convert(row), in: &state)
      if keepsPlaces { state.places[place] = made }
      return Self.view(made)
    }
  }

  private static func view(_ bytes: UnsafeRawBufferPointer) -> RowView {
    RowView(unchecked: bytes, base: bytes.baseAddress.unsafelyUnwrapped)
  }

  private static func keep(_ bytes: [UInt8], in state: inout State) -> UnsafeRawBufferPointer {
    if bytes.count > state.room {
      let size = max(slabSize, bytes.count)
      let slab = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      state.slabs.append(slab)
      (state.next, state.room) = (slab, size)
    }
    let target = UnsafeMutableRawBufferPointer(start: state.next, count: bytes.count)
    target.copyBytes(from: bytes)
    state.next += bytes.count
    state.room -= bytes.count
    return UnsafeRawBufferPointer(target)
  }
}
