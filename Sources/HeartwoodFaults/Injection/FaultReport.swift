import HeartwoodFiles

extension FaultPlan {
  /// The use of a plan since it was installed.
  public struct Report: Hashable, Sendable, CustomStringConvertible {
    /// The use of one fault.
    public struct Line: Hashable, Sendable {
      /// The fault.
      public let fault: Fault
      /// The number of calls it counted.
      public let calls: Int
      /// The number of calls to which it was applied.
      public let firings: Int
    }

    /// The plan.
    public let plan: FaultPlan
    /// One line for each fault, in the plan's order.
    public let lines: [Line]
    /// The number of writes and truncations that failed, and of writes that were shortened, for lack of
    /// space.
    public let spaceRefusals: Int
    /// The number of reads that the plan's limit or faults shortened.
    public let shortReads: Int
    /// The number of writes that the plan's limit or faults shortened.
    public let shortWrites: Int

    /// The faults and limits that never applied to a call and therefore tested nothing, except those that may
    /// stay unused.
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

    /// Checks that everything in the plan was used.
    ///
    /// - Throws: `UnusedFaults` if a fault or limit never applied to a call, except those that may stay
    ///   unused.
    public func check() throws(UnusedFaults) {
      guard !unused.isEmpty else { return }
      throw UnusedFaults(unused: unused)
    }

    /// One line for each fault.
    public var description: String {
      lines.map { "\($0.fault): met \($0.firings) of \($0.calls) calls" }.joined(separator: "\n")
    }
  }

  /// The error for a plan with unused parts: the test does not test what it claims to.
  public struct UnusedFaults: Error, Hashable, Sendable, CustomStringConvertible {
    /// The faults and limits that applied to no call.
    public let unused: [String]

    /// All of them on one line.
    public var description: String { "never met a call: " + unused.joined(separator: "; ") }
  }
}
