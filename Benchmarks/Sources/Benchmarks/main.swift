import BenchmarkHarness
import EngineBenchmarks
import Foundation

do {
  let options = try Options(CommandLine.arguments.dropFirst())
  if options.help {
    print(Options.usage)
  } else {
    try run(options)
  }
} catch {
  progress("heartwood-benchmarks: \(error)")
  exit(1)
}

func run(_ options: Options) throws {
  if let path = options.importFile { return try ImportFile(path: path).write() }
  guard options.parts != [.turn] else { return try GrowthTurn(options: options).run() }
  guard options.parts != [.migrationTurn] else { return try MigrationTurn(options: options).run() }
  guard options.parts != [.mergeTurn] else { return try MergeTurn(options: options).run() }
  let machine = machineDescription()
  let limits = try MachineLimits(directory: options.directory).text
  print("\(machine)\n\(limits)\n")
  for part in options.parts {
    switch part {
    case .engine: try runEngine(options, "\(machine); \(limits)")
    case .growth: show(try GrowthBenchmark(options: options).run(), options)
    case .migration: show(try MigrationBenchmark(options: options).run(), options)
    case .turn, .migrationTurn, .mergeTurn: throw BenchmarkError("a turn is run alone")
    case .graph: show(try GraphBenchmark(options: options).run(), options)
    case .published: show(try PublishedBenchmark(options: options).run(), options)
    case .values: show(try GraphBenchmark(options: options, suite: .values).run(), options)
    case .access: for line in try AccessBenchmark(options: options).run() { print(line) }
    case .live: for line in try LiveBenchmark(options: options).run() { print(line) }
    case .plans: for line in try PlanBenchmark(options: options).run() { print(line) }
    case .lean: for pass in try LeanBenchmark(options: options).run() { print(pass.text) }
    case .files: for line in try FileBenchmark(options: options).run() { print(line) }
    case .search: show(try SearchBenchmark(options: options).run(), options)
    case .time: for line in try TimeBenchmark(options: options).run() { print(line) }
    case .space:
      for line in try SpaceBenchmark(options: options).run() { print(line) }
      for line in try CompressionBenchmark(options: options).run() { print(line) }
    }
  }
}

func runEngine(_ options: Options, _ machine: String) throws {
  if let missing = EnginePeerKind.missing { print("\(missing)\n") }
  try EngineBenchmark.printTables(
    of: EnginePeerKind.all, options.common, goals: EngineRow.goals, machine: machine)
}

func show(_ table: ResultTable, _ options: Options) { print(options.common.text(of: table)) }
