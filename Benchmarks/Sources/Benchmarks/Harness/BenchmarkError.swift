/// A benchmark that cannot go on: a peer failed, or peers disagree about what they read.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
