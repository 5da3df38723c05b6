import TestSupport

/// The places of a store's files that are damaged.
extension StoreFiles {
  /// The files with data of the store itself, in the order in which they are damaged.
  var names: [String] { files.keys.filter { $0 != "processes" }.sorted() }

  /// The offset of every byte of every file.
  var offsets: [String: [Int]] { files.mapValues { Array($0.indices) } }

  /// The offsets of the nonzero bytes, and a sample of the zeros.
  var busyOffsets: [String: [Int]] {
    files.mapValues { bytes in
      bytes.indices.filter { bytes[$0] != 0 || ($0 > 0 && bytes[$0 - 1] != 0) || $0 % 128 == 0 }
    }
  }
}
