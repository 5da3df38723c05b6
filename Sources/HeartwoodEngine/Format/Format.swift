/// Every number that is on disk. `Documentation.docc/Format.md` tells what they are for, and a test
/// compares the two.
enum Format {
  /// The format that this code writes.
  static let version: UInt32 = 1
  /// The oldest format a reader must understand to read what this code writes.
  static let minimumReader: UInt32 = 1
  /// The oldest format a writer must understand to append to it.
  static let minimumWriter: UInt32 = 1
  /// Which checksums are used: 1 is XXH64 for headers and pages, XXH3 for records.
  static let checksumKind: UInt32 = 1

  /// "HWANCHOR", read as a little-endian integer.
  static let anchorMagic: UInt64 = 0x524F_4843_4E41_5748
  /// "HWLOGSEG".
  static let logSegmentMagic: UInt64 = 0x4745_5347_4F4C_5748
  /// "HWPAGSEG".
  static let pageSegmentMagic: UInt64 = 0x4745_5347_4150_5748
  /// "HWFR".
  static let frameMagic: UInt32 = 0x5246_5748

  /// Each slot of the anchor lies in a block of its own, so that one torn write cannot hit both.
  static let anchorBlockBytes = 4096
  /// The bytes of a slot that are used; one sector.
  static let anchorSlotBytes = 512
  /// The header of a segment; the first frame of a log segment follows it.
  static let segmentHeaderBytes = 128
  /// A page, and the unit in which a page segment is counted; its first unit holds the header.
  static let pageBytes = 4096
  /// The header of a frame.
  static let frameHeaderBytes = 80
  /// The checksum that ends a frame.
  static let frameTrailerBytes = 8
  /// Frames begin at multiples of this.
  static let frameAlignment = 8
  /// The version of the frame header.
  static let frameVersion: UInt16 = 1

  /// A frame holds puts and deletes.
  static let transactionKind: UInt8 = 1
  /// A frame holds a checkpoint.
  static let checkpointKind: UInt8 = 2
  /// The frame is the last of its transaction.
  static let lastFrameFlag: UInt8 = 1
  /// The transaction is not a user's; it moves values and changes none.
  static let internalFlag: UInt8 = 2

  /// A record puts a value.
  static let putOperation: UInt64 = 0
  /// A record deletes a key.
  static let deleteOperation: UInt64 = 1
  /// A record deletes a range of keys.
  static let deleteRangeOperation: UInt64 = 2

  /// Zeros are laid to this length when a log segment is created.
  static let firstFillBytes = 16 << 10
  /// Zeros are laid in steps of at most this.
  static let fillStepBytes = 256 << 10
  /// A frame that holds this much is ended, and the transaction goes on in the next. Small enough to be still in
  /// the processor's cache when it is written.
  static let frameBytes = 1 << 20

  /// The longest key.
  static let keyLimit = 1024
  /// The longest value.
  static let valueLimit = 1 << 30
  /// No log segment is longer.
  static let segmentLimit = 4 << 30
  /// The largest number of a segment: references keep 31 bits for it.
  static let segmentNumberLimit: UInt64 = (1 << 31) - 1
}
