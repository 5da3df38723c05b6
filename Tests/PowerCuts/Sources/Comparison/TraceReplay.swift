import HeartwoodFaults
import HeartwoodFiles
import Workload

/// Repeats the calls of a trace on a simulated disk, up to successive moments.
public final class TraceReplay {
  /// The simulated disk.
  public let disk: SimulatedFileSystem
  private let trace: CallTrace
  private var next = 0
  private var directory: (any Directory)?
  private var files: [UInt64: any File] = [:]

  /// The folder on the simulated disk.
  public static let path = "/store"

  /// Creates a replay before the first call.
  public init(_ trace: CallTrace, _ crashModel: CrashModel, seed: UInt64) {
    self.trace = trace
    disk = SimulatedFileSystem(seed: seed, crashModel: crashModel)
  }

  /// Makes all calls that began before `moment`, except a sync that had not returned: the changes that it
  /// covers may or may not have survived.
  public func advance(to moment: Int) throws {
    while next < trace.calls.count {
      let call = trace.calls[next]
      let hasEnded = call.ended.map { $0 <= moment } ?? false
      guard hasEnded || (call.begun <= moment && !call.record.kind.makesDurable) else { return }
      if !call.hasFailed { try make(call) }
      next += 1
    }
  }

  private func make(_ call: CallTrace.Call) throws {
    let record = call.record
    switch record.kind {
    case .makeFolder: try disk.createDirectory(Self.path)
    case .open: files[record.handle] = try folder().open(record.name, .readWrite)
    case .create: files[record.handle] = try folder().open(record.name, .createNew)
    case .write:
      let count = call.ended == nil ? record.payload.count : call.result
      try record.payload.prefix(count).withUnsafeBytes { try file(record).writeFully($0, at: record.number) }
    case .truncate: try file(record).truncate(to: record.number)
    case .sync: try file(record).sync(.full)
    case .syncFolder: try folder().sync()
    case .rename: try folder().rename(record.name, to: record.otherName)
    case .unlink: try folder().unlink(record.name)
    case .done, .failed: break
    }
  }

  private func folder() throws -> any Directory {
    if let directory { return directory }
    let opened = try disk.openDirectory(Self.path)
    directory = opened
    return opened
  }

  private func file(_ record: TraceRecord) throws -> any File {
    guard let file = files[record.handle] else { throw UnknownHandle(record: record) }
    return file
  }
}

/// The error for a trace that uses a file which it has not opened.
public struct UnknownHandle: Error {
  /// The record that uses the file.
  public var record: TraceRecord
}

extension TraceRecord.Kind {
  fileprivate var makesDurable: Bool {
    switch self {
    case .makeFolder, .sync, .syncFolder: true
    default: false
    }
  }
}
