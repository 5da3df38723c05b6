/// Every number of the format of shipped pieces. `Documentation.docc/ShippedFormat.md` explains them, and a test
/// compares the two.
enum PieceFormat {
  /// The format that this code writes.
  static let version: UInt32 = 1
  /// The oldest format a reader must understand to read what this code writes.
  static let minimumReader: UInt32 = 1
  /// The format of pieces of stores with features, in the place of both. The newest one that this code reads.
  static let newestVersion: UInt32 = 2
  /// "HWPIECES", read as a little-endian integer.
  static let magic: UInt64 = 0x5345_4345_4950_5748
  /// Bytes of a piece's header; its two tables follow it.
  static let headerBytes = 256
  /// Bytes of an entry of either table.
  static let entryBytes = 32
  /// The piece continues the one before it.
  static let pieceKind: UInt32 = 1
  /// The piece contains the whole store.
  static let baseKind: UInt32 = 2
  /// A part's checksum is made of hashes of this many bytes.
  static let chunkBytes = 1 << 20
  /// The seed of the checksum of a piece.
  static let checksumSeed: UInt64 = 0x5069_6563_6573_5631
  /// "SHIPMARK".
  static let markMagic: UInt64 = 0x4B52_414D_5049_4853
  /// Bytes of the files `lineage` and `following`.
  static let markBytes = 72
  /// The name of the file in the folder of a store that is shipped.
  static let lineageName = "lineage"
  /// The name of the file in the folder of a follower.
  static let followingName = "following"
}
