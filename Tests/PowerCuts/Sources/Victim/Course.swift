import Glibc
import HeartwoodEngine
import HeartwoodFiles
import Workload

/// The life of a victim: rounds of commits by several threads, with the store reopened between them.
struct Course {
  let path: String
  let seed: UInt64
  let threads: Int
  let kind: VictimKind
  /// The disk to which file system calls are traced; nil for no trace.
  let trace: String?

  /// The number of transactions in a round.
  private static let roundLength = 120

  func run() throws -> Never {
    let fileSystem: any FileSystem =
      trace.map { TracedFileSystem(tracer: Tracer(disk: $0)) } ?? PosixFileSystem()
    while true {
      let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      let first = try Self.lastTransaction(of: engine)
      Console.write("opened \(first)\n")
      let transactions = Transactions(seed: seed)
      Committers(engine, transactions, kind, end: first + Self.roundLength).run(threads: threads)
      try engine.close()
      Console.write("closed\n")
    }
  }

  /// Options for small files, so that even a short run meets many new segments, checkpoints and reclaimed
  /// files.
  private var options: EngineOptions {
    EngineOptions(
      durability: kind == .lying ? .none : .full, segmentBytes: 128 << 10, checkpointBytes: 64 << 10)
  }

  private static func lastTransaction(of engine: Engine) throws -> Int {
    guard let counter = try engine.get(Transactions.counterKey) else { return 0 }
    guard let number = Transactions.number(in: counter) else {
      PowerCutVictim.fail("the counter holds \(counter), which is no number")
    }
    return number
  }
}

/// Threads that commit transactions to one store until a number is reached.
final class Committers: Sendable {
  private let engine: Engine
  private let transactions: Transactions
  private let kind: VictimKind
  private let end: Int

  init(_ engine: Engine, _ transactions: Transactions, _ kind: VictimKind, end: Int) {
    (self.engine, self.transactions, self.kind, self.end) = (engine, transactions, kind, end)
  }

  func run(threads: Int) {
    let handles = (0..<threads).map { _ in start() }
    for handle in handles { pthread_join(handle, nil) }
  }

  private func start() -> pthread_t {
    var handle = pthread_t()
    let result = pthread_create(
      &handle, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Committers>.fromOpaque(argument).takeRetainedValue().commitAll()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    guard result == 0 else { PowerCutVictim.fail("no thread could be started, error \(result)") }
    return handle
  }

  private func commitAll() {
    do {
      while let number = try commit() {
        if number % 60 == 0 { try engine.reclaim() }
      }
    } catch {
      PowerCutVictim.fail("\(error)")
    }
  }

  /// Commits the next transaction, and prints its number if the commit was full; nil if the end is reached.
  ///
  /// The number is drawn inside the transaction, so transactions are committed in order of their numbers. The
  /// durability has to be chosen earlier; if another thread comes first, it is that of another number.
  private func commit() throws -> Int? {
    let expected = try engine.get(Transactions.counterKey).flatMap { Transactions.number(in: $0) } ?? 0
    let isFull = kind.isFull(expected + 1)
    let number: Int? = try engine.write(durability: isFull ? .full : .deferred) { transaction in
      let last =
        try transaction.get(Array(Transactions.counterKey.utf8)).flatMap { Transactions.number(in: $0) } ?? 0
      guard last < end else { return nil }
      try transaction.put(Transactions.counterKey, Transactions.counter(last + 1))
      for change in transactions.changes(of: last + 1) {
        if let value = change.value {
          try transaction.put(change.key, value.bytes)
        } else {
          _ = try transaction.delete(change.key)
        }
      }
      return last + 1
    }
    if let number, isFull { Console.write("ack \(number)\n") }
    return number
  }
}
