import BenchmarkHarness

/// How much memory a pass over many objects takes, a batch at a time.
///
/// Each peer is filled in saves of `batch` objects, closed, opened again and passed over once. What was resident
/// when the pass began is left out; of what comes on top, the part that no file backs is the peer's own, the rest
/// are pages of the store's files that the system may drop at any time.
struct LeanBenchmark {
  static let batch = 1000

  let options: Options

  func run() throws -> [Pass] {
    let objects = options.objects ?? 1_000_000
    var agreement = Agreement(on: "pass in batches")
    return try LeanPeerKind.all.filter { options.includes(peer: $0.name) }.map { kind in
      progress("\(kind.name): a pass over \(objects) objects")
      let scratch = try Scratch(in: options.directory, named: kind.name)
      try fill(kind, scratch, objects)
      let pass = try pass(kind, scratch)
      try agreement.add(pass.digest, of: kind.name)
      return pass
    }
  }

  /// The figures of one pass.
  struct Pass {
    let peer: String
    let seconds: Double
    /// Bytes above those at its beginning.
    let anonymousBytes, residentBytes: Int
    let digest: UInt64

    var text: String {
      "\(peer): \(decimal(seconds, places: 2)) s, at most \(Self.megabytes(anonymousBytes)) MB of its own, "
        + "\(Self.megabytes(residentBytes)) MB with pages of files"
    }

    private static func megabytes(_ bytes: Int) -> String { decimal(Double(bytes) / 1e6, places: 1) }
  }

  private func fill(_ kind: LeanPeerKind, _ scratch: Scratch, _ objects: Int) throws {
    let peer = try kind.type.init(directory: scratch.path)
    for start in stride(from: 0, to: objects, by: Self.batch) {
      try peer.insert(start..<min(start + Self.batch, objects))
    }
    try peer.close()
  }

  private func pass(_ kind: LeanPeerKind, _ scratch: Scratch) throws -> Pass {
    let peer = try kind.type.init(directory: scratch.path)
    ProcessMemory.forgetPeak()
    let (anonymous, peak) = (ProcessMemory.anonymousBytes(), ProcessMemory.peakBytes())
    var most = anonymous
    let (seconds, digest) = try timed {
      try peer.pass(batch: Self.batch) { most = max(most, ProcessMemory.anonymousBytes()) }
    }
    let resident = ProcessMemory.peakBytes() - peak
    try peer.close()
    return Pass(
      peer: kind.name, seconds: seconds, anonymousBytes: most - anonymous, residentBytes: resident,
      digest: digest)
  }
}

/// A store whose memory is measured.
protocol LeanPeer: AnyObject {
  init(directory: String) throws

  /// Saves one object for each number.
  func insert(_ numbers: Range<Int>) throws

  /// Reads two properties of every object, `batch` objects in memory at a time.
  /// - Parameter sample: To be called while a batch is in memory, some hundred times in all.
  func pass(batch: Int, _ sample: () -> Void) throws -> UInt64

  func close() throws
}

struct LeanPeerKind {
  let name: String
  let type: any LeanPeer.Type

  static var all: [LeanPeerKind] {
    [
      LeanPeerKind(name: "Heartwood", type: HeartwoodLeanPeer.self),
      LeanPeerKind(name: "GRDB", type: GRDBLeanPeer.self),
    ]
  }
}

/// The values of the object with a number.
enum LeanObject {
  static func title(_ number: Int) -> String { "The object with number \(number)" }
  static func pages(_ number: Int) -> Int64 { Int64(number % 1000) }
}
