/// Every number of the format on disk. `Documentation.docc/Format.md` explains them, and a test compares the
/// two.
enum Format {
  /// The format that this code writes, unless the store has a feature.
  static let version: UInt32 = 1
  /// The oldest format a reader must understand to read what this code writes.
  static let minimumReader: UInt32 = 1
  /// The oldest format a writer must understand to append to it.
  static let minimumWriter: UInt32 = 1
  /// The format of stores with features that format 1 does not have, in the place of all three. The newest one that
  /// this code reads.
  static let newestVersion: UInt32 = 2
  /// Which checksums are used: 1 is XXH64 for headers and pages, XXH3 for records.
  static let checksumKind: UInt32 = 1

  /// "HWANCHOR", read as a little-endian integer.
  static let anchorMagic: UInt64 = 0x524F_4843_4E41_5748
  /// "HWLOGSEG".
  static let logSegmentMagic: UInt64 = 0x4745_5347_4F4C_5748
  /// "HWPAGSEG".
  static let pageSegmentMagic: UInt64 = 0x4745_5347_4150_5748
  /// "HWHOLDS\0".
  static let holdsMagic: UInt64 = 0x0053_444C_4F48_5748
  /// "HWCRYPTF": what each file begins with that HeartwoodEncryption has sealed.
  static let encryptedFileMagic: UInt64 = 0x4654_5059_5243_5748
  /// "HWFR".
  static let frameMagic: UInt32 = 0x5246_5748

  /// The name of the file with the anchor.
  static let anchorName = "anchor"
  /// Each slot of the anchor is in a block of its own, so that one torn write cannot damage both.
  static let anchorBlockBytes = 4096
  /// Bytes of a slot that are used: one sector.
  static let anchorSlotBytes = 512
  /// Bytes of a segment's header; the first frame of a log segment follows it.
  static let segmentHeaderBytes = 128
  /// Bytes of a page, the unit in which page segments are counted. The first unit contains the header.
  static let pageBytes = 4096
  /// Bytes of a frame's header.
  static let frameHeaderBytes = 80
  /// Bytes of the checksum at the end of a frame.
  static let frameTrailerBytes = 8
  /// Frames begin at multiples of this many bytes.
  static let frameAlignment = 8
  /// The version of the frame header.
  static let frameVersion: UInt16 = 1

  /// The frame contains puts and deletes.
  static let transactionKind: UInt8 = 1
  /// The frame contains a checkpoint.
  static let checkpointKind: UInt8 = 2
  /// The frame is the last of its transaction.
  static let lastFrameFlag: UInt8 = 1
  /// The store itself made the transaction: it moves values and changes none.
  static let internalFlag: UInt8 = 2

  /// The record puts a value.
  static let putOperation: UInt64 = 0
  /// The record deletes a key.
  static let deleteOperation: UInt64 = 1
  /// The record deletes a range of keys.
  static let deleteRangeOperation: UInt64 = 2
  /// The record puts a value, which is stored compressed.
  static let putCompressedOperation: UInt64 = 3

  /// Zeros are preallocated up to this length when a log segment is created.
  static let firstFillBytes = 16 << 10
  /// Zeros are preallocated in steps of at most this many bytes.
  static let fillStepBytes = 256 << 10
  /// A frame with this many bytes is full, and the transaction continues in the next one. Small enough to be
  /// still in the processor's cache when it is written.
  static let frameBytes = 1 << 20

  /// The longest key, in bytes.
  static let keyLimit = 1024
  /// The longest value, in bytes.
  static let valueLimit = 1 << 30
  /// The longest value that is stored compressed, in bytes: reading it takes as much memory.
  static let compressedLimit = 1 << 20
  /// The longest log segment, in bytes.
  static let segmentLimit = 4 << 30
  /// The greatest segment number: references have 31 bits for it.
  static let segmentNumberLimit: UInt64 = (1 << 31) - 1
}
