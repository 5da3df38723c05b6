extension Duration {
  /// All of it, where it is less than some hundred years.
  var nanoseconds: Int {
    Int(components.seconds) * 1_000_000_000 + Int(components.attoseconds / 1_000_000_000)
  }
}
