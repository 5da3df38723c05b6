import HeartwoodFiles

/// Where a store's pieces are shipped to, and read from: a folder, or any other transport.
///
/// Names are those of <doc:ShippedFormat>. One process ships to a destination at a time; any number of processes read.
public protocol ShippingDestination: Sendable {
  /// Where it is, for messages.
  var place: String { get }

  /// The names of all pieces. Other names may be among them.
  func list() throws(EngineError) -> [String]

  /// Opens a piece for reading. Its bytes stay those of this moment if `put` replaces it.
  ///
  /// - Throws: `.notFound` if there is none.
  func open(_ name: String) throws(EngineError) -> any ShippedFile

  /// Writes a piece: durable, and as a whole or not at all. Replaces a piece of the same name.
  ///
  /// - Parameters:
  ///   - name: The name of the piece.
  ///   - body: Calls its argument with the bytes in order.
  /// - Throws: The error of `body`; the destination is as before then.
  func put(
    _ name: String,
    _ body: (_ write: (UnsafeRawBufferPointer) throws(EngineError) -> Void) throws(EngineError) -> Void
  ) throws(EngineError)

  /// Removes pieces, in this order. Names that are missing are ignored.
  func remove(_ names: [String]) throws(EngineError)

  /// Waits for changes of the destination; nil if they are not reported.
  func watch() -> (any DirectoryWatch)?
}

extension ShippingDestination {
  /// Nil: changes are not reported.
  public func watch() -> (any DirectoryWatch)? { nil }
}

/// The bytes of a piece at a destination.
public protocol ShippedFile: AnyObject {
  /// How many there are.
  var size: Int64 { get }

  /// Up to `count` bytes from `offset` on; fewer only where the piece ends.
  func bytes(_ count: Int, at offset: Int64) throws(EngineError) -> [UInt8]
}
