import HeartwoodBytes

extension DiskState {
  /// A hash of the names and bytes that does not depend on the numbers of files and folders.
  var digest: UInt64 { digest(of: .root) }

  private func digest(of folder: FolderIdentifier) -> UInt64 {
    var summary: [UInt8] = []
    for (name, entry) in entries(of: folder).sorted(by: { $0.key < $1.key }) {
      append(UInt64(name.utf8.count), to: &summary)
      summary += Array(name.utf8)
      switch entry {
      case .folder(let folder): append(digest(of: folder), to: &summary)
      case .file(let file):
        append(UInt64(size(of: file)), to: &summary)
        append(bytes(of: file).digest, to: &summary)
      }
    }
    return summary.digest
  }

  private func append(_ number: UInt64, to summary: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { summary += Array($0) }
  }
}

extension [UInt8] {
  fileprivate var digest: UInt64 { withUnsafeBytes { XXH3.hash($0, seed: 0) } }
}
