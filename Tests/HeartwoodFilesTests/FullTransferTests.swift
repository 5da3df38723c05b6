import HeartwoodFiles
import Testing

@Suite struct FullTransferTests {
  @Test func `short reads and writes are continued`() throws {
    let file = GrudgingFile([3, 1, 2, 4])
    try file.write([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], at: 5)
    #expect(try file.bytes(12, at: 3) == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    #expect(try file.bytes(12, at: 10) == [6, 7, 8, 9, 10])
  }

  @Test func `a write that transfers nothing is tried again once, and a second one is an error`() throws {
    try GrudgingFile([1, 0, 1]).write([1, 2, 3], at: 0)
    #expect(failure { try GrudgingFile([1, 0, 0]).write([1, 2], at: 0) } == "write: input/output error")
  }
}

/// A file whose reads and writes transfer at most as many bytes as a list says, repeated from its start.
private final class GrudgingFile: File {
  let name = "grudging"
  private let state: Guarded<(bytes: [UInt8], call: Int)> = Guarded(([], 0))
  private let counts: [Int]

  init(_ counts: [Int]) { self.counts = counts }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    state.withLock { state in
      let available = state.bytes.dropFirst(Int(offset))
      let count = min(max(nextCount(&state), 1), buffer.count, available.count)
      buffer.copyBytes(from: available.prefix(count))
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    state.withLock { state in
      let count = min(nextCount(&state), bytes.count)
      let end = Int(offset) + count
      if state.bytes.count < end {
        state.bytes += [UInt8](repeating: 0, count: end - state.bytes.count)
      }
      state.bytes.replaceSubrange(Int(offset)..<end, with: bytes.prefix(count))
      return count
    }
  }

  private func nextCount(_ state: inout (bytes: [UInt8], call: Int)) -> Int {
    state.call += 1
    return counts[(state.call - 1) % counts.count]
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) {}
  func size() throws(FileSystemError) -> Int64 { state.withLock { Int64($0.bytes.count) } }
  func truncate(to size: Int64) throws(FileSystemError) {}
  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool { true }
  func unlock() throws(FileSystemError) {}
  func isLocked() throws(FileSystemError) -> Bool { false }
  func map(length: Int) throws(FileSystemError) -> (any FileMap)? { nil }
  func close() throws(FileSystemError) {}
}
