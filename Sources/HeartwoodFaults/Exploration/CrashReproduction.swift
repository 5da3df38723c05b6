/// The seed, crash model, faults and crashes that lead to one image. Printed as one line, and parsed from it.
public struct CrashReproduction: Hashable, Sendable {
  /// A crash just before the call with this number, counted from 1, and the changes that survive it.
  struct Crash: Hashable, Sendable {
    var call: Int
    var recipe: CrashRecipe
  }

  /// The seed of the disk.
  public let seed: UInt64
  /// The crash model of the disk.
  public let crashModel: CrashModel
  /// The faults injected during the workload.
  public let faults: FaultPlan
  /// The crash of the workload, followed by those of the recoveries.
  let crashes: [Crash]

  init(seed: UInt64, crashModel: CrashModel, faults: FaultPlan, crashes: [Crash]) {
    self.seed = seed
    self.crashModel = crashModel
    self.faults = faults
    self.crashes = crashes
  }
}

extension CrashReproduction: LosslessStringConvertible {
  /// The line: `seed 42 disk hostile crash 17:0-4,7~head:512:zeros`, with one more `crash` for each nested
  /// crash, and ` faults ` followed by the plan at the end if there is one.
  public var description: String {
    var words = ["seed \(seed) disk \(crashModel)"]
    words += crashes.map { "crash \($0.call):\($0.recipe)" }
    if !faults.isEmpty { words.append("faults \(faults)") }
    return words.joined(separator: " ")
  }

  /// Parses a line that `description` made. Returns nil if the line is not valid.
  public init?(_ description: String) {
    let parts = description.split(separator: " faults ", maxSplits: 1).map(String.init)
    let words = (parts.first ?? "").split(separator: " ").map(String.init)
    guard words.count >= 6, words.count % 2 == 0, words[0] == "seed", let seed = UInt64(words[1]),
      words[2] == "disk", let crashModel = CrashModel(rawValue: words[3])
    else { return nil }
    var crashes: [Crash] = []
    for index in stride(from: 4, to: words.count, by: 2) {
      guard words[index] == "crash", let crash = Crash(words[index + 1]) else { return nil }
      crashes.append(crash)
    }
    guard let faults = parts.count == 1 ? FaultPlan() : try? FaultPlan(parsing: parts[1]) else { return nil }
    self.init(seed: seed, crashModel: crashModel, faults: faults, crashes: crashes)
  }
}

extension CrashReproduction.Crash {
  fileprivate init?(_ word: String) {
    let parts = word.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2, let call = Int(parts[0]), call > 0, let recipe = CrashRecipe(parts[1]) else {
      return nil
    }
    self.init(call: call, recipe: recipe)
  }
}
