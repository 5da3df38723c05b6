extension PlantedAnomaly {
  /// Anomalies that are visible in the dependencies only, not in the generations.
  static let circles = [
    PlantedAnomaly("G0, two transactions each wrote before the other", .dirtyWrite, .dependencies) {
      planter in
      let (x, y) = (planter.freshList(), planter.freshList())
      planter.commit(.append(x, 1_000_001), .append(y, 1_000_002))
      planter.commit(.append(x, 1_000_003), .append(y, 1_000_004))
      planter.show(y, [1_000_004, 1_000_002])
    },
    PlantedAnomaly("G1c, two transactions saw one another", .circularInformation, .dependencies) { planter in
      let (x, y) = (planter.freshList(), planter.freshList())
      planter.commit(.append(x, 1_000_001), .read(y, [1_000_002]))
      planter.commit(.append(y, 1_000_002), .read(x, [1_000_001]))
    },
    PlantedAnomaly("G-single, a transaction seen in part", .readSkew, .dependencies) { planter in
      let (x, y) = (planter.freshList(), planter.freshList())
      planter.commit(.append(x, 1_000_001), .append(y, 1_000_002))
      planter.run(.read(x, []), .read(y, [1_000_002]))
    },
    PlantedAnomaly("G-single, a read that is not the same again", .readSkew, .dependencies) { planter in
      let x = planter.freshList()
      planter.commit(.append(x, 1_000_001))
      planter.run(.read(x, []), .read(x, [1_000_001]))
    },
    PlantedAnomaly("an update lost, both elements there", .lostUpdate, .dependencies) { planter in
      let x = planter.freshList()
      planter.commit(.read(x, []), .append(x, 1_000_001))
      planter.commit(.read(x, []), .append(x, 1_000_002))
    },
    PlantedAnomaly("an update lost, one element gone", .lostUpdate, .dependencies, .newest) { planter in
      let x = planter.freshList()
      planter.commit(.read(x, []), .append(x, 1_000_001))
      planter.commit(.read(x, []), .append(x, 1_000_002))
      planter.show(x, [1_000_002])
    },
    PlantedAnomaly("a long fork, two orders of two transactions", .longFork, .dependencies) { planter in
      let (x, y) = (planter.freshList(), planter.freshList())
      planter.commit(.append(x, 1_000_001))
      planter.commit(.append(y, 1_000_002))
      planter.run(.read(x, [1_000_001]), .read(y, []))
      planter.run(.read(x, []), .read(y, [1_000_002]))
    },
    PlantedAnomaly("write skew among serial writers", .writeSkew, .dependencies, .serial) { planter in
      let (x, y) = (planter.freshList(), planter.freshList())
      planter.commit(.read(x, []), .append(y, 1_000_001))
      planter.commit(.read(y, []), .append(x, 1_000_002))
    },
    PlantedAnomaly("a session that goes back, by what it reads", .sessionGoesBack, .dependencies) { planter in
      let x = planter.freshList()
      planter.commit(.append(x, 1_000_001))
      planter.run(.read(x, [1_000_001]), session: 77)
      planter.run(.read(x, []), session: 77)
    },
  ]

  /// Anomalies of single reads, each visible without generations.
  static let reads =
    [PlantedAnomaly.Check.dependencies, .snapshots].flatMap { check in
      [
        PlantedAnomaly("G1a, a read of a rolled-back write", .abortedRead, check) { planter in
          let x = planter.freshList()
          planter.run(.append(x, 1_000_001), outcome: .aborted)
          planter.run(.read(x, [1_000_001]))
        },
        PlantedAnomaly("G1b, a transaction read half way", .intermediateRead, check) { planter in
          let x = planter.freshList()
          planter.commit(.append(x, 1_000_001), .append(x, 1_000_002))
          planter.run(.read(x, [1_000_001]))
        },
        PlantedAnomaly("a transaction that does not see its own", .ownWriteNotSeen, check) { planter in
          let x = planter.freshList()
          planter.commit(.append(x, 1_000_001), .read(x, []))
        },
        PlantedAnomaly("a commit applied twice", .duplicateCommit, check) { planter in
          let x = planter.freshList()
          planter.commit(.append(x, 1_000_001))
          planter.show(x, [1_000_001, 1_000_001])
        },
        PlantedAnomaly("an element that no transaction wrote", .ghostCommit, check) { planter in
          planter.show(planter.freshList(), [1_000_001])
        },
      ]
    } + [
      PlantedAnomaly("two orders of one list", .incompatibleOrder, .dependencies) { planter in
        let x = planter.freshList()
        planter.commit(.append(x, 1_000_001))
        planter.commit(.append(x, 1_000_002))
        planter.run(.read(x, [1_000_002]))
      },
      PlantedAnomaly("a merge that forgets a register", .wrongRead, .snapshots) { planter in
        let r = planter.freshRegister()
        planter.commit(.set(r, [1_000_001]))
        planter.show(r, [])
      },
    ]
}
