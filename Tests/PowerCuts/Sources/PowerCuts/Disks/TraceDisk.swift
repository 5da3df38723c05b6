import Comparison
import Cutting
import Foundation

/// The disk to which a victim writes its trace. For each sector it stores the number of events that had
/// reached the disk under test when the sector arrived.
final class TraceDisk: ServedDisk, @unchecked Sendable {
  /// The size in bytes, larger than any trace. Only written sectors use memory.
  let size = 1 << 30
  private static let sectorSize = 512

  private let recorder: Recorder
  private let lock = NSLock()
  private var bytes: [UInt8] = []
  private var moments: [Int] = []

  init(_ recorder: Recorder) { self.recorder = recorder }

  /// All calls traced so far.
  var calls: CallTrace {
    lock.withLock { CallTrace(bytes) { moments[$0 / Self.sectorSize] } }
  }

  func perform(_ request: DiskRequest) throws -> [UInt8] {
    switch request.kind {
    case .read(let length): return [UInt8](repeating: 0, count: length)
    case .write(let bytes): lock.withLock { take(bytes, at: request.offset) }
    case .zero, .flush: break
    }
    return []
  }

  private func take(_ new: [UInt8], at offset: Int) {
    let end = offset + new.count
    if bytes.count < end {
      bytes += [UInt8](repeating: 0, count: end - bytes.count)
      moments += [Int](repeating: .max, count: end / Self.sectorSize - moments.count)
    }
    bytes.replaceSubrange(offset..<end, with: new)
    let moment = recorder.position
    for sector in offset / Self.sectorSize..<end / Self.sectorSize { moments[sector] = moment }
  }
}
