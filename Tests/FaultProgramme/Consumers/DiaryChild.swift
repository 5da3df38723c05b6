import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The work of a process with a diary until it is killed.
enum DiaryRole: String, Sendable {
  /// Saves entries, and does the work of a consumer after each.
  case firstWriter, secondWriter
  /// Holds generations and releases them, deletes history, compacts, and is the slow consumer.
  case keeper
  /// The same without holds.
  case cleaner
  /// Ships the store beside the writers.
  case shipper
  /// Follows what is shipped.
  case follower

  /// Whether it may have nothing to say, as where no writer is left.
  var isSilent: Bool { [.cleaner, .shipper, .follower].contains(self) }

  /// The place of a writer and its consumer in their lists; nil for the others.
  var writer: Int? {
    switch self {
    case .firstWriter: 0
    case .secondWriter: 1
    default: nil
    }
  }
}

/// The places of a run: the store, what it is shipped to, and the follower's store.
struct DiaryPlaces: Sendable {
  let folder: String

  var store: String { folder + "/store" }
  var destination: String { folder + "/destination" }
  var copy: String { folder + "/copy" }

  func open(isReadOnly: Bool = false, at path: String? = nil) throws -> PersistentContainer {
    try Diary.open(
      PosixFileSystem(), at: path ?? store, options: VictimKind.graph.options, isBuffered: false
    ) {
      $0.isReadOnly = isReadOnly
      $0.timeout = 60
    }
  }
}

/// A process that uses a diary until it is killed, and prints what it has done.
///
///     FaultProgramme diary FOLDER ROLE LIFE
///
/// The life is a number that no other process of the run has. The lines are those of `DiaryLine`; one that begins with "failed" ends the process.
struct DiaryChild {
  static let command = "diary"

  private let places: DiaryPlaces
  private let life: Int
  private var random: SplitMix64

  static func run(_ words: [String]) throws -> Never {
    Worker.limitTime()
    guard words.count == 3, let role = DiaryRole(rawValue: words[1]), let life = Int(words[2]) else {
      throw Finding("usage: \(command) FOLDER ROLE LIFE")
    }
    var child = DiaryChild(
      places: DiaryPlaces(folder: words[0]), life: life, random: SplitMix64(seed: UInt64(life)))
    do {
      try child.live(as: role)
    } catch {
      say(.failed("\(role.rawValue): \("\(error)".split(separator: "\n").joined(separator: " "))"))
    }
    exit(1)
  }

  private static func say(_ line: DiaryLine) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }

  private mutating func live(as role: DiaryRole) throws {
    switch role {
    case .firstWriter, .secondWriter: try write(role.writer ?? 0)
    case .keeper, .cleaner: try keep(holds: role == .keeper)
    case .shipper: try ship()
    case .follower: try follow()
    }
  }

  private mutating func write(_ place: Int) throws {
    let container = try places.open()
    while true {
      let number = try Diary.save(
        Diary.writers[place], in: container, &random, touchesCommon: false)
      Self.say(.entry(writer: place, number))
      while let position = try Diary.consume(Diary.readers[place], in: container, limit: 4) {
        Self.say(.position(reader: place, position))
      }
    }
  }

  // MARK: Holds, purges and compactions

  private mutating func keep(holds: Bool) throws {
    let container = try places.open()
    var known: [String: UInt64] = [:]
    var number = 0
    while true {
      switch random.below(holds ? 10 : 4) {
      case 0: try Diary.purge(container)
      case 1: _ = try container.persistentStoreCoordinator.reclaim()
      case 2, 3: try Diary.consumeSlowly(in: container, limit: 2)
      case 4, 5:
        number += 1
        try hold("hold-\(life)-\(number)", container, &known)
      case 6: try release(container)
      default: try compare(container, &known)
      }
    }
  }

  private mutating func hold(
    _ name: String, _ container: PersistentContainer, _ known: inout [String: UInt64]
  ) throws {
    let coordinator = container.persistentStoreCoordinator
    guard try coordinator.holds().count < Self.mostHolds else { return }
    let newest = coordinator.currentPersistentHistoryToken()?.transactionNumber ?? 0
    let past = random.below(3) == 0 ? newest - min(newest, UInt64(random.below(6))) : nil
    Self.say(.holding(name))
    do {
      try coordinator.hold(name, generation: past, forSeconds: nil)
    } catch let error as HeartwoodError where past != nil && error.code == .persistentStoreOperation {
      return
    }
    let digest = try Self.digest(of: name, container)
    known[name] = digest
    Self.say(.held(name, digest))
  }

  private static let mostHolds = 4

  private static func digest(of hold: String, _ container: PersistentContainer) throws -> UInt64 {
    let token = try container.persistentStoreCoordinator.queryGenerationToken(ofHold: hold)
    return try DiaryObjects(of: container, at: token).digest
  }

  private mutating func release(_ container: PersistentContainer) throws {
    let coordinator = container.persistentStoreCoordinator
    let holds = try coordinator.holds()
    guard !holds.isEmpty else { return }
    let name = random.pick(holds).name
    Self.say(.releasing(name))
    try coordinator.releaseHold(name)
    Self.say(.released(name))
  }

  /// Another keeper may have released a hold meanwhile, but there is one keeper at a time.
  private mutating func compare(_ container: PersistentContainer, _ known: inout [String: UInt64]) throws {
    for hold in try container.persistentStoreCoordinator.holds() {
      let digest = try Self.digest(of: hold.name, container)
      let expected = known[hold.name] ?? digest
      try require(digest == expected, "the hold \(hold.name) shows other objects than before")
      known[hold.name] = digest
    }
  }

  // MARK: Shipping and following

  private func ship() throws {
    let options = EngineOptions(access: .readOnly, createsStore: false)
    let engine = try Engine(at: places.store, options: options)
    let destination = try FolderDestination(places.destination, creates: true)
    Shipper(engine, to: destination, options: Self.shipping).run { outcome in
      switch outcome {
      case .success(let report): Self.say(.shipped(report.generation.rawValue))
      case .failure(let error): Self.say(.failed("shipper: \(error)"))
      }
      return true
    }
  }

  /// Pieces as small as possible, and bases often.
  static var shipping: ShippingOptions {
    ShippingOptions(baseBytes: 256 << 10, pieceBytes: 32 << 10, pauseSeconds: 0)
  }

  private func follow() throws {
    let destination = try FolderDestination(places.destination, creates: true)
    Follower(from: destination, to: places.copy).run(every: 0.005) { outcome in
      switch outcome {
      case .success(let report): Self.say(.followed(report.generation.rawValue))
      // Nothing was shipped yet.
      case .failure(let error) where error.code == .notFound: break
      case .failure(let error): Self.say(.failed("follower: \(error)"))
      }
      return true
    }
  }
}

/// A line that a process prints.
enum DiaryLine: Equatable, Sendable {
  /// An entry was saved.
  case entry(writer: Int, Int)
  /// A consumer's position was saved.
  case position(reader: Int, UInt64)
  /// A generation will be held.
  case holding(String)
  /// It is, and this is the digest of its objects.
  case held(String, UInt64)
  /// A hold will be released.
  case releasing(String)
  case released(String)
  case shipped(UInt64)
  case followed(UInt64)
  case failed(String)
}

extension DiaryLine: LosslessStringConvertible {
  var description: String {
    switch self {
    case .entry(let writer, let number): "entry \(writer) \(number)"
    case .position(let reader, let number): "position \(reader) \(number)"
    case .holding(let name): "holding \(name)"
    case .held(let name, let digest): "held \(name) \(digest)"
    case .releasing(let name): "releasing \(name)"
    case .released(let name): "released \(name)"
    case .shipped(let generation): "shipped \(generation)"
    case .followed(let generation): "followed \(generation)"
    case .failed(let text): "failed \(text)"
    }
  }

  init?(_ description: String) {
    let words = description.split(separator: " ", maxSplits: 2).map(String.init)
    let (first, number) = (words.count > 1 ? words[1] : "", words.count > 2 ? UInt64(words[2]) : nil)
    switch (words.first ?? "", Int(first), number) {
    case ("entry", let writer?, let number?): self = .entry(writer: writer, Int(number))
    case ("position", let reader?, let number?): self = .position(reader: reader, number)
    case ("held", _, let digest?): self = .held(first, digest)
    case ("holding", _, nil): self = .holding(first)
    case ("releasing", _, nil): self = .releasing(first)
    case ("released", _, nil): self = .released(first)
    case ("shipped", let generation?, nil): self = .shipped(UInt64(generation))
    case ("followed", let generation?, nil): self = .followed(UInt64(generation))
    case ("failed", _, _): self = .failed(String(description.dropFirst("failed ".count)))
    default: return nil
    }
  }
}
