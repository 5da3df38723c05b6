import BenchmarkHarness
import Foundation
import Heartwood

/// The process of `time` that merges what the other one saves: each value of the first person's age goes to standard output, with the time of
/// its merge. It ends when standard input does.
struct MergeTurn {
  let options: Options

  static let isReady = "ready"

  /// Nanoseconds of a clock that all processes share.
  static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  func run() throws {
    let container = try PersistentContainer.people(in: options.directory)
    let context = container.newBackgroundContext()
    context.automaticallyMergesRemoteChanges = true
    let person = try context.performAndWait {
      try context.fetch(Person.self, sort: [.ascending(\.number)], limit: 1).first
    }
    guard let person else { throw BenchmarkError("the store has no persons") }
    // Not a fault, so that its values are merged.
    let id = context.performAndWait {
      _ = person.age
      return person.objectID
    }
    let observer = NotificationCenter.default.addObserver(
      forName: .managedObjectContextObjectsDidChange, object: context, queue: nil
    ) { _ in
      guard let person = context.object(with: id) as? Person else { return }
      Self.write("\(person.age) \(Self.now)")
    }
    Self.write(Self.isReady)
    while let data = try FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
    NotificationCenter.default.removeObserver(observer)
    try container.close()
  }

  private static func write(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
  }
}

/// The lines of a pipe, each as it comes.
struct LineReader: IteratorProtocol {
  private let handle: FileHandle
  private var rest = Data()

  init(_ handle: FileHandle) { self.handle = handle }

  mutating func next() -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = Data(rest[(end + 1)...]) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let more = handle.availableData
      guard !more.isEmpty else { return nil }
      rest += more
    }
  }
}
