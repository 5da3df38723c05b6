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
  print(machineDescription() + "\n")
  for part in options.parts {
    switch part {
    case .engine: show(try EngineBenchmark(options: options).run(), options)
    case .graph: show(try GraphBenchmark(options: options).run(), options)
    case .lean: for pass in try LeanBenchmark(options: options).run() { print(pass.text) }
    }
  }
}

func show(_ table: ResultTable, _ options: Options) {
  print(options.markdown ? table.markdown() : table.aligned())
}
