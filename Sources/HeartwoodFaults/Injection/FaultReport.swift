import HeartwoodFiles

extension FaultPlan {
  /// What became of a plan since it was put to use.
  public struct Report: Hashable, Sendable, CustomStringConvertible {
    /// What became of one fault.
    public struct Line: Hashable, Sendable {
      /// The fault.
      public let fault: Fault
      /// How many calls it counted.
      public let calls: Int
      /// How many of them it met.
      public let firings: Int
    }

    /// The plan.
    public let plan: FaultPlan
    /// One line for each fault, in the plan's order.
    public let lines: [Line]
    /// How many writes and truncations failed, and writes were cut short, for want of space.
    public let spaceRefusals: Int
    /// How many reads the plan's limit or faults cut short.
    public let shortReads: Int
    /// How many writes the plan's limit or faults cut short.
    public let shortWrites: Int

    /// What of the plan never met a call, and has therefore tested nothing: faults and limits that may
    /// not stay unused.
    public var unused: [String] {
      var unused = lines.filter { $0.firings == 0 && !$0.fault.mayStayUnused }.map { line in
        "\(line.fault) (of \(line.calls) calls)"
      }
      guard !plan.limitsMayStayUnused else { return unused }
      if let limit = plan.spaceLimit, spaceRefusals == 0 { unused.append("space \(limit)") }
      if let limit = plan.largestRead, shortReads == 0 { unused.append("reads \(limit)") }
      if let limit = plan.largestWrite, shortWrites == 0 { unused.append("writes \(limit)") }
      return unused
    }

    /// Makes sure that everything in the plan was met.
    ///
    /// - Throws: `UnusedFaults` where a fault or limit never met a call, unless it says that it may not.
    public func check() throws(UnusedFaults) {
      guard !unused.isEmpty else { return }
      throw UnusedFaults(unused: unused)
    }

    /// One line for each fault.
    public var description: String {
      lines.map { "\($0.fault): met \($0.firings) of \($0.calls) calls" }.joined(separator: "\n")
    }
  }

  /// A plan of which something never happened: the test that used it has not tested what it says.
  public struct UnusedFaults: Error, Hashable, Sendable, CustomStringConvertible {
    /// The faults and limits that met no call.
    public let unused: [String]

    /// All of them in one line.
    public var description: String { "never met a call: " + unused.joined(separator: "; ") }
  }
}
