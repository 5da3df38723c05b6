import BenchmarkHarness
import CardStore
import EngineBenchmarks
import Foundation

/// Prints the table of the store of cards beside Heartwood.
@main
struct Main {
  static let peers = [EnginePeerKind(name: "Cards", type: CardPeer.self), .heartwood]

  static func main() {
    do {
      let options = try BenchmarkOptions(CommandLine.arguments.dropFirst())
      guard !options.help else { return print("usage: cards [options]\n\n\(BenchmarkOptions.usage)") }
      let machine = [machineDescription(), try MachineLimits(directory: options.directory).text]
      print(machine.joined(separator: "\n") + "\n")
      try EngineBenchmark.printTables(of: peers, options, machine: machine.joined(separator: "; "))
    } catch {
      progress("cards: \(error)")
      exit(1)
    }
  }
}
